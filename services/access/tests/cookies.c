/* Claims about cookies for clients; the vectors are those of RFC 9018, appendix A.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/access/cookies.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "services/tests/conf.h"
#include "util/base/fault.h"
#include "util/base/hash.h"
#include "util/net/addr.h"

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

static void a_cookie_is_checked_as_rfc_9018_says(void **state)
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
		{ "the same address, IPv4-mapped", secret_a, NULL, "::ffff:198.51.100.100",
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
		{ "as long as they may be", secret_a, NULL, "198.51.100.100", 1559731985,
		  "2464c4abcf10c9572464c4abcf10c9572464c4abcf10c9572464c4abcf10c9572464c4abcf10c957", COOKIE_INVALID, NULL },
		{ "more behind one of ours", secret_a, NULL, "198.51.100.100", 1559731985,
		  "2464c4abcf10c957010000005cf79f111f8130c3eee2948000", COOKIE_INVALID, NULL },
		{ "one of ours without its end", secret_a, NULL, "198.51.100.100", 1559731985,
		  "2464c4abcf10c957010000005cf79f111f8130c3eee294", COOKIE_INVALID, NULL },
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
			cookies_verify(&c, &client, rows[i].wall_s, &slice, answer);

		if (got != rows[i].want)
			fail_msg("%s: %d, not %d", rows[i].why, (int)got, (int)rows[i].want);
		if (rows[i].answer &&
		    (unhex(want, rows[i].answer) != COOKIE_LEN || memcmp(want, answer, COOKIE_LEN)))
			fail_msg("%s: another answer", rows[i].why);
	}
}

/* A cookie as another version would make it, rightly hashed. */
static void another_version_is_not_ours(void **state)
{
	(void)state;
	struct cookies c = secrets(secret_a, NULL);
	struct addr client = at("198.51.100.100"), garbage = { .family = 4, .ip = { [10] = 0xff, [11] = 0xff, [12] = 7 } };
	struct addr nobody = { .family = 4 };
	uint8_t given[COOKIE_LEN], answer[COOKIE_LEN + 8], other[COOKIE_LEN], in[20];
	struct slice slice = { .at = given, .len = sizeof(given) };

	for (uint8_t version = 0; version < 3; version++) {
		memset(answer, 0xee, sizeof(answer));
		memcpy(given, "12345678", 8);
		put_u32(given + 8, (uint32_t)version << 24);
		put_u32(given + 12, 1000);
		memcpy(in, given, 16);
		memcpy(in + 16, client.ip, 4);
		hash_shared(given + 16, in, sizeof(in), c.secret[0]);
		assert_int_equal(cookies_verify(&c, &client, 1000, &slice, answer), version == 1 ? COOKIE_VALID : COOKIE_INVALID);
		assert_int_equal(get_u32(answer + COOKIE_LEN), 0xeeeeeeee); /* no more than that is written */
		if (version != 1)
			continue;
		/* the same until it is half an hour old */
		assert_memory_equal(answer, given, COOKIE_LEN);
		assert_int_equal(cookies_verify(&c, &client, 2800, &slice, answer), COOKIE_VALID);
		assert_memory_equal(answer, given, COOKIE_LEN);
		assert_int_equal(cookies_verify(&c, &client, 2801, &slice, answer), COOKIE_VALID);
		assert_memory_not_equal(answer, given, COOKIE_LEN);
		memcpy(given, answer, COOKIE_LEN);
		assert_int_equal(cookies_verify(&c, &client, 2801 + 3600, &slice, answer), COOKIE_VALID);
	}
	slice.len = COOKIE_CLIENT_LEN;
	assert_int_equal(cookies_verify(&c, &garbage, 1000, &slice, answer), COOKIE_NEW);
	assert_int_equal(cookies_verify(&c, &nobody, 1000, &slice, other), COOKIE_NEW);
	assert_memory_equal(answer, other, COOKIE_LEN);
}

static void without_an_option_or_a_secret_there_is_nothing_to_say(void **state)
{
	(void)state;
	struct cookies none = { .count = 0 }, some = secrets(secret_a, NULL);
	struct addr client = at("192.0.2.1");
	uint8_t answer[COOKIE_LEN];
	struct slice given = { .at = (const uint8_t *)"12345678", .len = 8 };

	assert_int_equal(cookies_verify(&none, &client, 0, &given, answer), COOKIE_ABSENT);
	assert_int_equal(cookies_verify(&some, &client, 0, NULL, answer), COOKIE_ABSENT);
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
		{ "blanks around it, and another line end", " \te5e973e5a6b2a43f48e7dc849e37bfcf \t\r\n", true, 1 },
		{ "blanks alone, and a remark behind some", " \t\n\r\n  # keys\n", true, 0 },
		{ "two in a line", "e5e973e5a6b2a43f48e7dc849e37bfcf 445536bcd2513298075a5d379663c962\n", false, 0 },
		{ "a bad one before a good one", "e5e973e5a6b2a43f48e7dc849e37bf\n445536bcd2513298075a5d379663c962\n", false, 0 },
		{ "a remark behind it", "e5e973e5a6b2a43f48e7dc849e37bfcf # active\n", false, 0 },
		{ "a remark as long as a line may be",
		  "#23456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"
		  "012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678"
		  "9012345678901234567890123456789012345678901234567890123\ne5e973e5a6b2a43f48e7dc849e37bfcf\n",
		  true, 1 },
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
		if (cookies_load(&c, path, &f) != rows[i].good || f.set == rows[i].good ||
		    (f.set && !strstr(f.text, path)))
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
	assert_memory_not_equal(c.secret[0], none.secret[0], COOKIE_SECRET_LEN);
	assert_memory_equal(&c, &again, sizeof(c));
	assert_int_equal(none.count, 0);
	conf_free(conf);
	conf_free(off);
}

/* The line that is wrong is named, and so is what cannot be read. */
static void what_is_wrong_with_a_file_is_said(void **state)
{
	(void)state;
	char path[] = "cookies-XXXXXX", want[64];
	int fd = mkstemp(path);
	struct fault f = { 0 };
	struct cookies c;

	assert_true(fd >= 0);
	assert_true(dprintf(fd, "# one\n%s\n%s0\n", secret_a, secret_b) > 0);
	close(fd);
	assert_false(cookies_load(&c, path, &f));
	snprintf(want, sizeof(want), "%s:3: ", path);
	assert_non_null(strstr(f.text, want));
	assert_int_equal(unlink(path), 0);
	f.set = false;
	assert_false(cookies_load(&c, path, &f));
	assert_non_null(strstr(f.text, "No such file"));
	f.set = false;
	assert_false(cookies_load(&c, ".", &f)); /* it opens, but cannot be read */
	assert_non_null(strstr(f.text, "'.'"));
}

static void a_digit_is_hexadecimal(void **state)
{
	(void)state;
	for (unsigned at = 0; at < 2 * COOKIE_SECRET_LEN; at++) {
		for (int ch = 1; ch < 256; ch++) {
			char text[2 * COOKIE_SECRET_LEN + 1], printed[2 * COOKIE_SECRET_LEN + 1];
			uint8_t secret[COOKIE_SECRET_LEN];
			bool is_digit = isxdigit(ch) && ch < 128;

			memset(text, '5', sizeof(text) - 1);
			text[sizeof(text) - 1] = '\0';
			text[at] = (char)ch;
			if (cookie_secret_parse(secret, text) != is_digit)
				fail_msg("%#x as digit %u", (unsigned)ch, at);
			text[at] = (char)tolower(ch);
			if (is_digit)
				assert_string_equal(cookie_secret_print(secret, printed), text);
		}
	}
}

/* Replaced whole, so that whoever reads it meanwhile has the old one; or where that is not possible, in its place. */
static void a_saved_file_is_for_its_owner(void **state)
{
	(void)state;
	struct cookies one = secrets(secret_a, NULL), two = secrets(secret_b, secret_c), got;
	char path[] = "cookies-XXXXXX", old[40], beside[40];
	struct fault f = { 0 };
	int fd = mkstemp(path);
	struct stat st;

	snprintf(old, sizeof(old), "%s.old", path);
	snprintf(beside, sizeof(beside), "%s.new", path);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(chmod(path, 0644), 0);
	assert_true(cookies_save(&one, path, &f));
	assert_int_equal(link(path, old), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_true(cookies_save(&two, path, &f));
	assert_false(f.set);
	assert_true(cookies_load(&got, path, &f));
	assert_memory_equal(&got, &two, sizeof(got));
	assert_true(cookies_load(&got, old, &f));
	assert_memory_equal(&got, &one, sizeof(got));

	assert_int_equal(mkdir(beside, 0700), 0);
	assert_true(cookies_save(&two, old, &f)); /* longer */
	assert_true(cookies_save(&one, path, &f));
	assert_true(cookies_load(&got, path, &f));
	assert_memory_equal(&got, &one, sizeof(got));
	assert_int_equal(unlink(path), 0);
	assert_false(cookies_save(&one, path, &f));
	assert_non_null(strstr(f.text, path));
	assert_non_null(strstr(f.text, "No such file"));
	assert_int_equal(rmdir(beside), 0);
	assert_int_equal(unlink(old), 0);
}

/* Where the secrets come from; within a chroot the file has another path. */
static void secrets_are_where_the_configuration_says(void **state)
{
	(void)state;
	static const struct {
		const char *why, *conf;
		const char *first;
		unsigned count;
		bool good;
	} rows[] = {
		{ "no cookies", "cookie-secret: dd3bdf9344b678b185a6f5cb60fca715", NULL, 0, true },
		{ "one secret", "answer-cookie: yes\n cookie-secret: dd3bdf9344b678b185a6f5cb60fca715", secret_c, 1, true },
		{ "a file", "answer-cookie: yes\n cookie-secret-file: \"%s\"", secret_a, 2, true },
		{ "a file comes before a secret",
		  "answer-cookie: yes\n cookie-secret: dd3bdf9344b678b185a6f5cb60fca715\n cookie-secret-file: \"%s\"",
		  secret_a, 2, true },
		{ "within a chroot", "answer-cookie: yes\n chroot: \"/no/such\"\n cookie-secret-file: \"/no/such%s\"",
		  secret_a, 2, true },
		{ "before a chroot", "answer-cookie: yes\n chroot: \"%.*s\"\n cookie-secret-file: \"%s\"", secret_a, 2, true },
		{ "a file that is not there", "answer-cookie: yes\n cookie-secret-file: \"%s.gone\"", NULL, 0, false },
	};
	char path[4096 + 16], folder[4096];
	int fd;

	assert_non_null(getcwd(folder, sizeof(folder)));
	snprintf(path, sizeof(path), "%s/cookies-XXXXXX", folder);
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_true(dprintf(fd, "%s\n%s\n", secret_a, secret_b) > 0);
	close(fd);
	for (size_t i = 0; i < COUNT(rows); i++) {
		char text[9000], line[8500];
		struct fault f = { 0 };
		struct cookies c, want = { .count = rows[i].count };
		struct conf *conf;

		if (strstr(rows[i].conf, "%.*s"))
			snprintf(line, sizeof(line), rows[i].conf, (int)strlen(folder), path, path);
		else
			snprintf(line, sizeof(line), rows[i].conf, path);
		snprintf(text, sizeof(text), "server:\n %s\n", line);
		conf = conf_from(text);
		if (cookies_read(&c, conf, &f) != rows[i].good || f.set == rows[i].good)
			fail_msg("%s: %s", rows[i].why, f.text);
		if (f.set)
			assert_non_null(strstr(f.text, "cookie-secret-file: "));
		if (rows[i].first)
			assert_true(cookie_secret_parse(want.secret[0], rows[i].first));
		if (rows[i].count == 2)
			assert_true(cookie_secret_parse(want.secret[1], secret_b));
		if (rows[i].good && memcmp(&c, &want, sizeof(c)) != 0)
			fail_msg("%s: others", rows[i].why);
		conf_free(conf);
	}
	assert_int_equal(unlink(path), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_cookie_is_checked_as_rfc_9018_says),
		cmocka_unit_test(another_version_is_not_ours),
		cmocka_unit_test(without_an_option_or_a_secret_there_is_nothing_to_say),
		cmocka_unit_test(a_file_of_secrets_is_kept_as_it_was_written),
		cmocka_unit_test(what_is_wrong_with_a_file_is_said),
		cmocka_unit_test(a_digit_is_hexadecimal),
		cmocka_unit_test(a_saved_file_is_for_its_owner),
		cmocka_unit_test(secrets_are_where_the_configuration_says),
		cmocka_unit_test(without_a_secret_one_is_drawn_and_stays),
	};

	hash_start(true);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
