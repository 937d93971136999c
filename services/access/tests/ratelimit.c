/* Claims about rates and their limits.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/access/ratelimit.h"

#include "services/forward/zonelimits.h"
#include "services/tests/conf.h"
#include "util/base/fault.h"
#include "util/base/hash.h"
#include "util/base/random.h"
#include "util/dns/dname.h"
#include "util/net/addr.h"

static void no_more_than_the_limit_passes_in_a_second(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		struct rate_rule rule;
		unsigned asked[4], want[4]; /* in each second */
	} rows[] = {
		{ "below it", { 5, 0, false, false }, { 5, 5, 5, 5 }, { 5, 5, 5, 5 } },
		{ "above it", { 5, 0, false, false }, { 9, 3, 9, 0 }, { 5, 3, 5, 0 } },
		{ "backing off", { 5, 0, true, false }, { 9, 3, 3, 3 }, { 5, 0, 3, 3 } },
		{ "who does not slow down", { 5, 0, true, false }, { 9, 9, 9, 9 }, { 5, 0, 0, 0 } },
		{ "all pass", { 1, 1, false, false }, { 9, 9, 9, 9 }, { 9, 9, 9, 9 } },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct ratelimit *r = ratelimit_new(65536, 4);
		struct rate_rule rule = rows[i].rule;
		struct random random;

		random_play(&random, 1);
		for (uint32_t s = 0; s < 4; s++) {
			unsigned passed = 0;

			for (unsigned j = 0; j < rows[i].asked[s]; j++)
				passed += ratelimit_admits(r, "key", 3, &rule, 100 + s,
							   &random);
			if (passed != rows[i].want[s])
				fail_msg("%s: %u in second %u", rows[i].why, passed, s);
		}
		ratelimit_free(r);
	}
}

static void some_pass_over_the_limit(void **state)
{
	(void)state;
	static struct rate_rule rule = { .limit = 10, .factor = 10 };
	struct ratelimit *r = ratelimit_new(65536, 1);
	struct random random;
	unsigned passed = 0;

	random_play(&random, 1);
	for (unsigned i = 0; i < 10000; i++)
		passed += ratelimit_admits(r, "key", 3, &rule, 7, &random);
	assert_in_range(passed, 800, 1200);
	ratelimit_free(r);
}

/* Events of any two neighbouring seconds are told apart, wherever these are in time. */
static void the_last_full_second_counts_while_backing_off(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		uint32_t asked, in_s, again_s; /* so many in one second; then one in another */
		bool backoff, want;
	} rows[] = {
		{ "below the limit", 5, 100, 101, true, true },
		{ "above it", 6, 100, 101, true, false },
		{ "in an odd second", 6, 101, 102, true, false },
		{ "two seconds ago", 6, 100, 102, true, true },
		{ "three seconds ago", 6, 100, 103, true, true },
		{ "not while backing off", 6, 100, 101, false, true },
		{ "in the same second", 5, 100, 100, false, false },
		{ "the last of that", 4, 100, 100, false, true },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct rate_rule rule = { .limit = 5, .backoff = rows[i].backoff };
		struct ratelimit *r = ratelimit_new(65536, 4);
		struct random random;

		random_play(&random, 1);
		for (uint32_t j = 0; j < rows[i].asked; j++)
			assert_true(ratelimit_admits(r, "key", 3, &rule, rows[i].in_s, &random) == (j < 5));
		if (ratelimit_admits(r, "key", 3, &rule, rows[i].again_s, &random) != rows[i].want)
			fail_msg("%s", rows[i].why);
		ratelimit_free(r);
	}
	ratelimit_free(NULL);
}

static void keys_that_begin_alike_are_not_one(void **state)
{
	(void)state;
	static const struct {
		const char *key;
		size_t len;
	} keys[] = { { "key", 3 }, { "key", 2 }, { "kez", 3 }, { "keys", 4 }, { "", 0 }, { "\0", 1 } };
	static struct rate_rule rule = { .limit = 1 };
	struct ratelimit *r = ratelimit_new(1, 1); /* one set is the least there is */
	uint8_t longest[RATE_KEY_MAX] = { 1 };
	struct random random;

	random_play(&random, 1);
	for (size_t i = 0; i < COUNT(keys); i++)
		assert_true(ratelimit_admits(r, keys[i].key, keys[i].len, &rule, 7, &random));
	assert_true(ratelimit_admits(r, longest, sizeof(longest), &rule, 7, &random));
	for (size_t i = 0; i < COUNT(keys); i++)
		assert_false(ratelimit_admits(r, keys[i].key, keys[i].len, &rule, 7, &random));
	assert_false(ratelimit_admits(r, longest, sizeof(longest), &rule, 7, &random));
	ratelimit_free(r);
}

/* Of one set the key that was heard least lately makes room, not one that is busy. */
static void who_was_heard_least_lately_makes_room(void **state)
{
	(void)state;
	static struct rate_rule rule = { .limit = 1 };

	for (uint32_t quiet = 0; quiet < 8; quiet++) {
		struct ratelimit *r = ratelimit_new(1, 1);
		struct random random;

		random_play(&random, 1);
		for (uint32_t i = 0; i < 8; i++)
			assert_true(ratelimit_admits(r, &i, sizeof(i), &rule, i == quiet ? 7 : 8, &random));
		assert_true(ratelimit_admits(r, "newcomer", 8, &rule, 9, &random));
		for (uint32_t i = 0; i < 8; i++) {
			bool is_known = i != quiet;

			if (is_known)
				assert_false(ratelimit_admits(r, &i, sizeof(i), &rule, 8, &random));
		}
		assert_true(ratelimit_admits(r, &quiet, sizeof(quiet), &rule, 8, &random));
		ratelimit_free(r);
	}
}

struct seen {
	unsigned keys;
	uint32_t sum;
	bool is_ours;
};

static void see(const uint8_t *key, size_t len, uint32_t rate, void *arg)
{
	struct seen *s = arg;

	s->keys++;
	s->sum += rate;
	s->is_ours = len == 3 && memcmp(key, "key", 3) == 0;
}

static void rates_are_told_of_who_was_heard_lately(void **state)
{
	(void)state;
	static const struct {
		uint32_t first, second, now_s, want; /* events in seconds 100 and 101 */
	} rows[] = {
		{ 5, 0, 100, 5 }, { 5, 0, 101, 5 }, { 5, 0, 102, 0 }, { 5, 3, 101, 5 }, { 3, 5, 101, 5 },
		{ 5, 3, 102, 3 }, { 5, 3, 103, 0 }, { 0, 0, 100, 0 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		static struct rate_rule rule = { .limit = 1 };
		struct ratelimit *r = ratelimit_new(65536, 4);
		struct seen seen = { 0 };
		struct random random;

		random_play(&random, 1);
		for (uint32_t j = 0; j < rows[i].first; j++)
			(void)ratelimit_admits(r, "key", 3, &rule, 100, &random);
		for (uint32_t j = 0; j < rows[i].second; j++)
			(void)ratelimit_admits(r, "key", 3, &rule, 101, &random);
		ratelimit_each(r, rows[i].now_s, see, &seen);
		if (seen.sum != rows[i].want)
			fail_msg("row %zu: %u", i, seen.sum);
		assert_int_equal(seen.keys, rows[i].want != 0);
		assert_int_equal(seen.is_ours, rows[i].want != 0);
		ratelimit_free(r);
	}
}

static void add_rate(const uint8_t *key, size_t len, uint32_t rate, void *arg)
{
	uint32_t *sum = arg;

	assert_int_equal(len, 4);
	(void)key;
	*sum += rate;
}

static void keys_do_not_disturb_each_other_and_memory_is_bounded(void **state)
{
	(void)state;
	static struct rate_rule rule = { .limit = 1 };
	struct ratelimit *r = ratelimit_new(16384, 2);
	struct random random;
	uint32_t sum = 0;

	random_play(&random, 1);
	for (uint32_t i = 0; i < 40; i++)
		assert_true(ratelimit_admits(r, &i, sizeof(i), &rule, 7, &random));
	ratelimit_each(r, 7, add_rate, &sum);
	assert_int_equal(sum, 40);
	for (uint32_t i = 0; i < 10000; i++)
		(void)ratelimit_admits(r, &i, sizeof(i), &rule, 8, &random);
	sum = 0;
	ratelimit_each(r, 8, add_rate, &sum);
	assert_in_range(sum, 50, 300);
	ratelimit_free(r);
}

static void a_client_is_its_address(void **state)
{
	(void)state;
	static const char *const rows[] = { "192.0.2.1", "2001:db8::1" };

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct addr a, again;
		uint8_t key[17];
		size_t len;

		assert_true(addr_parse(&a, rows[i], 53, NULL));
		len = rate_key_of(&a, key);
		assert_true(rate_key_read(key, len, &again));
		assert_int_equal(len, i ? 17 : 5);
		assert_true(addr_equals_ip(&a, &again));
		assert_false(rate_key_read(key, len - 1, &again));
		assert_false(rate_key_read(key, len + 1, &again));
		assert_false(rate_key_read(key, i ? 5 : 17, &again));
		assert_false(rate_key_read(key, 0, &again));
		key[0] ^= 4 ^ 6; /* the other family */
		assert_false(rate_key_read(key, len, &again));
	}
}

static void a_zone_has_the_limit_that_is_written_closest(void **state)
{
	(void)state;
	static const struct {
		const char *zone;
		uint32_t want;
	} rows[] = {
		{ "org.", 7 },        { "com.", 100 },     { "a.com.", 20 },
		{ "b.a.com.", 20 },   { "free.com.", 0 },  { "x.free.com.", 20 },
		{ "deep.net.", 7 },   { "x.deep.net.", 3 },
	};
	struct conf *conf = conf_from("server:\nratelimit: 7\nratelimit-for-domain: com 100\n"
				      "ratelimit-for-domain: free.com 0\n"
				      "ratelimit-below-domain: com 20\n"
				      "ratelimit-below-domain: deep.net 3\n");
	struct fault f = { 0 };
	struct zonelimits *z = zonelimits_new(conf, &f);

	assert_non_null(z);
	assert_true(zonelimits_exist(z));
	for (size_t i = 0; i < COUNT(rows); i++) {
		uint8_t zone[DNAME_MAX];

		assert_true(dname_parse(zone, rows[i].zone, NULL));
		if (zonelimits_get(z, zone) != rows[i].want)
			fail_msg("%s: %u", rows[i].zone, zonelimits_get(z, zone));
	}
	zonelimits_free(z);
	conf_free(conf);
}

static void limits_are_those_that_are_written(void **state)
{
	(void)state;
	static const struct {
		const char *conf;
		bool exist;
	} rows[] = {
		{ "server:\n", false },
		{ "server:\nratelimit: 7\n", true },
		{ "server:\nratelimit-for-domain: com 100\n", true },
		{ "server:\nratelimit-below-domain: com 100\n", true },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct conf *conf = conf_from(rows[i].conf);
		struct zonelimits *z = zonelimits_new(conf, NULL);

		assert_int_equal(zonelimits_exist(z), rows[i].exist);
		zonelimits_free(z);
		conf_free(conf);
	}
	zonelimits_free(NULL);
}

/* Whoever has checked an option before, it is read with care. */
static void what_is_no_limit_is_named(void **state)
{
	(void)state;
	static char longest[DNAME_TEXT + 8], longer[DNAME_TEXT + 8];
	const struct {
		const char *item, *want; /* NULL: it is one */
	} rows[] = {
		{ "com 100", NULL },
		{ "com  100", NULL },
		{ longer, "-domain: '0000" },
		{ longest, "" },
		{ "com", "'com' is not a domain and a number" },
		{ " 100", "' 100' is not a domain and a number" },
		{ "a..com 100", "" },
	};

	snprintf(longer, sizeof longer, "%0*d 7", DNAME_TEXT, 0);
	snprintf(longest, sizeof longest, "%0*d 7", DNAME_TEXT - 1, 0);
	for (size_t i = 0; i < 2 * COUNT(rows); i++) {
		struct conf_item item = { .text = (char *)(uintptr_t)rows[i / 2].item };
		struct conf *conf = conf_from("server:\n");
		struct conf_list *list = i % 2 ? &conf->server.ratelimit_below_domain
					       : &conf->server.ratelimit_for_domain;
		const struct conf_list before = *list;
		struct fault f = { 0 };
		struct zonelimits *z;

		*list = (struct conf_list){ .items = &item, .count = 1 };
		z = zonelimits_new(conf, &f);
		assert_true(!z == !!rows[i / 2].want);
		if (!z && !strstr(f.text, rows[i / 2].want))
			fail_msg("%s", f.text);
		if (rows[i / 2].want && !rows[i / 2].want[0] && strstr(f.text, "-domain: '"))
			fail_msg("%s", f.text);
		if (rows[i / 2].want && rows[i / 2].want[0])
			assert_non_null(strstr(f.text, i % 2 ? "ratelimit-below-domain" : "ratelimit-for-domain"));
		*list = before;
		zonelimits_free(z);
		conf_free(conf);
	}
}

static void the_first_over_the_limit_is_told_of(void **state)
{
	static const struct { const char *why; uint32_t key, in_s; unsigned asked, told; } rows[] = {
		{ "within the limit", 1, 100, 5, 0 },  { "the first above it", 1, 100, 1, 1 },
		{ "no other in that second", 1, 100, 9, 0 }, { "in the next one", 1, 101, 9, 1 },
		{ "another key", 2, 101, 9, 1 },
	};
	struct ratelimit *r = ratelimit_new(65536, 4);
	struct random random;
	unsigned told = 0;

	(void)state;
	random_play(&random, 1);
	for (size_t i = 0; i < COUNT(rows); i++) {
		told = 0;
		for (unsigned j = 0; j < rows[i].asked; j++) {
			struct rate_rule rule = { .limit = 5, .factor = i % 2 }; /* all of them pass, or none */

			(void)ratelimit_admits(r, &rows[i].key, sizeof rows[i].key, &rule, rows[i].in_s, &random);
			told += rule.tells;
		}
		if (told != rows[i].told)
			fail_msg("%s: %u", rows[i].why, told);
	}
	told = 0;
	for (uint32_t key = 10; key < 60; key++) { /* a flood of them */
		for (unsigned j = 0; j < 2; j++) {
			struct rate_rule rule = { .limit = 1 };

			(void)ratelimit_admits(r, &key, sizeof key, &rule, 200, &random);
			told += rule.tells;
		}
	}
	assert_int_equal(told, RATE_TOLD);
	ratelimit_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_more_than_the_limit_passes_in_a_second),
		cmocka_unit_test(the_last_full_second_counts_while_backing_off),
		cmocka_unit_test(keys_that_begin_alike_are_not_one),
		cmocka_unit_test(who_was_heard_least_lately_makes_room),
		cmocka_unit_test(rates_are_told_of_who_was_heard_lately),
		cmocka_unit_test(limits_are_those_that_are_written),
		cmocka_unit_test(what_is_no_limit_is_named),
		cmocka_unit_test(some_pass_over_the_limit),
		cmocka_unit_test(keys_do_not_disturb_each_other_and_memory_is_bounded),
		cmocka_unit_test(a_client_is_its_address),
		cmocka_unit_test(a_zone_has_the_limit_that_is_written_closest),
		cmocka_unit_test(the_first_over_the_limit_is_told_of),
	};

	hash_start(true);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
