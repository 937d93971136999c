/* A great many names in few bytes, each with a number below 256; built once, read by all threads.
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
/* The same, but a name that is put more than once has all bits of its numbers. */
struct nameset_maker *nameset_maker_joining(void) MUST_USE;
/* Of a name that is put more than once the first counts. The name is copied. Hundreds of thousands
 * take hardly more than they will in the set. */
void nameset_put(struct nameset_maker *m, const uint8_t *name, uint8_t value);
/* At the end every name is shown once: its number from then on, or -1 to leave it out. */
void nameset_review(struct nameset_maker *m,
		    int (*review)(const uint8_t *name, uint8_t value, void *arg), void *arg);
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

/* ---- a set in a file, for machines of one kind ---- */

typedef bool (*nameset_write)(void *arg, const void *bytes, size_t len);
typedef bool (*nameset_read)(void *arg, void *to, size_t len);

bool nameset_save(const struct nameset *s, nameset_write write, void *arg) MUST_USE;
/* NULL when it cannot be read, or is no set. Whatever the bytes are, nothing outside the set is read or
 * written later. `most`: no more bytes than this are there. */
struct nameset *nameset_load(nameset_read read, void *arg, uint64_t most) MUST_USE;
uint64_t nameset_seed(const struct nameset *s);
/* Find names by another seed from now on; no reader may be there. */
void nameset_reseed(struct nameset *s, uint64_t seed);

#endif
