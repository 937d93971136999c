/* The heap, which nothing else calls: plain malloc names, so the allocator is chosen by linking.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/base/mem.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <unistd.h>
#ifdef HAVE_MALLOC_H
#include <malloc.h>
#endif
#ifdef HAVE_MALLOC_NP_H
#include <malloc_np.h>
#endif
#ifdef HAVE_JEMALLOC
#ifndef HAVE_MALLOC_NP_H
#include <jemalloc/jemalloc.h>
#endif

/* Read by jemalloc before main(). A router has few pages to spare: freed ones are returned within
 * seconds, without a background thread or huge pages for metadata. One arena, as what one worker puts
 * into a cache is freed by another: with an arena each, all of them keep pages for the most that they
 * ever had of it. mem_arena_for makes more where there are many. */
__attribute__((visibility("default"))) extern const char *malloc_conf;
const char *malloc_conf = "background_thread:false,dirty_decay_ms:2000,muzzy_decay_ms:0,"
			  "metadata_thp:disabled,narenas:1";

enum { ARENA_THREADS = 4, ARENAS_MOST = 64 };
#endif

static void (*_Atomic panic_say)(const char *sentence);

void panic_tell(void (*say)(const char *sentence))
{
	atomic_store(&panic_say, say);
}

void panic_at(const char *file, int line, const char *fmt, ...)
{
	char text[512], sentence[640];
	void (*say)(const char *) = atomic_exchange(&panic_say, NULL);
	va_list args;
	int n;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	n = snprintf(sentence, sizeof(sentence), "%s:%d: %s\n", file, line, text);
	n = MIN(n, (int)sizeof(sentence) - 1);
	if (say) {
		sentence[n - (sentence[n - 1] == '\n')] = 0;
		say(sentence);
		abort();
	}
	while (write(STDERR_FILENO, sentence, (size_t)n) < 0 && errno == EINTR)
		;
	abort();
}

static void *sure(void *p, size_t len)
{
	if (UNLIKELY(!p))
		PANIC("out of memory: %zu bytes were not to be had", len);
	return p;
}

/* Where malloc cannot tell how much it reserved, the length is stored in front of each block. */
#ifdef HAVE_MALLOC_USABLE_SIZE
void *mem_new(size_t len)
{
	return sure(malloc(len ? len : 1), len);
}

void *mem_zero(size_t len)
{
	return sure(calloc(1, len ? len : 1), len);
}

void *mem_grow(void *old, size_t len)
{
	return sure(realloc(old, len ? len : 1), len);
}

void mem_free(void *p)
{
	free(p);
}

size_t mem_size(const void *p)
{
	/* Some systems take a const pointer here, some do not. */
	return malloc_usable_size((void *)(uintptr_t)p);
}
#else
union front {
	size_t len;
	max_align_t align;
};

static void *behind(union front *f, size_t len)
{
	f->len = len;
	return f + 1;
}

static size_t with_front(size_t len)
{
	return len > SIZE_MAX - sizeof(union front) ? SIZE_MAX : len + sizeof(union front);
}

void *mem_new(size_t len)
{
	return behind(sure(malloc(with_front(len)), len), len);
}

void *mem_zero(size_t len)
{
	return behind(sure(calloc(1, with_front(len)), len), len);
}

void *mem_grow(void *old, size_t len)
{
	union front *f = old;

	return behind(sure(realloc(f ? f - 1 : NULL, with_front(len)), len), len);
}

void mem_free(void *p)
{
	union front *f = p;

	free(f ? f - 1 : NULL);
}

size_t mem_size(const void *p)
{
	const union front *f = p;

	return f ? f[-1].len + sizeof(union front) : 0;
}
#endif

void *mem_copy(const void *from, size_t len)
{
	void *p = mem_new(len);

	if (len)
		memcpy(p, from, len);
	return p;
}

char *mem_text(const char *text)
{
	return mem_copy(text, strlen(text) + 1);
}

char *mem_vtextf(void *(*take)(void *from, size_t size), void *from, const char *fmt, va_list args)
{
	va_list again;
	char *text;
	int len;

	va_copy(again, args);
	len = vsnprintf(NULL, 0, fmt, args);
	PROMISE(len >= 0);
	text = take(from, (size_t)len + 1);
	vsnprintf(text, (size_t)len + 1, fmt, again);
	va_end(again);
	return text;
}

static void *take_new(void *from, size_t size)
{
	(void)from;
	return mem_new(size);
}

char *mem_textf(const char *fmt, ...)
{
	va_list args;
	char *text;

	va_start(args, fmt);
	text = mem_vtextf(take_new, NULL, fmt, args);
	va_end(args);
	return text;
}

void *mem_array(size_t count, size_t element)
{
	if (element && count > SIZE_MAX / element)
		PANIC("out of memory: %zu times %zu bytes were not to be had", count, element);
	return mem_zero(count * element);
}

size_t mem_in_use(void)
{
#if defined(HAVE_JEMALLOC)
	uint64_t epoch = 1;
	size_t used = 0, idle = 0, len = sizeof(used);
	char name[64];

	snprintf(name, sizeof(name), "stats.arenas.%u.tcache_bytes", (unsigned)MALLCTL_ARENAS_ALL);
	mallctl("epoch", NULL, NULL, &epoch, sizeof(epoch));
	if (mallctl("stats.allocated", &used, &len, NULL, 0) != 0)
		return 0;
	len = sizeof(idle);
	if (mallctl(name, &idle, &len, NULL, 0) != 0 || idle > used)
		idle = 0;
	return used - idle;
#elif defined(HAVE_MALLINFO2)
	return mallinfo2().uordblks;
#else
	return 0;
#endif
}

void mem_wipe(void *p, size_t len)
{
#if defined(HAVE_EXPLICIT_BZERO)
	explicit_bzero(p, len);
#else
	volatile unsigned char *at = p;

	while (len--)
		*at++ = 0;
#endif
}

void mem_trim(void)
{
#if defined(HAVE_JEMALLOC)
	char name[48];

	snprintf(name, sizeof(name), "arena.%u.purge", (unsigned)MALLCTL_ARENAS_ALL);
	mallctl("thread.tcache.flush", NULL, NULL, NULL, 0);
	mallctl(name, NULL, NULL, NULL, 0);
#elif defined(HAVE_MALLOC_TRIM)
	malloc_trim(0);
#endif
}

unsigned mem_arena_for(unsigned number)
{
#if defined(HAVE_JEMALLOC)
	static unsigned arenas[ARENAS_MOST], count = 1; /* the first is there from the beginning */
	unsigned group = number / ARENA_THREADS % ARENAS_MOST;
	size_t len = sizeof(*arenas);

	while (count <= group && mallctl("arenas.create", &arenas[count], &len, NULL, 0) == 0)
		count++;
	return group < count ? arenas[group] : 0;
#else
	(void)number;
	return 0;
#endif
}

void mem_use_arena(unsigned arena)
{
#if defined(HAVE_JEMALLOC)
	mallctl("thread.arena", NULL, NULL, &arena, sizeof(arena));
#else
	(void)arena;
#endif
}
