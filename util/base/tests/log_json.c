/* Claims about log lines in JSON.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/base/log_json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "util/base/log.h"

static char line[LOG_JSON_MOST + 1];

static const struct log_head head = {
	.time = { .tv_sec = 1795182994, .tv_nsec = 123456789 }, .pid = 7, .thread = 2, .ident = "fox"
};

static const char *build(const struct log_origin *o, const char *text)
{
	size_t len = log_json_build(line, &head, o, text);

	assert_true(len < LOG_JSON_MOST);
	line[len] = '\0';
	return line;
}

static void a_line_has_its_head_and_its_parts(void **state)
{
	const struct log_origin plain = { .file = "../src/services/xfer/task.c", .kind = "warning" };
	const struct log_origin parts = {
		.file = "iterator/choose.c", .kind = "reply", .event = LOG_EVENT_reply,
		.facts = LOG_FACTS(LOG_TEXT(client, "192.0.2.1"), LOG_COUNT(port, 53000), LOG_TEXT(rcode, NULL),
				   LOG_COUNT(cached, 1), LOG_COUNT(duration, 1002003))
	};

	(void)state;
	assert_string_equal(build(&plain, "no \"luck\"\n"),
			    "{\"time\":\"2026-11-20T13:56:34.123Z\",\"level\":\"warning\",\"event\":\"message\","
			    "\"ident\":\"fox\",\"pid\":7,\"thread\":2,\"room\":\"services/xfer\","
			    "\"message\":\"no \\\"luck\\\"\\u000a\"}");
	assert_string_equal(build(&parts, "not this"),
			    "{\"time\":\"2026-11-20T13:56:34.123Z\",\"level\":\"info\",\"event\":\"reply\","
			    "\"ident\":\"fox\",\"pid\":7,\"thread\":2,\"room\":\"iterator\","
			    "\"client\":\"192.0.2.1\",\"port\":53000,\"cached\":true,\"duration\":1.002003}");
}

static void the_room_is_the_folder(void **state)
{
	static const struct { const char *file, *room; } rows[] = {
		{ "util/base/log.c", "\"room\":\"util/base\"" }, { "../src/validator/roll.c", "\"room\":\"validator\"" },
		{ "/build/daemon/main.c", "\"room\":\"daemon\"" }, { "alone.c", NULL }, { NULL, NULL },
		{ "a/daemon/process/x.c", "\"room\":\"daemon/process\"" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct log_origin o = { .file = rows[i].file, .kind = "info" };
		const char *is = build(&o, "x"), *wants = rows[i].room ? rows[i].room : "room";

		assert_true((strstr(is, wants) != NULL) == (rows[i].room != NULL));
	}
}

/* Strings that grow when they are escaped, and such as may be cut within a character or an escape. */
static const struct { const char *why, *unit, *written; } hostile[] = {
	{ "plain", "x", "x" },
	{ "a control character", "\001", "\\u0001" },
	{ "quotes", "\"", "\\\"" },
	{ "backslashes", "\\", "\\\\" },
	{ "no UTF-8", "\377", "\\u00ff" },
	{ "half a character", "\303", "\\u00c3" },
	{ "two bytes", "\303\274", "\303\274" },
	{ "four bytes", "\360\237\246\212", "\360\237\246\212" },
};

/* What follows the value is whole units and the end. */
static void check_cut(const char *why, const char *from, const char *unit, bool cut)
{
	size_t len = strlen(unit);

	while (strncmp(from, unit, len) == 0)
		from += len;
	if (strcmp(from, cut ? "\",\"cut\":true}" : "\"}") != 0)
		fail_msg("%s: %.40s", why, from);
}

static void no_line_is_longer_or_cut_within(void **state)
{
	static char text[10000];

	(void)state;
	for (size_t i = 0; i < COUNT(hostile); i++) {
		size_t unit = strlen(hostile[i].unit), count = 0;

		/* every length near the limit, and far above it */
		for (size_t shift = 0; shift < 40; shift++) {
			char lead[41] = { 0 };
			const struct log_origin o = { .kind = "info", .facts = LOG_FACTS(LOG_TEXT(list, lead)) };
			const char *is;

			memset(lead, 'l', shift);
			for (count = 0; (count + 1) * unit < sizeof text; count++)
				memcpy(text + count * unit, hostile[i].unit, unit);
			text[count * unit] = '\0';
			is = build(&o, text);
			assert_true(strlen(is) + 1 > LOG_JSON_MOST - 40); /* no more is left out than must be */
			check_cut(hostile[i].why, strstr(is, "\"message\":\"") + 11, hostile[i].written, true);
		}
		memcpy(text, hostile[i].unit, unit);
		text[unit] = '\0';
		check_cut(hostile[i].why, strstr(build(&(struct log_origin){ .kind = "info" }, text), "\"message\":\"") + 11,
			  hostile[i].written, false);
	}
}

static void what_comes_after_a_long_text_is_left_out_whole(void **state)
{
	static char text[LOG_JSON_MOST];
	const struct log_origin o = {
		.kind = "info", .event = LOG_EVENT_servfail,
		.facts = LOG_FACTS(LOG_TEXT(name, text), LOG_COUNT(port, 5), LOG_COUNT(cached, 1), LOG_COUNT(duration, 7),
				   LOG_TEXT(reason, "late"))
	};
	const char *is;

	(void)state;
	memset(text, 'n', sizeof text - 1);
	is = build(&o, "");
	assert_null(strstr(is, "port"));
	assert_null(strstr(is, "cached"));
	assert_null(strstr(is, "duration"));
	assert_null(strstr(is, "reason"));
	assert_non_null(strstr(is, "n\",\"cut\":true}"));
}

/* The longest name there is needs no cutting. */
static void a_name_of_the_greatest_length_fits(void **state)
{
	static char name[1025];
	const struct log_origin o = { .kind = "info", .event = LOG_EVENT_query,
				      .facts = LOG_FACTS(LOG_TEXT(name, name), LOG_TEXT(zone, name), LOG_TEXT(trigger, name)) };

	(void)state;
	for (size_t i = 0; i < 1024; i += 4)
		memcpy(name + i, "\\255", 4);
	assert_null(strstr(build(&o, ""), "cut"));
}

static void keep(const char *text, void *arg)
{
	snprintf(arg, LOG_JSON_MOST + 1, "%s", text);
}

static void the_log_writes_what_it_is_set_to(void **state)
{
	(void)state;
	log_capture(keep, line);
	assert_true(log_start(&(struct log_how){ .ident = "f\"x", .json = true }));
	log_thread(4);
	log_warn("%s", "a\377");
	assert_non_null(strstr(line, "\"level\":\"warning\",\"event\":\"message\",\"ident\":\"f\\\"x\",\"pid\":"));
	assert_non_null(strstr(line, ",\"thread\":4,\"room\":\"base/tests\",\"message\":\"a\\u00ff\"}"));
	assert_true(strstr(line, "Z\",\"level\"") != NULL);
	for (int i = 0; i < 15; i++)
		log_warn("again");
	log_report_repeats(true);
	assert_non_null(strstr(line, "\"event\":\"repeated\""));
	assert_non_null(strstr(line, "\"count\":5,\"message\":\"again\"}"));
	setenv("TZ", "UTC-9:30", 1);
	tzset();
	assert_true(log_start(&(struct log_how){ .json = true, .time_ascii = true }));
	log_line("info", "x");
	assert_non_null(strstr(line, "+09:30\",\"level\":\"info\""));
	assert_true(log_start(&(struct log_how){ .ident = "fox" }));
	log_line("info", "x");
	assert_int_equal(line[0], '[');
	log_thread(0);
	log_capture(NULL, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_has_its_head_and_its_parts),
		cmocka_unit_test(the_room_is_the_folder),
		cmocka_unit_test(no_line_is_longer_or_cut_within),
		cmocka_unit_test(what_comes_after_a_long_text_is_left_out_whole),
		cmocka_unit_test(a_name_of_the_greatest_length_fits),
		cmocka_unit_test(the_log_writes_what_it_is_set_to),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
