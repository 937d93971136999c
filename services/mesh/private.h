/* What the mesh's files share: admit.c (who comes in), mesh.c (turns), query.c (life and kin), waiters.c
 * (answers).
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SERVICES_MESH_PRIVATE_H
#define SERVICES_MESH_PRIVATE_H

#include "services/answer/alias_prefix.h"
#include "services/answer/answer.h"
#include "services/mesh/mesh.h"
#include "services/mesh/waiter.h"
#include "services/net/shares.h"
#include "services/query/snapshot.h"
#include "services/upstream/upstream.h"
#include "util/base/list.h"
#include "util/base/loop.h"
#include "util/conf/options.h"

#define LANES            32 /* clients are hashed to them */
#define QUERY_DEPTH_MAX  8  /* a client's is 0 */
#define QUERY_CHILDREN   64 /* further queries on behalf of one client query */
#define QUERY_WASTED       32 /* packets to servers that were silent or useless */
#define QUERY_NS_WITHOUT_ADDR  15 /* server names without an address, over all delegations */
#define QUERY_SIGNATURES 32
#define QUERY_GOOD_SIGNATURES 192
#define QUERY_HASHES     100
#define QUERY_TIME_US    (UINT64_C(10) * US_PER_S) /* then the client gets SERVFAIL */
#define WAIT_TIME_US     (QUERY_TIME_US + US_PER_S / 10) /* and then without its lookup, which may be its second */

/* Where a query sits. Slots other than SLOT_BACKGROUND count towards num-queries-per-thread. */
enum query_slot {
	SLOT_BACKGROUND, /* children, refreshes, and queries abandoned by their clients */
	SLOT_KEPT,       /* runs to completion */
	SLOT_JOSTLED,    /* may be evicted: when old, or for a client that holds fewer */
	SLOTS
};

/* A query and what the mesh keeps of it, which no module sees: from its beginning to query_free. */
struct mesh_lookup {
	struct query q;
	struct mesh *mesh;
	uint64_t number; /* as many came before it */
	uint64_t hash; /* of question and kind */
	struct mesh_lookup *bucket_next; /* or the next spare one */
	void *state[QUERY_MODULES];
	unsigned at; /* index of the module that runs or waits */
	enum query_slot slot;
	struct list in_mesh;  /* link in the list of its slot, oldest first */
	struct holding place; /* SLOT_JOSTLED: the client charged for it */
	struct list in_run;   /* linked while it has events to deliver */
	struct list in_yielded;  /* linked while it waits for its turn after mesh_yield */
	struct list events;   /* not delivered yet, oldest first */
	struct list waiters;  /* clients and others outside the mesh */
	struct query *group;       /* where others wait who asked the same from elsewhere */
	struct list in_group;      /* a member's link in group->members */
	struct list members;       /* of a group */
	unsigned visits;
	const struct client_subnet *asker; /* of a refresh: the client it is for */
	struct list parents;  /* links to queries that wait for this one */
	struct list children; /* links to queries this one waits for */
	unsigned waiter_count, child_count;
	unsigned holds;           /* events elsewhere that still refer to it */
	uint32_t walk;            /* number of the last search for cycles to visit it */
	struct timer timer;       /* mesh_wake_at */
	unsigned timer_module;    /* the module that set it */
	unsigned yield_module;     /* the module that yielded */
	struct timer stale_timer; /* serve-expired-client-timeout */
	struct timer deadline;    /* budget->deadline_us */
	bool stale_allowed;       /* expired answers may be sent: mesh_allow_stale */
	bool done, running, parked; /* parked: a group that only waits for its members */
};

/* The lookup that a query is part of, to change it, or to read it. */
static inline struct mesh_lookup *lookup_of(struct query *q)
{
	return container_of(q, struct mesh_lookup, q);
}

static inline const struct mesh_lookup *lookup_to_read(const struct query *q)
{
	return container_of(q, const struct mesh_lookup, q);
}

struct mesh {
	struct env *env;
	const struct module *modules[QUERY_MODULES];
	unsigned module_count;
	struct mesh_lookup **buckets; /* hash chains; their number is a power of two */
	size_t bucket_count;
	unsigned count; /* queries in the table */
	unsigned slots_used[SLOTS];
	struct waiters waiting;   /* clients and others, for all queries together */
	struct list slots[SLOTS]; /* queries, oldest first */
	struct list run;          /* queries with something to do now */
	struct list lanes[LANES]; /* queries that yielded, the next one first */
	unsigned lane;            /* the one served last */
	struct timer yield_timer;  /* runs the lanes */
	uint64_t yields;          /* so far */
	struct shares *shares;    /* owners of the queries in SLOT_JOSTLED */
	struct habits *habits;    /* what is fetched before anybody asks */
	bool running;             /* mesh_run is on the stack: no need to call it */
	bool drop_all;            /* requested while running, or some are left */
	uint64_t begun;           /* queries so far */
	uint64_t drop_before;     /* number of the first that is not to be dropped */
	struct timer drop_timer;  /* runs for the next of them */
	struct timer wait_timer;  /* ends the wait of the oldest waiter: waiters_limit_wait */
	struct timer rest_timer;  /* runs for the rest of `run` */
	uint32_t walk;            /* number of the last search for cycles */
	struct mesh_lookup *spare; /* freed ones, for reuse */
	unsigned spare_count;
	struct wake *spare_wakes;
	struct answer_style style; /* of the snapshot with this number */
	const struct snapshot *style_of;
	uint64_t style_number;
	unsigned written; /* counts answers written to `out` */
	uint8_t out[MSG_MAX];
};

/* `parent` waits for `child`; in the parent's arena. */
struct query_link {
	struct list of_child;  /* in child->parents */
	struct list of_parent; /* in parent->children */
	struct query *parent, *child;
	unsigned module; /* index of the parent's module that asked */
};

/* An event on its way to a module. */
struct wake {
	struct list link; /* in lookup->events */
	unsigned module;
	struct event event;
	struct upstream_reply reply; /* what event.reply points to */
	struct wake *spare;
};

static inline const struct conf *mesh_conf(const struct mesh *m)
{
	return m->env->snapshot->conf;
}

/* ---- query.c ---- */

/* The key of a query in the table. */
struct query_key {
	const struct question *q;
	unsigned kind;
	uint64_t hash;
	const struct netblock *subnet; /* or NULL */
};

struct query_key query_key(const struct question *q, unsigned kind);
struct query_key query_key_at(const struct question *q, unsigned kind, const struct netblock *subnet);

/* A query in the table, in SLOT_BACKGROUND, nothing started. Takes a reference to `budget`. */
struct query *query_new(struct mesh *m, const struct query_key *s, unsigned depth,
			struct budget *budget) MUST_USE;
/* Take it out of the table and its slot, stop its timers, clear its modules. Nothing can wake it
 * any more, but `reply` stays until query_free. */
void query_end(struct query *q);
void query_free(struct query *q); /* ended, and nobody holds it */
struct query *query_find(struct mesh *m, const struct query_key *s);
void query_move_slot(struct query *q, enum query_slot slot);

struct budget *budget_new(const struct mesh *m) MUST_USE; /* one reference */

void query_link_add(struct query *parent, struct query *child, unsigned module);
void query_link_remove(struct query_link *link);
/* `child`, which another query began, was lookup_refused (query_lookup_was_refused): have the same asked for again with the budget
 * of `parent`. False: it may not. */
bool query_ask_again(struct query *parent, const struct query *child, unsigned module);
struct query_link *query_link_between(const struct query *parent, const struct query *child);
/* Whether `from` waits for `target`, directly or through others; also true when the search is cut
 * short. */
bool query_waits_for(struct mesh *m, struct query *from, const struct query *target);

void wake_free(struct mesh *m, struct wake *w);
struct wake *wake_new(struct mesh *m) MUST_USE;
/* Discard the pending events of module `module` and those below it, and end their waits. */
void query_cancel_events(struct query *q, unsigned module);

/* ---- mesh.c ---- */

/* Begin a query at that depth; its first module is asked as soon as mesh_run comes to it. It takes a
 * reference to `budget`. */
struct query *query_begin(struct mesh *m, const struct query_key *s, unsigned depth,
			  struct budget *budget) MUST_USE;
/* Begin a query that is not in the table, with a budget of its own. */
struct query *mesh_begin(struct mesh *m, const struct query_key *s) MUST_USE;
/* Queue an event for a module of `q` and have it delivered. */
void mesh_tell(struct query *q, unsigned module, const struct event *event);
void mesh_run(struct mesh *m);
/* Abandon it: its clients are dropped, and so are children that nobody else needs. */
void mesh_give_up(struct query *q);
/* Its clients are gone: it goes on in the background, if others need it. */
void mesh_lose_clients(struct query *q);

/* ---- admit.c ---- */

/* Should the answer turn out to depend on the client's subnet, it is fetched for this client's, though nobody waits. The
 * first one counts; `where` may be NULL. */
void mesh_refresh_for(struct query *q, const struct client_subnet *where);

/* Give it a slot: a client waits for it now. */
void mesh_give_slot(struct query *q, const struct addr *client);
bool mesh_has_slots(const struct mesh *m);
/* Refresh what nobody has asked for just now (habits_fetch). False: nothing was begun. */
bool mesh_refresh_ahead(void *mesh, const struct question *q, unsigned kind);

static inline unsigned mesh_slots_taken(const struct mesh *m)
{
	return m->slots_used[SLOT_KEPT] + m->slots_used[SLOT_JOSTLED];
}

/* ---- waiters.c ---- */

/* A client's request and what is known for it already. */
struct asking {
	const struct request *request;
	const struct client *client;
	const struct question *q; /* to be resolved */
	const struct stored *stale;
	const struct alias_prefix *aliases; /* the aliases the answer begins with, or NULL */
	bool counted;            /* in env->waits */
};

/* Store the finished query's reply in the cache and send it to everybody who waits. */
void waiters_finish(struct query *q);
/* There is now an expired answer for clients that had none. */
void waiters_have_stale(struct query *q);
/* serve-expired-client-timeout is over: answer all clients that have an expired answer with it. */
void waiters_stale(struct query *q);
void waiters_drop(struct query *q);
/* However many lookups a client waits through (a group's and its member's, one that is begun again), it has its answer
 * WAIT_TIME_US after it asked: SERVFAIL, or an expired one. To be called when one more waits. Fires `mesh->wait_timer`. */
void waiters_limit_wait(struct mesh *m);
void waiters_on_limit(struct timer *t);
/* Move each client to the query that `where` returns; NULL: it stays. */
void waiters_sort(struct query *q,
		  struct query *(*where)(struct query *q, const struct request *r,
					 const struct client *c, void *arg),
		  void *arg);
void waiter_ask_again(struct waiter *w); /* as if for the first time; frees it */
void waiter_drop(struct waiter *w); /* and free it; a client's */
/* Of those who wait on one connection, drop the client for which `is` returns true; the query it waited for, or NULL
 * when there is none. */
struct query *waiters_leave(struct list *on_connection, bool (*is)(const struct client *c, const void *arg),
			    const void *arg);
void waiters_leave_all(struct list *on_connection);

/* ---- stale.c ---- */

/* What the cache has for who asks like `r` in place of a failure: fresh, or expired for no more than
 * serve-expired-ttl; or NULL. `hash`: msgcache_hash of `q`. */
const struct stored *stale_find(struct mesh *m, const struct question *q, uint64_t hash,
				const struct request *r);
/* The expired answer for who is led to `q` by aliases known already, or NULL. */
const struct stored *stale_behind(struct mesh *m, const struct question *q, const struct request *r);
/* Whether it is given before anything is asked: there is no client timeout, or nothing is to be asked as the
 * last refresh has just failed (stale_is_all). */
bool stale_goes_first(const struct mesh *m, const struct stored *s);
bool stale_is_all(const struct mesh *m, const struct stored *s);
/* Answer the clients that have an expired answer with it, unless the query is having a turn. */
void stale_give(struct query *q);
/* Do so after serve-expired-client-timeout. */
void stale_start_timer(struct query *q);
void stale_on_timer(struct timer *t); /* lookup->stale_timer.fire */

/* ---- subnet_groups.c ---- */

/* A member has its reply: clients in its group that the reply is valid for join the member. */
void subnet_group_gather(struct query *member);
/* A query ends, be it a member, a group or neither. */
void subnet_group_leave(struct query *q);
/* Have the group run: it has something to do. */
void subnet_group_wake(struct query *group);
/* `kind` with QUERY_ROUTED and, where it applies, QUERY_FORWARDED; unchanged when `w` is NULL. */
unsigned subnet_group_kind(unsigned kind, const struct client_subnet *w);

#endif
