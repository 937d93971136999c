/* Priority and name of the calling thread.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/base/thread.h"

#include "util/base/base.h"

#include <pthread.h>
#ifdef HAVE_PTHREAD_SET_NAME_NP
#include <pthread_np.h>
#endif

#ifdef __linux__
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BACK     5
#define SLICE_NS (10 * 1000 * 1000)

/* As the kernel lays it out; the headers of the C library have it under changing names. */
struct schedule {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime_ns, deadline_ns, period_ns;
};

/* From Linux 6.12 on who wakes up does not have to wait for the end of the running thread's slice
 * if its own is shorter. It is at most 3 ms unless asked for, so ours is longer: that of a thread
 * which answers need not be touched. Older kernels ignore it; they go by how much each has had. */
static bool set_schedule(int nice)
{
#ifdef SYS_sched_setattr
	struct schedule s = { .size = sizeof s,
			      .policy = SCHED_OTHER,
			      .nice = nice,
			      .runtime_ns = SLICE_NS };

	return syscall(SYS_sched_setattr, 0, &s, 0) == 0;
#else
	(void)nice;
	return false;
#endif
}

/* Elsewhere priority belongs to the whole process, as POSIX has it. If the answering threads run
 * with real-time priority, this one does not. Not SCHED_IDLE: what holds a lock must go on when
 * other programs take all they can get. */
void thread_step_back(void)
{
	int nice = MIN(getpriority(PRIO_PROCESS, 0) + BACK, 19);

	if (set_schedule(nice))
		return;
	(void)pthread_setschedparam(pthread_self(), SCHED_OTHER, &(struct sched_param){ 0 });
	(void)setpriority(PRIO_PROCESS, 0, nice);
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
