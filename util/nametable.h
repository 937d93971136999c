/* Names with values that change while others look: one writer, any number of readers in turns.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A reader takes no lock and writes nothing; what it finds is good until its turn ends
 * (util/rcu.h). Names are copied. Values are the writer's: one that was replaced or removed may
 * still be seen by turns that are open, so it is to be retired and not freed. */
#ifndef UTIL_NAMETABLE_H
#define UTIL_NAMETABLE_H

#include <stdatomic.h>

#include "util/suffix.h"

struct nametable;

struct nametable *nametable_new(uint64_t seed) MUST_USE;
/* No reader may be left. `free_value` gets each value; it may be NULL. */
void nametable_free(struct nametable *t, void (*free_value)(void *value));

/* ---- the writer ---- */

/* From now on there may be readers: what goes out of use is retired. Before, it is freed at once.
 */
void nametable_publish(struct nametable *t);

/* What stood there, or NULL. `value` is not NULL. */
void *nametable_put(struct nametable *t, const uint8_t *name, void *value);
void *nametable_remove(struct nametable *t, const uint8_t *name);
size_t nametable_count(const struct nametable *t);
/* In canonical order; stops when `fn` says false. `fn` may change the table. */
void nametable_each(const struct nametable *t,
		    bool (*fn)(const uint8_t *name, void *value, void *arg), void *arg);

/* ---- readers ---- */

unsigned nametable_deepest(const struct nametable *t); /* labels of the deepest name ever put */
void *nametable_find(const struct nametable *t, const uint8_t *name); /* exactly; or NULL */
/* The suffix of so many labels; or NULL. `s` was made with the table's seed. */
void *nametable_at(const struct nametable *t, const struct suffixes *s, unsigned labels);

#endif
