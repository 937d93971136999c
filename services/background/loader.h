/* One thread for slow work: reading lists and zones, fetching them over the network.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Tasks run one at a time, in the order they become due, on a thread of their own that is started
 * with the first task. A task works on that thread and ends by publishing its result: it swaps a pointer
 * that readers use within turns (util/base/rcu.h), or posts to the loop concerned (loop_post). The
 * thread has joined RCU and is outside a turn when a task begins. Remove a task before freeing it,
 * unless the loader has ended. */
#ifndef SERVICES_BACKGROUND_LOADER_H
#define SERVICES_BACKGROUND_LOADER_H

#include "util/base/base.h"

struct loader;

/* Embedded in the struct it works for; zeroed except for `run` before it is first added. */
struct loader_task {
	void (*run)(struct loader_task *t); /* may add itself again, or others */
	/* private to the loader */
	struct loader *loader;
	struct loader_task *next;
	uint64_t due_us;
	bool waits;
};

struct loader *loader_new(void) MUST_USE; /* after the last fork; costs nothing until it is used */
/* Abort the running task (loader_is_ending), wait for it, discard the rest: no task runs any more.
 * After that adding and removing tasks does nothing. */
void loader_end(struct loader *l);
void loader_free(struct loader *l); /* ends it first; NULL is fine */

/* Run the task `after_us` from now. One that is waiting is rescheduled; one that is running is run
 * once more. From any thread. */
void loader_add(struct loader *l, struct loader_task *t, uint64_t after_us);
/* When this returns the task neither waits nor runs. From any thread but the loader's. */
void loader_remove(struct loader *l, struct loader_task *t);

/* Whether long-running work should stop now, as failed. From any thread. */
bool loader_is_ending(const struct loader *l);

/* Wait until nothing that is due waits or runs (tests, end of startup). */
void loader_finish(struct loader *l);

#endif
