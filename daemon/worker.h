/* One worker: a loop and all that one thread owns.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A worker is made and freed by the thread that owns the daemon; between worker_start and
 * worker_stop everything in it belongs to its own thread, and others reach it by
 * loop_post(w->env.loop, …). A played worker (resolver-replay, tests) has no thread and no
 * sockets: whoever made it plays its loop. */
#ifndef DAEMON_WORKER_H
#define DAEMON_WORKER_H

#include <pthread.h>
#include <stdatomic.h>

#include "services/answer.h"
#include "services/env.h"
#include "services/module.h"
#include "services/query.h"
#include "services/tap.h"

struct caches;
struct chaos;
struct dnstap;
struct fault;
struct listen_socket;
struct listen_tcp;
struct listen_udp;
struct loader;
struct queryring;
struct snapshot;
struct transport;
struct xfers;

struct worker {
	struct env env; /* the rooms; env.snapshot is pinned */
	/* what the hot path asks of the configuration, made once per snapshot */
	struct answer_style style;
	struct {
		bool prefetch, serve_expired, log_queries, log_replies, extended, drop_large,
			deny_any, validates, ignore_cd, judges, cookies, limits, subnets;
		bool notes_questions, notes_answers; /* one of those that look at each of them */
		uint32_t serve_expired_ttl_s, client_timeout_ms;
		bool asks_store; /* before an expired answer is given */
	} on;
	struct tap tap;      /* env.tap, while somebody watches */
	struct dnstap *dnstap; /* where it leads; or NULL */
	_Atomic(struct queryring *) ring; /* of env.witness, for other threads in turns of theirs */
	struct xfers *xfers; /* zones that are fetched; NULL but where env.leads */
	struct chaos *chaos; /* answers of class CH */
	unsigned number;     /* 0 … num-threads - 1 */

	const struct module *chain[QUERY_MODULES + 1];
	struct listen_udp *listen_udp; /* towards clients; NULL when played */
	struct listen_tcp *listen_tcp;
	struct random *own_random;
	void *stats_room; /* memory that env.stats stands in */
	unsigned started; /* modules whose init has run */
	bool played, running;
	pthread_t thread;
};

struct worker_how {
	unsigned number;
	struct snapshot *snapshot; /* the worker takes a pin of its own */
	const struct caches *caches;
	struct loader *loader; /* or NULL */
	struct dnstap *dnstap; /* or NULL */
	/* A played worker is given these, and they stay the giver's; else all are NULL. */
	struct loop *loop;
	struct random *random;
	struct transport *udp, *tcp; /* their `env` is set to the worker's */
};

/* NULL with a sentence in `f` when a module does not start. */
struct worker *worker_new(const struct worker_how *how, struct fault *f) MUST_USE;
void worker_free(struct worker *w); /* NULL is fine; not while it runs */

/* Work under another configuration from the next turn on. In the worker's own thread, or while it
 * does not run. Takes a pin; queries in flight keep theirs. */
void worker_adopt(struct worker *w, struct snapshot *s);

/* Serve these sockets from now on, and no others: descriptors that are new are taken over, those
 * that are no longer named are closed. In the worker's own thread, or while it does not run. */
void worker_serve(struct worker *w, const struct listen_socket *sockets, size_t count);

bool worker_start(struct worker *w, struct fault *f) MUST_USE;
void worker_stop(struct worker *w); /* and wait for its end */

#endif
