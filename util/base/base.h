/* Macros every file may use: attributes, array counts, container_of, min and max.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_BASE_BASE_H
#define UTIL_BASE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define PURE                    __attribute__((pure))
#define HOT_INLINE              __attribute__((always_inline)) inline /* where a call costs a hit too much */
#define MUST_USE                __attribute__((warn_unused_result))
#define NORETURN                __attribute__((noreturn))
#define PRINTF_LIKE(fmt, args)  __attribute__((format(printf, fmt, args)))
#define LIKELY(x)               __builtin_expect(!!(x), 1)
#define UNLIKELY(x)             __builtin_expect(!!(x), 0)
#define UNUSED                  __attribute__((unused))
#else
#define PURE
#define HOT_INLINE              inline
#define MUST_USE
#define NORETURN
#define PRINTF_LIKE(fmt, args)
#define LIKELY(x)               (x)
#define UNLIKELY(x)             (x)
#define UNUSED
#endif

/* memcpy for the hot path, where the caller can see that it fits: libc's own check is skipped. */
#if defined(__GNUC__)
#define COPY_THAT_FITS(to, from, len) __builtin_memcpy(to, from, len)
#else
#define COPY_THAT_FITS(to, from, len) memcpy(to, from, len)
#endif

#define COUNT(array)            (sizeof(array) / sizeof((array)[0]))

/* The struct of type `type` whose member `member` is at `ptr`. */
#define container_of(ptr, type, member) \
	((type *)(void *)((char *)(ptr) - offsetof(type, member)))

/* Bytes in a cache line on the machines we know; data written by different
 * threads never shares one. */
#define CACHE_LINE 64

#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

#endif
