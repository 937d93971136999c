/* Work that takes long, on a thread of its own, and word of its end in a loop.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * For what would keep the main thread from its other clients: walking through a whole cache, say.
 * The work opens turns of its own (util/rcu.h) where it reads what is published; it has the arg for
 * itself until `done` runs. */
#ifndef DAEMON_ASIDE_H
#define DAEMON_ASIDE_H

#include <pthread.h>

#include "util/base.h"

struct loop;

struct aside { /* begins zeroed; lives until it is done, or joined */
	struct loop *home;
	void (*work)(void *arg);
	void (*done)(void *arg); /* on the thread of `home` */
	void *arg;
	pthread_t thread;
	bool running; /* the owner's to read, on the thread of `home` */
};

/* False when there can be no further thread: nothing was called. */
bool aside_start(struct aside *a) MUST_USE;
/* Wait for the end of work that is running. When `home` does not run any more, done is not called. */
void aside_join(struct aside *a);

#endif
