/* Time, always passed in: read once per round of the loop, or played by a test.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_BASE_TIMEBASE_H
#define UTIL_BASE_TIMEBASE_H

#include "util/base/base.h"

struct timebase {
	uint64_t now_us;        /* monotonic, in microseconds; for timers, RTTs, rates */
	uint32_t now_s;         /* monotonic, in seconds; for all expiry times in caches */
	int64_t  wall_s;        /* seconds since 1970 UTC; for signatures, logs */
	bool     played;        /* moved by a test: timebase_read changes nothing */
	bool     steady;        /* played, and never past what is due meanwhile: what ends in time does */
};

/* Take the time from the system (now_s is then never 0), unless it is played. */
void timebase_read(struct timebase *t);

/* Make the clock a played one, set to `us` microseconds after its beginning; now_us,
 * now_s and wall_s move together, starting from 0. It stays steady if it was. */
void timebase_play(struct timebase *t, uint64_t us);

#define US_PER_S  UINT64_C(1000000)
#define US_PER_MS UINT64_C(1000)

/* Whether time may jump by days between query and response, so that nothing has a deadline. */
static inline bool time_jumps(const struct timebase *t)
{
	return t->played && !t->steady;
}

/* Whether `expires_s` has been reached; the two are less than 2^31 seconds apart. */
static inline bool time_is_past(uint32_t now_s, uint32_t expires_s)
{
	return (int32_t)(expires_s - now_s) <= 0;
}

/* Seconds until `expires_s`; 0 when past. */
static inline uint32_t time_left(uint32_t now_s, uint32_t expires_s)
{
	return time_is_past(now_s, expires_s) ? 0 : expires_s - now_s;
}

#endif
