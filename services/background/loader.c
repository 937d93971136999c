/* One thread for slow work: a queue ordered by time, a lock, a condition.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/background/loader.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

#include "util/base/mem.h"
#include "util/base/rcu.h"
#include "util/base/thread.h"
#include "util/base/timebase.h"

struct loader {
	pthread_mutex_t lock; /* guards what follows */
	pthread_cond_t changed;
	struct loader_task *first; /* waiting tasks, earliest first */
	struct loader_task *running;
	pthread_t thread;
	bool has_thread;
	atomic_bool ending;
};

static uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * US_PER_S + (uint64_t)t.tv_nsec / 1000;
}

/* ---- the queue; under the lock ---- */

static void put(struct loader *l, struct loader_task *t)
{
	struct loader_task **at = &l->first;

	while (*at && (*at)->due_us <= t->due_us)
		at = &(*at)->next;
	t->next = *at;
	*at = t;
	t->waits = true;
}

static void take(struct loader *l, struct loader_task *t)
{
	struct loader_task **at = &l->first;

	if (!t->waits)
		return;
	while (*at != t)
		at = &(*at)->next;
	*at = t->next;
	t->next = NULL;
	t->waits = false;
}

/* ---- the thread ---- */

static void wait_until(struct loader *l, uint64_t due_us)
{
	struct timespec until = { .tv_sec = (time_t)(due_us / US_PER_S),
				  .tv_nsec = (long)(due_us % US_PER_S * 1000) };

	(void)pthread_cond_timedwait(&l->changed, &l->lock, &until);
}

static void run_first(struct loader *l)
{
	struct loader_task *t = l->first;

	take(l, t);
	l->running = t;
	pthread_mutex_unlock(&l->lock);
	t->run(t);
	pthread_mutex_lock(&l->lock);
	l->running = NULL;
	pthread_cond_broadcast(&l->changed);
}

static void *work(void *loader)
{
	struct loader *l = loader;

	thread_step_back();
	rcu_thread_join();
	pthread_mutex_lock(&l->lock);
	while (!l->ending) {
		if (!l->first)
			(void)pthread_cond_wait(&l->changed, &l->lock);
		else if (l->first->due_us > now_us())
			wait_until(l, l->first->due_us);
		else
			run_first(l);
	}
	pthread_mutex_unlock(&l->lock);
	rcu_thread_leave();
	return NULL;
}

/* Signals are left to the main thread. */
static void begin(struct loader *l)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	if (pthread_create(&l->thread, NULL, work, l) != 0)
		PANIC("no thread can be made for the loader");
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	l->has_thread = true;
}

/* ---- public functions ---- */

struct loader *loader_new(void)
{
	struct loader *l = mem_zero(sizeof(*l));
	pthread_condattr_t how;

	pthread_mutex_init(&l->lock, NULL);
	pthread_condattr_init(&how);
	pthread_condattr_setclock(&how, CLOCK_MONOTONIC);
	pthread_cond_init(&l->changed, &how);
	pthread_condattr_destroy(&how);
	return l;
}

void loader_end(struct loader *l)
{
	pthread_mutex_lock(&l->lock);
	l->ending = true;
	pthread_cond_broadcast(&l->changed);
	pthread_mutex_unlock(&l->lock);
	if (l->has_thread)
		pthread_join(l->thread, NULL);
	l->has_thread = false;
	while (l->first)
		take(l, l->first);
}

void loader_free(struct loader *l)
{
	if (!l)
		return;
	loader_end(l);
	pthread_cond_destroy(&l->changed);
	pthread_mutex_destroy(&l->lock);
	mem_free(l);
}

void loader_add(struct loader *l, struct loader_task *t, uint64_t after_us)
{
	pthread_mutex_lock(&l->lock);
	if (!l->ending) {
		take(l, t);
		t->loader = l;
		t->due_us = now_us() + after_us;
		put(l, t);
		if (!l->has_thread)
			begin(l);
		pthread_cond_broadcast(&l->changed);
	}
	pthread_mutex_unlock(&l->lock);
}

void loader_remove(struct loader *l, struct loader_task *t)
{
	pthread_mutex_lock(&l->lock);
	take(l, t);
	while (l->running == t) {
		(void)pthread_cond_wait(&l->changed, &l->lock);
		take(l, t); /* it may have added itself again */
	}
	pthread_mutex_unlock(&l->lock);
}

bool loader_is_ending(const struct loader *l)
{
	return atomic_load_explicit(&l->ending, memory_order_relaxed);
}

void loader_finish(struct loader *l)
{
	pthread_mutex_lock(&l->lock);
	while (l->running || (l->first && l->first->due_us <= now_us()))
		(void)pthread_cond_wait(&l->changed, &l->lock);
	pthread_mutex_unlock(&l->lock);
}
