/* One question to several servers at once; the first good answer counts (forward-strategy: race N).
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ITERATOR_RACE_H
#define ITERATOR_RACE_H

#include "services/upstream.h"

struct arena;
struct place;
struct race;

#define RACERS_MOST 8

struct race_how {
	struct upstream *upstream;
	struct arena *arena;
	struct upstream_question question; /* whom is filled in from `places` */
	struct place *places[RACERS_MOST];
	unsigned count;
	/* Once, as upstream_ask's: a good answer, or what the last one had to say. What the others
	 * did is told to no one, but those that failed are spent. */
	void (*done)(void *owner, struct place *place, const struct upstream_reply *reply);
	void *owner;
};

/* In the arena. */
struct race *race_start(const struct race_how *how) MUST_USE;
void race_cancel(struct race *r); /* harmless when it is over; NULL is fine */

#endif
