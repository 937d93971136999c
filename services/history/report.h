/* One line for each client query, for the logger of OPNsense's reporting page.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Thirteen fields with "|" between them, as the script dnsbl_module.py writes them:
 *
 *	policy, time, client, family (ip4, ip6), type, name, action, source, list, RCODE,
 *	milliseconds, security, TTL
 *
 * The logger keeps time, action, source, RCODE, milliseconds, security and TTL as whole numbers and
 * ends when one is none: so they are numbers always, 0 where nothing is known. The others may be
 * empty. */
#ifndef SERVICES_HISTORY_REPORT_H
#define SERVICES_HISTORY_REPORT_H

#include "services/history/decision.h"
#include "util/dns/dname.h"
#include "util/net/addr.h"

enum { REPORT_LINE = 4 * DNAME_MAX + 512 }; /* of any line, with newline and NUL */

/* A query and its outcome, on its way to the thread that writes the line. */
struct report {
	int64_t at_s;       /* when it was asked, since 1970 */
	uint32_t took_ms, ttl_s;
	struct addr client; /* family 0: not told */
	uint16_t type;
	uint8_t how, rcode, security; /* enums seen_how, rcode (SEEN_NO_ANSWER: none), security */
	/* not filled, but for what is there: */
	char policy[DECISION_WORD], list[DECISION_WORD]; /* what blocked it; or empty */
	uint8_t name[DNAME_MAX];
};

/* To hand one over in as few bytes as it takes: writes them, REPORT_BYTES at most, and returns how many. */
enum { REPORT_BYTES = sizeof(struct report) };
size_t report_pack(const struct report *r, uint8_t *to);
void report_unpack(struct report *r, const uint8_t *from);

/* The line with its newline; returns its length. The name is in small letters, and nothing in it is
 * a field's end or a line's. */
size_t report_line(const struct report *r, char line[REPORT_LINE]);

/* The least TTL of the answer section, or else of what comes first after it; 0: there is no record. */
uint32_t report_ttl(const uint8_t *wire, size_t len);

#endif
