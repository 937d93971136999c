/* What a response policy zone says: triggers and actions, found in the records of the zone.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A trigger is an owner name: of a question, or of an address in one of the branches rpz-client-ip,
 * rpz-ip, rpz-nsip, or of a name server in rpz-nsdname. What the records there are is the action.
 * Names are looked up in the zone as it is; addresses are gathered once. */
#ifndef SERVICES_RPZ_H
#define SERVICES_RPZ_H

#include "util/base.h"

struct addr;
struct rpz;
struct zonedata;
struct zonenode;

enum rpz_trigger { RPZ_QNAME, RPZ_CLIENT_IP, RPZ_IP, RPZ_NSDNAME, RPZ_NSIP, RPZ_TRIGGERS };

#define RPZ_ACTIONS(X)                                                  \
	X(passthru, "passthru") /* the question is let through by all */ \
	X(nxdomain, "nxdomain")                                         \
	X(nodata, "nodata")                                             \
	X(drop, "drop")                                                 \
	X(tcp_only, "tcp-only") /* cut, over UDP */                     \
	X(cname, "local-data")  /* `target` instead */                  \
	X(data, "local-data")   /* the records of `node` */             \
	X(disabled, "disabled") /* it is only told of */                \
	X(cname_override, "cname-override") /* what the clause says instead */

enum rpz_action {
#define X(name, word) RPZ_##name,
	RPZ_ACTIONS(X)
#undef X
	RPZ_ACTION_COUNT
};

/* As in the log: "rpz-passthru" without its "rpz-". */
const char *rpz_action_word(enum rpz_action a) PURE;

struct rpz_rule {
	enum rpz_action action;
	const uint8_t *target;       /* of an alias; begins with "*": see rpz_target */
	const struct zonenode *node; /* where it stands in the zone */
};

/* The triggers of a zone, which outlives it. Owners that are no triggers are counted. */
struct rpz *rpz_new(const struct zonedata *z) MUST_USE;
void rpz_free(struct rpz *r); /* NULL is fine */
size_t rpz_unusable(const struct rpz *r);

/* The rule for a name that was asked for (RPZ_QNAME) or serves (RPZ_NSDNAME): the name itself before
 * the wildcards above it, the closest of those first; a rule for a name between hides wildcards
 * above it, as records do in any zone. False: there is none. */
bool rpz_find_name(const struct rpz *r, enum rpz_trigger t, const uint8_t *name,
		   struct rpz_rule *out);
/* The rule for an address: of the longest netblock that holds it. */
bool rpz_find_addr(const struct rpz *r, enum rpz_trigger t, const struct addr *a,
		   struct rpz_rule *out);

/* Whether records of this type are policy: those that sign, deny or name servers are not. */
bool rpz_is_policy(uint16_t type) PURE;
/* Whether there is any such trigger at all. */
bool rpz_has(const struct rpz *r, enum rpz_trigger t) PURE;
/* The zone that the rules are from. */
const struct zonedata *rpz_zone(const struct rpz *r) PURE;
/* What the rule stands at, for people: a name as "*.example.com.", or a netblock. */
#define RPZ_TEXT 1025
const char *rpz_trigger_text(const struct rpz *r, enum rpz_trigger t, const struct rpz_rule *rule,
			     char buf[RPZ_TEXT]);

/* Where an alias leads for `qname`: the target, where "*." takes the whole name in front. Its
 * length in `to` (DNAME_MAX bytes); 0: too long. */
size_t rpz_target(const struct rpz_rule *rule, const uint8_t *qname, uint8_t *to);

#endif
