/* A great many names in little memory: making a set.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/base/bytes.h"
#include "util/base/mem.h"
#include "util/names/nameset_private.h"

/* ---- building: names as they arrive, sorted and packed chunk by chunk, merged at the end ---- */

enum { CHUNK_NAMES = 32768, CHUNK_BYTES = CHUNK_NAMES * 24 };

/* A name that was put, with its first bytes for quick comparison. */
struct put {
	uint64_t begin;
	uint32_t at; /* in the chunk: value, length, reversed name */
};

/* Sorted names without duplicates: kept, fresh, value, the last `fresh` bytes. Where kinds are
 * weighed, a name follows itself (fresh: 0) for each further kind. */
struct run {
	uint8_t *bytes;
	size_t len, count;
};

struct nameset_maker {
	bool joins;
	int (*weigh)(const uint8_t *name, const struct nameset_kinds *kinds, void *arg);
	void *weigh_arg;
	uint8_t *chunk;
	size_t chunk_len;
	struct put *list, *spare; /* CHUNK_NAMES of each */
	size_t count;             /* in the list */
	size_t put_count;
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

struct nameset_maker *nameset_maker_weighing(int (*weigh)(const uint8_t *name,
							  const struct nameset_kinds *kinds,
							  void *arg),
					     void *arg)
{
	struct nameset_maker *m = nameset_maker_new();

	m->weigh = weigh;
	m->weigh_arg = arg;
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

	if (LIKELY(len >= 8))
		return (uint64_t)get_u32(turned) << 32 | get_u32(turned + 4);
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

/* ---- sorting a chunk ---- */

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

/* Sort names with equal beginnings; equal names stay in order of arrival. */
static void sort_alike(const struct nameset_maker *m, struct put *list, struct put *spare,
		       size_t count)
{
	struct put *from = list, *to = spare;

	for (size_t width = 1; width < count; width *= 2) {
		struct put *swap = from;

		for (size_t i = 0; i < count; i += 2 * width) {
			size_t left = count - i;

			merge_halves(m, from + i, to + i, MIN(width, left), MIN(2 * width, left));
		}
		from = to;
		to = swap;
	}
	if (from != list)
		memcpy(list, from, count * sizeof(*list));
}

/* Radix-sort by one byte of `begin`; nothing moves when it is the same in all. */
static void sort_by_byte(struct nameset_maker *m, unsigned shift, uint32_t count[256])
{
	uint32_t place[256], sum = 0;
	struct put *from = m->list;

	for (unsigned i = 0; i < 256; i++) {
		if (count[i] == m->count)
			return;
		place[i] = sum;
		sum += count[i];
	}
	for (size_t i = 0; i < m->count; i++)
		m->spare[place[from[i].begin >> shift & 0xff]++] = from[i];
	m->list = m->spare;
	m->spare = from;
}

static void sort_chunk(struct nameset_maker *m)
{
	uint32_t(*counts)[256] = mem_zero(8 * sizeof(*counts));

	for (size_t i = 0; i < m->count; i++)
		for (unsigned byte = 0; byte < 8; byte++)
			counts[byte][m->list[i].begin >> 8 * byte & 0xff]++;
	for (unsigned byte = 0; byte < 8; byte++)
		sort_by_byte(m, 8 * byte, counts[byte]);
	mem_free(counts);
	for (size_t i = 0, end; i < m->count; i = end) {
		for (end = i + 1; end < m->count && m->list[end].begin == m->list[i].begin;)
			end++;
		if (end - i > 1)
			sort_alike(m, m->list + i, m->spare + i, end - i);
	}
}

static unsigned in_common(const uint8_t *a, unsigned a_len, const uint8_t *b, unsigned b_len)
{
	unsigned same = 0, most = MIN(a_len, b_len);

	while (same + 8 <= most && memcmp(a + same, b + same, 8) == 0)
		same += 8;
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

		if (before && fresh == 0 && before[1] == put[1] &&
		    (!m->weigh || r.bytes[value_at] == put[0])) {
			r.bytes[value_at] = m->joins ? r.bytes[value_at] | put[0] : put[0];
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

	m->put_count++;
	if (!m->chunk) {
		m->chunk = mem_new(CHUNK_BYTES + 8);
		m->list = mem_new(CHUNK_NAMES * sizeof(*m->list));
		m->spare = mem_new(CHUNK_NAMES * sizeof(*m->spare));
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

size_t nameset_maker_count(const struct nameset_maker *m)
{
	return m->put_count;
}

/* ---- merging runs ---- */

struct strand {
	struct decoder d;
	uint64_t begin;
	size_t number; /* number of the run: of equal names the earlier comes first */
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
		(void)strand_next(s); /* runs are never empty */
	}
	for (size_t i = w->count / 2; i-- > 0;)
		sink(w, i);
}

static void weave_end(struct weave *w)
{
	mem_free(w->heap);
	mem_free(w->strands);
}

/* The next name, reversed, with its value. */
struct woven {
	uint8_t value, len;
	uint8_t name[DNAME_MAX];
	struct nameset_kinds kinds; /* where they are weighed */
};

static void advance(struct weave *w)
{
	if (!strand_next(w->heap[0]))
		w->heap[0] = w->heap[--w->count];
	if (w->count)
		sink(w, 0);
}

static void add_kind(struct nameset_kinds *k, uint8_t kind)
{
	k->has[kind / 64] |= UINT64_C(1) << kind % 64;
}

static bool weave_next(struct weave *w, const struct nameset_maker *m, struct woven *out)
{
	const struct strand *s;

	if (w->count == 0)
		return false;
	s = w->heap[0];
	out->value = s->d.value;
	out->len = s->d.len;
	memcpy(out->name, s->d.name, s->d.len);
	out->kinds = (struct nameset_kinds){ { 0 } };
	add_kind(&out->kinds, s->d.value);
	for (;;) {
		advance(w);
		if (w->count == 0)
			return true;
		s = w->heap[0];
		if (s->d.len != out->len || memcmp(s->d.name, out->name, out->len) != 0)
			return true;
		out->value = m->joins ? out->value | s->d.value : s->d.value;
		add_kind(&out->kinds, s->d.value);
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

	if (!m->review && !m->weigh)
		return true;
	turn_back(name, n->name, n->len);
	value = m->weigh ? m->weigh(name, &n->kinds, m->weigh_arg)
			 : m->review(name, n->value, m->review_arg);
	n->value = (uint8_t)value;
	return value >= 0;
}

/* All values are equal: stop storing them with each name. */
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
	while (weave_next(&weave, m, &n)) {
		if (is_kept(m, &n))
			write_name(&w, &n);
	}
	weave_end(&weave);
	s->head = w.values_differ ? 3 : 2;
	if (!w.values_differ)
		drop_values(&w);
	s->blocks[s->block_count] = (uint32_t)w.len;
	if (s->count) {
		s->bytes = mem_grow(s->bytes, w.len + SLACK);
		memset(s->bytes + w.len, 0, SLACK);
		s->blocks = mem_grow(s->blocks, (s->block_count + 1) * sizeof(*s->blocks));
	}
}

/* The hashes of the previous name's suffixes, reused as far as the next name begins alike. */
struct hashes {
	unsigned count;
	uint16_t end[LABELS_MAX + 1]; /* bytes of that many labels, reversed */
	uint64_t hash[LABELS_MAX + 1];
};

static void hash_on(struct hashes *h, const uint8_t *turned, unsigned len, unsigned kept)
{
	uint16_t ends[LABELS_MAX + 1];
	unsigned fresh = 0;

	while (h->count && h->end[h->count] > kept)
		h->count--;
	for (unsigned at = len; at > h->end[h->count] && h->count + fresh < LABELS_MAX;
	     at -= MIN(at, 1u + turned[at - 1]))
		ends[fresh++] = (uint16_t)at;
	while (fresh--) {
		uint8_t label[LABEL_MAX + 1];
		unsigned end = ends[fresh];

		label[0] = (uint8_t)MIN(MIN(turned[end - 1], LABEL_MAX), end - 1);
		memcpy(label + 1, turned + end - 1 - label[0], label[0]);
		h->hash[h->count + 1] = suffix_hash_label(h->hash[h->count], label);
		h->end[++h->count] = (uint16_t)end;
	}
}

static void write_cell(struct nameset *s, const struct hashes *h, size_t block)
{
	uint64_t hash = h->hash[h->count];
	size_t at = home_of(s, hash);

	s->at_depth[h->count]++;
	s->deepest = MAX(s->deepest, h->count);
	while (s->cells[at])
		at = next_cell(s, at);
	s->cells[at] = print_of(s, hash) | (uint32_t)(block + 1);
}

void nameset_index(struct nameset *s)
{
	struct hashes h = { .count = 0, .hash[0] = s->seed };

	s->block_bits = 0;
	while (s->block_bits < 31 && (UINT64_C(1) << s->block_bits) <= s->block_count)
		s->block_bits++;
	s->cell_count = s->count + s->count / 4 + 4;
	s->cells = mem_array(s->cell_count, sizeof(*s->cells));
	for (size_t i = 0; i < s->block_count; i++) {
		struct decoder d;
		unsigned kept;

		decode_block(s, i, &d);
		while (d.at < d.end) {
			kept = d.at[0];
			(void)decode(&d);
			hash_on(&h, d.name, d.len, kept);
			write_cell(s, &h, i);
		}
	}
}

/* Upper bound of the bytes the names need: each block spells out its first name. */
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
		s->bytes = mem_new(len + SLACK);
		s->blocks = mem_new((most / BLOCK_NAMES + 2) * sizeof(*s->blocks));
		write_names(s, m);
	}
	nameset_maker_free(m);
	if (s && s->count) {
		nameset_index(s);
		return s;
	}
	nameset_free(s);
	return NULL;
}
