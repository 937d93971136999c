/* Why an answer failed: the names, phrases and EDE codes of util/dns/reason.def.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/dns/reason.h"

static const struct {
	int ede;
	const char *text;
} reasons[REASONS] = {
#define REASON(id, ede, text) { ede, text },
#include "util/dns/reason.def"
#undef REASON
};

int reason_ede(enum reason r)
{
	return reasons[r].ede;
}

const char *reason_text(enum reason r)
{
	return reasons[r].text;
}
