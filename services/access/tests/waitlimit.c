/* Claims about how many answers one client may be waiting for.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/access/waitlimit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#include "services/tests/conf.h"
#include "util/base/fault.h"
#include "util/net/addr.h"

static struct addr addr_of(const char *text)
{
	struct addr a;

	assert_true(addr_parse(&a, text, 53, NULL));
	return a;
}

static void the_longest_netblock_says_how_many(void **state)
{
	static const struct {
		const char *conf, *client;
		bool has_cookie;
		uint32_t limit;
	} rows[] = {
		{ "", "192.0.2.1", false, 1000 },
		{ "", "192.0.2.1", true, 10000 },
		{ "", "127.0.0.1", false, WAIT_ANY },
		{ "", "::1", true, WAIT_ANY },
		{ " wait-limit: 7\n", "192.0.2.1", false, 7 },
		{ " wait-limit: 7\n", "192.0.2.1", true, 10000 },
		{ " wait-limit: 0\n", "192.0.2.1", false, WAIT_ANY },
		{ " wait-limit: 0\n", "192.0.2.1", true, WAIT_ANY },
		{ " wait-limit-cookie: 0\n", "192.0.2.1", true, WAIT_ANY },
		{ " wait-limit-cookie: 0\n", "192.0.2.1", false, 1000 },
		{ " wait-limit-cookie: 0\n wait-limit-cookie-netblock: 192.0.2.0/24 6\n", "192.0.2.1",
		  true, 6 },
		{ " wait-limit-netblock: 192.0.2.0/24 5\n wait-limit-netblock: 192.0.2.1/32 -1\n",
		  "192.0.2.1", false, WAIT_ANY },
		{ " wait-limit-netblock: 192.0.2.0/24 5\n", "192.0.2.9", false, 5 },
		{ " wait-limit-netblock: 192.0.2.0/24 10\n", "192.0.2.9", false, 10 },
		{ " wait-limit-netblock: 192.0.2.0/24 5\n", "192.0.2.9", true, 10000 },
		{ " wait-limit-netblock: 192.0.2.0/24 5\n", "198.51.100.9", false, 1000 },
		{ " wait-limit-netblock: 192.0.2.0/24 0\n", "192.0.2.9", false, 0 },
		{ " wait-limit-netblock: 192.0.2.0/24 2147483647\n", "192.0.2.9", false, 2147483647 },
		{ " wait-limit-netblock: 192.0.2.0/24 5\n wait-limit-netblock: 198.51.100.0/24 6\n", "198.51.100.9",
		  false, 6 },
		{ " wait-limit-netblock: 192.0.2.0/24 5\n wait-limit-netblock: 198.51.100.0/24 6\n", "192.0.2.9", false,
		  5 },
		{ " wait-limit-netblock: 192.0.2.0/24 5\n", "::1", false, WAIT_ANY },
		{ " wait-limit-cookie-netblock: 127.0.0.0/8 4\n", "127.0.0.1", true, 4 },
		{ " wait-limit: 0\n wait-limit-netblock: 192.0.2.0/24 5\n", "192.0.2.9", false, WAIT_ANY },
		{ " wait-limit-cookie-netblock: 192.0.2.0/24 6\n", "192.0.2.9", true, 6 },
		{ " wait-limit-netblock: 127.0.0.0/8 4\n", "127.0.0.1", false, 4 },
	};
	char text[256];

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct addr client = addr_of(rows[i].client);
		struct waitrules *r;
		struct conf *conf;

		snprintf(text, sizeof text, "server:\n%s", rows[i].conf);
		conf = conf_from(text);
		r = waitrules_new(conf, NULL);
		assert_non_null(r);
		assert_int_equal(waitrules_limit(r, &client, rows[i].has_cookie), rows[i].limit);
		waitrules_free(r);
		conf_free(conf);
	}
}

/* Whoever has checked an option before, it is read with care. */
static void what_is_no_netblock_is_named(void **state)
{
	static const char *const rows[] = { "192.0.2.0/33 5", "nobody 5",
					    "0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000/ 5",
					    "0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000/64 5" };

	(void)state;
	for (size_t i = 0; i < 2 * COUNT(rows); i++) {
		struct conf_item item = { .text = (char *)(uintptr_t)rows[i / 2] };
		struct conf *conf = conf_from("server:\n");
		struct conf_list *list = i % 2 ? &conf->server.wait_limit_cookie_netblock
					       : &conf->server.wait_limit_netblock;
		const struct conf_list before = *list;
		struct fault f = { 0 };

		*list = (struct conf_list){ .items = &item, .count = 1 };
		assert_null(waitrules_new(conf, &f));
		assert_int_equal(strncmp(f.text, i % 2 ? "wait-limit-cookie-netblock: " : "wait-limit-netblock: ",
					 i % 2 ? 28 : 21), 0);
		assert_true(strlen(f.text) > 28);
		if (i / 2 >= 2) /* longer than any netblock */
			assert_non_null(strstr(f.text, " 5' is no netblock"));
		*list = before;
		conf_free(conf);
	}
	waitrules_free(NULL);
	waits_free(NULL);
}

/* However many clients there are, and whoever shares a chain with whom. */
static void thousands_of_clients_are_told_apart(void **state)
{
	struct waits *w = waits_new();
	struct addr a = { .family = 4, .ip = { 192, 0, 2, 1 } };

	(void)state;
	for (unsigned round = 0; round < 2; round++) {
		for (unsigned i = 0; i < 3000; i++) {
			put_u16(a.ip + 1, (uint16_t)i);
			for (unsigned n = 0; n <= i % 3; n++)
				assert_true(waits_begin(w, &a, 3));
		}
		for (unsigned i = 0; i < 3000; i++) {
			put_u16(a.ip + 1, (uint16_t)i);
			assert_int_equal(waits_count(w, &a), 1 + i % 3);
			assert_true(waits_may_send(w, &a, WAITS_BURST, 1000));
		}
		for (unsigned i = 0; i < 3000; i++) {
			put_u16(a.ip + 1, (uint16_t)(i * 7 % 3000));
			for (unsigned n = 0; n <= i * 7 % 3000 % 3; n++)
				waits_end(w, &a);
			assert_int_equal(waits_count(w, &a), 0);
		}
	}
	waits_free(w);
}

static void who_waits_for_enough_may_come_again_later(void **state)
{
	struct waits *w = waits_new();
	struct addr one = addr_of("192.0.2.1"), other = addr_of("192.0.2.2");

	(void)state;
	for (unsigned i = 0; i < 3; i++)
		assert_true(waits_begin(w, &one, 3));
	assert_false(waits_begin(w, &one, 3));
	assert_int_equal(waits_count(w, &one), 3);
	assert_true(waits_begin(w, &other, 3));
	waits_end(w, &one);
	assert_true(waits_begin(w, &one, 3));
	assert_false(waits_begin(w, &one, 0));
	for (unsigned i = 0; i < 3; i++)
		waits_end(w, &one);
	waits_end(w, &other);
	assert_int_equal(waits_count(w, &one), 0);
	waits_free(w);
}

static void late_answers_do_not_come_in_a_burst(void **state)
{
	static const struct {
		const char *why;
		unsigned at_ms;
		size_t len;
		bool may;
	} rows[] = {
		{ "the first", 1000, WAITS_BURST - 100, true },
		{ "what is left of it", 1000, 100, true },
		{ "too much", 1000, 1, false },
		{ "a little later a little more", 1010, 10 * WAITS_PER_MS, true },
		{ "and no more than that", 1010, 1, false },
		{ "a clock that is behind brings nothing", 900, 1, false },
		{ "a byte too much", 1020, 10 * WAITS_PER_MS + 1, false },
		{ "which has not been counted", 1020, 10 * WAITS_PER_MS, true },
		{ "parts of a millisecond add up", 1030, 10 * WAITS_PER_MS, true },
		{ "much later no more at once", 9000, WAITS_BURST + 1, false },
	};
	struct waits *w = waits_new();
	struct addr one = addr_of("192.0.2.1"), other = addr_of("192.0.2.2");

	(void)state;
	assert_true(waits_begin(w, &one, 3));
	assert_true(waits_begin(w, &other, 3));
	for (size_t i = 0; i < COUNT(rows); i++)
		if (waits_may_send(w, &one, rows[i].len, rows[i].at_ms * 1000) != rows[i].may)
			fail_msg("%s: not %d", rows[i].why, rows[i].may);
	assert_true(waits_may_send(w, &other, WAITS_BURST, 1099 * 1000));
	waits_end(w, &one);
	waits_end(w, &other);
	waits_free(w);
}

/* The port is no part of who it is, and neither is the half of an IPv6 address that is free to choose. */
static void a_client_is_known_by_what_it_cannot_choose(void **state)
{
	static const struct {
		const char *one, *other;
		bool same;
	} rows[] = {
		{ "192.0.2.1@1", "192.0.2.1@2", true },
		{ "2001:db8::1", "2001:db8::ffff:1", true },
		{ "2001:db8::1", "2001:db8:0:1::1", false },
		{ "192.0.2.1", "192.0.2.3", false },
		{ "192.0.2.1", "c000:201::", false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct addr one = addr_of(rows[i].one), other = addr_of(rows[i].other);
		struct waits *w = waits_new();

		assert_true(waits_begin(w, &one, 1));
		assert_int_equal(waits_count(w, &other), rows[i].same);
		waits_end(w, &one);
		waits_free(w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_longest_netblock_says_how_many),
		cmocka_unit_test(what_is_no_netblock_is_named),
		cmocka_unit_test(thousands_of_clients_are_told_apart),
		cmocka_unit_test(who_waits_for_enough_may_come_again_later),
		cmocka_unit_test(late_answers_do_not_come_in_a_burst),
		cmocka_unit_test(a_client_is_known_by_what_it_cannot_choose),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
