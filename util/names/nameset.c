/* A great many names in little memory: lookup.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/names/nameset_private.h"

#include "util/base/bytes.h"
#include "util/base/mem.h"

/* Copy a short run of bytes: memcpy of variable length would be a call. */
static uint8_t *copy_short(uint8_t *to, const uint8_t *from, size_t n)
{
	if (n >= 8) {
		for (size_t i = 0; i + 8 < n; i += 8)
			COPY_THAT_FITS(to + i, from + i, 8);
		COPY_THAT_FITS(to + n - 8, from + n - 8, 8);
	} else if (n >= 4) {
		COPY_THAT_FITS(to, from, 4);
		COPY_THAT_FITS(to + n - 4, from + n - 4, 4);
	} else if (n) {
		to[0] = from[0];
		to[n / 2] = from[n / 2];
		to[n - 1] = from[n - 1];
	}
	return to + n;
}

/* The suffix of that many labels, reversed as in a block; returns its length. */
static size_t turn_suffix(uint8_t to[DNAME_MAX + SLACK], const struct suffixes *q, unsigned labels)
{
	const uint64_t nothing = 0;
	uint8_t *end = to;

	for (unsigned i = 1; i <= labels; i++) {
		const uint8_t *label = q->name + q->at[i];

		end = copy_short(end, label + 1, *label);
		*end++ = *label;
	}
	lower_words(to, (size_t)(end - to));
	COPY_THAT_FITS(end, &nothing, SLACK);
	return (size_t)(end - to);
}

/* Length of the common prefix, at most `most` bytes; may read up to seven more. */
static unsigned alike_bytes(const uint8_t *a, const uint8_t *b, unsigned most)
{
	for (unsigned n = 0; n < most; n += 8) {
		uint64_t differ = get_u64(a + n) ^ get_u64(b + n);

		if (differ)
			return MIN(most, n + (unsigned)__builtin_clzll(differ) / 8);
	}
	return most;
}

/* No name is expanded: it suffices to know how many bytes of the wanted name the last one began
 * with. The names are sorted: once one shares less with its predecessor than that shared with the
 * wanted name, all that follow sort after it. */
static int find_in_block(const struct nameset *s, size_t block, const uint8_t *turned, unsigned len)
{
	const uint8_t *at = s->bytes + s->blocks[block], *end = s->bytes + s->blocks[block + 1];
	unsigned alike = 0, head = s->head;

	for (size_t line = CACHE_LINE; line < (size_t)(end - at); line += CACHE_LINE)
		__builtin_prefetch(at + line);
	for (unsigned fresh; at < end; at += head + fresh) {
		unsigned kept = at[0];

		fresh = at[1];
		if (kept > alike)
			continue;
		if (kept < alike)
			break;
		alike += alike_bytes(at + head, turned + kept, MIN(fresh, len - kept));
		if (alike == len && kept + fresh == len)
			return head > 2 ? at[2] : s->only_value;
	}
	return -1;
}

int nameset_at(const struct nameset *s, const struct suffixes *q, unsigned labels)
{
	uint32_t print, block_mask = (uint32_t)((UINT64_C(1) << s->block_bits) - 1);

	if (labels > q->hashed || s->at_depth[labels] == 0)
		return -1;
	print = print_of(s, q->hash[labels]);
	for (size_t i = home_of(s, q->hash[labels]); s->cells[i]; i = next_cell(s, i)) {
		uint8_t turned[DNAME_MAX + SLACK];
		unsigned len;
		int value;

		if ((s->cells[i] & ~block_mask) != print)
			continue;
		len = (unsigned)turn_suffix(turned, q, labels);
		value = find_in_block(s, (s->cells[i] & block_mask) - 1, turned, len);
		if (value >= 0)
			return value;
	}
	return -1;
}

int nameset_find(const struct nameset *s, const uint8_t *name)
{
	struct suffixes q;

	suffixes_find(&q, name, s->seed, s->deepest);
	return nameset_at(s, &q, q.count);
}

unsigned nameset_deepest(const struct nameset *s)
{
	return s->deepest;
}

size_t nameset_count(const struct nameset *s)
{
	return s->count;
}

size_t nameset_bytes(const struct nameset *s)
{
	return sizeof(*s) + s->cell_count * sizeof(*s->cells) +
	       (s->block_count + 1) * sizeof(*s->blocks) + s->blocks[s->block_count];
}

void nameset_each(const struct nameset *s,
		  bool (*fn)(const uint8_t *name, uint8_t value, void *arg), void *arg)
{
	uint8_t name[DNAME_MAX];
	struct decoder d;

	for (size_t i = 0; i < s->block_count; i++) {
		decode_block(s, i, &d);
		while (decode(&d)) {
			turn_back(name, d.name, d.len);
			if (!fn(name, d.value, arg))
				return;
		}
	}
}

void nameset_free(struct nameset *s)
{
	if (!s)
		return;
	mem_free(s->cells);
	mem_free(s->blocks);
	mem_free(s->bytes);
	mem_free(s);
}
