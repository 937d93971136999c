/* What the harnesses share: any bytes, claims, contracts of loops, and memory functions that check and forget.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Included first. memcpy and its like are replaced by functions that demand what C demands of their caller and leave
 * arbitrary bytes in all of the object written to: that is more than the real ones can do, so what is proven with
 * these holds with those. */
#ifndef TESTDATA_PROVE_H
#define TESTDATA_PROVE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CLAIM(what, holds)   __CPROVER_assert(holds, what)
/* That there is an input which comes here with `holds` true: without it the claims might be about nothing. */
#define REACHED(what, holds) __CPROVER_assert(!(holds), "reached: " what)
#define ASSUME(holds)        __CPROVER_assume(holds)

/* The clauses in testdata/prove/loops. */
#define WRITES(...) __CPROVER_assigns(__VA_ARGS__)
#define HOLDS(...)  __CPROVER_loop_invariant(__VA_ARGS__)
#define FALLS(...)  __CPROVER_decreases(__VA_ARGS__)
#define WHOLE(p)    __CPROVER_object_whole(p)
#define UPTO(p, n)  __CPROVER_object_upto(p, n)
#define OLD(x)      __CPROVER_loop_entry(x)
#define AT(p)       __CPROVER_POINTER_OFFSET(p)
/* `p` is in the object of `from` and `end`, neither before the one nor behind the other. */
#define WITHIN(from, p, end) (__CPROVER_same_object(p, from) && AT(from) <= AT(p) && AT(p) <= AT(end))

#define ANY(type) static inline type any_##type(void) { type x; return x; }
ANY(size_t)
ANY(uint8_t)
ANY(uint16_t)
ANY(uint32_t)
ANY(int64_t)
ANY(int)
#undef ANY

static inline bool any_bool(void)
{
	return any_int() != 0;
}

static inline size_t any_up_to(size_t most)
{
	size_t n = any_size_t();

	ASSUME(n <= most);
	return n;
}

/* An object of exactly that many arbitrary bytes. */
static inline uint8_t *any_bytes(size_t len)
{
	uint8_t *at = malloc(len);

	ASSUME(at != NULL);
	return at;
}

static inline void *prove_memcpy(void *to, const void *from, size_t len)
{
	CLAIM("memcpy reads what is there", len == 0 || __CPROVER_r_ok(from, len));
	CLAIM("memcpy writes what is there", len == 0 || __CPROVER_w_ok(to, len));
	if (len)
		__CPROVER_havoc_object(to);
	return to;
}

static inline void *prove_memset(void *to, int c, size_t len)
{
	(void)c;
	CLAIM("memset writes what is there", len == 0 || __CPROVER_w_ok(to, len));
	if (len)
		__CPROVER_havoc_object(to);
	return to;
}

static inline int prove_memcmp(const void *a, const void *b, size_t len)
{
	CLAIM("memcmp reads what is there", len == 0 || (__CPROVER_r_ok(a, len) && __CPROVER_r_ok(b, len)));
	return len ? any_int() : 0;
}

/* Any place that holds the byte, or none. */
static inline void *prove_memchr(const void *at, int c, size_t len)
{
	size_t i = any_size_t();

	CLAIM("memchr reads what is there", len == 0 || __CPROVER_r_ok(at, len));
	if (len == 0 || any_bool())
		return NULL;
	ASSUME(i < len && ((const uint8_t *)at)[i] == c);
	return (uint8_t *)(uintptr_t)at + i;
}

#ifndef REAL_MEMORY /* said by a harness that copies a few bytes only: unrolled */
#define memcpy(to, from, len)  prove_memcpy(to, from, len)
#define memmove(to, from, len) prove_memcpy(to, from, len)
#define memset(to, c, len)     prove_memset(to, c, len)
#define memcmp(a, b, len)      prove_memcmp(a, b, len)
#define memchr(at, c, len)     prove_memchr(at, c, len)
#endif

#endif
