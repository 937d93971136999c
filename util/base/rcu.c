/* Deferred freeing of what a turn may still see: liburcu, memb flavour.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/base/rcu.h"

#define RCU_MEMB
#include <urcu.h>

#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "util/base/mem.h"
#include "util/base/thread.h"

_Static_assert(sizeof(struct rcu_head) <= sizeof(struct rcu_slot), "rcu_slot holds an rcu_head");
_Static_assert(_Alignof(struct rcu_head) <= _Alignof(struct rcu_slot),
	       "rcu_slot is aligned for it");

/* ---- what the thread sanitizer is told ----
 *
 * The library orders readers and writers by membarrier(2) and plain instructions, which the
 * sanitizer does not understand. Here it is told the same order: the end of a turn precedes what is
 * freed afterwards, retiring precedes freeing, and freeing precedes the end of rcu_flush. A turn
 * still open announces nothing, so freeing what it may see is detected. */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define WATCHED
#endif
#elif defined(__SANITIZE_THREAD__)
#define WATCHED
#endif

#ifdef WATCHED
void __tsan_acquire(void *at);
void __tsan_release(void *at);

static char turns_ended, freed;
static _Thread_local unsigned depth;

/* One retirement: a wrapper around what the library is given. */
struct shell {
	struct rcu_head head;
	struct rcu_slot *slot;
	void (*fn)(struct rcu_slot *);
};

static void run_shell(struct rcu_head *head)
{
	struct shell *s = (struct shell *)(void *)head; /* its first member */

	__tsan_acquire(s);
	__tsan_acquire(&turns_ended);
	s->fn(s->slot);
	mem_free(s);
	__tsan_release(&freed);
}

static void retire(struct rcu_slot *slot, void (*fn)(struct rcu_slot *))
{
	struct shell *s = mem_new(sizeof(*s));

	s->slot = slot;
	s->fn = fn;
	__tsan_release(s);
	call_rcu(&s->head, run_shell);
}

static void turn_begins(void)
{
	depth++;
}

static void turn_ends(void)
{
	if (--depth == 0)
		__tsan_release(&turns_ended);
}

static void waited(void)
{
	__tsan_acquire(&turns_ended);
}

static void flushed(void)
{
	__tsan_acquire(&freed);
}
#else
static void retire(struct rcu_slot *slot, void (*fn)(struct rcu_slot *))
{
	/* Both take a pointer to a struct at the same address; the library only passes it back. */
	union {
		void (*ours)(struct rcu_slot *);
		void (*theirs)(struct rcu_head *);
	} call = { .ours = fn };

	call_rcu((struct rcu_head *)(void *)slot, call.theirs);
}

#define turn_begins() ((void)0)
#define turn_ends()   ((void)0)
#define waited()      ((void)0)
#define flushed()     ((void)0)
#endif

/* ---- threads and turns ---- */

static _Thread_local unsigned joined;

/* What this thread has retired idly, until there is enough for one call of the library: each call
 * may wake its helper thread, and each of its grace periods waits for every thread. */
#define BATCH 256

struct batch {
	struct rcu_slot slot;
	struct rcu_slot *first;
};

static _Thread_local struct rcu_slot *idle_slots;
static _Thread_local unsigned idle_count;

static void flush_idle(void);

void rcu_thread_join(void)
{
	if (joined++ == 0)
		rcu_register_thread();
}

void rcu_thread_leave(void)
{
	PROMISE(joined > 0);
	if (joined == 1)
		flush_idle();
	if (--joined == 0)
		rcu_unregister_thread();
}

void rcu_turn_begin(void)
{
	PROMISE(joined > 0);
	turn_begins();
	rcu_read_lock();
}

void rcu_turn_end(void)
{
	turn_ends();
	rcu_read_unlock();
}

/* The library's helper thread, which frees, registers itself without our counter. Its first task
 * is to set that counter, so that what it frees may open turns and retire more; and to let those
 * go first that answer, for a snapshot or a flushed cache is a lot to free. */
static struct rcu_head greeting;
static pthread_once_t greeted = PTHREAD_ONCE_INIT;

static void count_helper(struct rcu_head *head)
{
	(void)head;
	joined = 1;
	thread_step_back();
}

static void greet_helper(void)
{
	call_rcu(&greeting, count_helper);
}

void rcu_retire(struct rcu_slot *slot, void (*fn)(struct rcu_slot *))
{
	pthread_once(&greeted, greet_helper);
	retire(slot, fn);
}

void rcu_release(struct rcu_slot *slot, void (*fn)(struct rcu_slot *))
{
	if (rcu_read_ongoing())
		rcu_retire(slot, fn);
	else
		fn(slot);
}

/* The slot's two pointers: the next slot, and the function to call. */
typedef void (*release)(struct rcu_slot *);

_Static_assert(sizeof(release) <= sizeof(void *), "rcu_slot holds a pointer to a function");

static void release_batch(struct rcu_slot *slot_of_batch)
{
	struct batch *b = (struct batch *)(void *)slot_of_batch; /* its first member */
	struct rcu_slot *next;

	for (struct rcu_slot *slot = b->first; slot; slot = next) {
		release fn;

		next = slot->opaque[0];
		memcpy(&fn, &slot->opaque[1], sizeof(fn));
		fn(slot);
	}
	mem_free(b);
	flush_idle();
}

static void flush_idle(void)
{
	struct batch *b;

	if (!idle_slots)
		return;
	b = mem_new(sizeof(*b));
	b->first = idle_slots;
	idle_slots = NULL;
	idle_count = 0;
	pthread_once(&greeted, greet_helper);
	retire(&b->slot, release_batch);
}

void rcu_retire_idly(struct rcu_slot *slot, void (*fn)(struct rcu_slot *))
{
	slot->opaque[0] = idle_slots;
	memcpy(&slot->opaque[1], &fn, sizeof(fn));
	idle_slots = slot;
	if (++idle_count == BATCH)
		flush_idle();
}

void rcu_wait(void)
{
	PROMISE(!rcu_read_ongoing());
	synchronize_rcu();
	waited();
}

void rcu_flush(void)
{
	PROMISE(!rcu_read_ongoing());
	flush_idle();
	rcu_barrier();
	flushed();
}

int rcu_fork(void)
{
	int pid;

	PROMISE(!rcu_read_ongoing());
	call_rcu_before_fork();
	pid = fork();
	if (pid == 0) {
		call_rcu_after_fork_child();
		greeted = (pthread_once_t)PTHREAD_ONCE_INIT; /* no other threads here */
	} else {
		call_rcu_after_fork_parent();
	}
	return pid;
}
