/* Heap memory by one door: it never fails, and it can be measured.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Running out ends the process with a line that says where (DESIGN.md 5): every
 * cache, queue and query has a budget that refuses work long before. What these
 * return is owned by the caller and released by mem_free. */
#ifndef UTIL_MEM_H
#define UTIL_MEM_H

#include "util/base.h"

void *mem_new(size_t len) MUST_USE;                     /* bytes undefined */
void *mem_zero(size_t len) MUST_USE;                    /* all bytes 0 */
void *mem_grow(void *old, size_t len) MUST_USE;         /* as realloc; old may be NULL */
void  mem_free(void *p);                                /* p may be NULL */
void *mem_copy(const void *from, size_t len) MUST_USE;
char *mem_text(const char *text) MUST_USE;              /* copy of a C string */
char *mem_textf(const char *fmt, ...) PRINTF_LIKE(1, 2) MUST_USE;

/* What malloc really took for `p`; at least what was asked for. */
size_t mem_size(const void *p);

/* Bytes of the whole process that are in use, as the allocator counts; 0 where it does not. */
size_t mem_in_use(void);

/* A new array of `count` zeroed elements, the product checked for overflow. */
void *mem_array(size_t count, size_t element) MUST_USE;

/* Overwrite keys, and texts that hold them, before they are freed; never optimised away. */
void mem_wipe(void *p, size_t len);

/* Give pages that nobody uses back to the system where the allocator can. */
void mem_trim(void);

/* Our own broken promise: say where and end the process (STYLE.md 6). */
void panic_at(const char *file, int line, const char *fmt, ...) PRINTF_LIKE(3, 4) NORETURN;
/* Let `say` write the last sentence, instead of standard error (util/log does). */
void panic_tell(void (*say)(const char *sentence));
#define PANIC(...)      panic_at(__FILE__, __LINE__, __VA_ARGS__)
#define PROMISE(what)   ((what) ? (void)0 : panic_at(__FILE__, __LINE__, "broken promise: %s", #what))

#endif
