/* Why an answer failed: the names, phrases and EDE codes of util/dns/reason.def.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_DNS_REASON_H
#define UTIL_DNS_REASON_H

#include "util/base/base.h"

enum reason {
#define REASON(id, ede, text) REASON_##id,
#include "util/dns/reason.def"
#undef REASON
	REASONS
};

int reason_ede(enum reason r) PURE;             /* info code (RFC 8914); -1: none */
const char *reason_text(enum reason r) PURE;    /* a phrase, no full stop */

#endif
