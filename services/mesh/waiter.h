/* Who waits for the answer to a query: what is kept of each, and how much of all of them.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A waiter has memory of its own, none of it in the query's arena: what clients bring is never counted
 * against the lookup they wait for, and is freed when they are answered, dropped, or have gone. Kept
 * is what an answer needs: id, flags, the name as the client spelt it, and of its EDNS options only
 * what they ask for (NSID, cookie, client subnet). That is WAITER_MOST bytes, and where aliases
 * made here precede the answer (services/answer/alias_prefix.h), those.
 *
 * How many wait is limited for one client by wait-limit, for one connection by ASKED_MOST
 * (services/listen/connection.h), and in all, per thread, by WAITERS_PER_QUERY times num-queries-per-thread, and
 * as many times WAITER_MOST bytes: 32,768 and 32 MiB by default. When that is reached, the next one takes
 * the place of the oldest of a client that has the most waiting (services/net/shares.h); where nobody has many, of the
 * oldest past jostle-timeout, first one whose address is not proven. Nobody else's lookup ends by it. */
#ifndef SERVICES_MESH_WAITER_H
#define SERVICES_MESH_WAITER_H

#include "services/net/client.h"
#include "services/net/shares.h"
#include "util/base/list.h"
#include "util/dns/msg.h"
#include "util/net/subnet.h"

struct asking;
struct alias_prefix;
struct query;

enum {
	WAITER_MOST = 1024,
	WAITERS_PER_QUERY = 16,
};

struct waiter {
	struct list link;          /* in lookup->waiters */
	struct list by_age;        /* of a client: in waiters->by_age */
	struct list on_connection; /* of a client over a stream: in the connection's list */
	struct query *query;
	struct holding place; /* of a client: in waiters->shares */
	size_t size;          /* bytes of memory */
	uint64_t begun_us;
	bool has_stale;          /* the cache had an expired answer for it */
	bool counted;            /* counted in env->waits */
	const struct alias_prefix *aliases; /* its answer starts with this, the query's follows; or NULL */
	void (*done)(void *arg, const struct message *reply); /* instead of a client */
	void *arg;
	struct client client;
	struct request request; /* its pointers refer to the waiter's own memory */
	bool has_echo;          /* its answer carries `echo` */
	struct subnet_option echo;
};

/* Those of one mesh. */
struct waiters {
	struct list by_age; /* clients, oldest first */
	struct shares *shares;
	unsigned count; /* clients and others */
	size_t size;    /* bytes kept of all of them */
};

void waiters_init(struct waiters *all);
void waiters_clear(struct waiters *all); /* nobody waits any more */

/* Copies everything `a` points to. */
void waiter_add_client(struct query *q, const struct asking *a);
void waiter_add_callback(struct query *q, void (*done)(void *arg, const struct message *reply), void *arg);
/* From now on it waits for the answer of another query. Its waiting time so far still counts. */
void waiter_move(struct waiter *w, struct query *to);
/* It waits no longer, but is still good. */
void waiter_leave(struct waiter *w);
void waiter_free(struct waiter *w); /* having left; its aliases as well */

/* What is kept of a request's options: an answer needs to know no more than this. Static memory. */
struct slice waiter_options(const struct request *r);

/* Whether all places, or all memory, are taken. */
bool waiters_are_many(const struct waiters *all, uint32_t queries_most) PURE;
/* Whose place another one takes, waiting since before `before_us` unless it is one of many of its client; NULL:
 * nobody's. Never one whose query is having a turn. */
struct waiter *waiters_to_give_way(struct waiters *all, uint64_t before_us);

#endif
