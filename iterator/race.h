/* One query to several servers at once; the first good response wins (forward-strategy: race N).
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ITERATOR_RACE_H
#define ITERATOR_RACE_H

#include "services/upstream/upstream.h"

struct arena;
struct delegation;
struct target;
struct race;

#define RACERS_MOST 8

struct race_how {
	struct upstream *upstream;
	struct arena *arena;
	struct upstream_question question; /* the server is filled in from `targets` */
	const struct delegation *delegation; /* of which `targets` are */
	struct target *targets[RACERS_MOST];
	unsigned count;
	/* Called once, like upstream_ask's callback: with the first good response, or with the
	 * outcome of the last server. Other outcomes are dropped; servers that failed are spent. */
	void (*done)(void *owner, struct target *target, const struct upstream_reply *reply);
	void *owner;
};

/* Allocated in the arena. */
struct race *race_start(const struct race_how *how) MUST_USE;
void race_cancel(struct race *r); /* no effect when it is over; NULL is fine */

#endif
