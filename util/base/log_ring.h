/* Log lines on their way to the thread that writes them, in bounded memory.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A ring of bytes; lines leave it whole and in the order they came. It belongs to whoever holds the owner's lock
 * (util/base/log.c). When it is full lines are refused, and counted, until it is half empty: a reader that is too slow costs
 * stretches of the log, with one remark each, rather than every other line. */
#ifndef UTIL_BASE_LOG_RING_H
#define UTIL_BASE_LOG_RING_H

#include "util/base/base.h"

struct log_ring {
	char *at;
	size_t size, begin, end; /* positions count bytes; begin == end: empty */
	uint64_t refused;        /* since log_ring_told */
	bool refuses;
};

/* What a line says of itself; at most UINT16_MAX bytes follow. */
struct log_ring_head {
	uint16_t len;
	uint8_t priority; /* of syslog */
};

void log_ring_init(struct log_ring *r, size_t size);
void log_ring_clear(struct log_ring *r);
static inline bool log_ring_is_empty(const struct log_ring *r)
{
	return r->begin == r->end;
}
/* False: it did not fit, and is counted as refused. */
bool log_ring_put(struct log_ring *r, uint8_t priority, const char *text, size_t len);
/* Whether lines have been refused and the next would be accepted, so that it is time to say how many: that many, and none
 * from now on; 0: not yet. */
uint64_t log_ring_told(struct log_ring *r);
/* Take the first line if it has at most `room` bytes; its length, or 0. */
size_t log_ring_take(struct log_ring *r, char *to, size_t room, uint8_t *priority);

#endif
