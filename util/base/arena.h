/* A bump arena per query: allocated piece by piece, cleared as a whole.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Whatever a query needs until it ends comes from its arena and is never freed
 * individually. Blocks are recycled, so a plain query does not call malloc at all
 * (see struct pool in the .c file). An arena is used by one thread at a time. */
#ifndef UTIL_BASE_ARENA_H
#define UTIL_BASE_ARENA_H

#include "util/base/base.h"

struct arena_block;
struct arena_duty;

struct arena {
	struct arena_block *block;      /* newest first */
	uint8_t *at, *end;              /* free part of the newest shared block */
	struct arena_duty *duties;      /* newest first */
	size_t taken;                   /* bytes in all its blocks */
};

void arena_init(struct arena *a);

/* Run the arena_on_clear callbacks, newest first, and release all memory. The
 * arena may be reused at once. */
void arena_clear(struct arena *a);

/* `len` bytes aligned for any type, undefined or zeroed. Never NULL. */
void *arena_take(struct arena *a, size_t len) MUST_USE;
void *arena_zero(struct arena *a, size_t len) MUST_USE;
void *arena_zeros(struct arena *a, size_t count, size_t element) MUST_USE;      /* overflow-safe */
void *arena_copy(struct arena *a, const void *from, size_t len) MUST_USE;
char *arena_textf(struct arena *a, const char *fmt, ...) PRINTF_LIKE(2, 3) MUST_USE;

/* Call `fn(arg)` when the arena is cleared. */
void arena_on_clear(struct arena *a, void (*fn)(void *arg), void *arg);

#define arena_new(a, type)              ((type *)arena_zero((a), sizeof(type)))
#define arena_array(a, type, count)     ((type *)arena_zeros((a), (count), sizeof(type)))

#endif
