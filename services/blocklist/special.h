/* What restricts a rule to some questions, and what it answers: AdGuard's dnstype, client,
 * denyallow, dnsrewrite.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SERVICES_BLOCKLIST_SPECIAL_H
#define SERVICES_BLOCKLIST_SPECIAL_H

#include "util/dns/dname.h"
#include "util/net/addr.h"

/* The question put to a list. */
struct blocklist_asked {
	const uint8_t *name;
	uint16_t type;
	const struct addr *from; /* NULL: no client in particular */
};

/* dnsrewrite: part of an answer. */
struct blocklist_rewrite {
	bool any;      /* without a value: of an exception, to every rewrite */
	uint8_t rcode;
	uint16_t type; /* of the record; 0: none. TYPE_CNAME: what the name is an alias of is resolved */
	uint16_t len;
	uint8_t data[]; /* RDATA, names in it uncompressed */
};

/* Each array has what the rule is for, and after that what it is not for. */
struct blocklist_special {
	uint16_t *types;
	struct netblock *clients;
	const uint8_t **exempt; /* names that the rule leaves alone with all below them; sorted */
	uint16_t type_count, type_others, client_count, client_others, exempt_count;
	struct blocklist_rewrite *rewrite; /* NULL: none */
};

/* Parse modifiers as in struct blocklist_rule. False, with nothing to clear: others are among them,
 * or they cannot be applied here (names of clients). */
bool blocklist_special_parse(struct blocklist_special *s, const char *modifiers) MUST_USE;
void blocklist_special_clear(struct blocklist_special *s);
size_t blocklist_special_bytes(
	const struct blocklist_special *s); /* its memory, beyond the struct */
/* Whether the rule applies to this question. */
bool blocklist_special_meets(const struct blocklist_special *s,
			     const struct blocklist_asked *asked);
/* Whether two rewrites answer the same; with one of no value, whether that one takes back the other. */
bool blocklist_rewrite_equals(const struct blocklist_rewrite *a, const struct blocklist_rewrite *b);

#endif
