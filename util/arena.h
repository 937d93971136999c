/* One bump arena per query: taken piece by piece, cleared whole.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Everything a query needs until its end comes from its arena and is never
 * freed singly. Blocks are recycled, so that a plain query touches malloc not at
 * all (see struct pool in the .c file). An arena is used by one thread at a time. */
#ifndef UTIL_ARENA_H
#define UTIL_ARENA_H

#include "util/base.h"

struct arena_block;
struct arena_duty;

struct arena {
	struct arena_block *block;      /* newest first */
	uint8_t *at, *end;              /* free part of the newest shared block */
	struct arena_duty *duties;      /* newest first */
	size_t taken;                   /* bytes held by all blocks */
};

void arena_init(struct arena *a);

/* Run what arena_on_clear asked for, newest first, and give everything back.
 * The arena may be used again at once. */
void arena_clear(struct arena *a);

/* `len` bytes aligned for any type; arena_zero clears them. Never NULL. */
void *arena_take(struct arena *a, size_t len) MUST_USE;
void *arena_zero(struct arena *a, size_t len) MUST_USE;
void *arena_zeros(struct arena *a, size_t count, size_t element) MUST_USE;      /* product checked */
void *arena_copy(struct arena *a, const void *from, size_t len) MUST_USE;
char *arena_textf(struct arena *a, const char *fmt, ...) PRINTF_LIKE(2, 3) MUST_USE;

/* Call `fn(arg)` when the arena is cleared. */
void arena_on_clear(struct arena *a, void (*fn)(void *arg), void *arg);

#define arena_new(a, type)              ((type *)arena_zero((a), sizeof(type)))
#define arena_array(a, type, count)     ((type *)arena_zeros((a), (count), sizeof(type)))

#endif
