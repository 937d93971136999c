/* Tags: names by which zones and clients find each other, as sets of bits.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A tag's number is its place in define-tag. */
#ifndef SERVICES_TAGS_H
#define SERVICES_TAGS_H

#include "util/base.h"

struct conf_list;
struct fault;

#define TAGS_MOST 1024

struct tagset {
	uint8_t *bits; /* heap; NULL: none */
	unsigned len;  /* bytes */
};

/* The number of a tag of define-tag, or -1. `len` bytes of text. */
int tag_find(const struct conf_list *defined, const char *text, size_t len);

/* Put the tags of "one two" into the set, which begins empty or has others already. */
bool tagset_add(struct tagset *s, const struct conf_list *defined, const char *text,
		struct fault *f) MUST_USE;
void tagset_clear(struct tagset *s);

/* The first tag that both have; -1 when there is none. */
int tagset_common(const struct tagset *a, const struct tagset *b);

static inline bool tagset_is_empty(const struct tagset *s)
{
	return s->len == 0;
}

#endif
