/* Claims about replies in JSON.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/control/call_json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/control/call_text.h"
#include "util/base/mem.h"

static void nothing(struct call *c)
{
	(void)c;
}

static void ok(struct call *c)
{
	call_ok(c);
}

static void error(struct call *c)
{
	call_say(c, "error: %s\n", "a\"b");
}

static void lines_in_pieces(struct call *c)
{
	call_say(c, "one ");
	call_say(c, "two\nthr");
	call_line("ee", c);
	call_say(c, "\nlast");
}

static void a_line_and_ok(struct call *c)
{
	call_line("done", c);
	call_ok(c);
}

static void no_rows(struct call *c)
{
	(void)call_rows(c);
}

static void rows(struct call *c)
{
	for (unsigned i = 0; i < 2; i++) {
		json_number(call_row(c), "n", i);
		call_row_end(c);
	}
}

static void object(struct call *c)
{
	json_text(call_object(c), "a", "x");
	json_bool(call_object(c), "b", true);
	call_ok(c);
}

static void errors_and_a_count(struct call *c)
{
	call_say(c, "error one\n");
	call_say(c, "error two\n");
	json_number(call_object(c), "added", 3);
}

static void a_beginning_that_is_taken_back(struct call *c)
{
	rows(c);
	call_clear(c);
	error(c);
}

static void a_zone_called_error(struct call *c)
{
	call_say(c, "error.example. IN\n");
}

static void records(struct call *c)
{
	struct json *j = call_row(c);

	call_record(j, "1\\ 2.\t60\tIN\tTXT\t\"a  \\\"b\" c\\ d");
	call_row_end(c);
	call_record(call_row(c), "x.\t0\tIN\tTYPE1\t");
	call_row_end(c);
}

static void a_reply_is_one_object(void **state)
{
	static const struct {
		const char *why;
		void (*handler)(struct call *c);
		const char *rest;
	} rows_[] = {
		{ "nothing said", nothing, "true}" },
		{ "ok", ok, "true}" },
		{ "an error", error, "false,\"error\":\"error: a\\\"b\"}" },
		{ "lines", lines_in_pieces, "true,\"data\":[\"one two\",\"three\",\"\",\"last\"]}" },
		{ "ok is no data", a_line_and_ok, "true,\"data\":[\"done\"]}" },
		{ "an empty list", no_rows, "true,\"data\":[]}" },
		{ "a list", rows, "true,\"data\":[{\"n\":0},{\"n\":1}]}" },
		{ "an object", object, "true,\"data\":{\"a\":\"x\",\"b\":true}}" },
		{ "errors, and what went well", errors_and_a_count,
		  "false,\"error\":\"error one\\u000aerror two\",\"data\":{\"added\":3}}" },
		{ "taken back", a_beginning_that_is_taken_back, "false,\"error\":\"error: a\\\"b\"}" },
		{ "no error", a_zone_called_error, "true,\"data\":[\"error.example. IN\"]}" },
		{ "records", records,
		  "true,\"data\":[{\"name\":\"1\\\\ 2.\",\"ttl\":60,\"class\":\"IN\",\"type\":\"TXT\",\"data\":[\"\\\"a  \\\\\\\"b\\\"\","
		  "\"c\\\\ d\"]},{\"name\":\"x.\",\"ttl\":0,\"class\":\"IN\",\"type\":\"TYPE1\",\"data\":[]}]}" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows_); i++) {
		struct call c = { .line = "" };
		char *wanted = mem_textf("{\"command\":\"some\",\"ok\":%s\n", rows_[i].rest), *got;
		size_t len;

		call_take_line(&c, "--json  some x");
		rows_[i].handler(&c);
		call_json_end(&c);
		got = call_reply(&c, &len);
		if (strcmp(got, wanted) != 0)
			fail_msg("%s: %s", rows_[i].why, got);
		mem_free(got);
		mem_free(wanted);
		call_clear(&c);
		call_json_free(&c);
	}
}

static void who_waits_too_long_is_told_in_the_form_he_wants(void **state)
{
	static const struct command how = { .word = "stats" };
	static const struct { const char *line, *reply; } rows_[] = {
		{ "stats", "error thread 3 has not responded for more than 5 s: the command continues when it does\n" },
		{ "--json stats", "{\"command\":\"stats\",\"ok\":false,\"error\":\"error thread 3 has not responded for more than "
				  "5 s: the command continues when it does\"}\n" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows_); i++) {
		struct call c = { .command = &how };
		char said[256];

		call_take_line(&c, rows_[i].line);
		call_print_late(&c, 3, 5, said, sizeof said);
		assert_string_equal(said, rows_[i].reply);
		call_json_free(&c);
	}
}

static void a_wish_is_a_word_before_the_command(void **state)
{
	static const struct { const char *line, *command; bool json; } rows_[] = {
		{ "--json status", "status", true }, { "--json \t top names", "top names", true }, { "--json", "--json", false },
		{ "--jsonx status", "--jsonx status", false }, { "status --json", "status --json", false }, { "", "", false },
		{ "--json ", "", true }, { "--json --json status", "--json status", true },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows_); i++) {
		struct call c = { .line = "" };

		call_take_line(&c, rows_[i].line);
		assert_string_equal(c.args, rows_[i].command);
		assert_true((c.json != NULL) == rows_[i].json);
		call_json_free(&c);
	}
}

static void without_the_wish_there_is_no_writer(void **state)
{
	struct call c = { .line = "some" };
	char *got;
	size_t len;

	(void)state;
	assert_null(call_object(&c));
	assert_null(call_rows(&c));
	assert_null(call_row(&c));
	call_ok(&c);
	call_json_end(&c);
	got = call_reply(&c, &len);
	assert_string_equal(got, "ok\n");
	mem_free(got);
	call_clear(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_reply_is_one_object),
		cmocka_unit_test(who_waits_too_long_is_told_in_the_form_he_wants),
		cmocka_unit_test(a_wish_is_a_word_before_the_command),
		cmocka_unit_test(without_the_wish_there_is_no_writer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
