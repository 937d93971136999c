/* A name's suffixes and their hashes, from the root down to the name itself.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The hash of a name is built up label by label from the root, so that one walk over it yields the
 * hashes of all its suffixes. It ignores case. With a secret seed, no outsider can aim at a bucket.
 */
#ifndef UTIL_NAMES_SUFFIX_H
#define UTIL_NAMES_SUFFIX_H

#include <string.h>

#include "util/dns/dname.h"

struct suffixes {
	const uint8_t *name;
	unsigned count;             /* labels of the whole name, root excluded */
	unsigned hashed;            /* labels of the longest suffix that has a hash */
	size_t len;                 /* bytes of the whole name */
	uint8_t at[LABELS_MAX + 1]; /* offset of the suffix with that many labels */
	uint64_t hash[LABELS_MAX + 1];
};

static inline uint64_t suffix_hash_word(uint64_t h, uint64_t word)
{
	h = (h ^ ascii_lower8(word)) * UINT64_C(0x9e3779b97f4a7c15);
	return h ^ h >> 32;
}

/* Fewer than eight bytes as one word, without a call: memcpy of variable length would be one. */
static inline uint64_t suffix_short_word(const uint8_t *at, size_t n)
{
	uint64_t word = 0;
	uint32_t four;
	uint16_t two;

	if (n & 4) {
		memcpy(&four, at, 4);
		word = four;
	}
	if (n & 2) {
		memcpy(&two, at + (n & 4), 2);
		word |= (uint64_t)two << 8 * (n & 4);
	}
	return n & 1 ? word | (uint64_t)at[n - 1] << 8 * (n - 1) : word;
}

static inline uint64_t suffix_hash_label(uint64_t h, const uint8_t *label)
{
	size_t left = 1u + *label;
	uint64_t word;

	for (; left >= sizeof word; left -= sizeof word, label += sizeof word) {
		memcpy(&word, label, sizeof word);
		h = suffix_hash_word(h, word);
	}
	return left ? suffix_hash_word(h, suffix_short_word(label, left)) : h;
}

/* Fill in `s` for `name`, borrowed: `at` for all suffixes, `hash` for those of at most `deepest`
 * labels. */
static inline void suffixes_find(struct suffixes *s, const uint8_t *name, uint64_t seed,
				 unsigned deepest)
{
	uint8_t heads[LABELS_MAX];

	s->name = name;
	s->count = 0;
	s->len = 0;
	for (; name[s->len]; s->len += 1u + name[s->len])
		heads[s->count++] = (uint8_t)s->len;
	s->at[0] = (uint8_t)s->len++;
	s->hash[0] = seed;
	s->hashed = MIN(s->count, deepest);
	for (unsigned i = 1; i <= s->count; i++)
		s->at[i] = heads[s->count - i];
	for (unsigned i = 1; i <= s->hashed; i++)
		s->hash[i] = suffix_hash_label(s->hash[i - 1], name + s->at[i]);
}

static inline const uint8_t *suffix_name(const struct suffixes *s, unsigned labels)
{
	return s->name + s->at[labels];
}

static inline size_t suffix_len(const struct suffixes *s, unsigned labels)
{
	return s->len - s->at[labels];
}

#endif
