/* Claims about cookies for clients; the vectors are those of RFC 9018, appendix A.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/cookies.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "services/tests/conf.h"
#include "util/addr.h"
#include "util/fault.h"
#include "util/hash.h"

static const char secret_a[] = "e5e973e5a6b2a43f48e7dc849e37bfcf";
static const char secret_b[] = "445536bcd2513298075a5d379663c962";
static const char secret_c[] = "dd3bdf9344b678b185a6f5cb60fca715";

static size_t unhex(uint8_t *to, const char *text)
{
	size_t len = 0;

	for (; *text; text += 2) {
		unsigned byte;

		assert_int_equal(sscanf(text, "%2x", &byte), 1);
		to[len++] = (uint8_t)byte;
	}
	return len;
}

static struct addr at(const char *text)
{
	struct addr a;

	if (!addr_parse(&a, text, 53, NULL))
		fail_msg("'%s' is no address", text);
	return a;
}

static struct cookies secrets(const char *active, const char *staged)
{
	struct cookies c = { .count = staged ? 2 : 1 };

	assert_true(cookie_secret_parse(c.secret[0], active));
	if (staged)
		assert_true(cookie_secret_parse(c.secret[1], staged));
	return c;
}

static void a_cookie_is_judged_as_rfc_9018_says(void **state)
{
	(void)state;
	static const struct {
		const char *why, *active, *staged, *client;
		int64_t wall_s;
		const char *given;
		enum cookie_state want;
		const char *answer;
	} rows[] = {
		{ "A.1: a client's part alone", secret_a, NULL, "198.51.100.100", 1559731985,
		  "2464c4abcf10c957", COOKIE_NEW,
		  "2464c4abcf10c957010000005cf79f111f8130c3eee29480" },
		{ "the same address in disguise", secret_a, NULL, "::ffff:198.51.100.100",
		  1559731985, "2464c4abcf10c957", COOKIE_NEW,
		  "2464c4abcf10c957010000005cf79f111f8130c3eee29480" },
		{ "A.2: more than half an hour old", secret_a, NULL, "198.51.100.100", 1559734385,
		  "2464c4abcf10c957010000005cf79f111f8130c3eee29480", COOKIE_VALID,
		  "2464c4abcf10c957010000005cf7a871d4a564a1442aca77" },
		{ "younger", secret_a, NULL, "198.51.100.100", 1559731985 + 1800,
		  "2464c4abcf10c957010000005cf79f111f8130c3eee29480", COOKIE_VALID,
		  "2464c4abcf10c957010000005cf79f111f8130c3eee29480" },
		{ "A.3: reserved bytes are another's business", secret_a, NULL, "203.0.113.203",
		  1559734700, "fc93fc62807ddb8601abcdef5cf78f71a314227b6679ebf5", COOKIE_INVALID,
		  "fc93fc62807ddb86010000005cf7a9acf73a7810aca2381e" },
		{ "A.3 within its hour", secret_a, NULL, "203.0.113.203", 0x5cf78f71 + 3600,
		  "fc93fc62807ddb8601abcdef5cf78f71a314227b6679ebf5", COOKIE_VALID, NULL },
		{ "A.4: the secret is rolled over", secret_b, secret_c,
		  "2001:db8:220:1:59de:d0f4:8769:82b8", 1559741961,
		  "22681ab97d52c298010000005cf7c57926556bd0934c72f8", COOKIE_VALID,
		  "22681ab97d52c298010000005cf7c609a6bb79d16625507a" },
		{ "A.4 with the new secret alone", secret_b, NULL,
		  "2001:db8:220:1:59de:d0f4:8769:82b8", 1559741961,
		  "22681ab97d52c298010000005cf7c57926556bd0934c72f8", COOKIE_INVALID,
		  "22681ab97d52c298010000005cf7c609a6bb79d16625507a" },
		{ "another's address", secret_a, NULL, "198.51.100.101", 1559731985,
		  "2464c4abcf10c957010000005cf79f111f8130c3eee29480", COOKIE_INVALID, NULL },
		{ "older than an hour", secret_a, NULL, "198.51.100.100", 1559731985 + 3601,
		  "2464c4abcf10c957010000005cf79f111f8130c3eee29480", COOKIE_INVALID, NULL },
		{ "a little ahead of us", secret_a, NULL, "198.51.100.100", 1559731985 - 300,
		  "2464c4abcf10c957010000005cf79f111f8130c3eee29480", COOKIE_VALID, NULL },
		{ "far ahead of us", secret_a, NULL, "198.51.100.100", 1559731985 - 301,
		  "2464c4abcf10c957010000005cf79f111f8130c3eee29480", COOKIE_INVALID, NULL },
		{ "another version", secret_a, NULL, "198.51.100.100", 1559731985,
		  "2464c4abcf10c957020000005cf79f111f8130c3eee29480", COOKIE_INVALID, NULL },
		{ "another software's", secret_a, NULL, "198.51.100.100", 1559731985,
		  "2464c4abcf10c9570102030405060708", COOKIE_INVALID, NULL },
		{ "too short", secret_a, NULL, "198.51.100.100", 1559731985, "2464c4abcf10c9",
		  COOKIE_MALFORMED, NULL },
		{ "empty", secret_a, NULL, "198.51.100.100", 1559731985, "", COOKIE_MALFORMED,
		  NULL },
		{ "between", secret_a, NULL, "198.51.100.100", 1559731985,
		  "2464c4abcf10c95701020304050607", COOKIE_MALFORMED, NULL },
		{ "too long", secret_a, NULL, "198.51.100.100", 1559731985,
		  "2464c4abcf10c9572464c4abcf10c9572464c4abcf10c9572464c4abcf10c957"
		  "2464c4abcf10c95700",
		  COOKIE_MALFORMED, NULL },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct cookies c = secrets(rows[i].active, rows[i].staged);
		struct addr client = at(rows[i].client);
		uint8_t given[64], want[64], answer[COOKIE_LEN];
		struct slice slice = { .at = given, .len = unhex(given, rows[i].given) };
		enum cookie_state got =
			cookies_judge(&c, &client, rows[i].wall_s, &slice, answer);

		if (got != rows[i].want)
			fail_msg("%s: %d, not %d", rows[i].why, (int)got, (int)rows[i].want);
		if (rows[i].answer &&
		    (unhex(want, rows[i].answer) != COOKIE_LEN || memcmp(want, answer, COOKIE_LEN)))
			fail_msg("%s: another answer", rows[i].why);
	}
}

static void without_an_option_or_a_secret_there_is_nothing_to_say(void **state)
{
	(void)state;
	struct cookies none = { .count = 0 }, some = secrets(secret_a, NULL);
	struct addr client = at("192.0.2.1");
	uint8_t answer[COOKIE_LEN];
	struct slice given = { .at = (const uint8_t *)"12345678", .len = 8 };

	assert_int_equal(cookies_judge(&none, &client, 0, &given, answer), COOKIE_ABSENT);
	assert_int_equal(cookies_judge(&some, &client, 0, NULL, answer), COOKIE_ABSENT);
}

static void a_file_of_secrets_is_kept_as_it_was_written(void **state)
{
	(void)state;
	static const struct {
		const char *why, *text;
		bool good;
		unsigned count;
	} rows[] = {
		{ "one", "e5e973e5a6b2a43f48e7dc849e37bfcf\n", true, 1 },
		{ "no line end", "e5e973e5a6b2a43f48e7dc849e37bfcf", true, 1 },
		{ "two, and a remark",
		  "# keys\ne5e973e5a6b2a43f48e7dc849e37bfcf\n\n445536BCD2513298075a5d379663c962\n",
		  true, 2 },
		{ "none", "", true, 0 },
		{ "three",
		  "e5e973e5a6b2a43f48e7dc849e37bfcf\n445536bcd2513298075a5d379663c962\n"
		  "dd3bdf9344b678b185a6f5cb60fca715\n",
		  false, 0 },
		{ "too short", "e5e973e5a6b2a43f48e7dc849e37bf\n", false, 0 },
		{ "no hex", "x5e973e5a6b2a43f48e7dc849e37bfcf\n", false, 0 },
	};
	char path[] = "cookies-XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct fault f = { 0 };
		struct cookies c, again;
		size_t len = strlen(rows[i].text);

		assert_int_equal(ftruncate(fd, 0), 0);
		assert_int_equal(pwrite(fd, rows[i].text, len, 0), (ssize_t)len);
		if (cookies_load(&c, path, &f) != rows[i].good || f.set == rows[i].good)
			fail_msg("%s: %s", rows[i].why, f.text);
		if (!rows[i].good)
			continue;
		if (c.count != rows[i].count)
			fail_msg("%s: %u secrets", rows[i].why, c.count);
		assert_true(cookies_save(&c, path, &f));
		assert_true(cookies_load(&again, path, &f));
		assert_memory_equal(&c, &again, sizeof(c));
		close(fd);
		fd = open(path, O_RDWR);
		assert_true(fd >= 0);
	}
	close(fd);
	assert_int_equal(unlink(path), 0);
}

static void without_a_secret_one_is_drawn_and_stays(void **state)
{
	(void)state;
	struct conf *conf = conf_from("server:\nanswer-cookie: yes\n");
	struct conf *off = conf_from("server:\n");
	struct cookies c, again, none;

	assert_true(cookies_read(&c, conf, NULL));
	assert_true(cookies_read(&again, conf, NULL));
	assert_true(cookies_read(&none, off, NULL));
	assert_int_equal(c.count, 1);
	assert_memory_equal(&c, &again, sizeof(c));
	assert_int_equal(none.count, 0);
	conf_free(conf);
	conf_free(off);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_cookie_is_judged_as_rfc_9018_says),
		cmocka_unit_test(without_an_option_or_a_secret_there_is_nothing_to_say),
		cmocka_unit_test(a_file_of_secrets_is_kept_as_it_was_written),
		cmocka_unit_test(without_a_secret_one_is_drawn_and_stays),
	};

	hash_start(true);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
