/* Tags: names that match zones with clients, as bit sets.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A tag's number is its position in define-tag. */
#ifndef SERVICES_LOCAL_TAGS_H
#define SERVICES_LOCAL_TAGS_H

#include "util/base/base.h"

struct conf_list;
struct fault;

#define TAGS_MOST 1024

struct tagset {
	uint8_t *bits; /* heap; NULL: none */
	unsigned len;  /* bytes */
};

/* The number of a tag of define-tag, or -1. `len` bytes of text. */
int tag_find(const struct conf_list *defined, const char *text, size_t len);

/* Add the tags in a text such as "one two" to the set, which may have others already. */
bool tagset_add(struct tagset *s, const struct conf_list *defined, const char *text,
		struct fault *f) MUST_USE;
void tagset_clear(struct tagset *s);

/* The first tag in both sets; -1 when there is none. */
int tagset_common(const struct tagset *a, const struct tagset *b);

static inline bool tagset_is_empty(const struct tagset *s)
{
	return s->len == 0;
}

#endif
