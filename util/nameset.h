/* A great many names in few bytes, each with a number below 256; built once, then read by any
 * number of threads.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * For lists of names by the hundred thousand: about 16 bytes a name, whatever malloc thinks. */
#ifndef UTIL_NAMESET_H
#define UTIL_NAMESET_H

#include "util/suffix.h"

struct nameset;
struct nameset_maker;

/* ---- building ---- */

struct nameset_maker *nameset_maker_new(void) MUST_USE;
/* Of a name that is put more than once the first counts. The name is copied. */
void nameset_put(struct nameset_maker *m, const uint8_t *name, uint8_t value);
/* The set of all that was put; the maker is gone. NULL when nothing was. */
struct nameset *nameset_make(struct nameset_maker *m, uint64_t seed) MUST_USE;
void nameset_maker_free(struct nameset_maker *m); /* without a set; NULL is fine */
void nameset_free(struct nameset *s);             /* NULL is fine */

/* ---- asking ---- */

unsigned nameset_deepest(const struct nameset *s); /* labels of the deepest name */
/* The number of the suffix of so many labels; -1 when it is not in the set. `q` was made with the
 * set's seed. */
int nameset_at(const struct nameset *s, const struct suffixes *q, unsigned labels);
int nameset_find(const struct nameset *s, const uint8_t *name); /* exactly; or -1 */
size_t nameset_count(const struct nameset *s);
size_t nameset_bytes(const struct nameset *s); /* all it takes, but for what malloc rounds up */
/* Every name once, those of one parent together; stops when `fn` says false. */
void nameset_each(const struct nameset *s,
		  bool (*fn)(const uint8_t *name, uint8_t value, void *arg), void *arg);

#endif
