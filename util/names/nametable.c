/* A map from names to values that changes while it is read: one writer, many readers in turns.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * An open-addressed table of pointers to entries. An entry never leaves its slot: removing a name
 * clears its value, putting it again sets it. When slots run short, a new array is made from the
 * entries that have values, and the old array and the empty entries are retired. */
#include "util/names/nametable.h"

#include <stdlib.h>

#include "util/base/mem.h"
#include "util/base/rcu.h"

#define SLOTS_AT_FIRST 16

struct entry {
	struct rcu_slot retired;
	_Atomic(void *) value; /* NULL: removed */
	uint8_t name_len;
	uint8_t name[];
};

struct slot {
	_Atomic(struct entry *) entry; /* NULL: end of the probe sequence */
	uint32_t hash;                 /* written before `entry`, never changed */
};

struct slots {
	struct rcu_slot retired;
	size_t mask;
	struct slot at[];
};

struct nametable {
	_Atomic(struct slots *) slots;
	uint64_t seed;
	size_t used;  /* slots with an entry */
	size_t count; /* entries with a value */
	bool published;
	_Atomic unsigned deepest;
	_Atomic uint32_t at_depth[LABELS_MAX + 1];
};

static struct slots *slots_new(size_t count)
{
	struct slots *s = mem_zero(sizeof(*s) + count * sizeof(struct slot));

	s->mask = count - 1;
	return s;
}

/* The slot of the name with its entry, or the empty slot where it would be with NULL. An empty slot
 * may be another name's a moment later: readers go by what they found in it. */
static struct slot *find_slot(struct slots *all, const uint8_t *name, size_t len, uint64_t hash,
			      struct entry **found)
{
	size_t i = (size_t)hash & all->mask;

	for (;; i = (i + 1) & all->mask) {
		struct slot *s = &all->at[i];

		*found = RCU_READ(s->entry);
		if (!*found || (s->hash == (uint32_t)(hash >> 32) &&
				dname_equals_len((*found)->name, (*found)->name_len, name, len)))
			return s;
	}
}

void *nametable_at(const struct nametable *t, const struct suffixes *s, unsigned labels)
{
	struct entry *e;

	if (labels > s->hashed ||
	    atomic_load_explicit(&t->at_depth[labels], memory_order_relaxed) == 0)
		return NULL;
	(void)find_slot(RCU_READ(t->slots), suffix_name(s, labels), suffix_len(s, labels),
			s->hash[labels], &e);
	return e ? RCU_READ(e->value) : NULL;
}

unsigned nametable_deepest(const struct nametable *t)
{
	return atomic_load_explicit(&t->deepest, memory_order_relaxed);
}

void *nametable_find(const struct nametable *t, const uint8_t *name)
{
	struct suffixes s;

	suffixes_find(&s, name, t->seed, nametable_deepest(t));
	return nametable_at(t, &s, s.count);
}

/* The names found so far that come first, as a heap whose top is the last of them. */
static void sink(const uint8_t **names, size_t count, size_t at)
{
	for (;;) {
		size_t child = 2 * at + 1;
		const uint8_t *moved = names[at];

		if (child + 1 < count && dname_compare(names[child + 1], names[child]) > 0)
			child++;
		if (child >= count || dname_compare(names[child], moved) <= 0)
			return;
		names[at] = names[child];
		names[child] = moved;
		at = child;
	}
}

static void rise(const uint8_t **names, size_t at)
{
	while (at && dname_compare(names[at], names[(at - 1) / 2]) > 0) {
		const uint8_t *moved = names[at];

		names[at] = names[(at - 1) / 2];
		names[(at - 1) / 2] = moved;
		at = (at - 1) / 2;
	}
}

static int compare_names(const void *a, const void *b)
{
	return dname_compare(*(const uint8_t *const *)a, *(const uint8_t *const *)b);
}

size_t nametable_after(const struct nametable *t, const uint8_t *after, uint8_t **names, size_t most)
{
	const struct slots *s = RCU_READ(t->slots);
	const uint8_t **first = mem_array(most + 1, sizeof(*first));
	size_t count = 0;

	for (size_t i = 0; i <= s->mask && most; i++) {
		const struct entry *e = RCU_READ(s->at[i].entry);

		if (!e || !RCU_READ(e->value) || (after && dname_compare(e->name, after) <= 0))
			continue;
		if (count < most) {
			first[count++] = e->name;
			rise(first, count - 1);
		} else if (dname_compare(e->name, first[0]) < 0) {
			first[0] = e->name;
			sink(first, count, 0);
		}
	}
	qsort(first, count, sizeof(*first), compare_names);
	for (size_t i = 0; i < count; i++)
		names[i] = mem_copy(first[i], dname_len(first[i]));
	mem_free(first);
	return count;
}

/* ---- the writer ---- */

struct nametable *nametable_new(uint64_t seed)
{
	struct nametable *t = mem_zero(sizeof(*t));

	t->seed = seed;
	atomic_init(&t->slots, slots_new(SLOTS_AT_FIRST));
	return t;
}

void nametable_free(struct nametable *t, void (*free_value)(void *value))
{
	struct slots *s;

	if (!t)
		return;
	s = RCU_READ(t->slots);
	for (size_t i = 0; i <= s->mask; i++) {
		struct entry *e = RCU_READ(s->at[i].entry);

		if (e && free_value && RCU_READ(e->value))
			free_value(RCU_READ(e->value));
		mem_free(e);
	}
	mem_free(s);
	mem_free(t);
}

static void free_slots(struct rcu_slot *retired)
{
	mem_free(container_of(retired, struct slots, retired));
}

static void free_entry(struct rcu_slot *retired)
{
	mem_free(container_of(retired, struct entry, retired));
}

static void set_slot(struct slot *s, struct entry *e, uint64_t hash)
{
	s->hash = (uint32_t)(hash >> 32);
	RCU_PUBLISH(s->entry, e);
}

/* A slot stores half of the hash; its position needs the other half. */
static uint64_t hash_of(const struct nametable *t, const uint8_t *name)
{
	struct suffixes s;

	suffixes_find(&s, name, t->seed, LABELS_MAX);
	return s.hash[s.count];
}

void nametable_publish(struct nametable *t)
{
	t->published = true;
}

static void let_go(const struct nametable *t, struct rcu_slot *what, void (*fn)(struct rcu_slot *))
{
	if (t->published)
		rcu_retire(what, fn);
	else
		fn(what);
}

/* Move all entries with values to a new array, of which they fill at most a quarter. */
static void rebuild(struct nametable *t)
{
	struct slots *old = RCU_READ(t->slots), *new;
	size_t room = SLOTS_AT_FIRST;

	while (room < 4 * (t->count + 1))
		room *= 2;
	new = slots_new(room);
	for (size_t i = 0; i <= old->mask; i++) {
		struct entry *e = RCU_READ(old->at[i].entry), *none;
		uint64_t hash;

		if (!e || !RCU_READ(e->value))
			continue;
		hash = hash_of(t, e->name);
		set_slot(find_slot(new, e->name, e->name_len, hash, &none), e, hash);
	}
	t->used = t->count;
	RCU_PUBLISH(t->slots, new);
	for (size_t i = 0; i <= old->mask; i++) {
		struct entry *e = RCU_READ(old->at[i].entry);

		if (e && !RCU_READ(e->value))
			let_go(t, &e->retired, free_entry);
	}
	let_go(t, &old->retired, free_slots);
}

static void count_depth(struct nametable *t, unsigned labels, bool more)
{
	uint32_t n = atomic_load_explicit(&t->at_depth[labels], memory_order_relaxed);

	t->count += more ? 1 : (size_t)-1;
	atomic_store_explicit(&t->at_depth[labels], more ? n + 1 : n - 1, memory_order_relaxed);
	if (more && labels > nametable_deepest(t))
		atomic_store_explicit(&t->deepest, labels, memory_order_relaxed);
}

void *nametable_put(struct nametable *t, const uint8_t *name, void *value)
{
	struct suffixes s;
	struct slot *slot;
	struct entry *e;
	void *old;

	PROMISE(value);
	if (2 * (t->used + 1) > RCU_READ(t->slots)->mask)
		rebuild(t);
	suffixes_find(&s, name, t->seed, LABELS_MAX);
	slot = find_slot(RCU_READ(t->slots), name, s.len, s.hash[s.count], &e);
	old = e ? RCU_READ(e->value) : NULL;
	if (!old)
		count_depth(t, s.count, true);
	if (e) {
		RCU_PUBLISH(e->value, value);
		return old;
	}
	e = mem_new(offsetof(struct entry, name) + s.len);
	atomic_init(&e->value, value);
	e->name_len = (uint8_t)s.len;
	dname_copy_lower(e->name, name);
	t->used++;
	set_slot(slot, e, s.hash[s.count]);
	return NULL;
}

void *nametable_remove(struct nametable *t, const uint8_t *name)
{
	struct suffixes s;
	struct entry *e;
	void *old;

	suffixes_find(&s, name, t->seed, LABELS_MAX);
	(void)find_slot(RCU_READ(t->slots), name, s.len, s.hash[s.count], &e);
	old = e ? RCU_READ(e->value) : NULL;
	if (!old)
		return NULL;
	RCU_PUBLISH(e->value, NULL);
	count_depth(t, s.count, false);
	return old;
}

size_t nametable_count(const struct nametable *t)
{
	return t->count;
}

struct pair {
	uint8_t *name; /* a copy: `fn` may change the table */
	void *value;
};

static int compare_pairs(const void *a, const void *b)
{
	return dname_compare(((const struct pair *)a)->name, ((const struct pair *)b)->name);
}

void nametable_each(const struct nametable *t,
		    bool (*fn)(const uint8_t *name, void *value, void *arg), void *arg)
{
	const struct slots *s = RCU_READ(t->slots);
	struct pair *pairs = mem_array(t->count + 1, sizeof(*pairs));
	size_t count = 0;
	bool on = true;

	for (size_t i = 0; i <= s->mask; i++) {
		const struct entry *e = RCU_READ(s->at[i].entry);

		if (e && RCU_READ(e->value))
			pairs[count++] =
				(struct pair){ mem_copy(e->name, e->name_len), RCU_READ(e->value) };
	}
	qsort(pairs, count, sizeof(*pairs), compare_pairs);
	for (size_t i = 0; i < count; i++) {
		on = on && fn(pairs[i].name, pairs[i].value, arg);
		mem_free(pairs[i].name);
	}
	mem_free(pairs);
}
