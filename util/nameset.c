/* A great many names in few bytes, each with a number below 256; built once, then read by any
 * number of threads.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Names stand in order in blocks of 16, turned round: the label next to the root first,
 * the length behind each label ("com" 3 "example" 7), so that neighbours begin alike. Each says how
 * many bytes it has in common with the name before it, and has the rest written out:
 *
 *     kept (1 byte)  fresh (1 byte)  value (1 byte, unless all are equal)  the last `fresh` bytes
 *
 * An open table of 32-bit cells finds the block: as many bits as it needs are the block's number
 * and one, the rest are of the hash, so that what is not in the set is hardly ever looked for in a
 * block. 0 is free. */
#include "util/nameset.h"

#include <stdlib.h>

#include "util/mem.h"

enum { BLOCK_NAMES = 16 };

struct nameset {
	uint64_t seed;
	size_t count;
	uint8_t only_value; /* with head 2: every name has it */
	uint8_t head;       /* bytes before those of the name */
	unsigned deepest;
	uint32_t at_depth[LABELS_MAX + 1];
	uint32_t *cells;
	size_t cell_count;
	unsigned block_bits;
	uint32_t *blocks; /* where each begins in `bytes`; one more at the end */
	size_t block_count;
	uint8_t *bytes;
};

/* ---- reading ---- */

/* Lower-case, without the root label: `len` - 1 bytes to `to`. */
static void turn_round(uint8_t *to, const uint8_t *name, size_t len)
{
	uint8_t *end = to + len - 1;

	for (; *name; name += 1 + *name) {
		*--end = *name;
		end -= *name;
		for (unsigned i = 0; i < *name; i++)
			end[i] = ascii_lower[name[1 + i]];
	}
}

/* Back into wire form. */
static void turn_back(uint8_t *to, const uint8_t *turned, size_t len)
{
	while (len > 0) {
		uint8_t label = turned[--len];

		len -= label;
		*to++ = label;
		memcpy(to, turned + len, label);
		to += label;
	}
	*to = 0;
}

/* A walk over the names of a block, each written out in turn. */
struct decoder {
	const uint8_t *at, *end;
	uint8_t head, value, len;
	uint8_t name[2 * DNAME_MAX]; /* turned round */
};

static void decode_block(const struct nameset *s, size_t block, struct decoder *d)
{
	d->at = s->bytes + s->blocks[block];
	d->end = s->bytes + s->blocks[block + 1];
	d->head = s->head;
	d->value = s->only_value;
	d->len = 0;
}

static bool decode(struct decoder *d)
{
	unsigned kept, fresh;

	if (d->at == d->end)
		return false;
	kept = d->at[0];
	fresh = d->at[1];
	if (d->head > 2)
		d->value = d->at[2];
	d->len = (uint8_t)(kept + fresh);
	memcpy(d->name + kept, d->at + d->head, fresh);
	d->at += d->head + fresh;
	return true;
}

static int find_in_block(const struct nameset *s, size_t block, const uint8_t *name, size_t len)
{
	uint8_t turned[DNAME_MAX];
	struct decoder d;

	turn_round(turned, name, len);
	decode_block(s, block, &d);
	while (decode(&d)) {
		if (d.len == len - 1 && memcmp(d.name, turned, len - 1) == 0)
			return d.value;
	}
	return -1;
}

/* Where the search for a hash begins: by its lower half, the print is of the upper. */
static size_t home_of(const struct nameset *s, uint64_t hash)
{
	return (size_t)((hash & UINT32_MAX) * s->cell_count >> 32);
}

static size_t next_cell(const struct nameset *s, size_t i)
{
	return i + 1 == s->cell_count ? 0 : i + 1;
}

static uint32_t print_of(const struct nameset *s, uint64_t hash)
{
	return (uint32_t)(hash >> 32) << s->block_bits;
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

/* ---- building ---- */

/* value, length, name turned round: one after the other */
struct nameset_maker {
	uint8_t *bytes;
	size_t len, room, count;
};

/* A name that was put, and its first bytes for a quick comparison. */
struct put {
	uint64_t begin;
	const uint8_t *at;
};

struct nameset_maker *nameset_maker_new(void)
{
	return mem_zero(sizeof(struct nameset_maker));
}

void nameset_maker_free(struct nameset_maker *m)
{
	if (m)
		mem_free(m->bytes);
	mem_free(m);
}

void nameset_put(struct nameset_maker *m, const uint8_t *name, uint8_t value)
{
	size_t len = dname_len(name);

	if (m->room - m->len < 2 + len) {
		m->room += m->room / 4 + 4096;
		m->bytes = mem_grow(m->bytes, m->room);
	}
	m->bytes[m->len] = value;
	m->bytes[m->len + 1] = (uint8_t)(len - 1);
	turn_round(m->bytes + m->len + 2, name, len);
	m->len += 1 + len;
	m->count++;
}

static uint64_t begin_of(const uint8_t *put)
{
	uint64_t begin = 0;

	for (unsigned i = 0; i < 8; i++)
		begin = begin << 8 | (i < put[1] ? put[2 + i] : 0u);
	return begin;
}

static int by_name(const struct put *x, const struct put *y)
{
	int order;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	order = memcmp(x->at + 2, y->at + 2, MIN(x->at[1], y->at[1]));
	return order ? order : (int)x->at[1] - (int)y->at[1];
}

/* Equal names as they came: the places grow. */
static int in_order(const void *a, const void *b)
{
	const struct put *x = a, *y = b;
	int order = by_name(x, y);

	return order ? order : x->at < y->at ? -1 : 1;
}

static size_t without_repeats(struct put *list, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		if (kept == 0 || by_name(&list[kept - 1], &list[i]) != 0)
			list[kept++] = list[i];
	}
	return kept;
}

static unsigned in_common(const uint8_t *a, const uint8_t *b)
{
	unsigned same = 0;

	while (same < a[1] && same < b[1] && a[2 + same] == b[2 + same])
		same++;
	return same;
}

static void write_names(struct nameset *s, const struct put *list)
{
	size_t len = 0;

	for (size_t i = 0; i < s->count; i++) {
		const uint8_t *from = list[i].at;
		unsigned kept = i % BLOCK_NAMES ? in_common(list[i - 1].at, from) : 0;
		uint8_t fresh = (uint8_t)(from[1] - kept);

		if (i % BLOCK_NAMES == 0)
			s->blocks[i / BLOCK_NAMES] = (uint32_t)len;
		s->bytes[len] = (uint8_t)kept;
		s->bytes[len + 1] = fresh;
		if (s->head > 2)
			s->bytes[len + 2] = from[0];
		memcpy(s->bytes + len + s->head, from + 2 + kept, fresh);
		len += s->head + (size_t)fresh;
	}
	s->blocks[s->block_count] = (uint32_t)len;
	s->bytes = mem_grow(s->bytes, len);
}

static void write_cells(struct nameset *s, const struct put *list)
{
	for (size_t i = 0; i < s->count; i++) {
		uint8_t name[DNAME_MAX];
		struct suffixes q;
		size_t at;

		turn_back(name, list[i].at + 2, list[i].at[1]);
		suffixes_find(&q, name, s->seed, LABELS_MAX);
		s->at_depth[q.count]++;
		s->deepest = MAX(s->deepest, q.count);
		at = home_of(s, q.hash[q.count]);
		while (s->cells[at])
			at = next_cell(s, at);
		s->cells[at] = print_of(s, q.hash[q.count]) | (uint32_t)(i / BLOCK_NAMES + 1);
	}
}

static bool all_equal(const struct put *list, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		if (list[i].at[0] != list[0].at[0])
			return false;
	}
	return true;
}

/* Bytes that write_names will need at most. */
static size_t bytes_for(const struct nameset *s, const struct nameset_maker *m)
{
	return m->len + s->count;
}

struct nameset *nameset_make(struct nameset_maker *m, uint64_t seed)
{
	struct put *list;
	struct nameset *s;
	size_t at = 0;

	if (m->count == 0) {
		nameset_maker_free(m);
		return NULL;
	}
	list = mem_array(m->count, sizeof(*list));
	for (size_t i = 0; i < m->count; i++) {
		list[i] = (struct put){ begin_of(m->bytes + at), m->bytes + at };
		at += 2u + m->bytes[at + 1];
	}
	qsort(list, m->count, sizeof(*list), in_order);
	s = mem_zero(sizeof(*s));
	s->seed = seed;
	s->count = without_repeats(list, m->count);
	s->only_value = list[0].at[0];
	s->head = all_equal(list, s->count) ? 2 : 3;
	s->block_count = (s->count + BLOCK_NAMES - 1) / BLOCK_NAMES;
	while (s->block_bits < 31 && (UINT64_C(1) << s->block_bits) <= s->block_count)
		s->block_bits++;
	s->cell_count = s->count + s->count / 4 + 4;
	s->cells = mem_array(s->cell_count, sizeof(*s->cells));
	s->blocks = mem_array(s->block_count + 1, sizeof(*s->blocks));
	s->bytes = mem_new(bytes_for(s, m));
	write_names(s, list);
	write_cells(s, list);
	mem_free(list);
	nameset_maker_free(m);
	return s;
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
