/* What the mesh's rooms share: mesh.c (turns), query.c (life and kin), mesh_waiters.c (answers).
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SERVICES_MESH_PRIVATE_H
#define SERVICES_MESH_PRIVATE_H

#include "services/answer.h"
#include "services/lead.h"
#include "services/mesh.h"
#include "services/snapshot.h"
#include "services/upstream.h"
#include "util/options.h"

#define LANES            32 /* clients share one by chance */
#define QUERY_DEPTH_MAX  8  /* a client's is 0 */
#define QUERY_CHILDREN   64 /* further queries for one client's */
#define QUERY_VAIN       32 /* packets to servers that were silent or of no use */
#define QUERY_FRUITLESS  15 /* names of servers that had no address, wherever it was led */
#define QUERY_SIGNATURES 32
#define QUERY_HASHES     100
#define QUERY_TIME_US    (UINT64_C(10) * US_PER_S) /* then the client hears SERVFAIL */

struct mesh {
	struct env *env;
	const struct module *modules[QUERY_MODULES];
	unsigned module_count;
	struct query **buckets; /* a power of two of chains */
	size_t bucket_count;
	unsigned count; /* queries in the table */
	unsigned seated[SEATS];
	unsigned waiter_count;    /* clients waiting, all queries together */
	struct list seats[SEATS]; /* queries, oldest first */
	struct list run;          /* queries with something to do now */
	struct list lanes[LANES]; /* queries that yielded, the next one first */
	unsigned lane;            /* whose turn it was last */
	struct timer line_timer;  /* when it goes on */
	uint64_t yields;          /* so far */
	struct shares *shares;    /* whose the queries are that may have to make room */
	bool running;             /* further up the stack: whoever adds to `run` need not */
	bool drop_all;            /* asked for while running */
	uint32_t walk;            /* number of the last search for circles */
	struct query *spare;      /* freed ones, for the next */
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
	unsigned module; /* of the parent: who asked */
};

/* An event on its way to a module. */
struct wake {
	struct list link; /* in query->events */
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

/* What a query is found by. */
struct sought {
	const struct question *q;
	unsigned kind;
	uint64_t hash;
	const struct netblock *subnet; /* or NULL */
};

struct sought sought(const struct question *q, unsigned kind);
struct sought sought_at(const struct question *q, unsigned kind, const struct netblock *subnet);

/* In the table, in the background, nothing started. `budget` gets one more reference. */
struct query *query_new(struct mesh *m, const struct sought *s, unsigned depth,
			struct budget *budget) MUST_USE;
/* Out of the table and the seats, its timers stopped, its modules told; nothing can wake it any
 * more, but `reply` is there until query_free. */
void query_end(struct query *q);
void query_free(struct query *q); /* ended, and nobody holds it */
struct query *query_find(struct mesh *m, const struct sought *s);
void query_sit(struct query *q, enum query_seat seat);

struct budget *budget_new(const struct mesh *m) MUST_USE; /* one reference */
void budget_drop(struct budget *b);

void query_tie(struct query *parent, struct query *child, unsigned module);
void query_untie(struct query_link *link);
struct query_link *query_link_between(const struct query *parent, const struct query *child);
/* Whether `from` waits for `target`, be it through others; true as well when that is too
 * long to tell. */
bool query_waits_for(struct mesh *m, struct query *from, const struct query *target);

void wake_free(struct mesh *m, struct wake *w);
struct wake *wake_new(struct mesh *m) MUST_USE;
/* Throw away what module `module` and those below it were still to be told, and stop their waiting.
 */
void query_hush(struct query *q, unsigned module);

/* ---- mesh.c ---- */

/* Begin what nobody has asked for yet, with a budget of its own. */
struct query *mesh_begin(struct mesh *m, const struct sought *s) MUST_USE;
/* A client waits for it now. */
void mesh_seat(struct query *q, const struct addr *client);
bool mesh_has_seats(const struct mesh *m);

/* Queue an event for a module of `q` and see that it is handed over. */
void mesh_tell(struct query *q, unsigned module, const struct event *event);
void mesh_run(struct mesh *m);
/* Give it up: its clients are dropped, children that nobody else wants go with it. */
void mesh_give_up(struct query *q);

/* ---- mesh_waiters.c ---- */

/* Who asks what, and what is known already. */
struct asking {
	const struct request *request;
	const struct client *client;
	const struct question *q; /* what is to be found */
	const struct stored *stale;
	const struct lead *lead; /* what the answer begins with, or NULL */
	bool counted;            /* in env->waits */
};

/* Whatever it points to is copied. */
void waiter_add_client(struct query *q, const struct asking *a);
void waiter_add_callback(struct query *q, void (*done)(void *arg, const struct message *reply),
			 void *arg);
/* Keep the finished query's reply in the cache and give it to everybody who waits. */
void waiters_finish(struct query *q);
/* serve-expired-client-timeout is over: whoever may be given something stale gets it. */
/* There is something expired now for clients that had none. */
void waiters_have_stale(struct query *q);
void waiters_stale(struct query *q);
void waiters_drop(struct query *q);
/* Let each client go to where `where` says; NULL: it stays. */
void waiters_sort(struct query *q,
		  struct query *(*where)(struct query *q, const struct request *r,
					 const struct client *c, void *arg),
		  void *arg);
/* Drop the one of whom `is` says so; false when it is not here. */
bool waiters_leave(struct query *q, bool (*is)(const struct client *c, const void *arg),
		   const void *arg);


/* ---- mesh_halls.c ---- */

/* A guest has its reply: whoever waits in its hall and may have the same joins it. */
void hall_gather(struct query *guest);
/* A query ends, be it a guest or a hall. */
void hall_leave(struct query *q);
/* A hall has something to do. */
void hall_wake(struct query *hall);
/* Begin for who waits there, or for a refresh. */
unsigned hall_kind(unsigned kind, const struct whereabouts *w);

#endif
