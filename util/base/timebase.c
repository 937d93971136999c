/* Time, taken from the system or moved by a test.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/base/timebase.h"

#include <time.h>

#include "util/base/mem.h"

void timebase_read(struct timebase *t)
{
	struct timespec ts;

	if (t->played)
		return;
	PROMISE(clock_gettime(CLOCK_MONOTONIC, &ts) == 0);
	t->now_us = (uint64_t)ts.tv_sec * US_PER_S + (uint64_t)ts.tv_nsec / 1000;
	t->now_s = ts.tv_sec ? (uint32_t)ts.tv_sec : 1;
	t->wall_s = (int64_t)time(NULL);
}

void timebase_play(struct timebase *t, uint64_t us)
{
	*t = (struct timebase){
		.now_us = us,
		.now_s = (uint32_t)(us / US_PER_S),
		.wall_s = (int64_t)(us / US_PER_S),
		.played = true,
		.steady = t->steady,
	};
}
