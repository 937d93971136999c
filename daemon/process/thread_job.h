/* Long-running work on a thread of its own; a loop is told when it is done.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * For anything that would hold up the main thread's other clients, such as walking a whole cache.
 * The work opens its own turns (util/base/rcu.h) where it reads published data; `arg` is its alone until
 * `done` runs. */
#ifndef DAEMON_PROCESS_THREAD_JOB_H
#define DAEMON_PROCESS_THREAD_JOB_H

#include <pthread.h>

#include "util/base/base.h"

struct loop;

struct thread_job { /* begins zeroed; lives until it is done, or joined */
	struct loop *home;
	void (*work)(void *arg);
	void (*done)(void *arg); /* on the thread of `home` */
	void *arg;
	pthread_t thread;
	bool running; /* for the owner to read, on the thread of `home` */
};

/* False if no thread can be created; then nothing is called. */
bool thread_job_start(struct thread_job *a) MUST_USE;
/* Wait for running work to end. `done` is not called if `home` no longer runs. */
void thread_job_join(struct thread_job *a);

#endif
