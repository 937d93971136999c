/* What comes most often, in fixed memory: the space-saving sketch of Metwally et al. (2005).
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * There are so many counters. A key that has none takes over the lowest one, with its count: so
 * whatever came more often than one in so many is there, and a count is at most `over` too high.
 * Of one thread. */
#ifndef SERVICES_TOPLIST_H
#define SERVICES_TOPLIST_H

#include "util/base.h"

struct toplist;

struct toplist *toplist_new(unsigned counters, unsigned key_most) MUST_USE;
void toplist_free(struct toplist *t); /* NULL is fine */
void toplist_clear(struct toplist *t);
size_t toplist_bytes(const struct toplist *t);

void toplist_count(struct toplist *t, const void *key, size_t len);

struct toprow {
	uint64_t count, over; /* it came at most `count` and at least `count - over` times */
	const uint8_t *key;
	uint8_t len;
};

/* ---- several of them together ---- */

/* Rows of several threads, keys copied. Begins zeroed. */
struct toprows {
	struct toprow *at;
	size_t count;
	struct topkeys *keys; /* what the rows point to, a block for each thread */
};

/* In the sketch's own thread; quick. */
void toprows_take(struct toprows *to, const struct toplist *t);
/* Rows with the same key become one, the most frequent in front (and by key where that is equal). */
void toprows_join(struct toprows *rows);
void toprows_clear(struct toprows *rows);

#endif
