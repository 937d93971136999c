/* One query to several servers, at once (forward-strategy: race N) or to a second one when the first takes longer than
 * usual; the first good response wins.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ITERATOR_RACE_H
#define ITERATOR_RACE_H

#include "services/upstream/upstream.h"

struct arena;
struct loop;
struct target;
struct race;

#define RACERS_MOST 8

struct race_how {
	struct upstream *upstream;
	struct arena *arena;
	struct upstream_question question; /* the server is filled in from `targets` */
	struct target *targets[RACERS_MOST];
	unsigned count;
	/* Of the first, if it was just looked up; or NULL. */
	const struct infra_view *known;
	/* After `hedge_ms`, if that is not 0: another server to ask as well; NULL: none. The first is given `wait_ms` in
	 * all. Those that are slower are let finish: how long they take is still learnt. */
	uint32_t hedge_ms, wait_ms;
	struct target *(*another)(void *owner);
	struct loop *loop;
	/* Called once, like upstream_ask's callback: with the first good response, or with the
	 * outcome of the last server; before, `lost` with each other outcome that came. */
	void (*done)(void *owner, struct target *target, const struct upstream_reply *reply);
	void (*lost)(void *owner, struct target *target, const struct upstream_reply *reply);
	void *owner;
};

/* Allocated in the arena. */
struct race *race_start(const struct race_how *how) MUST_USE;
void race_cancel(struct race *r); /* no effect when it is over; NULL is fine */

#endif
