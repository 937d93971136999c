/* A worker: a loop and everything its thread owns.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The main thread makes and frees workers; between worker_start and worker_stop everything in one
 * belongs to its own thread, and others reach it with loop_post(w->env.loop, …). A played worker
 * (resolver-replay, tests) has no thread and no sockets: its maker runs the loop. */
#ifndef DAEMON_WORKER_WORKER_H
#define DAEMON_WORKER_WORKER_H

#include <pthread.h>
#include <stdatomic.h>

#include "services/answer/answer.h"
#include "services/dnstap/tap.h"
#include "services/query/env.h"
#include "services/query/module.h"
#include "services/query/query.h"

struct caches;
struct chaos;
struct dnstap;
struct fault;
struct listen_socket;
struct listen_tcp;
struct listen_udp;
struct loader;
struct aggressive;
struct querypipe;
struct queryring;
struct snapshot;
struct transport;
struct xfers;

struct worker {
	struct env env; /* env.snapshot is pinned */
	/* what the hot path needs of the configuration, worked out once per snapshot */
	struct answer_style style;
	struct {
		bool prefetch, habits, serve_expired, log_queries, log_replies, extended, drop_large,
			deny_any, validates, ignore_cd, changes, cookies, limits, subnets;
		bool notes_questions, notes_answers; /* whether any option needs each of them */
		uint32_t serve_expired_ttl_s, client_timeout_ms;
		bool asks_store; /* cachedb is asked before an expired answer is given */
	} on;
	struct tap tap;      /* env.tap, while one is attached */
	struct dnstap *dnstap; /* where it sends to; or NULL */
	struct querypipe *querypipe; /* likewise */
	_Atomic(struct queryring *) ring; /* of env.recorder, for other threads in their turns */
	struct xfers *xfers; /* zone transfers; NULL unless env.leads */
	struct chaos *chaos; /* answers of class CH */
	unsigned number;     /* 0 … num-threads - 1 */
	unsigned arena;      /* of mem_arena_for */

	const struct module *chain[QUERY_MODULES + 1];
	struct listen_udp *listen_udp; /* for clients; NULL when played */
	struct listen_tcp *listen_tcp;
	struct random *own_random;
	void *stats_room; /* the memory env.stats is in */
	unsigned started; /* modules whose init has run */
	struct aggressive *negative; /* env.negative, unless denials are being forgotten */
	bool played, running;
	atomic_bool ended; /* its thread has left the loop */
	pthread_t thread;
};

struct worker_how {
	unsigned number;
	struct snapshot *snapshot; /* the worker takes its own pin */
	const struct caches *caches;
	struct loader *loader; /* or NULL */
	struct dnstap *dnstap; /* or NULL */
	struct querypipe *querypipe; /* or NULL */
	/* For a played worker, and still the caller's; else all are NULL. */
	struct loop *loop;
	struct random *random;
	struct transport *udp, *tcp; /* their `env` is set to the worker's */
};

/* NULL, with a sentence in `f`, if a module does not start. */
struct worker *worker_new(const struct worker_how *how, struct fault *f) MUST_USE;
void worker_free(struct worker *w); /* NULL is fine; not while it runs */

/* Use this configuration from the next turn on. On the worker's own thread, or while it does not
 * run. Takes a pin. Where its generation is another one, queries in flight begin again; else they keep theirs. */
void worker_adopt(struct worker *w, struct snapshot *s);
/* What an older configuration had cached is forgotten: denials for other names count again. On its thread. */
void worker_has_forgotten(struct worker *w);

/* Serve these sockets from now on, and no others: takes over new descriptors, closes those no
 * longer named. On the worker's own thread, or while it does not run. */
void worker_serve(struct worker *w, const struct listen_socket *sockets, size_t count);

bool worker_start(struct worker *w, struct fault *f) MUST_USE;
void worker_stop(struct worker *w); /* and waits for its thread */

#endif
