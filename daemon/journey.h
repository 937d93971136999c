/* One packet on its way from a client: what has been found out about it, and how it may end.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A journey lives on the stack of frontend_take. Whoever ends it writes p->out and returns the
 * verdict of one of the functions below, which count and log it where that is wanted. All that
 * counts, logs, traces or keeps questions is off the hit path, behind one flag each. */
#ifndef DAEMON_JOURNEY_H
#define DAEMON_JOURNEY_H

#include "daemon/worker.h"
#include "services/acl.h"
#include "services/answer.h"
#include "services/cookies.h"
#include "services/listen.h"
#include "services/settled.h"
#include "services/stats.h"
#include "services/subnets.h"
#include "services/trace.h"
#include "util/rr.h"

struct acl_rule;
struct stored;

struct journey {
	struct worker *w;
	struct packet *p;
	enum request_kind kind;
	struct request request;
	enum acl_action action;
	const struct acl_rule *rule;
	struct answer_to to;
	const struct stored *stored; /* borrowed from the cache; NULL: nothing of use there */
	bool proven; /* that its address is its own: over a stream, or by a cookie */
	bool cookie_is_valid;
	uint8_t cookie[COOKIE_LEN];
	struct whereabouts where;
	struct subnet_option echo;
};

/* ---- ends ---- */

/* An error instead of an answer. */
enum verdict journey_refuse(struct journey *j, enum rcode rcode, enum reason reason);
/* The same for what does not even count as a question. */
enum verdict journey_reject(struct journey *j, enum rcode rcode, enum reason reason);
/* Only local data are for this client, and there are none for the question. */
enum verdict journey_refuse_stranger(struct journey *j);

void journey_note_sent(const struct journey *j);
void journey_count_answer(const struct journey *j); /* under extended-statistics */

/* The answer is in p->out: send it. */
static inline enum verdict journey_send(const struct journey *j)
{
	if (UNLIKELY(j->w->on.notes_answers))
		journey_note_sent(j);
	return VERDICT_SEND;
}

/* ---- notes ---- */

void journey_note_asked(const struct journey *j);

/* The question was let in. */
static inline void journey_note_question(const struct journey *j)
{
	stat_add(j->w->env.stats, STAT_queries);
	if (UNLIKELY(j->w->on.notes_questions))
		journey_note_asked(j);
}

/* For the query ring; the mesh does this for queries that go on there (VERDICT_LATER). */
void journey_testify(const struct journey *j, enum verdict v);

/* For whoever traces this question. */
#define journey_say(j, ...)                                                    \
	do {                                                                   \
		if (UNLIKELY((j)->w->env.trace))                               \
			trace_say((j)->w->env.trace, NULL, __VA_ARGS__);       \
	} while (0)

/* For the query ring and for whoever traces this question. */
#define journey_settled(j, how, ...) settle((j)->w->env.settled, how, __VA_ARGS__)

/* ---- what it asks, and what it may ---- */

/* Types that stand for something other than records; of those only ANY may be asked for. */
static inline bool journey_asks_meta(const struct journey *j)
{
	uint16_t type = j->request.q.type;

	return type == TYPE_OPT || (type >= 128 && type < 255);
}

static inline bool journey_wants_recursion(const struct journey *j)
{
	return j->request.flags & FLAG_RD;
}

static inline bool journey_wants_dnssec(const struct journey *j)
{
	return j->request.edns.present && (j->request.edns.flags & EDNS_DO);
}

/* Whether this client may be told what is cached, and not only what is configured here. Sets RD
 * under allow_setrd. */
static inline bool journey_may_use_cache(struct journey *j)
{
	if (LIKELY(j->action == ACL_ALLOW || j->action == ACL_ALLOW_SNOOP))
		return true;
	if (j->action == ACL_ALLOW_SETRD)
		j->request.flags |= FLAG_RD;
	return j->action == ACL_ALLOW_SETRD || (j->action == ACL_ALLOW_COOKIE && j->proven);
}

#endif
