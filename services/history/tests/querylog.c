/* Claims about the lines of log-queries, log-replies and log-servfail: scripts read them.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/history/querylog.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "services/net/client.h"
#include "util/base/log.h"
#include "util/conf/options.h"
#include "util/dns/rr.h"

static char last[512];

/* What stands behind "[time] program[pid:thread] ". */
static void keep(const char *line, void *arg)
{
	const char *text = strstr(line, "] ");

	(void)arg;
	text = text ? strstr(text + 2, "] ") : NULL;
	snprintf(last, sizeof last, "%s", text ? text + 2 : line);
}

static const struct client client = {
	.from = { .family = 4, .ip = { 192, 0, 2, 1 }, .port = 5353 },
};

static void lines_look_as_scripts_expect(void **state)
{
	(void)state;
	static const uint8_t name[] = "\3www\7example\3com";
	static const struct {
		const char *why;
		bool tagged, nameless;
		uint16_t type, class_;
		enum rcode rcode;
		uint64_t took_us;
		const char *question, *answer;
	} rows[] = {
		{ "plain", false, false, TYPE_A, CLASS_IN, RCODE_NOERROR, 1234,
		  "info: 192.0.2.1 www.example.com. A IN",
		  "info: 192.0.2.1 www.example.com. A IN NOERROR 0.001234 0 45" },
		{ "tagged", true, false, TYPE_TXT, CLASS_CH, RCODE_REFUSED, 2000001,
		  "query: 192.0.2.1 www.example.com. TXT CH",
		  "reply: 192.0.2.1 www.example.com. TXT CH REFUSED 2.000001 0 45" },
		{ "unknown numbers", false, false, 65280, 7, RCODE_BADCOOKIE, 0,
		  "info: 192.0.2.1 www.example.com. TYPE65280 CLASS7",
		  "info: 192.0.2.1 www.example.com. TYPE65280 CLASS7 BADCOOKIE 0.000000 0 45" },
		{ "no question", false, true, 0, 0, RCODE_FORMERR, 0,
		  "info: 192.0.2.1 null TYPE0 CLASS0",
		  "info: 192.0.2.1 null TYPE0 CLASS0 FORMERR 0.000000 0 45" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct conf *conf = conf_new();
		struct question q = { .name = name,
				      .name_len = rows[i].nameless ? 0 : sizeof name,
				      .type = rows[i].type,
				      .class_ = rows[i].class_ };

		conf->server.log_tag_queryreply = rows[i].tagged;
		querylog_question(&conf->server, &client, &q);
		if (strcmp(last, rows[i].question) != 0)
			fail_msg("%s: '%s', not '%s'", rows[i].why, last, rows[i].question);
		querylog_answer(&conf->server, &client,
				&(struct querylog_answer){ .q = &q,
							   .rcode = rows[i].rcode,
							   .took_us = rows[i].took_us,
							   .len = 45 });
		if (strcmp(last, rows[i].answer) != 0)
			fail_msg("%s: '%s', not '%s'", rows[i].why, last, rows[i].answer);
		conf_free(conf);
	}
}

static void a_failure_says_why(void **state)
{
	static const uint8_t name[] = "\3www";
	struct question q = {
		.name = name, .name_len = sizeof name, .type = TYPE_A, .class_ = CLASS_IN
	};

	(void)state;
	querylog_failure(&q, REASON_sig_expired, NULL);
	assert_string_equal(last, "error: SERVFAIL <www. A IN>: signature expired");
	querylog_failure(&q, REASON_sig_expired, "of 2020");
	assert_string_equal(
		last, "error: SERVFAIL <www. A IN>: signature expired: of 2020");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_look_as_scripts_expect),
		cmocka_unit_test(a_failure_says_why),
	};

	log_capture(keep, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
