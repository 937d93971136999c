/* A map from names to values that changes while it is read: one writer, many readers in turns.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Readers take no lock and write nothing; what they find is good until their turn ends
 * (util/base/rcu.h). Names are copied. Values belong to the writer: one that was replaced or removed may
 * still be seen in open turns, so it must be retired, not freed. */
#ifndef UTIL_NAMES_NAMETABLE_H
#define UTIL_NAMES_NAMETABLE_H

#include <stdatomic.h>

#include "util/names/suffix.h"

struct nametable;

struct nametable *nametable_new(uint64_t seed) MUST_USE;
/* There must be no readers left. `free_value` is passed each value; it may be NULL. */
void nametable_free(struct nametable *t, void (*free_value)(void *value));

/* ---- the writer ---- */

/* From now on there may be readers: what falls out of use is retired, no longer freed at once. */
void nametable_publish(struct nametable *t);

/* Put or remove a value; both return the old one, or NULL. `value` is not NULL. */
void *nametable_put(struct nametable *t, const uint8_t *name, void *value);
void *nametable_remove(struct nametable *t, const uint8_t *name);
size_t nametable_count(const struct nametable *t);
/* In canonical order; stops when `fn` returns false. `fn` may change the table. */
void nametable_each(const struct nametable *t,
		    bool (*fn)(const uint8_t *name, void *value, void *arg), void *arg);

/* ---- readers ---- */

unsigned nametable_deepest(const struct nametable *t); /* labels of the deepest name ever put */
/* Copies of the first names in canonical order that come after `after` (NULL: of all), at most `most`; how many. The caller
 * frees each with mem_free. */
size_t nametable_after(const struct nametable *t, const uint8_t *after, uint8_t **names, size_t most) MUST_USE;
void *nametable_find(const struct nametable *t, const uint8_t *name); /* exact match, or NULL */
/* The value at the suffix that has `labels` labels, or NULL. `s` was made with the table's seed. */
void *nametable_at(const struct nametable *t, const struct suffixes *s, unsigned labels);

#endif
