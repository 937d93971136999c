/* A great many names in little memory, each with a number below 256; built once, then read-only.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * For lists of hundreds of thousands of names: about 16 bytes per name, whatever malloc adds. Any
 * number of threads may read a set. */
#ifndef UTIL_NAMES_NAMESET_H
#define UTIL_NAMES_NAMESET_H

#include "util/names/suffix.h"

struct nameset;
struct nameset_maker;

/* ---- building ---- */

struct nameset_maker *nameset_maker_new(void) MUST_USE;
/* The same, but a name put more than once gets the bitwise OR of its numbers. */
struct nameset_maker *nameset_maker_joining(void) MUST_USE;
/* What was put with a name: bit n % 64 of has[n / 64] for the number n. */
struct nameset_kinds {
	uint64_t has[4];
};

/* The same, but the numbers put with a name are kinds, all of which nameset_make passes to `weigh`,
 * once for each name. It returns the number the name is to have, or -1 to leave it out. */
struct nameset_maker *nameset_maker_weighing(int (*weigh)(const uint8_t *name,
							  const struct nameset_kinds *kinds,
							  void *arg),
					     void *arg) MUST_USE;
/* When a name is put more than once, the last number counts. The name is copied. Even hundreds of
 * thousands of names take hardly more memory here than in the finished set. */
void nameset_put(struct nameset_maker *m, const uint8_t *name, uint8_t value);
size_t nameset_maker_count(const struct nameset_maker *m); /* how many times that was */
/* Have nameset_make pass every name once to `review`, which returns the number it is to have, or -1
 * to leave it out. */
void nameset_review(struct nameset_maker *m,
		    int (*review)(const uint8_t *name, uint8_t value, void *arg), void *arg);
/* Make the set of all names put; consumes the maker. NULL when it would be empty. */
struct nameset *nameset_make(struct nameset_maker *m, uint64_t seed) MUST_USE;
void nameset_maker_free(struct nameset_maker *m); /* without making a set; NULL is fine */
void nameset_free(struct nameset *s);             /* NULL is fine */

/* ---- lookup ---- */

unsigned nameset_deepest(const struct nameset *s); /* labels of the deepest name */
/* The number of the suffix that has `labels` labels; -1 when it is not in the set. `q` was made
 * with the set's seed. */
int nameset_at(const struct nameset *s, const struct suffixes *q, unsigned labels);
int nameset_find(const struct nameset *s, const uint8_t *name); /* exact match, or -1 */
size_t nameset_count(const struct nameset *s);
size_t nameset_bytes(const struct nameset *s); /* its memory, malloc's rounding aside */
/* Every name once, those under one parent together; stops when `fn` returns false. */
void nameset_each(const struct nameset *s,
		  bool (*fn)(const uint8_t *name, uint8_t value, void *arg), void *arg);

/* ---- a set in a file, readable only on the same kind of machine ---- */

typedef bool (*nameset_write)(void *arg, const void *bytes, size_t len);
typedef bool (*nameset_read)(void *arg, void *to, size_t len);

bool nameset_save(const struct nameset *s, nameset_write write, void *arg) MUST_USE;
/* NULL when it cannot be read or is not a set. Whatever the bytes, using the result never reads or
 * writes outside the set. `most`: the source holds no more bytes than this. */
struct nameset *nameset_load(nameset_read read, void *arg, uint64_t most) MUST_USE;
uint64_t nameset_seed(const struct nameset *s);
/* Rehash the set with another seed; there must be no readers. */
void nameset_reseed(struct nameset *s, uint64_t seed);

#endif
