/* How threads share a processor.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_THREAD_H
#define UTIL_THREAD_H

/* The calling thread, and those it will start, work when others have nothing to do: for long work
 * beside threads that answer. Where threads have no priority of their own nothing happens. */
void thread_step_back(void);

/* What tools that look at the process call the calling thread. */
#define THREAD_NAME 16
void thread_name(const char *name);

#endif
