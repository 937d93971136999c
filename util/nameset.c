/* A great many names in few bytes: finding them.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/nameset_private.h"

#include "util/mem.h"

/* No name is written out: it is enough to know how many bytes of the one that is looked for the last
 * name began with. */
static int find_in_block(const struct nameset *s, size_t block, const uint8_t *name, size_t len)
{
	const uint8_t *at = s->bytes + s->blocks[block], *end = s->bytes + s->blocks[block + 1];
	uint8_t turned[DNAME_MAX + 8];
	unsigned alike = 0, head = s->head;

	turn_round(turned, name, len--);
	for (unsigned fresh; at < end; at += head + fresh) {
		unsigned kept = at[0], stop;

		fresh = at[1];
		if (kept > alike)
			continue;
		alike = kept;
		stop = (unsigned)MIN(kept + fresh, len);
		while (alike < stop && at[head + alike - kept] == turned[alike])
			alike++;
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
		int value;

		if ((s->cells[i] & ~block_mask) != print)
			continue;
		value = find_in_block(s, (s->cells[i] & block_mask) - 1, suffix_name(q, labels),
				      suffix_len(q, labels));
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
