/* The rules of a response policy zone: triggers and actions, taken from the zone's records.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A trigger is an owner name: a query name, or an address in one of the branches rpz-client-ip,
 * rpz-ip and rpz-nsip, or a name server's name in rpz-nsdname. The records there give the action.
 * Names are looked up in the zone itself; addresses are indexed once. */
#ifndef SERVICES_AUTHZONE_RPZ_H
#define SERVICES_AUTHZONE_RPZ_H

#include "util/base/base.h"

struct addr;
struct rpz;
struct zonedata;
struct zonenode;

enum rpz_trigger { RPZ_QNAME, RPZ_CLIENT_IP, RPZ_IP, RPZ_NSDNAME, RPZ_NSIP, RPZ_TRIGGERS };

#define RPZ_ACTIONS(X)                                                  \
	X(passthru, "passthru") /* passed; no further zone applies */    \
	X(nxdomain, "nxdomain")                                         \
	X(nodata, "nodata")                                             \
	X(drop, "drop")                                                 \
	X(tcp_only, "tcp-only") /* truncated over UDP */                \
	X(cname, "local-data")  /* a CNAME to `target` */               \
	X(data, "local-data")   /* the records of `node` */             \
	X(disabled, "disabled") /* only logged */                       \
	X(cname_override, "cname-override") /* a CNAME from the clause */

enum rpz_action {
#define X(name, word) RPZ_##name,
	RPZ_ACTIONS(X)
#undef X
	RPZ_ACTION_COUNT
};

/* The word used in the log, without the prefix "rpz-". */
const char *rpz_action_word(enum rpz_action a) PURE;

struct rpz_rule {
	enum rpz_action action;
	const uint8_t *target;       /* of the CNAME; if it begins with "*", see rpz_target */
	const struct zonenode *node; /* the trigger's node in the zone */
	unsigned bits;               /* of an address's netblock; IPv4's count from 96 on */
};

/* The triggers of a zone, which must outlive them. Owners that make no rule are counted. */
struct rpz *rpz_new(const struct zonedata *z) MUST_USE;
void rpz_free(struct rpz *r); /* NULL is fine */
size_t rpz_unusable(const struct rpz *r);

/* The rule for a query name (RPZ_QNAME) or a name server's name (RPZ_NSDNAME): the name itself,
 * else the closest wildcard above it; a rule at a name in between hides the wildcards above that,
 * as records do in any zone. False: there is none. */
bool rpz_find_name(const struct rpz *r, enum rpz_trigger t, const uint8_t *name,
		   struct rpz_rule *out);
/* The rule for an address: that of the longest netblock that contains it. */
bool rpz_find_addr(const struct rpz *r, enum rpz_trigger t, const struct addr *a,
		   struct rpz_rule *out);

/* Whether records of this type are policy data: DNSSEC records, SOA, NS and DNAME are not. */
bool rpz_is_policy(uint16_t type) PURE;
/* Whether there is any trigger of this kind. */
bool rpz_has(const struct rpz *r, enum rpz_trigger t) PURE;
/* Whether the rule for some address in answers is to let them through. */
bool rpz_passes_addresses(const struct rpz *r) PURE;
/* The zone the rules are from. */
const struct zonedata *rpz_zone(const struct rpz *r) PURE;
/* The rule's trigger as text: a name such as "*.example.com.", or a netblock. */
#define RPZ_TEXT 1025
const char *rpz_trigger_text(const struct rpz *r, enum rpz_trigger t, const struct rpz_rule *rule,
			     char buf[RPZ_TEXT]);

/* Write the target of a CNAME for `qname` to `to` (DNAME_MAX bytes): a leading "*." is replaced by
 * the whole `qname`. Returns its length; 0: too long. */
size_t rpz_target(const struct rpz_rule *rule, const uint8_t *qname, uint8_t *to);

#endif
