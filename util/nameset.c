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

		if (label > len) /* a saved set that someone has tampered with */
			break;
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

/* ---- building: names as they come, put in order and packed piece by piece, at last merged ---- */

enum { CHUNK_NAMES = 32768, CHUNK_BYTES = CHUNK_NAMES * 24 };

/* A name that was put, and its first bytes for a quick comparison. */
struct put {
	uint64_t begin;
	uint32_t at; /* in the chunk: value, length, name turned round */
};

/* Names in order, none twice: kept, fresh, value, the last `fresh` bytes. */
struct run {
	uint8_t *bytes;
	size_t len, count;
};

struct nameset_maker {
	bool joins;
	uint8_t *chunk;
	size_t chunk_len;
	struct put *list, *spare; /* CHUNK_NAMES of each */
	size_t count;             /* in the list */
	struct run *runs;
	size_t run_count;
	int (*review)(const uint8_t *name, uint8_t value, void *arg);
	void *review_arg;
};

struct nameset_maker *nameset_maker_new(void)
{
	return mem_zero(sizeof(struct nameset_maker));
}

struct nameset_maker *nameset_maker_joining(void)
{
	struct nameset_maker *m = nameset_maker_new();

	m->joins = true;
	return m;
}

void nameset_review(struct nameset_maker *m,
		    int (*review)(const uint8_t *name, uint8_t value, void *arg), void *arg)
{
	m->review = review;
	m->review_arg = arg;
}

static void chunk_free(struct nameset_maker *m)
{
	mem_free(m->chunk);
	mem_free(m->list);
	mem_free(m->spare);
	m->chunk = NULL;
	m->list = m->spare = NULL;
	m->chunk_len = m->count = 0;
}

void nameset_maker_free(struct nameset_maker *m)
{
	if (!m)
		return;
	chunk_free(m);
	for (size_t i = 0; i < m->run_count; i++)
		mem_free(m->runs[i].bytes);
	mem_free(m->runs);
	mem_free(m);
}

static uint64_t begin_of(const uint8_t *turned, size_t len)
{
	uint64_t begin = 0;

	for (unsigned i = 0; i < 8; i++)
		begin = begin << 8 | (i < len ? turned[i] : 0u);
	return begin;
}

static int compare_turned(const uint8_t *a, unsigned a_len, const uint8_t *b, unsigned b_len)
{
	int order = memcmp(a, b, MIN(a_len, b_len));

	return order ? order : (int)a_len - (int)b_len;
}

static bool stands_before(const struct nameset_maker *m, const struct put *x, const struct put *y)
{
	const uint8_t *a = m->chunk + x->at, *b = m->chunk + y->at;

	if (x->begin != y->begin)
		return x->begin < y->begin;
	return compare_turned(a + 2, a[1], b + 2, b[1]) < 0;
}

/* ---- a chunk in order ---- */

static void merge_halves(const struct nameset_maker *m, const struct put *from, struct put *to,
			 size_t middle, size_t end)
{
	size_t a = 0, b = middle, n = 0;

	while (a < middle && b < end)
		to[n++] = stands_before(m, &from[b], &from[a]) ? from[b++] : from[a++];
	while (a < middle)
		to[n++] = from[a++];
	while (b < end)
		to[n++] = from[b++];
}

/* Equal names stay as they came. */
static void sort_chunk(struct nameset_maker *m)
{
	for (size_t width = 1; width < m->count; width *= 2) {
		struct put *from = m->list;

		for (size_t i = 0; i < m->count; i += 2 * width) {
			size_t left = m->count - i;

			merge_halves(m, from + i, m->spare + i, MIN(width, left),
				     MIN(2 * width, left));
		}
		m->list = m->spare;
		m->spare = from;
	}
}

static unsigned in_common(const uint8_t *a, unsigned a_len, const uint8_t *b, unsigned b_len)
{
	unsigned same = 0, most = MIN(a_len, b_len);

	while (same < most && a[same] == b[same])
		same++;
	return same;
}

static void pack_chunk(struct nameset_maker *m)
{
	struct run r = { .bytes = mem_new(m->chunk_len + m->count) };
	const uint8_t *before = NULL;
	size_t value_at = 0;

	sort_chunk(m);
	for (size_t i = 0; i < m->count; i++) {
		const uint8_t *put = m->chunk + m->list[i].at;
		unsigned kept =
			before ? in_common(before + 2, before[1], put + 2, put[1]) : 0;
		uint8_t fresh = (uint8_t)(put[1] - kept);

		if (before && fresh == 0 && before[1] == put[1]) {
			if (m->joins)
				r.bytes[value_at] |= put[0];
			continue;
		}
		r.bytes[r.len++] = (uint8_t)kept;
		r.bytes[r.len++] = fresh;
		value_at = r.len;
		r.bytes[r.len++] = put[0];
		memcpy(r.bytes + r.len, put + 2 + kept, fresh);
		r.len += fresh;
		r.count++;
		before = put;
	}
	r.bytes = mem_grow(r.bytes, r.len);
	if ((m->run_count & (m->run_count - 1)) == 0)
		m->runs = mem_grow(m->runs, (m->run_count ? 2 * m->run_count : 1) *
						    sizeof(*m->runs));
	m->runs[m->run_count++] = r;
	m->chunk_len = m->count = 0;
}

void nameset_put(struct nameset_maker *m, const uint8_t *name, uint8_t value)
{
	size_t len = dname_len(name);
	uint8_t *to;

	if (!m->chunk) {
		m->chunk = mem_new(CHUNK_BYTES);
		m->list = mem_array(CHUNK_NAMES, sizeof(*m->list));
		m->spare = mem_array(CHUNK_NAMES, sizeof(*m->spare));
	}
	if (m->count == CHUNK_NAMES || CHUNK_BYTES - m->chunk_len < 1 + len)
		pack_chunk(m);
	to = m->chunk + m->chunk_len;
	to[0] = value;
	to[1] = (uint8_t)(len - 1);
	turn_round(to + 2, name, len);
	m->list[m->count++] = (struct put){ .begin = begin_of(to + 2, len - 1),
					    .at = (uint32_t)m->chunk_len };
	m->chunk_len += 1 + len;
}

/* ---- runs into one ---- */

struct strand {
	struct decoder d;
	uint64_t begin;
	size_t number; /* of the run: of equal names the earlier comes first */
};

struct weave {
	struct strand *strands;
	struct strand **heap;
	size_t count;
};

static bool strand_before(const struct strand *x, const struct strand *y)
{
	int order;

	if (x->begin != y->begin)
		return x->begin < y->begin;
	order = compare_turned(x->d.name, x->d.len, y->d.name, y->d.len);
	return order ? order < 0 : x->number < y->number;
}

static void sink(struct weave *w, size_t at)
{
	struct strand *s = w->heap[at];

	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= w->count)
			break;
		if (child + 1 < w->count && strand_before(w->heap[child + 1], w->heap[child]))
			child++;
		if (!strand_before(w->heap[child], s))
			break;
		w->heap[at] = w->heap[child];
		at = child;
	}
	w->heap[at] = s;
}

static bool strand_next(struct strand *s)
{
	if (!decode(&s->d))
		return false;
	s->begin = begin_of(s->d.name, s->d.len);
	return true;
}

static void weave_begin(struct weave *w, const struct nameset_maker *m)
{
	w->strands = mem_array(m->run_count, sizeof(*w->strands));
	w->heap = mem_array(m->run_count, sizeof(struct strand *));
	w->count = m->run_count;
	for (size_t i = 0; i < m->run_count; i++) {
		struct strand *s = w->heap[i] = &w->strands[i];

		s->number = i;
		s->d.at = m->runs[i].bytes;
		s->d.end = m->runs[i].bytes + m->runs[i].len;
		s->d.head = 3;
		(void)strand_next(s); /* no run is empty */
	}
	for (size_t i = w->count / 2; i-- > 0;)
		sink(w, i);
}

static void weave_end(struct weave *w)
{
	mem_free(w->heap);
	mem_free(w->strands);
}

/* The next name, turned round, with its value. */
struct woven {
	uint8_t value, len;
	uint8_t name[DNAME_MAX];
};

static void advance(struct weave *w)
{
	if (!strand_next(w->heap[0]))
		w->heap[0] = w->heap[--w->count];
	if (w->count)
		sink(w, 0);
}

static bool weave_next(struct weave *w, bool joins, struct woven *out)
{
	const struct strand *s;

	if (w->count == 0)
		return false;
	s = w->heap[0];
	out->value = s->d.value;
	out->len = s->d.len;
	memcpy(out->name, s->d.name, s->d.len);
	for (;;) {
		advance(w);
		if (w->count == 0)
			return true;
		s = w->heap[0];
		if (s->d.len != out->len || memcmp(s->d.name, out->name, out->len) != 0)
			return true;
		if (joins)
			out->value |= s->d.value;
	}
}

/* ---- the set ---- */

struct writing {
	struct nameset *s;
	struct woven before;
	size_t len;
	bool values_differ;
};

static void write_name(struct writing *w, const struct woven *n)
{
	struct nameset *s = w->s;
	unsigned kept = s->count % BLOCK_NAMES ? in_common(w->before.name, w->before.len, n->name,
							   n->len)
					       : 0;
	uint8_t fresh = (uint8_t)(n->len - kept);

	if (s->count % BLOCK_NAMES == 0)
		s->blocks[s->block_count++] = (uint32_t)w->len;
	if (s->count == 0)
		s->only_value = n->value;
	w->values_differ |= n->value != s->only_value;
	s->bytes[w->len++] = (uint8_t)kept;
	s->bytes[w->len++] = fresh;
	s->bytes[w->len++] = n->value;
	memcpy(s->bytes + w->len, n->name + kept, fresh);
	w->len += fresh;
	memcpy(w->before.name + kept, n->name + kept, fresh);
	w->before.len = n->len;
	s->count++;
}

static bool is_kept(const struct nameset_maker *m, struct woven *n)
{
	uint8_t name[DNAME_MAX];
	int value;

	if (!m->review)
		return true;
	turn_back(name, n->name, n->len);
	value = m->review(name, n->value, m->review_arg);
	n->value = (uint8_t)value;
	return value >= 0;
}

/* All have the same value: no name says so any more. */
static void drop_values(struct writing *w)
{
	struct nameset *s = w->s;
	uint8_t *to = s->bytes;
	size_t from = 0, block = 0;

	while (from < w->len) {
		size_t len = s->bytes[from + 1];

		if (block < s->block_count && s->blocks[block] == from)
			s->blocks[block++] = (uint32_t)(to - s->bytes);
		to[0] = s->bytes[from];
		to[1] = (uint8_t)len;
		memmove(to + 2, s->bytes + from + 3, len);
		to += 2 + len;
		from += 3 + len;
	}
	w->len = (size_t)(to - s->bytes);
}

static void write_names(struct nameset *s, struct nameset_maker *m)
{
	struct writing w = { .s = s };
	struct weave weave;
	struct woven n;

	weave_begin(&weave, m);
	while (weave_next(&weave, m->joins, &n)) {
		if (is_kept(m, &n))
			write_name(&w, &n);
	}
	weave_end(&weave);
	s->head = w.values_differ ? 3 : 2;
	if (!w.values_differ)
		drop_values(&w);
	s->blocks[s->block_count] = (uint32_t)w.len;
	if (s->count) {
		s->bytes = mem_grow(s->bytes, w.len);
		s->blocks = mem_grow(s->blocks, (s->block_count + 1) * sizeof(*s->blocks));
	}
}

static void write_cell(struct nameset *s, const uint8_t *name, size_t block)
{
	struct suffixes q;
	size_t at;

	suffixes_find(&q, name, s->seed, LABELS_MAX);
	s->at_depth[q.count]++;
	s->deepest = MAX(s->deepest, q.count);
	at = home_of(s, q.hash[q.count]);
	while (s->cells[at])
		at = next_cell(s, at);
	s->cells[at] = print_of(s, q.hash[q.count]) | (uint32_t)(block + 1);
}

static void write_cells(struct nameset *s)
{
	s->block_bits = 0;
	while (s->block_bits < 31 && (UINT64_C(1) << s->block_bits) <= s->block_count)
		s->block_bits++;
	s->cell_count = s->count + s->count / 4 + 4;
	s->cells = mem_array(s->cell_count, sizeof(*s->cells));
	for (size_t i = 0; i < s->block_count; i++) {
		uint8_t name[DNAME_MAX];
		struct decoder d;

		decode_block(s, i, &d);
		while (decode(&d)) {
			turn_back(name, d.name, d.len);
			write_cell(s, name, i);
		}
	}
}

/* Bytes that the names need at most: each block writes its first one out. */
static size_t bytes_for(const struct nameset_maker *m, size_t *count)
{
	size_t len = 0;

	*count = 0;
	for (size_t i = 0; i < m->run_count; i++) {
		len += m->runs[i].len;
		*count += m->runs[i].count;
	}
	return len + (*count / BLOCK_NAMES + m->run_count + 1) * DNAME_MAX;
}

struct nameset *nameset_make(struct nameset_maker *m, uint64_t seed)
{
	struct nameset *s = NULL;
	size_t most, len;

	if (m->count)
		pack_chunk(m);
	chunk_free(m);
	if (m->run_count) {
		s = mem_zero(sizeof(*s));
		s->seed = seed;
		len = bytes_for(m, &most);
		s->bytes = mem_new(len);
		s->blocks = mem_new((most / BLOCK_NAMES + 2) * sizeof(*s->blocks));
		write_names(s, m);
	}
	nameset_maker_free(m);
	if (s && s->count) {
		write_cells(s);
		return s;
	}
	nameset_free(s);
	return NULL;
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

/* ---- a set in a file ---- */

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

/* Whether the numbers belong together, before anything is allocated for them. */
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
	for (size_t i = 0; i < s->block_count; i++) {
		if (s->blocks[i] > s->blocks[i + 1] || !block_is_good(s, i))
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
	s->bytes = mem_new((size_t)v.bytes + 1);
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
	write_cells(s);
}
