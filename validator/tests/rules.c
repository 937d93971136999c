/* Claims about what is believed.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "validator/rules.h"

#include "services/tests/conf.h"
#include "util/base/fault.h"
#include "validator/date.h"

static bool read_rules(struct rules *r, const char *text, struct fault *f)
{
	struct conf *conf = conf_from(text);
	bool good = rules_read(r, conf, f);

	conf_free(conf);
	return good;
}

static void algorithms_count_as_the_configuration_says(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		uint8_t number;
		bool counts, fake, digest;      /* as algorithm; without arithmetic; as digest */
	} rows[] = {
		{ "server:", 8, true, false, false },
		{ "server:", 10, true, false, false },
		{ "server:", 13, true, false, false },
		{ "server:", 14, true, false, false },
		{ "server:", 15, true, false, false },
		{ "server:", 16, true, false, false },
		{ "server:", 5, false, false, false },
		{ "server:", 7, false, false, false },
		{ "server:", 1, false, false, true },
		{ "server:", 2, false, false, true },
		{ "server:", 4, false, false, true },
		{ "server:", 3, false, false, false },
		{ "server: val-sha1: all", 5, true, false, false },
		{ "server: val-sha1: all", 7, true, false, false },
		{ "server: val-sha1: none", 1, false, false, false },
		{ "server: val-sha1: none", 5, false, false, false },
		{ "server: val-sha1: none", 2, false, false, true },
		{ "server: val-sha1: none", 4, false, false, true },
		{ "server: val-sha1: none", 8, true, false, false },
		{ "server: fake-sha1: yes", 3, true, true, false },
		{ "server: fake-sha1: yes", 5, true, true, false },
		{ "server: fake-sha1: yes", 6, true, true, false },
		{ "server: fake-sha1: yes", 7, true, true, false },
		{ "server: fake-sha1: yes", 8, true, false, false },
		{ "server: val-sha1: none fake-sha1: yes", 1, false, false, true },
		{ "server: fake-dsa: yes", 3, true, true, false },
		{ "server: fake-dsa: yes", 5, false, false, false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct rules r;

		assert_true(read_rules(&r, rows[i].text, NULL));
		if (octets_hold(&r.algorithms, rows[i].number) != rows[i].counts ||
		    octets_hold(&r.fake, rows[i].number) != rows[i].fake ||
		    octets_hold(&r.digests, rows[i].number) != rows[i].digest)
			fail_msg("%s: %u", rows[i].text, rows[i].number);
	}
}

static void nothing_given_is_the_default(void **state)
{
	(void)state;
	struct rules given, plain;

	assert_true(read_rules(&given, "server:", NULL));
	rules_default(&plain);
	assert_memory_equal(&given.algorithms, &plain.algorithms, sizeof(plain.algorithms));
	assert_memory_equal(&given.digests, &plain.digests, sizeof(plain.digests));
	assert_int_equal(given.skew_min_s, plain.skew_min_s);
	assert_int_equal(given.skew_max_s, plain.skew_max_s);
	assert_int_equal(given.sigs_per_set, 8);
	assert_int_equal(given.keys_per_tag, 2);
	assert_int_equal(given.ds_failures, 4);
	assert_false(given.every_algorithm);
	for (unsigned bits = 0; bits <= 131072; bits = bits * 2 + 255)
		assert_int_equal(rules_nsec3_limit(&plain, bits), rules_nsec3_limit(&given, bits));
	assert_true(rules_are_same(&plain, &plain));
	assert_int_equal(plain.nsec3_count, 1);
	assert_int_equal(plain.nsec3[0].bits, UINT16_MAX);
}

static void a_date_may_stand_for_now(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		enum rules_date date;
		uint32_t now;
	} rows[] = {
		{ "server:", DATE_CLOCK, 1000 },
		{ "server: val-override-date: 0", DATE_CLOCK, 1000 },
		{ "server: val-override-date: \"20070916134226\"", DATE_FIXED, 1189950146 },
		{ "server: val-override-date: 1189950146", DATE_FIXED, 1189950146 },
		{ "server: val-override-date: \"-1\"", DATE_ANY, 1000 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct rules r;

		assert_true(read_rules(&r, rows[i].text, NULL));
		if (r.date != rows[i].date || rules_now(&r, 1000) != rows[i].now)
			fail_msg("%s", rows[i].text);
	}
}

static void what_is_no_date_is_refused(void **state)
{
	(void)state;
	static const char *const texts[] = { "20071316134226", "20070016134226", "20070932134226", "20070900134226", "x0070916134226", "20071111xxxxxx" };

	for (size_t i = 0; i < COUNT(texts); i++) {
		struct conf *conf = conf_from("server:");
		struct fault f = { .set = false };
		char *own = conf->server.val_override_date;
		struct rules r;

		conf->server.val_override_date = (char *)(uintptr_t)texts[i]; /* as no file is read any more */
		assert_false(rules_read(&r, conf, &f));
		assert_non_null(strstr(f.text, texts[i]));
		conf->server.val_override_date = own;
		conf_free(conf);
	}
}

/* What was found by other rules does not count any more: each of them makes the difference. */
static void rules_that_differ_in_anything_are_others(void **state)
{
	(void)state;
	static const char *const texts[] = {
		"server:",
		"server: val-nsec3-keysize-iterations: \"1024 150 2048 500\"",
		"server: val-nsec3-keysize-iterations: \"1024 150 2048 501\"",
		"server: val-nsec3-keysize-iterations: \"1024 149 2048 500\"",
		"server: val-nsec3-keysize-iterations: \"1024 150 2047 500\"",
		"server: val-nsec3-keysize-iterations: \"1024 150\"",
		"server: val-sha1: all",
		"server: val-sha1: none",
		"server: fake-dsa: yes",
		"server: val-sha1: all fake-dsa: yes",
		"server: val-sha1: all fake-sha1: yes",
		"server: harden-algo-downgrade: yes",
		"server: val-override-date: \"-1\"",
		"server: val-override-date: 1189950146",
		"server: val-override-date: 1189950147",
		"server: val-sig-skew-min: 7",
		"server: val-sig-skew-max: 7",
	};

	for (size_t i = 0; i < COUNT(texts); i++)
		for (size_t k = 0; k < COUNT(texts); k++) {
			struct rules a, b;

			assert_true(read_rules(&a, texts[i], NULL));
			assert_true(read_rules(&b, texts[k], NULL));
			if (rules_are_same(&a, &b) != (i == k))
				fail_msg("%s and %s", texts[i], texts[k]);
		}
}

static void more_iterations_are_believed_of_larger_keys(void **state)
{
	(void)state;
	struct fault f = { .set = false };
	struct rules r;

	assert_true(read_rules(&r, "server: val-nsec3-keysize-iterations: \"1024 50 2048 100\"",
			       NULL));
	assert_int_equal(rules_nsec3_limit(&r, 256), 50);
	assert_int_equal(rules_nsec3_limit(&r, 1024), 50);
	assert_int_equal(rules_nsec3_limit(&r, 1025), 100);
	assert_int_equal(rules_nsec3_limit(&r, 4096), 100);
	assert_int_equal(r.nsec3_count, 2);
	assert_true(read_rules(&r, "server: val-nsec3-keysize-iterations: \"1024 50 \t2048 100  \"", NULL));
	assert_int_equal(r.nsec3_count, 2);
	assert_int_equal(rules_nsec3_limit(&r, 1025), 100);
	assert_false(read_rules(&r, "server: val-nsec3-keysize-iterations: "
				    "\"1 1 2 2 3 3 4 4 5 5 6 6 7 7 8 8 9 9\"", &f));
	assert_non_null(strstr(f.text, "val-nsec3-keysize-iterations"));
}

/* As no file is read any more. */
static void what_is_no_size_or_count_is_refused(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		bool good;
	} rows[] = { { "65535 65535", true }, { "65536 1", false }, { "1 65536", false }, { "x", false }, { "1 2 x", false } };

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct conf *conf = conf_from("server:");
		struct fault f = { .set = false };
		char *own = conf->server.val_nsec3_keysize_iterations;
		struct rules r;

		conf->server.val_nsec3_keysize_iterations = (char *)(uintptr_t)rows[i].text;
		if (rules_read(&r, conf, &f) != rows[i].good)
			fail_msg("%s", rows[i].text);
		conf->server.val_nsec3_keysize_iterations = own;
		conf_free(conf);
	}
}

static void dates_are_those_of_the_calendar(void **state)
{
	(void)state;
	static const struct {
		int64_t seconds;
		const char *text, *ctime;
	} rows[] = {
		{ 0, "1970-01-01 00:00:00 UTC", "Thu Jan  1 00:00:00 1970" },
		{ 123456, "1970-01-02 10:17:36 UTC", "Fri Jan  2 10:17:36 1970" },
		{ -1, "1969-12-31 23:59:59 UTC", "Wed Dec 31 23:59:59 1969" },
		{ 951782400, "2000-02-29 00:00:00 UTC", "Tue Feb 29 00:00:00 2000" },
		{ 1258962400, "2009-11-23 07:46:40 UTC", "Mon Nov 23 07:46:40 2009" },
		{ 4107542400, "2100-03-01 00:00:00 UTC", "Mon Mar  1 00:00:00 2100" },
		{ 253402300799, "9999-12-31 23:59:59 UTC", "Fri Dec 31 23:59:59 9999" },
	};
	char buf[DATE_TEXT];

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct date d;

		assert_string_equal(date_print(rows[i].seconds, buf), rows[i].text);
		assert_string_equal(date_print_ctime(rows[i].seconds, buf), rows[i].ctime);
		date_split(rows[i].seconds, &d);
		assert_int_equal(date_join(&d), rows[i].seconds);
	}
	assert_string_equal(date_print_span(0, buf), "0 seconds");
	assert_string_equal(date_print_span(61, buf), "1 minute 1 second");
	assert_string_equal(date_print_span(7200, buf), "2 hours");
	assert_string_equal(date_print_span(90000, buf), "1 day 1 hour");
	assert_string_equal(date_print_span(INT64_C(3) * 365 * 86400, buf), "3 years");
}

int main(void)
{
	const struct CMUnitTest claims[] = {
		cmocka_unit_test(algorithms_count_as_the_configuration_says),
		cmocka_unit_test(nothing_given_is_the_default),
		cmocka_unit_test(a_date_may_stand_for_now),
		cmocka_unit_test(what_is_no_date_is_refused),
		cmocka_unit_test(rules_that_differ_in_anything_are_others),
		cmocka_unit_test(more_iterations_are_believed_of_larger_keys),
		cmocka_unit_test(what_is_no_size_or_count_is_refused),
		cmocka_unit_test(dates_are_those_of_the_calendar),
	};

	return cmocka_run_group_tests(claims, NULL, NULL);
}
