/* Sets of names, and the closest ancestor of a name in such a set.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Built by one thread, then read by any number. Names are copied; values belong to
 * the caller. */
#ifndef UTIL_NAMES_TRIE_H
#define UTIL_NAMES_TRIE_H

#include "util/base/base.h"

struct trie;

struct trie *trie_new(void) MUST_USE;
void trie_free(struct trie *t, void (*free_value)(void *value));       /* may be NULL */
void *trie_put(struct trie *t, const uint8_t *name, void *value);      /* the old value, or NULL */
void *trie_remove(struct trie *t, const uint8_t *name);
void *trie_find(const struct trie *t, const uint8_t *name);            /* exact match, or NULL */
/* The value of the longest name in the set at or above `name`, or NULL. */
void *trie_find_closest(const struct trie *t, const uint8_t *name);
/* The same, but strictly above `name`. */
void *trie_find_above(const struct trie *t, const uint8_t *name);
size_t trie_count(const struct trie *t);
/* In canonical order; stops when `fn` returns false. */
void trie_each(const struct trie *t, bool (*fn)(const uint8_t *name, void *value, void *arg),
	       void *arg);

#endif
