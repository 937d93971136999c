/* One question's life: what it is, what it may cost, who waits, what came of it.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Created by the mesh, driven by it, freed by it with its arena. Modules read the
 * question, write `want_*` before they step down and `reply` before they step up. */
#ifndef SERVICES_QUERY_H
#define SERVICES_QUERY_H

#include "services/budget.h"
#include "services/env.h"
#include "services/module.h"
#include "services/shares.h"
#include "util/addr.h"
#include "util/arena.h"
#include "util/list.h"
#include "util/loop.h"
#include "util/msg.h"
#include "util/subnet.h"

#define QUERY_MODULES 6 /* most modules in a chain */

enum {                         /* query.kind: part of its identity when queries join */
       QUERY_CD = 1,           /* checking disabled: validator stands aside */
       QUERY_PRIME = 2,        /* prime this zone's NS set from its own servers, not the cache */
       QUERY_NO_CACHE = 4,     /* look nothing up in the message cache (refresh) */
       QUERY_PARENT_SIDE = 8,  /* ask the servers above the cut (DS; parent-side addresses) */
       QUERY_NO_VALIDATE = 16, /* the asker validates: keys and DS sets of the validator */
       QUERY_ROUTED = 64,      /* for a client: stops where a server would be told its subnet */
       QUERY_FORWARDED = 128,  /* and any server is told what it said of itself */
       QUERY_SCOPE = 256,      /* times the number of a scope (env->scopes) */
       QUERY_UNPOLICED = 32,   /* a policy zone has let it through: no other stops it */
};

/* Where a query sits: those that clients wait for are counted (num-queries-per-thread). */
enum query_seat {
	SEAT_BACKGROUND, /* children, refreshes, and what was given up by its clients */
	SEAT_KEPT,       /* runs to its end */
	SEAT_JOSTLED,    /* may have to make room, once it is old or for who holds less */
	SEATS
};

/* Queries of one kind and another scope are others; children have their parent's. */
static inline uint8_t query_scope(unsigned kind)
{
	return (uint8_t)(kind / QUERY_SCOPE);
}

struct whereabouts;

struct query {
	struct arena arena; /* everything below that is a pointer lives here or is pinned */
	struct env *env;
	struct snapshot *snapshot; /* pinned: the one it began with */
	struct question question;  /* lower-cased copy in the arena */
	unsigned kind;             /* QUERY_* */
	const struct netblock *subnet; /* only for clients there; NULL: for all (services/halls.h) */
	const struct view *view;   /* of the snapshot: whose ways it goes; NULL: the server's */
	struct scope_caches cache; /* of its scope; what is in `env` is everybody's */
	uint8_t scope;             /* the message cache's */
	unsigned depth;            /* 0: a client's; each child one more */
	struct budget *budget;     /* shared with parents and children */
	uint64_t begun_us;

	/* what modules tell each other */
	bool want_signatures;     /* validator: ask upstream with DO */
	bool no_store;            /* the answer must not be cached (forward-no-cache …) */
	bool no_message;          /* clients must not find it in the cache: policy zones have a say */
	bool stopped;             /* and this is what it led to: nobody was asked further */
	const struct met *met;    /* servers on the way that policy zones know (services/policed.h) */
	bool is_aside;            /* mesh_side: whoever began it does not wait for it */
	/* client subnets: the iterator says these (services/halls.h) */
	bool divided;         /* a server would be told where clients are: each asks for itself */
	bool listed;          /* the same, of a question that is no client's: it was told nothing */
	bool told_before;     /* that server has shown that it makes use of it */
	bool placed;          /* its server was told `subnet` and says for whom the answer holds: */
	bool secret;          /* would have been told, but the client wishes not */
	uint8_t subnet_scope; /* to so many bits */
	bool is_refresh;          /* begun by prefetch or serve-expired: nobody waits for it */
	const struct addr *avoid; /* validator: servers whose data were bogus */
	unsigned avoid_count;
	const uint8_t *report_to; /* iterator: the agent for failures that a server named, or NULL */
	struct addr answered_by; /* iterator: whose answer ended it; family 0: the cache's */
	struct message *reply; /* the answer, with rcode, sets, security, reason; in the arena */

	/* the mesh's own */
	struct mesh *mesh;
	uint64_t hash; /* of question and kind */
	struct query *bucket_next;
	void *state[QUERY_MODULES];
	unsigned at; /* module that runs or waits */
	enum query_seat seat;
	struct list in_mesh;  /* of the seat's list, oldest first */
	struct holding place; /* SEAT_JOSTLED: whose it is */
	struct list in_run;   /* it has events that can be handed over */
	struct list in_line;  /* it waits for a turn of its own: mesh_yield */
	struct list events;   /* not handed over yet, oldest first */
	struct list waiters;  /* clients and others outside the mesh */
	struct query *hall;       /* where others wait who asked the same from elsewhere */
	struct list in_hall;      /* its guests */
	struct list guests;       /* of a hall */
	unsigned visits;
	const struct whereabouts *asker; /* of a refresh: for whom */
	struct list parents;  /* links to queries that asked for this one */
	struct list children; /* links to queries this one waits for */
	unsigned waiter_count, child_count;
	unsigned holds;           /* events elsewhere that still speak of it */
	uint32_t walk;            /* last search for circles that came by */
	struct timer timer;       /* mesh_wake_at */
	unsigned timer_module;    /* who set it */
	unsigned line_module;     /* who yielded */
	struct timer stale_timer; /* serve-expired-client-timeout */
	struct timer deadline;    /* budget->deadline_us */
	bool stale_allowed;       /* clients need not wait: mesh_allow_stale */
	bool done, running, parked; /* a hall's module only waits for its guests */
};

#endif
