/* Queries in flight: equal questions join, modules take turns, every client is answered.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * One mesh per worker, used by its thread only. Queries are equal when question, class and
 * kind are (QUERY_NO_CACHE aside: a client joins a refresh). num-queries-per-thread bounds the
 * queries that clients wait for, and refreshes. When all places are taken, half of them may be
 * reassigned: first, a client that holds many of these loses its oldest query to a client that
 * would hold far fewer; failing that, the oldest query past jostle-timeout gives way to a client
 * that holds no more than its owner. Otherwise the new query is dropped. So a client that sends
 * many slow queries gets no more than its share. */
#ifndef SERVICES_MESH_MESH_H
#define SERVICES_MESH_MESH_H

#include "services/query/query.h"
#include "util/conf/options.h"

struct client;
struct list;
struct alias_prefix;
struct request;
struct stored;
struct client_subnet;

struct mesh;

/* `modules` is NULL-terminated, outermost first, at most QUERY_MODULES; it and `env` must outlive
 * the mesh. */
struct mesh *mesh_new(struct env *env, const struct module *const *modules) MUST_USE;
void mesh_free(struct mesh *m); /* waiting clients are dropped */

/* ---- for the front end ---- */

/* Find the answer and send it through client->ops, now or later. `stale` is an expired answer
 * that may be sent after serve-expired-client-timeout or on failure (RFC 8767), or NULL. Copies
 * what it needs of request and client. The client is answered or dropped exactly once. */
void mesh_ask(struct mesh *m, const struct request *r, const struct client *c,
	      const struct stored *stale);

/* As mesh_ask, where the answer to `r` begins with aliases already known (services/answer/alias_prefix.h): their
 * target is resolved, and the client gets the whole chain. */
void mesh_ask_behind(struct mesh *m, const struct request *r, const struct client *c,
		     const struct alias_prefix *aliases);

/* Of the clients in `on_connection` (client_ops.waiting) drop the one for which `is` returns true, if there is one: it
 * no longer wants an answer. A query that nobody else needs is abandoned. With `is` NULL the connection has gone: all of
 * them are dropped, and what they asked for is looked up in its place among the queries all the same. */
void mesh_leave(struct mesh *m, struct list *on_connection,
		bool (*is)(const struct client *c, const void *arg), const void *arg);

/* The configuration has changed, and with it what was learnt for queries in progress: none goes on or keeps
 * anything any more. Clients are handed to env->readmit as if they asked now; without it, and for other callers,
 * their queries begin again. Not from within the mesh. With `unless_asked` queries go on; only their clients are handed
 * over, and join them again unless they are answered otherwise now. */
void mesh_begin_again(struct mesh *m, bool unless_asked);

/* Refresh a cached answer in the background, unless that is already under way. `where` is the
 * location of the client it was looked up for, or NULL. */
void mesh_refresh(struct mesh *m, const struct question *q, unsigned kind,
		  const struct client_subnet *where);

/* A cached answer was given, for the first time since it was stored (STORED_ASKED is clear). */
void mesh_note_hit(struct mesh *m, const struct stored *s, unsigned kind);

/* ---- for modules ---- */

/* All of these are for the running module. When it steps up, its timer is stopped, its pending
 * events are discarded, and its children run on without it. An event for a module that is not
 * waiting is kept until it is. */

/* Start or join a query that `q` needs. The running module gets EVENT_CHILD when it is done, never
 * before this returns. NULL, and no event, when it is too deep, the budget is spent, or it would
 * wait for itself (a cycle). Asking for the same child twice is one wait. */
const struct query *mesh_child(struct query *q, const uint8_t *name, uint16_t type, uint16_t class_,
			       unsigned kind) MUST_USE;
#define MESH_CHECKS 8 /* signature checks by all queries together before the loop runs on */

/* The module has done its share of this turn of the loop and has more to do: it gets EVENT_TURN
 * after other packets and timers. Queries that yielded take turns by client, as many in one turn
 * of the loop as MESH_CHECKS allows. */
void mesh_yield(struct query *q);
/* As mesh_child, in the same scope and for clients in the same subnet as `q`. */
const struct query *mesh_child_alike(struct query *q, const uint8_t *name, uint16_t type,
				     uint16_t class_) MUST_USE;
/* Start a query that `q` can use but does not wait for (side work such as target fetches). */
bool mesh_side(struct query *q, const uint8_t *name, uint16_t type, uint16_t class_, unsigned kind);
unsigned mesh_children(const struct query *q); /* not yet reported to it */
void mesh_forget_children(struct query *q);    /* stop waiting for any of them */

/* The hash of the query's question in the message cache. */
uint64_t query_message_hash(const struct query *q);

/* The running module has to ask servers: clients may be sent an expired answer from the message
 * cache, at once or after serve-expired-client-timeout. `found`: it got there while they waited. */
void mesh_allow_stale(struct query *q, bool found);
/* Whether the module cachedb's store is asked before an expired answer is sent (cachedb-check-when-serve-expired). */
static inline bool mesh_asks_store_first(const struct conf *conf)
{
	return conf->cachedb.cachedb_check_when_serve_expired && conf_has_module(conf, "cachedb");
}

/* EVENT_TIMER for the running module, once, after `from_now_us`. */
void mesh_wake_at(struct query *q, uint64_t from_now_us);

/* Deliver an event to the module of `q` that waits. Called from upstream callbacks. */
void mesh_wake(struct query *q, const struct event *ev);

/* ---- for control and other callers without a packet ---- */

/* Resolve `q`. `done` is called once, with a reply that is valid during the call. */
void mesh_resolve(struct mesh *m, const struct question *q, unsigned kind,
		  void (*done)(void *arg, const struct message *reply), void *arg);

/* Call `fn` for every query: those that clients wait for come last, oldest first. */
void mesh_each(struct mesh *m, void (*fn)(const struct query *q, void *arg), void *arg);
/* Whether no client waits for it, and it is no refresh. */
bool mesh_in_background(const struct query *q) PURE;
/* The module that runs or waits. */
const struct module *mesh_module(const struct query *q) PURE;
/* The server whose response that module is waiting for, or NULL. */
const struct addr *mesh_awaits(const struct query *q);
/* One of the queries that `q` waits for, or NULL. */
const struct query *mesh_waits_for(const struct query *q);
/* Queries that go on in one turn of the loop, where one answer wakes many. */
#define MESH_RUNS 32
/* Drop the queries there are (flush_requestlist), MESH_DROPS now and in each of the next turns. */
#define MESH_DROPS 32
void mesh_drop_all(struct mesh *m);
unsigned mesh_size(const struct mesh *m);
unsigned mesh_waiting(const struct mesh *m); /* answers owed, to clients and others */
void mesh_count(const struct mesh *m);       /* in the worker's counters, as gauges */

#endif
