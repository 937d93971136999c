/* What is answered without asking anyone, and what answers may not say: the one door to local
 * zones, views, response-ip and policy zones.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A question passes here once, before the caches (policy_answer). An answer, be it cached or fresh,
 * passes once for each client (policy_judge). Further rooms of this kind (policy zones, lists) are
 * asked from here, in their order. */
#ifndef SERVICES_POLICY_H
#define SERVICES_POLICY_H

#include "services/acl.h"
#include "services/answer.h"
#include "services/blocklist.h"
#include "services/lead.h"
#include "services/localzone.h"

struct authzones;
struct client;
struct conf;
struct fault;
struct met;
struct policy;
struct response_ip;
struct settled;
struct stats;
struct views;

struct policy {
	struct localzones *zones; /* the server clause's */
	struct views *views;
	struct response_ip *addresses; /* NULL: none */
	struct blocklists *lists;      /* asked beside this room: of each question by who has looked
					* into the cache first, of answers here */
	bool judges;                   /* answers are to be shown to policy_judge */
	bool judges_addresses;         /* by response-ip, here or in views */
	bool follows;                  /* local-data-follow-cname */
	bool logs;                     /* log-local-actions */
	bool minimal;                  /* minimal-responses */
	const struct authzones *policed; /* policy zones; NULL: there are none */
};

/* `zones`, which outlives the policy, has policy zones. */
void policy_bind_zones(struct policy *p, const struct authzones *zones);

struct policy *policy_new(const struct conf *conf, struct fault *f) MUST_USE;
void policy_free(struct policy *p); /* NULL is fine */
/* Local zones and records of `conf` are in the policy now, in less room: their lines are forgotten.
 */
void policy_shed(struct conf *conf);
/* Go on with the zones and records that `old` has, and with what lines there are in `conf` besides
 * (those that do not go with them are logged). */
void policy_inherit(struct policy *p, const struct policy *old, const struct conf *conf);

/* Who asks. */
struct policy_client {
	const struct acl_rule *rule;
	const struct client *client;
	struct stats *stats;   /* where matches are counted, or NULL */
	struct settled *settled; /* is told what settles it; or NULL */
	const struct met *met; /* servers that the answer came from (services/policed.h) */
	bool let_through;      /* by a policy zone: no other is asked */
};

/* ---- questions ---- */

/* Whether policy_answer need be called at all. Costs next to nothing. */
static inline bool policy_concerns(const struct policy *p, const struct acl_rule *rule,
				   const struct question *q)
{
	if (UNLIKELY(rule->sees != NULL || p->policed != NULL))
		return true;
	if (LIKELY(q->class_ == 1))
		return localzones_concern(p->zones, q->name);
	return atomic_load_explicit(&p->zones->has_others, memory_order_relaxed);
}

enum policy_end {
	POLICY_PASS,   /* nothing is said of it here */
	POLICY_LET_THROUGH, /* and no policy zone has anything to say of its answer */
	POLICY_SEND,   /* the answer was written */
	POLICY_DROP,   /* there will be none */
	POLICY_FOLLOW, /* it begins with aliases; where they lead must be asked */
};

/* Answer from what is written down. POLICY_FOLLOW: `lead` is filled, in `a`. */
enum policy_end policy_answer(const struct policy *p, const struct policy_client *who,
			      const struct answer_to *to, struct writer *out, struct arena *a,
			      struct lead *lead);

/* ---- answers ---- */

enum judgement_end {
	JUDGED_AS_IS,
	JUDGED_CHANGED, /* `m` instead */
	JUDGED_DROP,
	JUDGED_FOLLOW, /* `lead`, and then what its target has */
};

struct judged {
	enum judgement_end end;
	const struct message *m;
	struct lead lead;
};

/* Whether there is anything that answers are to be shown to. */
static inline bool policy_has_judges(const struct policy *p)
{
	return p->judges || blocklists_exist(p->lists);
}

/* Whether a cached answer need be shown to policy_judge at all, where some have to be. */
bool policy_doubts(const struct policy *p, const struct stored *s);

/* What a client gets in place of `m`, the answer to `q`. `who->client` may be NULL: nobody in
 * particular, a part of an answer that is still being made. Everything is in `a`. */
void policy_judge(const struct policy *p, const struct policy_client *who, const struct message *m,
		  uint32_t now_s, struct arena *a, struct judged *j);

#endif
