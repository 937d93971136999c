/* One thread's event loop, timers and posted calls: nothing else calls libevent.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Every callback runs inside a turn: the clock was read since the loop last
 * waited, and an RCU read section is open until the callback returns. A played
 * loop (tests, replay) has no descriptors; its timers fire when its clock is moved
 * to them. */
#ifndef UTIL_BASE_LOOP_H
#define UTIL_BASE_LOOP_H

#include "util/base/base.h"
#include "util/base/list.h"
#include "util/base/timebase.h"

struct loop;

/* A real loop is created after the last fork and used by one thread. Stop its
 * watches and signals before freeing it; timers still set simply never fire. */
struct loop *loop_new(void) MUST_USE;
struct loop *loop_new_played(void) MUST_USE;
void loop_free(struct loop *l);
struct timebase *loop_time(struct loop *l);     /* lives as long as the loop */

/* Run callbacks until loop_stop, then whatever is still posted, once. loop_stop may
 * be called from any thread, even before loop_run, which then does only the latter. */
void loop_run(struct loop *l);
void loop_stop(struct loop *l);

/* Timers: embedded in the caller's structs, any number of them, O(log n) per
 * operation. A timer fires once each time it is set. */
struct timer {
	uint64_t due_us;
	uint32_t place;         /* index in the loop's heap, plus one; 0: not set */
	void (*fire)(struct timer *t);
};

static inline bool timer_is_set(const struct timer *t)
{
	return t->place != 0;
}

void timer_set(struct loop *l, struct timer *t, uint64_t from_now_us);  /* or reset it */
void timer_stop(struct loop *l, struct timer *t);                      /* harmless when not set */

/* Played loops only: move the clock forward, running posts and firing timers as
 * they become due, earliest first; loop_stop ends it early. */
void loop_play(struct loop *l, uint64_t forward_us);
/* Microseconds until the earliest timer; 0: overdue, UINT64_MAX: none. */
uint64_t loop_next_due(struct loop *l);

/* Descriptors. `ready` is passed WATCH_READ, WATCH_WRITE or both. A watch is
 * level-triggered and persistent; the caller owns the descriptor and the struct. */
enum { WATCH_READ = 1, WATCH_WRITE = 2 };

struct watch {
	int fd;
	void (*ready)(struct watch *w, unsigned what);
	struct loop *loop;
	void *event;            /* libevent's, or NULL */
	unsigned wanted;
	struct list in_eager;
};

void watch_start(struct loop *l, struct watch *w, unsigned wanted);
void watch_want(struct watch *w, unsigned wanted);      /* change what to wait for; 0 pauses */
void watch_stop(struct watch *w);                       /* does not close fd */

/* From now on (after watch_start) also call `ready` for reading between other callbacks of a round
 * that takes long, without knowing whether there is something to read. They get at most as much
 * time as the others, until they pause or stop. A thousand answers from elsewhere that come at once
 * then do not keep clients' questions waiting. */
void watch_eagerly(struct watch *w);

/* How long this loop has kept clients' packets (eager watches) waiting for other callbacks since its owner last zeroed it.
 * A stretch is what runs between two looks at them, or a round of nothing but them. `cpu_us` and `stretches` count the
 * thread's own time, which may be told up to LOOP_CPU_EVERY_US too long: reading it takes a system call. The thread of the loop
 * reads and zeroes all this. */
#define LOOP_BOUNDS_US	  100, 200, 300, 500, 1000, 2000, 5000, 10000, 100000
#define LOOP_BOUNDS	  9
#define LOOP_CPU_EVERY_US 100
#define LOOP_LOOK_US	  200
struct loop_longest {
	uint64_t wall_us, cpu_us;		/* the longest stretch */
	uint64_t stretches[LOOP_BOUNDS + 1]; /* how many took at most LOOP_BOUNDS_US; the last: longer ones */
};
struct loop_longest *loop_longest(struct loop *l);
/* Whether it is time to look at the eager watches again (LOOP_LOOK_US): who has more work leaves it for another turn. Never in a
 * played loop. */
bool loop_is_due(const struct loop *l);

/* Signals, for the main thread's loop only. However often one comes until its turn, `caught` is called once, as for signals
 * that are pending (POSIX, 2.4.1); then descriptors and timers have their turns before it is called again. */
struct signal_watch {
	int number;
	void (*caught)(struct signal_watch *s);
	void *event;
};

void signal_start(struct loop *l, struct signal_watch *s);
void signal_stop(struct signal_watch *s);

/* Have `l`'s thread run `fn(arg)` soon, in a turn (a played loop: in loop_play).
 * Callable from any thread; posts run in order. What is posted after loop_run has
 * returned waits for the next run; loop_free drops it. */
void loop_post(struct loop *l, void (*fn)(void *arg), void *arg);

#endif
