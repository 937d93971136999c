/* Claims about written JSON.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/base/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

struct paper {
	char text[512];
	size_t len;
};

static void write_down(void *arg, const char *at, size_t len)
{
	struct paper *p = arg;

	assert_true(p->len + len < sizeof p->text);
	memcpy(p->text + p->len, at, len);
	p->len += len;
	p->text[p->len] = '\0';
}

static void commas_stand_between_and_nowhere_else(void **state)
{
	struct paper p = { .len = 0 };
	struct json j = { .out = write_down, .arg = &p };

	(void)state;
	json_open(&j, NULL, '{');
	json_text(&j, "a", "x");
	json_open(&j, "b", '[');
	json_number(&j, NULL, 7);
	json_bool(&j, NULL, true);
	json_open(&j, NULL, '{');
	json_close(&j, '}');
	json_close(&j, ']');
	json_bool(&j, "c", false);
	json_close(&j, '}');
	assert_string_equal(p.text, "{\"a\":\"x\",\"b\":[7,true,{}],\"c\":false}");
}

static void what_would_break_a_string_is_escaped(void **state)
{
	static const struct {
		const char *text, *written;
	} rows[] = {
		{ "plain", "\"plain\"" },
		{ "a\"b\\c", "\"a\\\"b\\\\c\"" },
		{ "line\n\ttab", "\"line\\u000a\\u0009tab\"" },
		{ "m\303\274nchen", "\"m\303\274nchen\"" },
		{ "\374ber", "\"\\u00fcber\"" },           /* Latin-1 */
		{ "\355\240\200", "\"\\u00ed\\u00a0\\u0080\"" }, /* half a surrogate */
		{ "cut \342\202", "\"cut \\u00e2\\u0082\"" },
		{ "\300\200", "\"\\u00c0\\u0080\"" },      /* an overlong NUL */
		{ "\177", "\"\\u007f\"" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct paper p = { .len = 0 };
		struct json j = { .out = write_down, .arg = &p };

		json_text(&j, NULL, rows[i].text);
		assert_string_equal(p.text, rows[i].written);
	}
}

static void numbers_of_other_kinds_are_numbers(void **state)
{
	struct paper p = { .len = 0 };
	struct json j = { .out = write_down, .arg = &p };

	(void)state;
	json_open(&j, NULL, '[');
	json_signed(&j, NULL, -9223372036854775807 - 1);
	json_seconds(&j, NULL, 12000034);
	json_raw(&j, NULL, "{}");
	json_close(&j, ']');
	assert_string_equal(p.text, "[-9223372036854775808,12.000034,{}]");
}

static void what_does_not_fit_is_left_out(void **state)
{
	static const struct { const char *value; size_t room; bool whole; const char *written; } rows[] = {
		{ "abc", 9, true, "\"k\":\"abc\"" },   { "abc", 8, false, "\"k\":\"ab\"" },
		{ "abc", 6, false, "" },             { "", 6, true, "\"k\":\"\"" },
		{ "", 5, false, "" },                { "a\"", 8, false, "\"k\":\"a\"" },
		{ "\303\274", 7, false, "\"k\":\"\"" }, { "\001", 11, false, "\"k\":\"\"" },
		{ "\001", 12, true, "\"k\":\"\\u0001\"" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct paper p = { .len = 0 };
		struct json j = { .out = write_down, .arg = &p };

		if (json_text_within(&j, "k", rows[i].value, rows[i].room) != rows[i].whole ||
		    strcmp(p.text, rows[i].written) != 0)
			fail_msg("row %zu: %s", i, p.text);
	}
}

static void only_numbers_are_numbers(void **state)
{
	static const struct {
		const char *text;
		bool number;
	} rows[] = {
		{ "0", true },	   { "-1", true },  { "12.50", true }, { "0.000001", true },
		{ "007", false },  { "1.", false }, { ".5", false },   { "1.2.3", false },
		{ "", false },	   { "-", false },  { "1e5", false },  { "0x10", false },
		{ "12 s", false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct paper p = { .len = 0 };
		struct json j = { .out = write_down, .arg = &p };

		json_value(&j, NULL, rows[i].text, strlen(rows[i].text));
		assert_int_equal(p.text[0] != '"', rows[i].number);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commas_stand_between_and_nowhere_else),
		cmocka_unit_test(what_would_break_a_string_is_escaped),
		cmocka_unit_test(numbers_of_other_kinds_are_numbers),
		cmocka_unit_test(what_does_not_fit_is_left_out),
		cmocka_unit_test(only_numbers_are_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
