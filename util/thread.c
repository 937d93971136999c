/* How threads share a processor.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/thread.h"

#include "util/base.h"

#ifdef __linux__
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>

#define BACK 5

/* Elsewhere the priority is the whole process's, as POSIX wants it. Where those that answer run in
 * real time, this one does not. */
void thread_step_back(void)
{
	(void)pthread_setschedparam(pthread_self(), SCHED_OTHER, &(struct sched_param){ 0 });
	(void)setpriority(PRIO_PROCESS, 0, MIN(getpriority(PRIO_PROCESS, 0) + BACK, 19));
}
#else
void thread_step_back(void)
{
}
#endif
