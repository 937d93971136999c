/* How threads share a processor.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/thread.h"

#include "util/base.h"

#ifdef __linux__
#include <sys/resource.h>

#define BACK 10

/* Elsewhere the priority is the whole process's, as POSIX wants it. */
void thread_step_back(void)
{
	(void)setpriority(PRIO_PROCESS, 0, MIN(getpriority(PRIO_PROCESS, 0) + BACK, 19));
}
#else
void thread_step_back(void)
{
}
#endif
