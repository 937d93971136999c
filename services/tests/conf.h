/* A configuration from text, for tests of this floor.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SERVICES_TESTS_CONF_H
#define SERVICES_TESTS_CONF_H

#include "util/conf/options.h"
#include "util/tests/wire.h"

static inline struct conf *conf_from(const char *text)
{
	struct conf *conf = conf_new();
	struct conf_how how = { .no_files = true, .test_switches = true };
	struct conf_report report = { 0 };

	if (!conf_load_text(conf, "test", text, strlen(text), &how, &report))
		fail_msg("%s: %s", text, report.remarks[0].text);
	conf_report_clear(&report);
	return conf;
}

#endif
