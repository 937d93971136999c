/* Claims about requests on the control channel.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/control/request.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define BYTES(text) text, sizeof(text) - 1

static const struct row {
	const char *why, *bytes;
	size_t len;
	bool ends; /* the stream ends behind it */
	enum control_request_state state;
	const char *line;
	bool other_version;
} rows[] = {
	{ "as unbound-control sends it", BYTES("UBCT1  status\n"), false, CONTROL_HAS_LINE,
	  "status", false },
	{ "as exporters send it", BYTES("UBCT1 stats_noreset\n"), false, CONTROL_HAS_LINE,
	  "stats_noreset", false },
	{ "blanks of both kinds in front", BYTES("UBCT1 \t \tstatus\n"), false, CONTROL_HAS_LINE,
	  "status", false },
	{ "arguments stay as they are", BYTES("UBCT1  local_data a. \t A 1.2.3.4 \n"), false,
	  CONTROL_HAS_LINE, "local_data a. \t A 1.2.3.4 ", false },
	{ "what follows the line is not its", BYTES("UBCT1 x\ny\n"), false, CONTROL_HAS_LINE, "x",
	  false },
	{ "the end of the stream ends the line", BYTES("UBCT1 status"), true, CONTROL_HAS_LINE,
	  "status", false },
	{ "nothing but blanks", BYTES("UBCT1  \t \n"), false, CONTROL_HAS_LINE, "", false },
	{ "nothing but blanks, and the end", BYTES("UBCT1  \t \r"), true, CONTROL_HAS_LINE, "", false },
	{ "a CR alone", BYTES("UBCT1 \r\n"), false, CONTROL_HAS_LINE, "", false },
	{ "two CRs before the LF", BYTES("UBCT1 status\r\r\n"), false, CONTROL_NONSENSE, NULL, false },
	{ "a DEL in the line", BYTES("UBCT1 a\177b\n"), false, CONTROL_NONSENSE, NULL, false },
	{ "letters beyond ASCII", BYTES("UBCT1 a\377b\n"), false, CONTROL_HAS_LINE, "a\377b", false },
	{ "another protocol, known by its last letter", BYTES("UBCX1 status\n"), false, CONTROL_NONSENSE, NULL, false },
	{ "an empty line", BYTES("UBCT1 \n"), false, CONTROL_HAS_LINE, "", false },
	{ "nothing behind the head", BYTES("UBCT1 "), true, CONTROL_HAS_LINE, "", false },
	{ "half a line", BYTES("UBCT1 sta"), false, CONTROL_WANTS_LINE, NULL, false },
	{ "half a head", BYTES("UBCT"), false, CONTROL_WANTS_HEAD, NULL, false },
	{ "half a head and the end", BYTES("UBCT1"), true, CONTROL_NONSENSE, NULL, false },
	{ "nothing at all", BYTES(""), true, CONTROL_NONSENSE, NULL, false },
	{ "another version", BYTES("UBCT2 status\n"), false, CONTROL_HAS_LINE, "status", true },
	{ "a version of two digits", BYTES("UBCT10status\n"), false, CONTROL_HAS_LINE, "status",
	  true },
	{ "another protocol", BYTES("GET / HTTP/1.1\r\n"), false, CONTROL_NONSENSE, NULL, false },
	{ "another protocol, known by its first byte", BYTES("\x16"), false, CONTROL_NONSENSE, NULL,
	  false },
	{ "a CR before the LF", BYTES("UBCT1 status\r\n"), false, CONTROL_HAS_LINE, "status", false },
	{ "a CR before the end", BYTES("UBCT1 status\r"), true, CONTROL_HAS_LINE, "status", false },
	{ "a CR in the line", BYTES("UBCT1 a\rb\n"), false, CONTROL_NONSENSE, NULL, false },
	{ "an escape in the line", BYTES("UBCT1 a\033b\n"), false, CONTROL_NONSENSE, NULL, false },
	{ "a NUL in the line", BYTES("UBCT1 a\0b\n"), false, CONTROL_NONSENSE, NULL, false },
};

static void check(const struct row *row, const struct control_request *r, size_t piece)
{
	if (r->state != row->state)
		fail_msg("%s, in pieces of %zu: state %d, not %d", row->why, piece, r->state,
			 row->state);
	if (row->line && strcmp(r->line, row->line) != 0)
		fail_msg("%s, in pieces of %zu: '%s', not '%s'", row->why, piece, r->line,
			 row->line);
	if (row->line && r->len != strlen(row->line))
		fail_msg("%s, in pieces of %zu: %zu bytes", row->why, piece, r->len);
	if (r->other_version != row->other_version)
		fail_msg("%s, in pieces of %zu: version", row->why, piece);
}

static void a_request_is_understood_however_it_is_cut(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		for (size_t piece = 1; piece <= MAX(rows[i].len, (size_t)1); piece++) {
			struct control_request r = { 0 };

			for (size_t at = 0; at < rows[i].len; at += piece)
				control_request_feed(&r, rows[i].bytes + at,
						     MIN(piece, rows[i].len - at));
			if (rows[i].ends)
				control_request_end(&r);
			check(&rows[i], &r, piece);
		}
	}
}

static void a_line_has_1023_bytes_and_its_end(void **state)
{
	char bytes[6 + 1024 + 1] = "UBCT1 ";

	(void)state;
	memset(bytes + 6, 'x', 1024);
	for (size_t len = 1022; len <= 1024; len++) {
		struct control_request r = { 0 };
		bool fits = len <= 1023;

		bytes[6 + len] = '\n';
		control_request_feed(&r, bytes, 6 + len + 1);
		assert_int_equal(r.state, fits ? CONTROL_HAS_LINE : CONTROL_NONSENSE);
		if (fits)
			assert_int_equal(strlen(r.line), len);
		bytes[6 + len] = 'x';
	}
}

static void bytes_of_a_body_are_left_to_others(void **state)
{
	struct control_request r = { 0 };

	(void)state;
	assert_int_equal(control_request_feed(&r, "UBCT1 x\nbody\n", 13), 8);
	assert_int_equal(control_request_feed(&r, "more", 4), 0);
}

static void words_are_cut_off_one_by_one(void **state)
{
	char text[] = "flush_type  a.example.\t\tMX";
	char *at = text;

	(void)state;
	assert_string_equal(control_word(&at), "flush_type");
	assert_string_equal(at, "a.example.\t\tMX");
	assert_string_equal(control_word(&at), "a.example.");
	assert_string_equal(control_word(&at), "MX");
	assert_null(control_word(&at));
	assert_null(control_word(&at));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_request_is_understood_however_it_is_cut),
		cmocka_unit_test(a_line_has_1023_bytes_and_its_end),
		cmocka_unit_test(bytes_of_a_body_are_left_to_others),
		cmocka_unit_test(words_are_cut_off_one_by_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
