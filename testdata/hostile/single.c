/* In the place of daemon/process/thread_job and of util/base/rcu's helper: the same, on this thread.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "testdata/hostile/single.h"

#include <string.h>

#include "daemon/process/thread_job.h"
#include "util/base/loop.h"
#include "util/base/mem.h"
#include "util/base/rcu.h"

/* ---- what is retired ---- */

static struct rcu_slot *retired;
static unsigned depth; /* of turns */
static bool frees;

/* The names are the linker's. */
void __real_rcu_turn_begin(void);
void __wrap_rcu_turn_begin(void);
void __real_rcu_turn_end(void);
void __wrap_rcu_turn_end(void);
void __wrap_rcu_retire(struct rcu_slot *slot, void (*fn)(struct rcu_slot *));
void __wrap_rcu_retire_idly(struct rcu_slot *slot, void (*fn)(struct rcu_slot *));
void __wrap_rcu_release(struct rcu_slot *slot, void (*fn)(struct rcu_slot *));
void __wrap_rcu_wait(void);
void __wrap_rcu_flush(void);
bool __wrap_thread_job_start(struct thread_job *a);
void __wrap_thread_job_join(struct thread_job *a);

/* What is freed may open turns and retire more. */
static void free_retired(void)
{
	if (frees)
		return;
	frees = true;
	while (retired) {
		struct rcu_slot *slot = retired;
		void (*fn)(struct rcu_slot *);

		retired = slot->opaque[0];
		memcpy(&fn, &slot->opaque[1], sizeof(fn));
		fn(slot);
	}
	frees = false;
}

void __wrap_rcu_turn_begin(void)
{
	depth++;
	__real_rcu_turn_begin();
}

void __wrap_rcu_turn_end(void)
{
	__real_rcu_turn_end();
	if (--depth == 0 && retired)
		free_retired();
}

void __wrap_rcu_retire(struct rcu_slot *slot, void (*fn)(struct rcu_slot *))
{
	slot->opaque[0] = retired;
	memcpy(&slot->opaque[1], &fn, sizeof(fn));
	retired = slot;
}

void __wrap_rcu_retire_idly(struct rcu_slot *slot, void (*fn)(struct rcu_slot *))
{
	__wrap_rcu_retire(slot, fn);
}

void __wrap_rcu_release(struct rcu_slot *slot, void (*fn)(struct rcu_slot *))
{
	if (depth)
		__wrap_rcu_retire(slot, fn);
	else
		fn(slot);
}

void __wrap_rcu_wait(void)
{
	PROMISE(!depth);
}

void __wrap_rcu_flush(void)
{
	PROMISE(!depth);
	free_retired();
}

/* ---- work of other threads ---- */

static struct thread_job *waiting; /* one at a time */

bool single_work(void)
{
	struct thread_job *a = waiting;

	if (!a)
		return false;
	PROMISE(!depth);
	waiting = NULL;
	a->work(a->arg);
	a->running = false;
	loop_post(a->home, a->done, a->arg);
	return true;
}

bool __wrap_thread_job_start(struct thread_job *a)
{
	if (waiting)
		return false; /* as if there could be no further thread */
	waiting = a;
	a->running = true;
	return true;
}

void __wrap_thread_job_join(struct thread_job *a)
{
	if (waiting == a) {
		waiting = NULL;
		a->work(a->arg);
	}
	a->running = false;
}
