/* What an operator does to the resolver of a world: commands, other configurations, restarts.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The commands are the real ones (daemon/control/control.def), and so is what happens when a configuration takes another's place;
 * only sockets and files are not there. */
#ifndef TESTDATA_HOSTILE_OPERATOR_H
#define TESTDATA_HOSTILE_OPERATOR_H

#include "daemon/process/daemon.h"
#include "daemon/replay/world.h"

struct conf;
struct fault;

struct operator {
	struct world *world;
	struct daemon daemon;
	struct worker *workers[1];
};

/* Once the world has begun; and before it ends. */
void operator_begin(struct operator *o, struct world *w);
void operator_end(struct operator *o);

/* Puts `conf` into force, and waits until what it contradicts is forgotten. Takes it over if it can be. */
bool operator_reload(struct operator *o, struct conf *conf, struct fault *f) MUST_USE;

/* Runs one command; what it says, to be freed with mem_free. Not one with a body. */
char *operator_command(struct operator *o, const char *line) MUST_USE;

/* The cache is dumped, emptied if so wished, and loaded again. */
void operator_dump_and_load(struct operator *o, bool empty);

/* The process ends and begins again `gap_us` later, with another configuration perhaps, and the cache file between
 * them. Whoever waits for an answer gets none. On failure the world is over. */
bool operator_restart(struct operator *o, struct conf *conf, uint64_t gap_us, struct fault *f) MUST_USE;

#endif
