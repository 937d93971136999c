/* A great many names in little memory: a set in a file.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/base/mem.h"
#include "util/names/nameset_private.h"

struct saved {
	uint64_t seed, count, cell_count, block_count, bytes;
	uint32_t at_depth[LABELS_MAX + 1];
	uint32_t deepest, block_bits;
	uint8_t only_value, head, unused[6];
};

bool nameset_save(const struct nameset *s, nameset_write write, void *arg)
{
	struct saved v = { .seed = s->seed,
			   .count = s->count,
			   .cell_count = s->cell_count,
			   .block_count = s->block_count,
			   .bytes = s->blocks[s->block_count],
			   .deepest = s->deepest,
			   .block_bits = s->block_bits,
			   .only_value = s->only_value,
			   .head = s->head };

	memcpy(v.at_depth, s->at_depth, sizeof(v.at_depth));
	return write(arg, &v, sizeof(v)) &&
	       write(arg, s->cells, s->cell_count * sizeof(*s->cells)) &&
	       write(arg, s->blocks, (s->block_count + 1) * sizeof(*s->blocks)) &&
	       write(arg, s->bytes, (size_t)v.bytes);
}

/* Whether the numbers are consistent, before anything is allocated by them. */
static bool is_plausible(const struct saved *v, uint64_t most)
{
	return v->count > 0 && v->count <= most / 2 && v->bytes <= most &&
	       v->cell_count > v->count && v->cell_count <= most / 4 &&
	       v->block_count == (v->count + BLOCK_NAMES - 1) / BLOCK_NAMES &&
	       v->block_bits < 32 && (UINT64_C(1) << v->block_bits) > v->block_count &&
	       v->deepest <= LABELS_MAX && (v->head == 2 || v->head == 3);
}

static bool cells_are_good(const struct nameset *s)
{
	uint32_t mask = (uint32_t)((UINT64_C(1) << s->block_bits) - 1);
	size_t used = 0;

	for (size_t i = 0; i < s->cell_count; i++) {
		if (s->cells[i] == 0)
			continue;
		used++;
		if ((s->cells[i] & mask) == 0 || (s->cells[i] & mask) > s->block_count)
			return false;
	}
	return used == s->count && used < s->cell_count;
}

static bool block_is_good(const struct nameset *s, size_t block)
{
	size_t at = s->blocks[block], end = s->blocks[block + 1];
	unsigned len = 0;

	while (at < end) {
		if (end - at < s->head || s->bytes[at] > len)
			return false;
		len = s->bytes[at] + (unsigned)s->bytes[at + 1];
		at += s->head + (size_t)s->bytes[at + 1];
		if (len >= DNAME_MAX)
			return false;
	}
	return at == end;
}

static bool blocks_are_good(const struct nameset *s, uint64_t bytes)
{
	if (s->blocks[0] != 0 || s->blocks[s->block_count] != bytes)
		return false;
	/* Offsets must ascend: that keeps the walk through each block inside it. */
	for (size_t i = 0; i < s->block_count; i++) {
		if (s->blocks[i] > s->blocks[i + 1])
			return false;
	}
	for (size_t i = 0; i < s->block_count; i++) {
		if (!block_is_good(s, i))
			return false;
	}
	return true;
}

struct nameset *nameset_load(nameset_read read, void *arg, uint64_t most)
{
	struct nameset *s;
	struct saved v;

	if (!read(arg, &v, sizeof(v)) || !is_plausible(&v, most))
		return NULL;
	s = mem_zero(sizeof(*s));
	s->seed = v.seed;
	s->count = (size_t)v.count;
	s->only_value = v.only_value;
	s->head = v.head;
	s->deepest = v.deepest;
	memcpy(s->at_depth, v.at_depth, sizeof(s->at_depth));
	s->cell_count = (size_t)v.cell_count;
	s->block_bits = v.block_bits;
	s->block_count = (size_t)v.block_count;
	s->cells = mem_new(s->cell_count * sizeof(*s->cells));
	s->blocks = mem_new((s->block_count + 1) * sizeof(*s->blocks));
	s->bytes = mem_new((size_t)v.bytes + SLACK);
	memset(s->bytes + v.bytes, 0, SLACK);
	if (read(arg, s->cells, s->cell_count * sizeof(*s->cells)) &&
	    read(arg, s->blocks, (s->block_count + 1) * sizeof(*s->blocks)) &&
	    read(arg, s->bytes, (size_t)v.bytes) && cells_are_good(s) &&
	    blocks_are_good(s, v.bytes))
		return s;
	nameset_free(s);
	return NULL;
}

uint64_t nameset_seed(const struct nameset *s)
{
	return s->seed;
}

void nameset_reseed(struct nameset *s, uint64_t seed)
{
	s->seed = seed;
	memset(s->at_depth, 0, sizeof(s->at_depth));
	mem_free(s->cells);
	nameset_index(s);
}
