/* The most frequent keys, in fixed memory: the space-saving sketch.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Counters are in a hash table with chains, to be found by key, and in a heap with the lowest on
 * top. Frequent ones are near the bottom of the heap and mostly stay there. */
#include "services/history/toplist.h"

#include <stdlib.h>
#include <string.h>

#include "util/base/hash.h"
#include "util/base/mem.h"

#define NONE UINT32_MAX

struct counter {
	uint64_t count, over;
	uint32_t next; /* in its hash chain */
	uint32_t heap_index; /* index in the heap */
	uint32_t hash;
	uint8_t len;
	uint8_t key[];
};

struct toplist {
	unsigned most, used, chains; /* chains: a power of two */
	size_t stride;               /* bytes per counter */
	uint32_t *first, *heap;
	unsigned char *counters;
};

static struct counter *counter_at(const struct toplist *t, uint32_t i)
{
	return (struct counter *)(void *)(t->counters + i * t->stride);
}

struct toplist *toplist_new(unsigned counters, unsigned key_most)
{
	struct toplist *t = mem_zero(sizeof(*t));
	size_t align = _Alignof(struct counter);

	t->most = counters;
	t->chains = 2;
	while (t->chains < counters)
		t->chains *= 2;
	t->stride = (sizeof(struct counter) + key_most + align - 1) / align * align;
	t->first = mem_array(t->chains, sizeof(*t->first));
	t->heap = mem_array(counters, sizeof(*t->heap));
	t->counters = mem_array(counters, t->stride);
	toplist_clear(t);
	return t;
}

void toplist_free(struct toplist *t)
{
	if (!t)
		return;
	mem_free(t->first);
	mem_free(t->heap);
	mem_free(t->counters);
	mem_free(t);
}

void toplist_clear(struct toplist *t)
{
	t->used = 0;
	memset(t->first, 0xff, t->chains * sizeof(*t->first));
}

size_t toplist_bytes(const struct toplist *t)
{
	return sizeof(*t) + t->chains * sizeof(*t->first) +
	       t->most * (sizeof(*t->heap) + t->stride);
}

/* ---- the table ---- */

static uint32_t *chain_of(struct toplist *t, uint32_t hash)
{
	return &t->first[hash & (t->chains - 1)];
}

static uint32_t find(struct toplist *t, const void *key, size_t len, uint32_t hash)
{
	uint32_t i = *chain_of(t, hash);

	for (; i != NONE; i = counter_at(t, i)->next) {
		const struct counter *c = counter_at(t, i);

		if (c->hash == hash && c->len == len && memcmp(c->key, key, len) == 0)
			break;
	}
	return i;
}

static void unlink_counter(struct toplist *t, uint32_t i)
{
	uint32_t *at = chain_of(t, counter_at(t, i)->hash);

	while (*at != i)
		at = &counter_at(t, *at)->next;
	*at = counter_at(t, i)->next;
}

static void link_counter(struct toplist *t, uint32_t i)
{
	uint32_t *first = chain_of(t, counter_at(t, i)->hash);

	counter_at(t, i)->next = *first;
	*first = i;
}

/* ---- the heap ---- */

static void put_at(struct toplist *t, uint32_t at, uint32_t i)
{
	t->heap[at] = i;
	counter_at(t, i)->heap_index = at;
}

static uint64_t count_at(const struct toplist *t, uint32_t at)
{
	return counter_at(t, t->heap[at])->count;
}

/* Its count has grown: move it down until no child has a lower count. */
static void sink(struct toplist *t, uint32_t i)
{
	uint32_t at = counter_at(t, i)->heap_index, below;

	while ((below = 2 * at + 1) < t->used) {
		if (below + 1 < t->used && count_at(t, below + 1) < count_at(t, below))
			below++;
		if (count_at(t, below) >= counter_at(t, i)->count)
			break;
		put_at(t, at, t->heap[below]);
		at = below;
	}
	put_at(t, at, i);
}

/* A new one has count 0, and none is lower: move it to the top. */
static void rise(struct toplist *t, uint32_t i, uint32_t at)
{
	for (; at > 0; at = (at - 1) / 2)
		put_at(t, at, t->heap[(at - 1) / 2]);
	put_at(t, 0, i);
}

/* ---- counting ---- */

static uint32_t counter_for(struct toplist *t, const void *key, size_t len, uint32_t hash)
{
	uint32_t i = t->used;
	struct counter *c;

	if (t->used < t->most) {
		c = counter_at(t, i);
		c->count = c->over = 0;
		rise(t, i, t->used++);
	} else {
		i = t->heap[0];
		c = counter_at(t, i);
		unlink_counter(t, i);
		c->over = c->count;
	}
	c->hash = hash;
	c->len = (uint8_t)len;
	memcpy(c->key, key, len);
	link_counter(t, i);
	return i;
}

void toplist_count(struct toplist *t, const void *key, size_t len)
{
	uint32_t hash = (uint32_t)hash_bytes(key, len);
	uint32_t i = find(t, key, len, hash);

	if (i == NONE)
		i = counter_for(t, key, len, hash);
	counter_at(t, i)->count++;
	sink(t, i);
}

/* ---- merging several lists ---- */

struct topkeys {
	struct topkeys *next;
	uint8_t bytes[];
};

static struct topkeys *keys_new(const struct toplist *t)
{
	size_t bytes = 0;

	for (uint32_t i = 0; i < t->used; i++)
		bytes += counter_at(t, i)->len;
	return mem_new(sizeof(struct topkeys) + bytes);
}

void toprows_take(struct toprows *to, const struct toplist *t)
{
	struct topkeys *keys = keys_new(t);
	uint8_t *at = keys->bytes;

	keys->next = to->keys;
	to->keys = keys;
	to->at = mem_grow(to->at, (to->count + t->used + 1) * sizeof(*to->at));
	for (uint32_t i = 0; i < t->used; i++) {
		const struct counter *c = counter_at(t, i);

		memcpy(at, c->key, c->len);
		to->at[to->count++] = (struct toprow){
			.count = c->count, .over = c->over, .key = at, .len = c->len
		};
		at += c->len;
	}
}

static int by_key(const void *a, const void *b)
{
	const struct toprow *one = a, *other = b;
	int way = memcmp(one->key, other->key, MIN(one->len, other->len));

	return way ? way : (one->len > other->len) - (one->len < other->len);
}

static int by_count(const void *a, const void *b)
{
	const struct toprow *one = a, *other = b;

	if (one->count != other->count)
		return one->count < other->count ? 1 : -1;
	return by_key(a, b);
}

void toprows_join(struct toprows *rows)
{
	size_t kept = 0;

	if (!rows->count)
		return;
	qsort(rows->at, rows->count, sizeof(*rows->at), by_key);
	for (size_t i = 1; i < rows->count; i++) {
		if (by_key(&rows->at[kept], &rows->at[i]) != 0) {
			rows->at[++kept] = rows->at[i];
			continue;
		}
		rows->at[kept].count += rows->at[i].count;
		rows->at[kept].over += rows->at[i].over;
	}
	rows->count = kept + 1;
	qsort(rows->at, rows->count, sizeof(*rows->at), by_count);
}

void toprows_clear(struct toprows *rows)
{
	while (rows->keys) {
		struct topkeys *next = rows->keys->next;

		mem_free(rows->keys);
		rows->keys = next;
	}
	mem_free(rows->at);
	*rows = (struct toprows){ 0 };
}
