/* One iterative resolution: the state that the files of iterator/ share.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ITERATOR_ITER_H
#define ITERATOR_ITER_H

#include "iterator/caps.h"
#include "iterator/aliases.h"
#include "iterator/classify.h"
#include "iterator/delegation.h"
#include "iterator/qmin.h"
#include "iterator/race.h"
#include "iterator/select.h"
#include "services/query/query.h"
#include "services/upstream/upstream.h"

/* The states, in the order of an undisturbed resolution; each is a function on_NAME. `events` may come in
 * it: EVENT_*. It may go on at once (ITER_ON) with the states in `next`; itself among them only where each
 * repetition is counted. Whatever is not in this table ends the query (STEP_STUCK).
 *        state     events              next */
#define ITER_STATES(X)                                                                             \
	/* is the answer, or an alias towards it, in the cache? */                                 \
	X(start,    ON(ASK),            TO(start) | TO(find_zone) | TO(finish) | TO(fail))          \
	/* find the closest known servers; if there are none, prime */                             \
	X(find_zone, 0,                  TO(choose) | TO(fail))                                     \
	/* waiting for a zone's own NS set */                                                      \
	X(prime,    ON(CHILD),          TO(fail))                                                  \
	/* pick the next question and server; look up missing addresses */                         \
	X(choose,   0,                  TO(choose) | TO(find_zone) | TO(await) | TO(response) |       \
					TO(parent_fallback) | TO(finish) | TO(fail))                        \
	/* a query is out, or addresses are being looked up */                                     \
	X(await,    ON(CHILD) | ON(REPLY), TO(choose))                                             \
	/* a server has responded, or failed to */                                                 \
	X(response,  0,                  TO(start) | TO(choose) | TO(finish) | TO(fail))            \
	/* these servers have all failed: whom else does the parent know? */                       \
	X(parent_fallback,  0,                  TO(choose) | TO(find_zone) | TO(fail))                      \
	/* a response needs a second opinion */                                                    \
	X(confirm,  ON(CHILD),          TO(fail))                                                  \
	/* the answer is assembled and goes up; the module above may ask once more */              \
	X(finish,   ON(ASK),            0)                                                         \
	/* there is none: SERVFAIL, and that is the end */                                         \
	X(fail,     0,                  0)

enum iter_state {
#define X(name, events, next) ITER_##name,
	ITER_STATES(X)
#undef X
		ITER_STATE_COUNT
};

#define ITER_SENDS 50 /* most packets for one name, across all zones */
#define ITER_MEMORY (512u << 10) /* bytes kept for a query beyond which no further question is sent */

/* Sets of events and of states. */
#define ON(kind) (1u << EVENT_##kind)
#define TO(name) (1u << ITER_##name)

/* What to do after a state function. */
enum iter_step {
	ITER_ON,   /* continue with it->state at once */
	ITER_WAIT, /* until something wakes the query */
	ITER_UP,   /* q->reply is set: step up */
};

struct iter {
	struct query *q;
	struct arena *arena; /* the query's */
	const struct conf_server *conf;
	enum iter_state state;

	/* what is wanted */
	struct question want; /* at the end of the aliases met so far */
	struct aliases chain;   /* those aliases */
	unsigned restarts;    /* aliases and fallbacks: max-query-restarts */

	/* where we are */
	struct delegation *at;
	struct qmin qmin;
	struct question shown;                    /* what servers are asked: want, or a minimised form */
	bool question_due;                        /* `shown` is to be decided (anew) */
	bool authzone_failed;                     /* a zone held here could not answer: ask upstream */
	const struct forward_zone *config_failed; /* a configured zone whose servers have failed */
	const uint8_t *refetch;                   /* fetch this zone's delegation from above again */
	const struct delegation *failed;          /* that delegation as it was known before */
	uint32_t leeway_s;                        /* refresh: what expires this soon counts as expired */

	/* the query that is out */
	struct upstream_ask *asked;
	struct race *race; /* or one query to several servers */
	struct target *target; /* the server */
	enum tier tier;
	const struct upstream_reply *reply; /* for on_response */
	const struct netblock *sent_subnet; /* the client subnet sent; NULL: none */
	bool echoed;                  /* and the answer is for it */
	bool on_the_way;              /* it would be sent with the whole name, not with this part of it */
	struct caps caps;                   /* 0x20 fallback */
	unsigned sent;                      /* to these servers: max-sent-count */
	unsigned sent_in_all;               /* for this name, referrals included: ITER_SENDS */
	unsigned reply_took;                /* packets for the last reply: without EDNS once more, a connection, over UDP again … */
	struct message *empty;              /* a response without records (RESPONSE_empty) */

	/* looking for addresses */
	unsigned lookups;   /* names looked up for this delegation */
	bool wants_others;  /* the servers known do answer, but badly: so they can be asked for others of their zone */
	unsigned ns_without_addr; /* names without any address, in total: NXNSAttack */
	const uint8_t *asks_parent; /* this query may ask the parent's side for this zone */

	/* second opinions */
	struct message *pending_denial; /* a DS denial that may come from the child's side */
	const uint8_t *cut_probe; /* the name in between whose NS set is asked for */

	/* the end */
	struct message *answer;
	enum reason reason; /* of a failure: what the last server did */
	const char *reason_text;
};

/* Record the reason to give should the resolution fail. */
void iter_blame(struct iter *it, enum reason reason, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* Charge `packets` that were to no avail to the budget; free of charge for configured servers and
 * for side queries (mesh_side), which must not cost the client its answer. */
void iter_note_wasted(struct iter *it, unsigned packets);
/* Charge what one query took beyond its first packet (retries, another transport), and all of it if it was to no avail. */
void iter_note_sends(struct iter *it, const struct upstream_reply *reply);
/* Whether a query is out. */
static inline bool iter_is_asking(const struct iter *it)
{
	return it->asked || it->race;
}
/* Cancel the query that is out, if there is one. */
void iter_stop_asking(struct iter *it);
/* Cancel everything in progress for the current delegation. */
void iter_let_go(struct iter *it);
/* Make `d` the current delegation (NULL: none). */
void iter_go_to(struct iter *it, struct delegation *d);
/* Start over, for another name or along another path. False, with the blame set, when
 * max-query-restarts is exceeded. */
bool iter_restart(struct iter *it);
/* A policy zone ends the resolution here (q->stopped): the answer is the aliases so far. */
enum iter_step iter_stop(struct iter *it);
/* Whether no client will be told what is at one of the aliases' targets, `from` on in the chain. */
bool iter_is_barred(const struct iter *it, unsigned from);
/* Whether policy zones have rules for servers; and whether one of them ends the resolution, of what is
 * known by now of the servers of `d`. */
bool iter_has_server_rules(const struct iter *it);
bool iter_is_stopped_at(struct iter *it, const struct delegation *d);
/* Begin QNAME minimisation afresh, as far as the options allow it. */
void iter_hide_name(struct iter *it);

#endif
