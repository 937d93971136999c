/* Claims about reports of errors (RFC 9567).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/mesh/error_report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "util/base/arena.h"
#include "util/dns/dname.h"
#include "util/dns/msg.h"
#include "util/dns/rr.h"

#define AGENT "\2an\5agent"

static void an_agent_is_a_whole_name_and_nothing_else(void **state)
{
	static const struct {
		const char *why, *bytes;
		size_t len;
		bool good;
	} rows[] = {
		{ "a name", AGENT, sizeof AGENT, true },
		{ "with something behind it", AGENT "\0\377", sizeof AGENT + 1, false },
		{ "cut short", AGENT, sizeof AGENT - 1, false },
		{ "the root", "", 1, false },
		{ "nothing", "", 0, false },
		{ "a pointer", "\300\14", 2, false },
	};
	uint8_t option[64];

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct edns e = { .present = true };
		const uint8_t *agent;
		struct arena a;

		option[0] = 0, option[1] = EDNS_REPORT_CHANNEL;
		option[2] = 0, option[3] = (uint8_t)rows[i].len;
		memcpy(option + 4, rows[i].bytes, rows[i].len);
		e.options = (struct slice){ .at = option, .len = 4 + rows[i].len };
		arena_init(&a);
		agent = report_agent(&e, &a);
		if ((agent != NULL) != rows[i].good)
			fail_msg("%s", rows[i].why);
		if (agent)
			assert_memory_equal(agent, AGENT, sizeof AGENT);
		arena_clear(&a);
	}
}

static void its_name_tells_type_name_and_code(void **state)
{
	uint8_t asked[DNAME_MAX], agent[DNAME_MAX], name[DNAME_MAX];
	struct question q = { .name = asked, .type = TYPE_AAAA, .class_ = CLASS_IN };
	char text[DNAME_TEXT];

	(void)state;
	q.name_len = (uint16_t)dname_parse(asked, "www.example.test.", NULL);
	assert_true(dname_parse(agent, "an.agent.", NULL));
	assert_true(report_name(name, &q, 7, agent));
	assert_string_equal(dname_print(name, text), "_er.28.www.example.test.7._er.an.agent.");
}

static void a_name_that_would_be_too_long_is_no_report(void **state)
{
	static const char label[] = "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijk.";
	uint8_t asked[DNAME_MAX], agent[DNAME_MAX], name[DNAME_MAX];
	struct question q = { .name = asked, .type = TYPE_A, .class_ = CLASS_IN };
	char text[256];

	(void)state;
	snprintf(text, sizeof text, "%s%s%s", label, label, label);
	q.name_len = (uint16_t)dname_parse(asked, text, NULL);
	assert_int_not_equal(q.name_len, 0);
	assert_true(dname_parse(agent, label, NULL));
	assert_int_equal(report_name(name, &q, 7, agent), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_agent_is_a_whole_name_and_nothing_else),
		cmocka_unit_test(its_name_tells_type_name_and_code),
		cmocka_unit_test(a_name_that_would_be_too_long_is_no_report),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
