/* Queries in flight: equal questions join, modules take turns, everybody is answered.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * One mesh per worker, used by its thread only. Queries are equal when question, class and
 * kind are (QUERY_NO_CACHE aside: a client joins a refresh). num-queries-per-thread bounds those
 * that clients wait for, and refreshes. When all places are taken, half of them may be given to
 * others: a client that holds many of these gives way to one that would hold far fewer (its oldest
 * query goes), and then queries older than jostle-timeout (the oldest goes) to who holds as much.
 * Where neither is, the newcomer is dropped. So whoever floods us with names that take long has, like
 * everybody, its share. */
#ifndef SERVICES_MESH_H
#define SERVICES_MESH_H

#include "services/query.h"

struct client;
struct lead;
struct request;
struct stored;
struct whereabouts;

struct mesh;

/* `modules` is NULL-terminated, outermost first, at most QUERY_MODULES; it and `env` outlive the
 * mesh. */
struct mesh *mesh_new(struct env *env, const struct module *const *modules) MUST_USE;
void mesh_free(struct mesh *m); /* waiting clients are dropped */

/* ---- for the front end ---- */

/* Find the answer and send it through client->ops, now or later. `stale` is an expired
 * answer that may be given after serve-expired-client-timeout or on failure (RFC 8767), or NULL.
 * Copies what it needs of request and client. Whatever happens, the client is
 * answered or dropped exactly once. */
void mesh_ask(struct mesh *m, const struct request *r, const struct client *c,
	      const struct stored *stale);

/* The same where the answer to `r` begins with aliases that are known already (services/lead.h): what
 * they lead to is found, and the client gets all of it. */
void mesh_ask_behind(struct mesh *m, const struct request *r, const struct client *c,
		     const struct lead *lead);

/* The client that `is` says so of, if it still waits, does not want an answer any more: it is dropped, and
 * a query that nobody else needs is given up. */
void mesh_leave(struct mesh *m, bool (*is)(const struct client *c, const void *arg),
		const void *arg);

/* Refresh a cached answer in the background, unless that is under way. `where` the client is for whom
 * it was looked up, or NULL. */
void mesh_refresh(struct mesh *m, const struct question *q, unsigned kind,
		  const struct whereabouts *where);

/* ---- for modules ---- */

/* All of these are for the module that runs. When it steps up it has said all it had to say: its
 * timer is stopped, what it was still to be told is thrown away, and its children go on by
 * themselves. An event for a module that does not wait now is kept until it does. */

/* A query that `q` needs. The module that asks gets EVENT_CHILD when it is done, never
 * before this returns. NULL, and no event, when it cannot be: too deep, no budget, or it
 * would wait for itself (a circle). The same child asked twice is one wait. */
const struct query *mesh_child(struct query *q, const uint8_t *name, uint16_t type, uint16_t class_,
			       unsigned kind) MUST_USE;
#define MESH_CHECKS 8 /* of signatures, by all queries together, before packets of others come first */

/* It has done its share of this turn of the loop and has more to do: packets and timers of others
 * come first, then it gets EVENT_TURN, one of each client in turn, as far as MESH_CHECKS last. */
void mesh_yield(struct query *q);
/* The same for the clients of `q` itself, wherever they are. */
const struct query *mesh_child_alike(struct query *q, const uint8_t *name, uint16_t type,
				     uint16_t class_) MUST_USE;
/* A query that `q` likes to have but does not wait for (RFC 8198-like side work, target fetch). */
bool mesh_side(struct query *q, const uint8_t *name, uint16_t type, uint16_t class_, unsigned kind);
unsigned mesh_children(const struct query *q); /* it has not yet been told of */
void mesh_forget_children(struct query *q);    /* wait for none of them any more */

/* What the message cache finds the query's question by. */
uint64_t query_message_hash(const struct query *q);

/* The module that runs has to ask servers: clients may be given what has expired in the message cache,
 * now or when serve-expired-client-timeout is over. `found`: it has come there while they waited. */
void mesh_allow_stale(struct query *q, bool found);

/* EVENT_TIMER for the running module, once, after `us`. */
void mesh_wake_at(struct query *q, uint64_t from_now_us);

/* Hand an event to the module of `q` that waits. Called by upstream rooms' callbacks. */
void mesh_wake(struct query *q, const struct event *ev);

/* ---- for control and others without a packet ---- */

/* Resolve; `done` is called once, with a reply that is good for the call. */
void mesh_resolve(struct mesh *m, const struct question *q, unsigned kind,
		  void (*done)(void *arg, const struct message *reply), void *arg);

/* Those that clients wait for come last, the oldest first. */
void mesh_each(struct mesh *m, void (*fn)(const struct query *q, void *arg), void *arg);
/* One of the queries that `q` waits for, or NULL. */
const struct query *mesh_waits_for(const struct query *q);
void mesh_drop_all(struct mesh *m); /* flush_requestlist */
unsigned mesh_size(const struct mesh *m);
unsigned mesh_waiting(const struct mesh *m); /* answers that are due, to clients and others */

#endif
