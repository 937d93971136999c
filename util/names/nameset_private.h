/* What the nameset*.c files share: the set's layout, and the encoding of its names.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Names are sorted, in blocks of 16, and reversed: the label next to the root comes first, and each
 * label's length after it ("com" 3 "example" 7), so that neighbours begin alike. Each states how
 * many bytes it shares with the name before it, followed by the rest:
 *
 *     kept (1 byte)  fresh (1 byte)  value (1 byte, unless all are equal)  the last `fresh` bytes
 *
 * An open-addressed table of 32-bit cells finds the block: the low block_bits bits hold the block's
 * number plus one, the rest bits of the hash, so that a name not in the set is hardly ever looked
 * for in a block. 0 is free. SLACK bytes follow the names, so that they can be read by words. */
#ifndef UTIL_NAMES_NAMESET_PRIVATE_H
#define UTIL_NAMES_NAMESET_PRIVATE_H

#include "util/names/nameset.h"

enum { BLOCK_NAMES = 16, SLACK = 8 };

struct nameset {
	uint64_t seed;
	size_t count;
	uint8_t only_value; /* of every name, if head is 2 */
	uint8_t head;       /* bytes before a name's fresh ones: 2 or 3 */
	unsigned deepest;
	uint32_t at_depth[LABELS_MAX + 1];
	uint32_t *cells;
	size_t cell_count;
	unsigned block_bits;
	uint32_t *blocks; /* where each begins in `bytes`; one extra at the end */
	size_t block_count;
	uint8_t *bytes;
};

/* ---- reading ---- */

/* Lower-case in place, word by word; up to seven bytes beyond `len` may change too. */
static inline void lower_words(uint8_t *at, size_t len)
{
	for (size_t i = 0; i < len; i += 8) {
		uint64_t word;

		memcpy(&word, at + i, 8);
		word = ascii_lower8(word);
		COPY_THAT_FITS(at + i, &word, 8);
	}
}

/* Reverse a name of `len` bytes, lower-cased and without the root label: writes `len` - 1 bytes to
 * `to`, which has room for 8 more. */
static inline void turn_round(uint8_t *to, const uint8_t *name, size_t len)
{
	uint8_t *end = to + len - 1;

	for (; *name; name += 1 + *name) {
		*--end = *name;
		end -= *name;
		COPY_THAT_FITS(end, name + 1, *name);
	}
	lower_words(to, len - 1);
}

/* Back to wire form. */
static inline void turn_back(uint8_t *to, const uint8_t *turned, size_t len)
{
	while (len > 0) {
		uint8_t label = turned[--len];

		if (label > len) /* a saved set that was tampered with */
			break;
		len -= label;
		*to++ = label;
		memcpy(to, turned + len, label);
		to += label;
	}
	*to = 0;
}

/* A walk over the names of a block, expanding each in turn. */
struct decoder {
	const uint8_t *at, *end;
	uint8_t head, value, len;
	uint8_t name[2 * DNAME_MAX]; /* reversed */
};

static inline void decode_block(const struct nameset *s, size_t block, struct decoder *d)
{
	d->at = s->bytes + s->blocks[block];
	d->end = s->bytes + s->blocks[block + 1];
	d->head = s->head;
	d->value = s->only_value;
	d->len = 0;
}

static inline bool decode(struct decoder *d)
{
	unsigned kept, fresh;

	if (d->at == d->end)
		return false;
	kept = d->at[0];
	fresh = d->at[1];
	if (d->head > 2)
		d->value = d->at[2];
	d->len = (uint8_t)(kept + fresh);
	COPY_THAT_FITS(d->name + kept, d->at + d->head, fresh); /* 255 + 255 */
	d->at += d->head + fresh;
	return true;
}

/* Where the search for a hash begins: taken from its lower half, the fingerprint from the upper. */
static inline size_t home_of(const struct nameset *s, uint64_t hash)
{
	return (size_t)((hash & UINT32_MAX) * s->cell_count >> 32);
}

static inline size_t next_cell(const struct nameset *s, size_t i)
{
	return i + 1 == s->cell_count ? 0 : i + 1;
}

static inline uint32_t print_of(const struct nameset *s, uint64_t hash)
{
	return (uint32_t)(hash >> 32) << s->block_bits;
}

/* Rebuild the table of cells from the names (nameset_make.c). */
void nameset_index(struct nameset *s);

#endif
