/* Events, timers and posts of one thread: the only door to libevent's loop.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Every callback runs inside a turn: the time was read just before, and an RCU
 * read section is open until it returns. A played loop (tests, replay) has no
 * descriptors; its timers fire when the played clock is moved past them. */
#ifndef UTIL_LOOP_H
#define UTIL_LOOP_H

#include "util/base.h"
#include "util/timebase.h"

struct loop;

/* A real loop is made after the last fork, and is used by one thread. Its watches
 * and signals are stopped before it is freed; timers still set just never fire. */
struct loop *loop_new(void) MUST_USE;
struct loop *loop_new_played(void) MUST_USE;
void loop_free(struct loop *l);
struct timebase *loop_time(struct loop *l);     /* lives as long as the loop */

/* Run callbacks until loop_stop, then once more what was posted. loop_stop may be
 * called from any thread, also before loop_run, which then returns at once. */
void loop_run(struct loop *l);
void loop_stop(struct loop *l);

/* Timers: embedded, any number, O(log n) each. A timer fires once per set. */
struct timer {
	uint64_t due_us;
	uint32_t place;         /* in the loop's heap, plus one; 0: not set */
	void (*fire)(struct timer *t);
};

static inline bool timer_is_set(const struct timer *t)
{
	return t->place != 0;
}

void timer_set(struct loop *l, struct timer *t, uint64_t from_now_us);  /* or move it */
void timer_stop(struct loop *l, struct timer *t);                      /* harmless when not set */

/* Played loops: move the clock and fire what has become due, earliest first;
 * and microseconds until the earliest timer (UINT64_MAX: none). */
void loop_play(struct loop *l, uint64_t forward_us);
uint64_t loop_next_due(struct loop *l);

/* Descriptors. `ready` gets WATCH_READ and/or WATCH_WRITE. The watch is
 * level-triggered and persistent; the caller owns fd and struct. */
enum { WATCH_READ = 1, WATCH_WRITE = 2 };

struct watch {
	int fd;
	void (*ready)(struct watch *w, unsigned what);
	struct loop *loop;
	void *event;            /* libevent's, or NULL */
	unsigned wanted;
};

void watch_start(struct loop *l, struct watch *w, unsigned wanted);
void watch_want(struct watch *w, unsigned wanted);      /* change; 0 pauses */
void watch_stop(struct watch *w);                       /* does not close fd */

/* Signals, for the main thread's loop only. */
struct signal_watch {
	int number;
	void (*caught)(struct signal_watch *s);
	void *event;
};

void signal_start(struct loop *l, struct signal_watch *s);
void signal_stop(struct signal_watch *s);

/* Run `fn(arg)` in a turn of `l`'s thread soon (a played loop: in loop_play). From
 * any thread; in order. What is posted after loop_run has returned waits for the
 * next run, and is dropped by loop_free. */
void loop_post(struct loop *l, void (*fn)(void *arg), void *arg);

#endif
