/* One question on its way down: what the rooms of this floor share.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ITERATOR_ITER_H
#define ITERATOR_ITER_H

#include "iterator/caps.h"
#include "iterator/chain.h"
#include "iterator/classify.h"
#include "iterator/delegation.h"
#include "iterator/qmin.h"
#include "iterator/race.h"
#include "iterator/select.h"
#include "services/query.h"
#include "services/upstream.h"

/* The states, in the order a smooth walk goes through them; each is a function on_NAME. */
#define ITER_STATES(X)                                                                    \
	X(start)    /* is the answer, or an alias that leads on, in the cache? */         \
	X(approach) /* the closest servers we know; if none, prime */                     \
	X(prime)    /* waiting for a zone's own NS set */                                 \
	X(choose)   /* which question to which server now; addresses still to be found */ \
	X(await)    /* a question is out, or addresses are being looked up */             \
	X(digest)   /* a server has answered, or not */                                   \
	X(resort)   /* these servers are no use: whom else does the parent know? */       \
	X(consult)  /* what a server said wants a second word */                          \
	X(finish)   /* the answer is made whole and goes up */                            \
	X(fail)     /* there is none */

enum iter_state {
#define X(name) ITER_##name,
	ITER_STATES(X)
#undef X
		ITER_STATE_COUNT
};

#define ITER_SENDS 50 /* packets for one name, whatever zones they lead through */
#define ITER_VAIN  12 /* of the packets that may be in vain: not for what is asked on the way */

/* Where a state function leaves things. */
enum turn {
	TURN_ON,   /* go on with it->state at once */
	TURN_WAIT, /* until something wakes the query */
	TURN_UP,   /* q->reply is there */
};

struct iter {
	struct query *q;
	struct arena *arena; /* the query's */
	const struct conf_server *conf;
	enum iter_state state;

	/* what is wanted */
	struct question want; /* behind the aliases met so far */
	struct chain chain;   /* those aliases */
	unsigned restarts;    /* aliases and fallbacks: max-query-restarts */

	/* where we are */
	struct delegation *at;
	struct qmin qmin;
	struct question shown;            /* what servers are asked: want, or less of it */
	bool question_due;                /* it is to be decided (anew) */
	bool held_failed;                 /* a zone held here was no use: ask the internet */
	const struct forward_zone * not ; /* a configured zone that has failed us */
	const uint8_t *refetch;           /* get this zone's delegation from above afresh */
	const struct delegation *failed;  /* as it was known before */
	uint32_t leeway_s;                /* refreshing: what ends that soon has ended */

	/* the question that is out */
	struct upstream_ask *asked;
	struct race *race; /* or several servers at once */
	struct place *place; /* whom */
	enum tier tier;
	const struct upstream_reply *reply; /* for on_digest */
	const struct netblock *shows; /* what it is told of the client; NULL: nothing */
	bool placed;                  /* and its answer is for that */
	struct caps caps;                   /* 0x20 fallback */
	unsigned sent;                      /* to these servers: max-sent-count */
	unsigned sent_in_all;               /* for this name, referrals included: ITER_SENDS */
	struct message *empty;              /* somebody's answer that holds nothing */

	/* looking for addresses */
	unsigned lookups;   /* names looked up for this delegation */
	unsigned fruitless; /* names without any address, in all: NXNS */
	const uint8_t *goes_round; /* for this zone the parent's side may be asked by this query */

	/* a second word */
	struct message *held; /* the DS denial that may be the child's own */
	const uint8_t *climb; /* the name between that is asked for */

	/* the end */
	struct message *answer;
	enum reason reason; /* of a failure: what the last server did */
	const char *reason_text;
};

/* Remember why things may end badly. */
void iter_blame(struct iter *it, enum reason reason, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* So many packets brought nothing. An operator's own servers may be as silent as they like, and what is
 * asked on the side does not cost the client its answer. */
void iter_note_vain(struct iter *it, unsigned packets);
/* A question is out. */
static inline bool iter_is_asking(const struct iter *it)
{
	return it->asked || it->race;
}
/* Stop everything under way for the servers we stand at. */
void iter_let_go(struct iter *it);
/* Stand at other servers. */
void iter_go_to(struct iter *it, struct delegation *d);
/* Another name is wanted, or the way to it is to be found anew. False: that was once too often. */
bool iter_restart(struct iter *it);
/* A policy zone ends it here (q->stopped): the answer is the aliases so far. */
enum turn iter_stop(struct iter *it);
/* From now on the name may be shown as little as the options say (again). */
void iter_hide_name(struct iter *it);

/* on_digest: what a server said, or that it said nothing; without a reply, what was held back
 * until others had been asked. */
enum turn digest(struct iter *it);

#endif
