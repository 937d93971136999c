/* The played world: a worker whose network, clock and dice belong to a scenario.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Real modules, caches and front end; the two upstream transports put each message in a
 * list and wait for the scenario to answer it, and clients' answers go to another list. */
#ifndef DAEMON_REPLAY_WORLD_H
#define DAEMON_REPLAY_WORLD_H

#include "daemon/worker/caches.h"
#include "services/net/client.h"
#include "services/upstream/upstream.h"
#include "util/base/list.h"
#include "util/base/random.h"

struct conf;
struct fault;
struct loop;
struct slice;
struct snapshot;
struct worker;
struct world;

struct outstanding {                    /* a question to a server, not answered yet */
	struct list link;
	struct transmission *transmission;        /* its bytes and where they go */
	bool tcp;
	/* for who plays the servers: not to be answered before then, and what has been decided about it */
	uint64_t due_us;
	unsigned decided;
};

struct client_answer {                  /* what a client got and nobody looked at yet */
	struct list link;
	struct addr to;
	bool tcp;
	struct slice wire;              /* heap, freed with the answer */
};

struct played_wire {
	struct transport transport;
	struct world *world;
	bool tcp;
};

struct world {
	bool steady;                    /* set before it begins: as in struct timebase */
	struct loop *loop;
	struct random random;
	struct caches caches;
	struct snapshot *snapshot;
	struct worker *worker;
	struct played_wire udp, tcp;
	struct list outstanding;        /* newest first */
	struct list answers;            /* oldest first */
	bool keeps_alive;               /* the clients over TCP, on one connection, have asked to be told how long it may be idle */
	/* told of each question that goes out; may be NULL */
	void (*sent)(void *arg, struct outstanding *o);
	void *arg;
};

/* A world at second `start_s` that lives by `conf`, which it takes over on success. */
bool world_begin(struct world *w, struct conf *conf, uint64_t start_s, struct fault *f) MUST_USE;
void world_end(struct world *w);

/* A client's message comes in. */
void world_ask(struct world *w, const struct addr *from, bool tcp, struct slice message);

/* An outstanding question ends: by one or more messages, or without any. `o` is gone afterwards. */
void world_deliver(struct world *w, struct outstanding *o, const struct slice *answers,
		   size_t count);
void world_fail(struct world *w, struct outstanding *o);
/* A packet with another id comes, over UDP. True: the question is given up there, and `o` is gone. */
bool world_stray(struct world *w, struct outstanding *o) MUST_USE;

void world_pass(struct world *w, uint64_t us);          /* time */
uint64_t world_next_timer(struct world *w);             /* microseconds, UINT64_MAX: none */

void client_answer_free(struct client_answer *a);

#endif
