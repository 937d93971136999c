/* Deferred freeing of what a turn may still see: nothing else calls liburcu (memb flavour).
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A turn is one run of one callback (doc/internals.md). Whatever is found through a
 * published pointer between rcu_turn_begin and rcu_turn_end stays alive until the
 * latter. util/base/loop opens and closes a turn around every callback; threads without
 * a loop do so themselves. Turns may nest. */
#ifndef UTIL_BASE_RCU_H
#define UTIL_BASE_RCU_H

#include <stdatomic.h>

#include "util/base/base.h"

/* Room for the bookkeeping of one deferred free, inside the object to be freed.
 * It may overlap fields that no reader reads. */
struct rcu_slot {
	void *opaque[2];
};

/* Called by every thread that opens turns, before its first and after its last.
 * May nest; loop_run and loop_play join for as long as they run. */
void rcu_thread_join(void);
void rcu_thread_leave(void);

void rcu_turn_begin(void);
void rcu_turn_end(void);

/* Call `fn(slot)` some time after every turn now open has ended, on any thread. */
void rcu_retire(struct rcu_slot *slot, void (*fn)(struct rcu_slot *));

/* For what takes long to free and has no reader any more, such as a snapshot's last pin: inside a turn
 * `fn` is called later, on the thread that frees what is retired, so that no client waits for it;
 * outside one at once. */
void rcu_release(struct rcu_slot *slot, void (*fn)(struct rcu_slot *));

/* A cheaper way to retire many small objects: they may wait until the thread has
 * retired a few hundred, leaves, or calls rcu_flush. */
void rcu_retire_idly(struct rcu_slot *slot, void (*fn)(struct rcu_slot *));

/* Wait until every turn now open has ended. Not to be called inside a turn. */
void rcu_wait(void);

/* Wait until everything retired so far has been freed, apart from what other
 * threads have retired idly (tests, shutdown). Not to be called inside a turn. */
void rcu_flush(void);

/* As fork(2), for a single-threaded program that goes on in the child; called
 * outside a turn. What was retired before is freed in both processes. A child that
 * only calls exec does not need it. */
int rcu_fork(void);

#define RCU_PUBLISH(where, what) \
	atomic_store_explicit(&(where), (what), memory_order_release)
#define RCU_READ(where) \
	atomic_load_explicit(&(where), memory_order_acquire)

#endif
