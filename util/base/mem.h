/* The heap, which nothing else calls: it never fails, and its use can be measured.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Running out of memory ends the process with a line that says where
 * (doc/DESIGN.md, Caches): every cache, queue and query has a budget that refuses work long before
 * that. The caller owns what these functions return and releases it with
 * mem_free. */
#ifndef UTIL_BASE_MEM_H
#define UTIL_BASE_MEM_H

#include <stdarg.h>

#include "util/base/base.h"

void *mem_new(size_t len) MUST_USE;                     /* contents undefined */
void *mem_zero(size_t len) MUST_USE;                    /* zeroed */
void *mem_grow(void *old, size_t len) MUST_USE;         /* as realloc; old may be NULL */
void  mem_free(void *p);                                /* p may be NULL */
void *mem_copy(const void *from, size_t len) MUST_USE;
char *mem_text(const char *text) MUST_USE;              /* copy of a C string */
char *mem_textf(const char *fmt, ...) PRINTF_LIKE(1, 2) MUST_USE;
/* The same in memory that `take` has from elsewhere (arena_textf). */
char *mem_vtextf(void *(*take)(void *from, size_t size), void *from, const char *fmt, va_list args)
	PRINTF_LIKE(3, 0) MUST_USE;

/* Bytes malloc actually reserved for `p`, at least as many as were asked for; 0 for NULL. */
size_t mem_size(const void *p);

/* Bytes the whole process has in use, by the allocator's count, without what its threads' caches
 * hold ready; 0 where it keeps no count. */
size_t mem_in_use(void);

/* A new array of `count` zeroed elements of `element` bytes; overflow counts as out of memory. */
void *mem_array(size_t count, size_t element) MUST_USE;

/* Overwrite keys, and text containing them, before freeing; never optimised away. */
void mem_wipe(void *p, size_t len);

/* Return unused pages to the system, where the allocator can. */
void mem_trim(void);

/* Threads that allocate much, numbered from 0, share arenas in fours: one arena takes least memory, but
 * many threads would wait for each other. Called by one thread only; the other is for the thread itself. */
unsigned mem_arena_for(unsigned number);
void mem_use_arena(unsigned arena);

/* A bug of ours, or no memory: say where, and abort the process (doc/STYLE.md, Failures). */
void panic_at(const char *file, int line, const char *fmt, ...) PRINTF_LIKE(3, 4) NORETURN;
/* Have `say` report the panic instead of writing it to standard error (util/base/log does). */
void panic_tell(void (*say)(const char *sentence));
#define PANIC(...)      panic_at(__FILE__, __LINE__, __VA_ARGS__)
#define PROMISE(what)   ((what) ? (void)0 : panic_at(__FILE__, __LINE__, "broken promise: %s", #what))

#endif
