/* One thread for slow work: reading lists and zones, fetching them from elsewhere.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Tasks run one at a time, in the order they become due, on a thread of their own that begins with
 * the first task. A task works aside and ends by publishing what it has made: it swaps a pointer
 * that readers read in turns (util/rcu.h), or posts to the loop it concerns (loop_post). The thread
 * has joined RCU and is outside a turn while a task begins. A task that is freed while the loader
 * goes on is removed first. */
#ifndef SERVICES_LOADER_H
#define SERVICES_LOADER_H

#include "util/base.h"

struct loader;

/* Embedded in what it works for, and zeroed but for `run` before it is first added. */
struct loader_task {
	void (*run)(struct loader_task *t); /* may add itself again, or others */
	/* the loader's */
	struct loader *loader;
	struct loader_task *next;
	uint64_t due_us;
	bool waits;
};

struct loader *loader_new(void) MUST_USE; /* after the last fork; costs nothing until it is used */
/* Break off what runs (loader_is_ending), wait for its end, forget the rest: no task runs any more.
 * Adding and removing tasks is harmless afterwards, and does nothing. */
void loader_end(struct loader *l);
void loader_free(struct loader *l); /* ends it first; NULL is fine */

/* Run the task `after_us` from now. One that waits already is moved there; one that runs is run
 * once more. From any thread. */
void loader_add(struct loader *l, struct loader_task *t, uint64_t after_us);
/* It does not wait any more, and does not run when this returns. From any thread but the
 * loader's. */
void loader_remove(struct loader *l, struct loader_task *t);

/* Whether long work should come to an end now, having failed. From any thread. */
bool loader_is_ending(const struct loader *l);

/* Until nothing that is due waits or runs (tests, the end of a start). */
void loader_settle(struct loader *l);

#endif
