/* Priority and name of the calling thread.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/thread.h"

#include "util/base.h"

#include <pthread.h>
#ifdef HAVE_PTHREAD_SET_NAME_NP
#include <pthread_np.h>
#endif

#ifdef __linux__
#include <sched.h>
#include <sys/resource.h>

#define BACK 5

/* Elsewhere priority belongs to the whole process, as POSIX has it. If the answering threads run
 * with real-time priority, this one does not. */
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

void thread_name(const char *name)
{
#if defined(HAVE_PTHREAD_SETNAME_NP) && defined(__linux__)
	(void)pthread_setname_np(pthread_self(), name);
#elif defined(HAVE_PTHREAD_SET_NAME_NP)
	pthread_set_name_np(pthread_self(), name);
#else
	(void)name;
#endif
}
