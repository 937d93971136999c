/* One thread's share of counted references to what all threads hold, so that not each of them writes the shared count.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The thread counts for itself; only its first pin of an object and its last unpin are for the object's own count. An
 * object that finds no room counts each time. What begins as zeros is empty; it owns nothing. */
#ifndef UTIL_BASE_PINS_H
#define UTIL_BASE_PINS_H

#include "util/base/base.h"

enum { PINS_ROOM = 64, PINS_PROBES = 4 };

struct pins {
	struct pins_slot {
		const void *object;
		unsigned count;
	} slot[PINS_ROOM];
};

/* True: pin the object itself. */
bool pins_take(struct pins *p, const void *object) MUST_USE;

/* True: unpin the object itself. As often as pins_take was called for it, in any order. */
bool pins_drop(struct pins *p, const void *object) MUST_USE;

#endif
