/* Ends the process in time: a thread that stands still is left behind.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/process/stopper.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "daemon/process/daemon.h"
#include "daemon/worker/worker.h"
#include "util/base/log.h"
#include "util/base/mem.h"
#include "util/base/thread.h"
#include "util/base/timebase.h"

enum {
	LOOK_MS = 5,
	JOIN_MS = 1000, /* workers that have taken turns until now have at least so long to end */
	LAST_MS = 200,  /* for what is still to be said when the process ends without them */
};

struct stopper {
	struct daemon *daemon;
	pthread_t thread;
	uint64_t began_us;
	atomic_uint join_ms; /* after began_us: since when workers are to end; 0: not yet */
	atomic_uint rest_ms; /* after began_us: until when the main thread is to end; 0: workers have not */
	atomic_bool ended;
	pthread_mutex_t looking; /* while workers are looked at: they stay */
	_Atomic bool heard[]; /* per worker: it has taken a turn since */
};

static uint64_t now_us(void)
{
	struct timebase t = { 0 };

	timebase_read(&t);
	return t.now_us;
}

static void pause_ms(long ms)
{
	struct timespec t = { .tv_nsec = ms * 1000000 };

	(void)nanosleep(&t, NULL);
}

/* ---- the end without them ---- */

/* Whoever stands still may hold what is needed to write a line. */
static void *last_resort(void *arg)
{
	(void)arg;
	pause_ms(LAST_MS);
	_exit(1);
}

static _Noreturn void leave_behind(struct stopper *s, const char *why)
{
	pthread_t last;

	(void)pthread_create(&last, NULL, last_resort, NULL);
	log_error("%s: the process exits without it", why);
	log_report_repeats(true);
	pidfile_remove(&s->daemon->pidfile);
	log_writer_end(); /* what waits to be written, if it can be within LAST_MS */
	_exit(1);
}

/* ---- watching ---- */

static void on_worker(void *arg)
{
	atomic_store_explicit((_Atomic bool *)arg, true, memory_order_relaxed);
}

static bool is_well(const struct stopper *s, unsigned i, bool joins)
{
	return joins ? atomic_load(&s->daemon->workers[i]->ended)
		     : atomic_load_explicit(&s->heard[i], memory_order_relaxed);
}

static unsigned passed_ms(const struct stopper *s)
{
	return (unsigned)((now_us() - s->began_us) / US_PER_MS);
}

static void look_at_workers(struct stopper *s)
{
	unsigned join_ms = atomic_load(&s->join_ms);
	char why[80];

	if (passed_ms(s) < MAX(STOPPER_MS, join_ms ? join_ms + JOIN_MS : 0u))
		return;
	for (unsigned i = 0; i < s->daemon->worker_count; i++) {
		if (is_well(s, i, join_ms))
			continue;
		snprintf(why, sizeof why, "thread %u has not responded for %u ms", i, passed_ms(s) - join_ms);
		leave_behind(s, why);
	}
}

static void look(struct stopper *s)
{
	unsigned until_ms;

	pthread_mutex_lock(&s->looking);
	until_ms = atomic_load(&s->rest_ms);
	if (!until_ms)
		look_at_workers(s);
	pthread_mutex_unlock(&s->looking);
	if (until_ms && passed_ms(s) >= until_ms)
		leave_behind(s, "the main thread has not ended in time");
}

static void *watch(void *arg)
{
	struct stopper *s = arg;

	thread_name("stopper");
	while (!atomic_load(&s->ended)) {
		pause_ms(LOOK_MS);
		if (!atomic_load(&s->ended))
			look(s);
	}
	return NULL;
}

struct stopper *stopper_start(struct daemon *d)
{
	struct stopper *s = mem_zero(sizeof *s + d->worker_count * sizeof s->heard[0]);
	sigset_t all, before;
	bool runs;

	s->daemon = d;
	pthread_mutex_init(&s->looking, NULL);
	s->began_us = now_us();
	for (unsigned i = 0; i < d->worker_count; i++)
		loop_post(d->workers[i]->env.loop, on_worker, &s->heard[i]);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	runs = pthread_create(&s->thread, NULL, watch, s) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (runs)
		return s;
	/* the posts refer to it */
	log_warn("cannot start the thread that limits the time to stop");
	return NULL;
}

void stopper_join(struct stopper *s)
{
	if (s)
		atomic_store(&s->join_ms, MAX(passed_ms(s), 1u));
}

void stopper_rest(struct stopper *s, unsigned ms)
{
	if (!s)
		return;
	pthread_mutex_lock(&s->looking);
	atomic_store(&s->rest_ms, passed_ms(s) + MAX(ms, 1u));
	pthread_mutex_unlock(&s->looking);
}

void stopper_end(struct stopper *s)
{
	if (!s)
		return;
	atomic_store(&s->ended, true);
	pthread_join(s->thread, NULL);
	pthread_mutex_destroy(&s->looking);
	mem_free(s);
}
