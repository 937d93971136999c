/* Sets of names, and the closest ancestor of a name in such a set.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * One open-addressed hash table holds all names. The hash of a name is built up label
 * by label from the root, so one walk over it yields the hashes of all its suffixes;
 * only suffixes as deep as some name in the set are looked up. */
#include "util/names/trie.h"

#include <stdlib.h>
#include <string.h>

#include "util/base/hash.h"
#include "util/base/mem.h"
#include "util/dns/dname.h"

struct node {
	void *value;
	uint8_t name_len;
	uint8_t name[];
};

struct slot {
	struct node *node; /* NULL: free */
	uint64_t hash;
};

struct trie {
	struct slot *slots;
	size_t mask; /* slots - 1 */
	size_t count;
	uint64_t seed;
	unsigned deepest;                  /* labels of the deepest name ever put */
	uint32_t at_depth[LABELS_MAX + 1]; /* names with that many labels */
};

/* A name's suffixes, by number of labels: where each begins, and its hash. */
struct suffixes {
	unsigned count;  /* labels of the whole name */
	unsigned hashed; /* labels of the longest suffix with a hash */
	uint8_t at[LABELS_MAX + 1];
	size_t len;
	uint64_t hash[LABELS_MAX + 1];
};

static uint64_t hash_label(uint64_t h, const uint8_t *label)
{
	size_t left = 1u + *label;

	while (left > 0) {
		size_t n = MIN(left, sizeof(uint64_t));
		uint64_t word = 0;
		memcpy(&word, label, n);
		h = (h ^ ascii_lower8(word)) * UINT64_C(0x9e3779b97f4a7c15);
		h ^= h >> 32;
		label += n;
		left -= n;
	}
	return h;
}

static void find_suffixes(const struct trie *t, const uint8_t *name, struct suffixes *s)
{
	uint8_t heads[LABELS_MAX];

	s->count = 0;
	s->len = 0;
	for (; name[s->len]; s->len += 1u + name[s->len])
		heads[s->count++] = (uint8_t)s->len;
	s->at[0] = (uint8_t)s->len++;
	s->hash[0] = t->seed;
	s->hashed = MIN(s->count, t->deepest);
	for (unsigned i = 1; i <= s->hashed; i++) {
		s->at[i] = heads[s->count - i];
		s->hash[i] = hash_label(s->hash[i - 1], name + s->at[i]);
	}
}

/* The slot of the suffix of `labels` labels, or the free one where it would be. */
static size_t find_slot(const struct trie *t, const uint8_t *name, const struct suffixes *s,
			unsigned labels)
{
	const uint8_t *suffix = name + s->at[labels];
	size_t len = s->len - s->at[labels];
	uint64_t hash = s->hash[labels];
	size_t i = (size_t)hash & t->mask;

	for (; t->slots[i].node; i = (i + 1) & t->mask) {
		const struct node *n = t->slots[i].node;
		if (t->slots[i].hash == hash && dname_equals_len(n->name, n->name_len, suffix, len))
			break;
	}
	return i;
}

static void *find_from(const struct trie *t, const uint8_t *name, const struct suffixes *s,
		       unsigned labels)
{
	for (unsigned i = MIN(labels, s->hashed) + 1; i-- > 0;) {
		if (t->at_depth[i] == 0)
			continue;
		const struct node *n = t->slots[find_slot(t, name, s, i)].node;
		if (n)
			return n->value;
	}
	return NULL;
}

void *trie_find_closest(const struct trie *t, const uint8_t *name)
{
	struct suffixes s;

	if (t->count == 0)
		return NULL;
	find_suffixes(t, name, &s);
	return find_from(t, name, &s, s.count);
}

void *trie_find_above(const struct trie *t, const uint8_t *name)
{
	return dname_is_root(name) ? NULL : trie_find_closest(t, dname_parent(name));
}

void *trie_find(const struct trie *t, const uint8_t *name)
{
	struct suffixes s;

	if (t->count == 0)
		return NULL;
	find_suffixes(t, name, &s);
	if (s.hashed < s.count || t->at_depth[s.count] == 0)
		return NULL;
	const struct node *n = t->slots[find_slot(t, name, &s, s.count)].node;
	return n ? n->value : NULL;
}

/* ---- building ---- */

#define SLOTS_AT_FIRST 16

struct trie *trie_new(void)
{
	struct trie *t = mem_zero(sizeof(*t));

	t->seed = hash_bytes("trie", 4);
	t->mask = SLOTS_AT_FIRST - 1;
	t->slots = mem_array(SLOTS_AT_FIRST, sizeof(*t->slots));
	return t;
}

void trie_free(struct trie *t, void (*free_value)(void *value))
{
	if (t == NULL)
		return;
	for (size_t i = 0; i <= t->mask; i++) {
		if (t->slots[i].node && free_value)
			free_value(t->slots[i].node->value);
		mem_free(t->slots[i].node);
	}
	mem_free(t->slots);
	mem_free(t);
}

static void grow(struct trie *t)
{
	struct slot *old = t->slots;
	size_t old_slots = t->mask + 1;

	t->mask = 2 * old_slots - 1;
	t->slots = mem_array(t->mask + 1, sizeof(*t->slots));
	for (size_t i = 0; i < old_slots; i++) {
		if (old[i].node == NULL)
			continue;
		size_t to = (size_t)old[i].hash & t->mask;
		while (t->slots[to].node)
			to = (to + 1) & t->mask;
		t->slots[to] = old[i];
	}
	mem_free(old);
}

void *trie_put(struct trie *t, const uint8_t *name, void *value)
{
	struct suffixes s;

	if (t->count >= (t->mask + 1) / 2)
		grow(t);
	t->deepest = MAX(t->deepest, dname_labels(name));
	find_suffixes(t, name, &s);
	struct slot *slot = &t->slots[find_slot(t, name, &s, s.count)];
	if (slot->node) {
		void *old = slot->node->value;
		slot->node->value = value;
		return old;
	}
	slot->hash = s.hash[s.count];
	slot->node = mem_new(sizeof(struct node) + s.len);
	slot->node->value = value;
	slot->node->name_len = (uint8_t)s.len;
	memcpy(slot->node->name, name, s.len);
	t->at_depth[s.count]++;
	t->count++;
	return NULL;
}

/* Close the gap at `gap`: move up entries that were displaced past it. */
static void close_gap(struct trie *t, size_t gap)
{
	for (size_t i = (gap + 1) & t->mask; t->slots[i].node; i = (i + 1) & t->mask) {
		size_t home = (size_t)t->slots[i].hash & t->mask;
		if (((i - home) & t->mask) < ((i - gap) & t->mask))
			continue;
		t->slots[gap] = t->slots[i];
		gap = i;
	}
	t->slots[gap].node = NULL;
}

void *trie_remove(struct trie *t, const uint8_t *name)
{
	struct suffixes s;

	find_suffixes(t, name, &s);
	if (s.hashed < s.count)
		return NULL;
	size_t i = find_slot(t, name, &s, s.count);
	struct node *n = t->slots[i].node;
	if (n == NULL)
		return NULL;

	void *value = n->value;
	mem_free(n);
	close_gap(t, i);
	t->at_depth[s.count]--;
	t->count--;
	return value;
}

size_t trie_count(const struct trie *t)
{
	return t->count;
}

static int compare_nodes(const void *a, const void *b)
{
	return dname_compare((*(struct node *const *)a)->name, (*(struct node *const *)b)->name);
}

void trie_each(const struct trie *t, bool (*fn)(const uint8_t *name, void *value, void *arg),
	       void *arg)
{
	struct node **nodes = mem_array(t->count + 1, sizeof(struct node *));
	size_t count = 0;

	for (size_t i = 0; i <= t->mask; i++) {
		if (t->slots[i].node)
			nodes[count++] = t->slots[i].node;
	}
	qsort(nodes, count, sizeof(struct node *), compare_nodes);
	for (size_t i = 0; i < count && fn(nodes[i]->name, nodes[i]->value, arg); i++)
		;
	mem_free(nodes);
}
