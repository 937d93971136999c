/* Rules that apply only to some questions: AdGuard's dnstype, client, dnsrewrite.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SERVICES_BLOCKLIST_SPECIAL_H
#define SERVICES_BLOCKLIST_SPECIAL_H

#include "util/addr.h"
#include "util/dname.h"

enum { SPECIAL_WORDS = 8 }; /* types or clients of one rule */

struct list_special {
	uint16_t types[SPECIAL_WORDS];
	struct netblock clients[SPECIAL_WORDS];
	uint8_t type_count, client_count;
	bool other_types, other_clients; /* all except those listed */
	bool rewrites;                   /* what follows is the answer, in place of the list's: */
	uint8_t rcode;
	uint16_t type;      /* of the one record; 0: none */
	struct addr addr;   /* TYPE_A, TYPE_AAAA */
	uint8_t target[DNAME_MAX]; /* TYPE_CNAME */
};

/* Parse modifiers as in struct list_rule. False: others are among them. */
bool list_special_parse(struct list_special *s, const char *modifiers) MUST_USE;
/* Whether the rule applies to this question. `from` may be NULL: no client in particular. */
bool list_special_meets(const struct list_special *s, uint16_t type, const struct addr *from);

#endif
