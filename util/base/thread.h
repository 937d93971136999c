/* Priority and name of the calling thread.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_BASE_THREAD_H
#define UTIL_BASE_THREAD_H

/* Lower the priority of the calling thread and of those it will start: for long work beside threads
 * that answer queries. Does nothing where threads have no priorities of their own. */
void thread_step_back(void);

/* Name the calling thread for ps, top, debuggers; at most THREAD_NAME bytes, NUL included. */
#define THREAD_NAME 16
void thread_name(const char *name);

#endif
