/* Long-running work on a thread of its own, which reports completion to a loop.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/process/thread_job.h"

#include <signal.h>

#include "util/base/loop.h"
#include "util/base/rcu.h"
#include "util/base/thread.h"

static void on_done(void *arg)
{
	struct thread_job *a = arg;

	thread_job_join(a);
	a->done(a->arg);
}

static void *run(void *arg)
{
	struct thread_job *a = arg;

	thread_step_back();
	rcu_thread_join();
	a->work(a->arg);
	rcu_thread_leave();
	loop_post(a->home, on_done, a);
	return NULL;
}

bool thread_job_start(struct thread_job *a)
{
	sigset_t all, before;

	/* Signals are for the main thread only. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	a->running = pthread_create(&a->thread, NULL, run, a) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return a->running;
}

void thread_job_join(struct thread_job *a)
{
	if (a->running)
		pthread_join(a->thread, NULL);
	a->running = false;
}
