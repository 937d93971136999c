/* Whether a configuration may be changed: what is wrong now, and was not before.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "util/base/fault.h"
#include "util/conf/options.h"

static bool has_error(const struct conf_report *r, const char *text)
{
	for (size_t i = 0; i < r->count; i++)
		if (r->remarks[i].weight == CONF_ERROR && strcmp(r->remarks[i].text, text) == 0)
			return true;
	return false;
}

/* What was wrong before, such as a file that has gone since, is no reason to refuse something else. */
bool conf_check_change(const struct conf *before, const struct conf *after, const struct conf_how *how,
		       struct fault *f)
{
	struct conf_report old = { 0 }, now = { 0 };
	bool good = conf_check(after, how, &now);

	if (!good && !conf_check(before, how, &old)) {
		good = true;
		for (size_t i = 0; good && i < now.count; i++)
			good = now.remarks[i].weight != CONF_ERROR || has_error(&old, now.remarks[i].text);
	}
	for (size_t i = 0; !good && i < now.count; i++) {
		if (now.remarks[i].weight != CONF_ERROR || has_error(&old, now.remarks[i].text))
			continue;
		fault_set(f, "%s", now.remarks[i].text);
		break;
	}
	conf_report_clear(&old);
	conf_report_clear(&now);
	return good;
}
