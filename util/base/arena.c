/* Bump arenas: fixed-size blocks that a thread keeps for its next query.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/base/arena.h"

#include <pthread.h>
#include <stdarg.h>
#include <string.h>

#include "util/base/mem.h"

/* With a sanitizer every piece is a block of its own, so that it detects every overrun and every
 * use after arena_clear. */
#if defined(WITH_SANITIZERS) || defined(__SANITIZE_ADDRESS__)
#define PIECE_IS_BLOCK true
#else
#define PIECE_IS_BLOCK false
#endif

struct arena_block {
	struct arena_block *older;
	size_t room; /* bytes after this header */
	max_align_t bytes[];
};

struct arena_duty {
	struct arena_duty *older;
	void (*fn)(void *arg);
	void *arg;
};

enum {
	/* A little under two pages: the allocator's own header then still fits the size class. */
	BLOCK_ROOM = 8192 - 64 - (int)sizeof(struct arena_block),
	/* Pieces this large get a block of their own; the shared one stays in use. */
	PIECE_LARGE = BLOCK_ROOM / 4,
	/* Blocks a thread keeps, 128 kB. What a rare peak takes beyond goes back to the heap: kept, it
	 * would lie idle until the next such peak, and memory would creep up for hours. */
	POOL_MOST = 16,
};

/* Blocks waiting for this thread's next query; freed when the thread ends. */
struct pool {
	struct arena_block *blocks;
	unsigned count;
};

static _Thread_local struct pool *pool;
static pthread_key_t pool_key;
static pthread_once_t pool_once = PTHREAD_ONCE_INIT;

static void pool_free(void *arg)
{
	struct pool *p = arg;
	struct arena_block *b, *older;

	for (b = p->blocks; b; b = older) {
		older = b->older;
		mem_free(b);
	}
	mem_free(p);
	pool = NULL;
}

static void pool_prepare(void)
{
	PROMISE(pthread_key_create(&pool_key, pool_free) == 0);
}

static struct pool *pool_get(void)
{
	if (UNLIKELY(!pool)) {
		pthread_once(&pool_once, pool_prepare);
		pool = mem_zero(sizeof(*pool));
		PROMISE(pthread_setspecific(pool_key, pool) == 0);
	}
	return pool;
}

static struct arena_block *block_new(size_t room)
{
	struct arena_block *b = mem_new(sizeof(*b) + room);

	b->room = room;
	return b;
}

static struct arena_block *block_shared(void)
{
	struct pool *p = pool_get();
	struct arena_block *b = p->blocks;

	if (!b)
		return block_new(BLOCK_ROOM);
	p->blocks = b->older;
	p->count--;
	return b;
}

static void block_release(struct arena_block *b)
{
	struct pool *p;

	if (PIECE_IS_BLOCK || b->room != BLOCK_ROOM || (p = pool_get())->count == POOL_MOST) {
		mem_free(b);
		return;
	}
	b->older = p->blocks;
	p->blocks = b;
	p->count++;
}

static void arena_hold(struct arena *a, struct arena_block *b)
{
	b->older = a->block;
	a->block = b;
	a->taken += sizeof(*b) + b->room;
}

void arena_init(struct arena *a)
{
	*a = (struct arena){ .block = NULL };
}

void arena_clear(struct arena *a)
{
	struct arena_block *b, *older;
	struct arena_duty *d;

	/* A duty may allocate from the arena, or register another duty. */
	while ((d = a->duties)) {
		a->duties = d->older;
		d->fn(d->arg);
	}
	for (b = a->block; b; b = older) {
		older = b->older;
		block_release(b);
	}
	arena_init(a);
}

static void *take_slowly(struct arena *a, size_t len)
{
	struct arena_block *b;

	if (PIECE_IS_BLOCK || len >= PIECE_LARGE) {
		b = block_new(len);
		arena_hold(a, b);
		return b->bytes;
	}
	b = block_shared();
	arena_hold(a, b);
	a->at = (uint8_t *)b->bytes + len;
	a->end = (uint8_t *)b->bytes + b->room;
	return b->bytes;
}

void *arena_take(struct arena *a, size_t len)
{
	const size_t align = _Alignof(max_align_t);
	void *piece;

	if (UNLIKELY(len > SIZE_MAX / 2))
		PANIC("out of memory: %zu bytes were not to be had", len);
	if (PIECE_IS_BLOCK)
		return take_slowly(a, len);
	len = len ? (len + align - 1) & ~(align - 1) : align;
	if (UNLIKELY(len > (size_t)(a->end - a->at)))
		return take_slowly(a, len);
	piece = a->at;
	a->at += len;
	return piece;
}

void *arena_zero(struct arena *a, size_t len)
{
	return memset(arena_take(a, len), 0, len);
}

void *arena_zeros(struct arena *a, size_t count, size_t element)
{
	if (element && count > SIZE_MAX / element)
		PANIC("out of memory: %zu times %zu bytes were not to be had", count, element);
	return arena_zero(a, count * element);
}

void *arena_copy(struct arena *a, const void *from, size_t len)
{
	void *piece = arena_take(a, len);

	if (len)
		memcpy(piece, from, len);
	return piece;
}

static void *take_piece(void *arena, size_t size)
{
	return arena_take(arena, size);
}

char *arena_textf(struct arena *a, const char *fmt, ...)
{
	va_list args;
	char *text;

	va_start(args, fmt);
	text = mem_vtextf(take_piece, a, fmt, args);
	va_end(args);
	return text;
}

void arena_on_clear(struct arena *a, void (*fn)(void *arg), void *arg)
{
	struct arena_duty *d = arena_take(a, sizeof(*d));

	*d = (struct arena_duty){ .older = a->duties, .fn = fn, .arg = arg };
	a->duties = d;
}
