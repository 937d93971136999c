/* Time, always handed in: read once a turn, owned by a test when there is one.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_TIMEBASE_H
#define UTIL_TIMEBASE_H

#include "util/base.h"

struct timebase {
	uint64_t now_us;        /* monotonic microseconds; timers, RTT, rates */
	uint32_t now_s;         /* monotonic seconds; every expiry in a cache */
	int64_t  wall_s;        /* seconds since 1970 UTC; signatures, logs */
	bool     played;        /* a test owns it: timebase_read changes nothing */
};

/* Take the time from the system, unless it is played. now_s never is 0. */
void timebase_read(struct timebase *t);

/* Make the clock a played one that stands `us` microseconds after its beginning;
 * now_us, now_s and wall_s go together and begin at 0. */
void timebase_play(struct timebase *t, uint64_t us);

#define US_PER_S  UINT64_C(1000000)
#define US_PER_MS UINT64_C(1000)

/* Whether `expires_s` has been reached; the clock may be anywhere below 2^31
 * seconds apart. */
static inline bool time_is_past(uint32_t now_s, uint32_t expires_s)
{
	return (int32_t)(expires_s - now_s) <= 0;
}

/* Seconds from now until then, 0 when past. */
static inline uint32_t time_left(uint32_t now_s, uint32_t expires_s)
{
	return time_is_past(now_s, expires_s) ? 0 : expires_s - now_s;
}

#endif
