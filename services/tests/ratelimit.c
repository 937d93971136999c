/* Claims about rates and their limits.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/ratelimit.h"

#include "services/tests/conf.h"
#include "services/zonelimits.h"
#include "util/addr.h"
#include "util/dname.h"
#include "util/fault.h"
#include "util/hash.h"
#include "util/random.h"

static void no_more_than_the_limit_passes_in_a_second(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		struct rate_rule rule;
		unsigned asked[4], want[4]; /* in each second */
	} rows[] = {
		{ "below it", { 5, 0, false }, { 5, 5, 5, 5 }, { 5, 5, 5, 5 } },
		{ "above it", { 5, 0, false }, { 9, 3, 9, 0 }, { 5, 3, 5, 0 } },
		{ "backing off", { 5, 0, true }, { 9, 3, 3, 3 }, { 5, 0, 3, 3 } },
		{ "who does not slow down", { 5, 0, true }, { 9, 9, 9, 9 }, { 5, 0, 0, 0 } },
		{ "all pass", { 1, 1, false }, { 9, 9, 9, 9 }, { 9, 9, 9, 9 } },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct ratelimit *r = ratelimit_new(65536, 4);
		struct random random;

		random_play(&random, 1);
		for (uint32_t s = 0; s < 4; s++) {
			unsigned passed = 0;

			for (unsigned j = 0; j < rows[i].asked[s]; j++)
				passed += ratelimit_admits(r, "key", 3, &rows[i].rule, 100 + s,
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
	static const struct rate_rule rule = { .limit = 10, .factor = 10 };
	struct ratelimit *r = ratelimit_new(65536, 1);
	struct random random;
	unsigned passed = 0;

	random_play(&random, 1);
	for (unsigned i = 0; i < 10000; i++)
		passed += ratelimit_admits(r, "key", 3, &rule, 7, &random);
	assert_in_range(passed, 800, 1200);
	ratelimit_free(r);
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
	static const struct rate_rule rule = { .limit = 1 };
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
		assert_true(addr_equals_ip(&a, &again));
		assert_false(rate_key_read(key, len - 1, &again));
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_more_than_the_limit_passes_in_a_second),
		cmocka_unit_test(some_pass_over_the_limit),
		cmocka_unit_test(keys_do_not_disturb_each_other_and_memory_is_bounded),
		cmocka_unit_test(a_client_is_its_address),
		cmocka_unit_test(a_zone_has_the_limit_that_is_written_closest),
	};

	hash_start(true);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
