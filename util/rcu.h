/* Freeing what a turn may still see: the only door to liburcu (memb flavour).
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A turn is one run of one callback (STYLE.md 7). Between rcu_turn_begin and
 * rcu_turn_end whatever was found through a published pointer stays alive.
 * util/loop opens and closes turns around every callback; threads without a
 * loop do so themselves. Turns may nest. */
#ifndef UTIL_RCU_H
#define UTIL_RCU_H

#include <stdatomic.h>

#include "util/base.h"

/* Room for the bookkeeping of one deferred free, inside the thing to be freed.
 * It may overlap fields that readers do not read. */
struct rcu_slot {
	void *opaque[2];
};

/* In every thread that opens turns, before the first, and after the last. May
 * nest; loop_run and loop_play join for as long as they run. */
void rcu_thread_join(void);
void rcu_thread_leave(void);

void rcu_turn_begin(void);
void rcu_turn_end(void);

/* Call `fn(slot)` when every turn that is open now has ended; on any thread,
 * some time later. */
void rcu_retire(struct rcu_slot *slot, void (*fn)(struct rcu_slot *));

/* The same for many small things of one thread, cheaper: they may wait until
 * there are some hundreds, or the thread leaves, or calls rcu_flush. */
void rcu_retire_idly(struct rcu_slot *slot, void (*fn)(struct rcu_slot *));

/* Wait until every turn open now has ended. Not inside a turn. */
void rcu_wait(void);

/* Wait until everything retired so far has been freed (tests, shutdown), apart
 * from what other threads retired idly. */
void rcu_flush(void);

/* As fork(2), for a program that goes on in the child, alone in its process and
 * outside a turn: what was retired before is freed in both. A child that only
 * calls exec needs nothing of this. */
int rcu_fork(void);

#define RCU_PUBLISH(where, what) \
	atomic_store_explicit(&(where), (what), memory_order_release)
#define RCU_READ(where) \
	atomic_load_explicit(&(where), memory_order_acquire)

#endif
