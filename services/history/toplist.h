/* The most frequent keys, in fixed memory: the space-saving sketch of Metwally et al. (2005).
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * There are n counters. A key without one takes over the lowest, with its count: so every key that
 * makes up more than 1/n of all is there, and a count is at most `over` too high. Used by one
 * thread. */
#ifndef SERVICES_HISTORY_TOPLIST_H
#define SERVICES_HISTORY_TOPLIST_H

#include "util/base/base.h"

struct toplist;

struct toplist *toplist_new(unsigned counters, unsigned key_most) MUST_USE;
void toplist_free(struct toplist *t); /* NULL is fine */
void toplist_clear(struct toplist *t);
size_t toplist_bytes(const struct toplist *t);

void toplist_count(struct toplist *t, const void *key, size_t len);

struct toprow {
	uint64_t count, over; /* seen at most `count` and at least `count - over` times */
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

/* Add the rows of `t`. In the sketch's own thread; quick. */
void toprows_take(struct toprows *to, const struct toplist *t);
/* Merge rows with the same key and sort: the most frequent first, equal ones by key. */
void toprows_join(struct toprows *rows);
void toprows_clear(struct toprows *rows);

#endif
