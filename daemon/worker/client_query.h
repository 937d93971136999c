/* A query on its way through the front end: what is known about it, and how it may end.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * It lives on the stack of frontend_take. Whatever ends it writes p->out and returns the disposition of
 * one of the functions below, which count and log it if so configured. Counting, logging and
 * tracing are off the hit path, behind one flag each. */
#ifndef DAEMON_WORKER_CLIENT_QUERY_H
#define DAEMON_WORKER_CLIENT_QUERY_H

#include "daemon/worker/worker.h"
#include "services/access/acl.h"
#include "services/access/cookies.h"
#include "services/answer/answer.h"
#include "services/forward/subnets.h"
#include "services/history/decision.h"
#include "services/net/client.h"
#include "services/policy/policy.h"
#include "services/query/trace.h"
#include "services/stats/stats.h"
#include "util/dns/rr.h"

struct acl_rule;
struct stored;

struct client_query {
	struct worker *w;
	struct packet *p;
	enum request_kind kind;
	struct request request;
	enum acl_action action;
	const struct acl_rule *rule;
	struct answer_to to;
	const struct stored *stored; /* borrowed from the cache; NULL: nothing of use is cached */
	bool proven; /* its address is not forged: over a stream, or by a cookie */
	bool cookie_is_valid;
	uint8_t cookie[COOKIE_LEN];
	struct client_subnet where;
	bool tells_too_little; /* of its subnet: only what is held here is for it */
	struct subnet_option echo;
};

/* ---- ends ---- */

/* Answer with an error. */
enum disposition client_query_refuse(struct client_query *j, enum rcode rcode, enum reason reason);
/* The same, without counting it as a query. */
enum disposition client_query_reject(struct client_query *j, enum rcode rcode, enum reason reason);
/* The client may only be given local data, and there is none for this query. */
enum disposition client_query_refuse_stranger(struct client_query *j);

void client_query_note_sent(const struct client_query *j);
void client_query_log_answer(const struct client_query *j); /* under log-replies */
void client_query_count_answer(const struct client_query *j); /* under extended-statistics */

/* The answer is in p->out: send it. */
static inline enum disposition client_query_send(const struct client_query *j)
{
	if (UNLIKELY(j->w->on.notes_answers))
		client_query_note_sent(j);
	return DISPOSITION_SEND;
}

/* ---- notes ---- */

void client_query_note_asked(const struct client_query *j);

/* The query was admitted. */
static inline void client_query_note_question(const struct client_query *j)
{
	stat_add(j->w->env.stats, STAT_queries);
	if (UNLIKELY(j->w->on.notes_questions))
		client_query_note_asked(j);
}

/* Record it in the query ring; the mesh does this for queries it takes over (DISPOSITION_LATER). */
void client_query_record(const struct client_query *j, enum disposition v);

/* Tell whoever traces this query. */
#define client_query_say(j, ...)                                                    \
	do {                                                                   \
		if (UNLIKELY((j)->w->env.trace))                               \
			trace_say((j)->w->env.trace, NULL, __VA_ARGS__);       \
	} while (0)

/* Record what decided it, for the query ring and whoever traces this query. */
#define client_query_decided(j, how, ...) decision_note((j)->w->env.decision, how, __VA_ARGS__)

/* ---- what it asks for, and what its client may ---- */

/* Types that are not of records, except ANY. */
static inline bool client_query_asks_meta(const struct client_query *j)
{
	uint16_t type = j->request.q.type;

	return type == TYPE_OPT || (type >= 128 && type < 255);
}

static inline bool client_query_wants_recursion(const struct client_query *j)
{
	return j->request.flags & FLAG_RD;
}

static inline bool client_query_wants_dnssec(const struct client_query *j)
{
	return j->request.edns.present && (j->request.edns.flags & EDNS_DO);
}

/* Whether this client may be told what is cached, and not only what is configured here. Sets RD
 * under allow_setrd. */
static inline bool client_query_may_use_cache(struct client_query *j)
{
	if (LIKELY(j->action == ACL_ALLOW || j->action == ACL_ALLOW_SNOOP))
		return true;
	if (j->action == ACL_ALLOW_SETRD)
		j->request.flags |= FLAG_RD;
	return j->action == ACL_ALLOW_SETRD || (j->action == ACL_ALLOW_COOKIE && j->proven);
}

/* As policies see its client. */
static inline struct policy_client client_query_client(const struct client_query *j)
{
	return (struct policy_client){ .rule = j->rule,
				       .client = &j->p->client,
				       .stats = j->w->env.stats,
				       .decision = j->w->env.decision,
				       .let_through = j->request.rpz_passed,
				       .sees_bogus = j->request.flags & FLAG_CD };
}

#endif
