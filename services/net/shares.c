/* Which clients hold the places that all clients share.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/net/shares.h"

#include <string.h>

#include "util/base/hash.h"
#include "util/base/mem.h"
#include "util/net/addr.h"

enum { CHAINS_FIRST = 256, CLASSES = 33, KEY = 9, SPARE_MOST = 256 };

struct share {
	struct share *next;   /* in its hash chain, or on the spare list */
	struct list in_class; /* the most recent to give way is last */
	struct list places;   /* oldest first */
	unsigned count;
	uint8_t key[KEY];
};

struct shares {
	struct share **chains; /* their number is a power of two */
	size_t chain_count, share_count;
	struct list classes[CLASSES]; /* clients, by how many places they hold */
	unsigned highest;             /* class in use; 0: none */
	struct share *spare;
	unsigned spare_count;
};

/* 0 for none, 1 for one, 2 for two or three, 3 for four to seven … */
static unsigned class_of(unsigned count)
{
	unsigned c = 0;

	for (; count; count >>= 1)
		c++;
	return c;
}

struct shares *shares_new(void)
{
	struct shares *s = mem_zero(sizeof *s);

	s->chain_count = CHAINS_FIRST;
	s->chains = mem_array(s->chain_count, sizeof *s->chains);
	for (unsigned i = 0; i < CLASSES; i++)
		list_init(&s->classes[i]);
	return s;
}

void shares_free(struct shares *s)
{
	if (!s)
		return;
	PROMISE(s->share_count == 0);
	for (struct share *one = s->spare, *next; one; one = next) {
		next = one->next;
		mem_free(one);
	}
	mem_free(s->chains);
	mem_free(s);
}

static struct share **chain_of(const struct shares *s, uint64_t hash)
{
	return &s->chains[hash & (s->chain_count - 1)];
}

/* Many clients, such as all that wait, are found as fast as a few. */
static void chains_grow(struct shares *s)
{
	struct share **old = s->chains;
	size_t old_count = s->chain_count;

	s->chain_count = 2 * old_count;
	s->chains = mem_array(s->chain_count, sizeof *s->chains);
	for (size_t i = 0; i < old_count; i++) {
		for (struct share *one = old[i], *next; one; one = next) {
			struct share **to = chain_of(s, hash_bytes(one->key, KEY));

			next = one->next;
			one->next = *to;
			*to = one;
		}
	}
	mem_free(old);
}

static uint64_t key_of(const struct addr *client, uint8_t key[KEY])
{
	memset(key, 0, KEY);
	key[0] = client->family;
	memcpy(key + 1, client->ip, client->family == 4 ? 4 : 8);
	return hash_bytes(key, KEY);
}

uint64_t client_hash(const struct addr *client)
{
	uint8_t key[KEY];

	return key_of(client, key);
}

static struct share *share_find(const struct shares *s, const struct addr *client)
{
	uint8_t key[KEY];
	struct share *one = *chain_of(s, key_of(client, key));

	while (one && memcmp(one->key, key, KEY) != 0)
		one = one->next;
	return one;
}

static struct share *share_get(struct shares *s, const struct addr *client)
{
	struct share *one = share_find(s, client), **chain;

	if (one)
		return one;
	one = s->spare;
	if (one) {
		s->spare = one->next;
		s->spare_count--;
	} else {
		one = mem_new(sizeof *one);
	}
	*one = (struct share){ .count = 0 };
	list_init(&one->in_class);
	list_init(&one->places);
	if (s->share_count++ == s->chain_count)
		chains_grow(s);
	chain = chain_of(s, key_of(client, one->key));
	one->next = *chain;
	*chain = one;
	return one;
}

static void share_free(struct shares *s, struct share *one)
{
	struct share **at = chain_of(s, hash_bytes(one->key, KEY));

	while (*at != one)
		at = &(*at)->next;
	*at = one->next;
	s->share_count--;
	if (s->spare_count == SPARE_MOST) {
		mem_free(one);
		return;
	}
	one->next = s->spare;
	s->spare = one;
	s->spare_count++;
}

static void recount(struct shares *s, struct share *one, unsigned count)
{
	unsigned was = class_of(one->count), now = class_of(count);

	one->count = count;
	if (was == now)
		return;
	list_remove(&one->in_class);
	if (now)
		list_push_back(&s->classes[now], &one->in_class);
	s->highest = MAX(s->highest, now);
	while (s->highest && list_is_empty(&s->classes[s->highest]))
		s->highest--;
}

void shares_take_back(struct shares *s, struct holding *h)
{
	struct share *one = h->of;

	if (!one)
		return;
	h->of = NULL;
	list_remove(&h->link);
	recount(s, one, one->count - 1);
	if (!one->count)
		share_free(s, one);
}

void shares_give(struct shares *s, struct holding *h, const struct addr *client)
{
	struct share *one;

	shares_take_back(s, h);
	one = share_get(s, client);
	h->of = one;
	list_push_back(&one->places, &h->link);
	recount(s, one, one->count + 1);
}

unsigned shares_class(const struct shares *s, const struct addr *client)
{
	const struct share *one = share_find(s, client);

	return one ? class_of(one->count) : 0;
}

unsigned shares_class_with(const struct shares *s, const struct addr *client)
{
	const struct share *one = share_find(s, client);

	return class_of(one ? one->count + 1 : 1);
}

unsigned holding_class(const struct holding *h)
{
	return h->of ? class_of(h->of->count) : 0;
}

unsigned shares_highest_class(const struct shares *s)
{
	return s->highest;
}

struct holding *shares_of_largest(struct shares *s)
{
	struct share *one;

	if (!s->highest)
		return NULL;
	one = LIST_ITEM(s->classes[s->highest].next, struct share, in_class);
	list_remove(&one->in_class);
	list_push_back(&s->classes[s->highest], &one->in_class);
	return LIST_ITEM(one->places.next, struct holding, link);
}

struct holding *holding_next(const struct holding *h)
{
	const struct list *next = h->link.next;

	return next == &h->of->places ? NULL : LIST_ITEM(next, struct holding, link);
}
