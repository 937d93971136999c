/* One thread's share of counted references to what all threads hold, so that not each of them writes the shared count.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The thread counts for itself; only its first pin of an object and its last unpin are for the object's own count. An
 * object that finds no room counts each time. What begins as zeros is empty. With `unpin`, the thread keeps its pin of an
 * object that it has dropped until another needs the room: for what is wanted again and again, but seldom twice at once. */
#ifndef UTIL_BASE_PINS_H
#define UTIL_BASE_PINS_H

#include "util/base/base.h"

enum { PINS_ROOM = 32, PINS_PROBES = 4 };

struct pins {
	void (*unpin)(void *object); /* NULL: the last drop tells its caller */
	struct pins_slot {
		void *object;
		unsigned count;
	} slot[PINS_ROOM];
};

/* True: pin the object itself. */
bool pins_take(struct pins *p, void *object) MUST_USE;

/* True: unpin the object itself. As often as pins_take was called for it, in any order. */
bool pins_drop(struct pins *p, void *object) MUST_USE;

/* With `unpin`: once all have been dropped, nothing is kept any more. */
void pins_clear(struct pins *p);

#endif
