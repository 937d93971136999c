/* A loop that runs for a while, for tests of the listeners.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SERVICES_LISTEN_TESTS_RUN_H
#define SERVICES_LISTEN_TESTS_RUN_H

#include "util/base/loop.h"
#include "util/base/timebase.h"

struct run {
	struct timer end;
	struct loop *loop;
};

static inline void run_over(struct timer *t)
{
	loop_stop(container_of(t, struct run, end)->loop);
}

static inline void run_for(struct loop *l, unsigned ms)
{
	struct run run = { .end.fire = run_over, .loop = l };

	timer_set(l, &run.end, ms * US_PER_MS);
	loop_run(l);
}

#endif
