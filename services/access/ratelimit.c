/* Rate limiting: at most so many events a second per key, in bounded memory.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Each slab is an array of sets of a few cells; a key belongs to one set, where it may be in any
 * cell. So a lookup is short whatever clients do, and nothing is ever moved. */
#include "services/access/ratelimit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "util/base/hash.h"
#include "util/base/mem.h"
#include "util/base/random.h"
#include "util/net/addr.h"

enum {
	WAYS = 8,        /* cells per set */
	SECONDS = 2,     /* remembered */
	KEY_USUAL = 24,  /* assumed bytes of a key, for sizing */
	SETS_LEAST = 1,
};

struct cell {
	uint8_t *key; /* NULL: free */
	uint64_t hash;
	uint8_t len;
	uint32_t at_s[SECONDS], count[SECONDS]; /* indexed by second modulo SECONDS */
};

struct slab_of_rates {
	pthread_mutex_t lock; /* guards `cells` */
	struct cell *cells; /* NULL until needed */
};

struct ratelimit {
	unsigned slabs;
	size_t sets; /* of each slab */
	_Atomic uint32_t told_at_s, told; /* may_tell */
	struct slab_of_rates slab[];
};

struct ratelimit *ratelimit_new(size_t size, unsigned slabs)
{
	struct ratelimit *r = mem_zero(sizeof(*r) + slabs * sizeof(r->slab[0]));
	size_t set = WAYS * (sizeof(struct cell) + KEY_USUAL);

	r->slabs = slabs;
	r->sets = MAX(size / slabs / set, (size_t)SETS_LEAST);
	for (unsigned i = 0; i < slabs; i++) {
		pthread_mutex_init(&r->slab[i].lock, NULL);
	}
	return r;
}

void ratelimit_free(struct ratelimit *r)
{
	if (!r)
		return;
	for (unsigned i = 0; i < r->slabs; i++) {
		for (size_t j = 0; r->slab[i].cells && j < r->sets * WAYS; j++)
			mem_free(r->slab[i].cells[j].key);
		mem_free(r->slab[i].cells);
		pthread_mutex_destroy(&r->slab[i].lock);
	}
	mem_free(r);
}

static uint32_t last_heard(const struct cell *c)
{
	return MAX(c->at_s[0], c->at_s[1]);
}

/* The key's cell; if it has none, it takes the least recently used one of the set. */
static struct cell *take_cell(struct cell *set, uint64_t hash, const void *key, size_t len)
{
	struct cell *oldest = set;

	for (struct cell *c = set; c < set + WAYS; c++) {
		if (c->key && c->hash == hash && c->len == len && memcmp(c->key, key, len) == 0)
			return c;
		if (oldest->key && (!c->key || last_heard(c) < last_heard(oldest)))
			oldest = c;
	}
	mem_free(oldest->key);
	*oldest = (struct cell){ .key = mem_new(MAX(len, (size_t)1)),
				 .hash = hash,
				 .len = (uint8_t)len };
	memcpy(oldest->key, key, len);
	return oldest;
}

static uint32_t count(struct cell *c, uint32_t now_s)
{
	unsigned i = now_s % SECONDS;

	if (c->at_s[i] != now_s) {
		c->at_s[i] = now_s;
		c->count[i] = 0;
	}
	if (c->count[i] < UINT32_MAX)
		c->count[i]++;
	return c->count[i];
}

/* A flood of many clients must not become one of lines. Two threads may count as one: it is a line more. */
static bool may_tell(struct ratelimit *r, uint32_t now_s)
{
	if (atomic_load_explicit(&r->told_at_s, memory_order_relaxed) != now_s) {
		atomic_store_explicit(&r->told_at_s, now_s, memory_order_relaxed);
		atomic_store_explicit(&r->told, 0, memory_order_relaxed);
	}
	return atomic_fetch_add_explicit(&r->told, 1, memory_order_relaxed) < RATE_TOLD;
}

/* The highest count of one second, among the last `seconds` including this one. */
static uint32_t rate_of(const struct cell *c, uint32_t now_s, uint32_t seconds)
{
	uint32_t even = now_s - c->at_s[0] < seconds ? c->count[0] : 0;
	uint32_t odd = now_s - c->at_s[1] < seconds ? c->count[1] : 0;

	return MAX(even, odd);
}

bool ratelimit_admits(struct ratelimit *r, const void *key, size_t len,
		      struct rate_rule *rule, uint32_t now_s, struct random *random)
{
	uint64_t hash = hash_bytes(key, len);
	struct slab_of_rates *s = &r->slab[hash % r->slabs];
	struct cell *c;
	uint32_t rate, now;

	PROMISE(len <= RATE_KEY_MAX);
	pthread_mutex_lock(&s->lock);
	if (!s->cells)
		s->cells = mem_zero(r->sets * WAYS * sizeof(struct cell));
	c = take_cell(s->cells + (hash >> 16) % r->sets * WAYS, hash, key, len);
	now = count(c, now_s);
	rate = rate_of(c, now_s, rule->backoff ? SECONDS : 1);
	pthread_mutex_unlock(&s->lock);
	if (rate <= rule->limit)
		return true;
	rule->tells = now == rule->limit + 1 && may_tell(r, now_s);
	return rule->factor && random_below(random, rule->factor) == 0;
}

void ratelimit_each(struct ratelimit *r, uint32_t now_s,
		    void (*fn)(const uint8_t *key, size_t len, uint32_t rate, void *arg), void *arg)
{
	for (unsigned i = 0; i < r->slabs; i++) {
		for (size_t j = 0; j < r->sets * WAYS; j++) {
			uint8_t key[RATE_KEY_MAX];
			uint32_t rate = 0;
			size_t len = 0;

			pthread_mutex_lock(&r->slab[i].lock);
			if (r->slab[i].cells && r->slab[i].cells[j].key) {
				const struct cell *c = &r->slab[i].cells[j];

				len = c->len;
				memcpy(key, c->key, len);
				rate = rate_of(c, now_s, SECONDS);
			}
			pthread_mutex_unlock(&r->slab[i].lock);
			if (rate)
				fn(key, len, rate, arg);
		}
	}
}

size_t rate_key_of(const struct addr *client, uint8_t key[17])
{
	size_t len = client->family == 6 ? 16 : 4;

	key[0] = (uint8_t)client->family;
	memcpy(key + 1, client->ip, len);
	return 1 + len;
}

bool rate_key_read(const uint8_t *key, size_t len, struct addr *to)
{
	if ((len != 5 && len != 17) || key[0] != (len == 5 ? 4 : 6))
		return false;
	*to = (struct addr){ .family = key[0] };
	memcpy(to->ip, key + 1, len - 1);
	return true;
}
