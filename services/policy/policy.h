/* What is answered locally, and what answers may not contain: the one interface to local zones,
 * views, response-ip and policy zones.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A question passes here once, before the caches (policy_answer). An answer, cached or fresh,
 * passes once for each client (policy_apply). Policy zones and blocklists are consulted from here,
 * in their order.
 *
 * An IPv6 address in dns64-prefix, whoever made it, leads to an IPv4 address. Rules for either
 * apply to it, that of the longer netblock before the other (IPv4's counts from 96 on; of equal ones
 * that for the IPv6 address): response-ip of the first address that has one, policy zones one after
 * the other. What denies the IPv4 address, be it with NXDOMAIN, a refusal or silence, denies only that:
 * there is no AAAA record, as without DNS64. A records that are to stand in its place are embedded in
 * the prefix, unless there are AAAA records to do so. */
#ifndef SERVICES_POLICY_POLICY_H
#define SERVICES_POLICY_POLICY_H

#include "services/access/acl.h"
#include "services/answer/alias_prefix.h"
#include "services/answer/answer.h"
#include "services/blocklist/blocklist.h"
#include "services/local/zones.h"
#include "util/net/addr.h"

struct authzones;
struct client;
struct conf;
struct fault;
struct met;
struct policy;
struct response_ip;
struct decision;
struct stats;
struct views;

struct policy {
	struct localzones *zones; /* the server clause's */
	struct views *views;
	struct response_ip *addresses; /* NULL: none */
	struct blocklists *lists;      /* for questions, consulted by the front end after its cache
					* lookup; for answers, from here */
	bool has_answer_rules;                   /* answers must be passed to policy_apply */
	bool has_address_rules;         /* there are response-ip rules, here or in views */
	bool follows;                  /* local-data-follow-cname */
	bool logs;                     /* log-local-actions */
	bool minimal;                  /* minimal-responses */
	const struct authzones *rpz; /* policy zones; NULL: none */
	struct netblock nat64;           /* dns64-prefix; family 0: none */
};

/* Use the policy zones in `zones`, which outlives the policy. */
void policy_bind_zones(struct policy *p, const struct authzones *zones);

struct policy *policy_new(const struct conf *conf, struct fault *f) MUST_USE;
void policy_free(struct policy *p); /* NULL is fine */
/* Free the lines of local zones and records in `conf`: the policy now holds them in less memory. */
void policy_shed(struct conf *conf);
/* Carry over the zones and records of `old`, and add the lines there are in `conf` (those that
 * conflict are logged). */
void policy_inherit(struct policy *p, const struct policy *old, const struct conf *conf);

/* The client that asks. */
struct policy_client {
	const struct acl_rule *rule;
	const struct client *client;
	struct stats *stats;   /* where matches are counted, or NULL */
	struct decision *decision; /* records what decided the question, or NULL */
	const struct met *met; /* servers that the answer came from (services/policy/rpz_match.h) */
	const struct message *own; /* the denial for which addresses were made; or NULL: none is known */
	bool embeds;           /* gets AAAA records made of the answer's A records (services/answer/alias_prefix.h) */
	bool let_through;      /* a policy zone has passed it: no other is consulted */
	bool sees_bogus;       /* asked with CD: bogus data is not hidden from it, so it is checked */
};

/* ---- questions ---- */

/* Whether policy_answer need be called at all. Very cheap. */
static inline bool policy_concerns(const struct policy *p, const struct acl_rule *rule,
				   const struct question *q)
{
	if (UNLIKELY(rule->sees != NULL || p->rpz != NULL))
		return true;
	if (LIKELY(q->class_ == 1))
		return localzones_concern(p->zones, q->name);
	return atomic_load_explicit(&p->zones->has_others, memory_order_relaxed);
}

enum policy_end {
	POLICY_PASS,   /* no rule matches */
	POLICY_LET_THROUGH, /* passed by a policy zone: none applies to its answer either */
	POLICY_SEND,   /* the answer was written */
	POLICY_DROP,   /* there will be no answer */
	POLICY_FOLLOW, /* it begins with aliases, whose target must be resolved */
};

/* Answer from the configuration. POLICY_FOLLOW: `aliases` is filled, in `a`. */
enum policy_end policy_answer(const struct policy *p, const struct policy_client *who,
			      const struct answer_to *to, struct writer *out, struct arena *a,
			      struct alias_prefix *aliases);

/* ---- answers ---- */

enum policy_result {
	OUTCOME_AS_IS,
	OUTCOME_CHANGED, /* send `m` instead */
	OUTCOME_DROP,
	OUTCOME_FOLLOW, /* send `aliases`, followed by the answer for its target */
};

struct policy_outcome {
	enum policy_result end;
	const struct message *m;
	struct alias_prefix aliases;
};

/* The message without what stands in its ADDITIONAL section although this client, if it asked for that,
 * would get something else: an answer from local zones, block lists, policy zones or response-ip. `m` itself where
 * nothing of the kind is there. Nothing is logged or counted. */
const struct message *policy_strip(const struct policy *p, const struct policy_client *who,
				   const struct message *m, uint32_t now_s, struct arena *a);
/* Whether local zones answer the question, if only with a denial. */
bool policy_has_local(const struct policy *p, const struct policy_client *who,
		      const struct question *q);

/* Whether any rule applies to answers. */
static inline bool policy_has_answer_rules(const struct policy *p)
{
	return p->has_answer_rules || blocklists_exist(p->lists);
}

/* Whether a cached answer must be passed to policy_apply: where there are such rules, or it has an ADDITIONAL
 * section. */
bool policy_doubts(const struct policy *p, const struct stored *s);

/* What a client gets in place of the answer `m`, of which policy_strip leaves the rest. Results are in `a`. */
void policy_apply(const struct policy *p, const struct policy_client *who, const struct message *m,
		  uint32_t now_s, struct arena *a, struct policy_outcome *j);
/* What was checked, left without the addresses that were made, gets the SOA record of the denial `own` (or NULL) for which
 * they were: as long as there are none, so long is it valid. */
void policy_bound(const struct message *own, struct arena *a, struct policy_outcome *j);

#endif
