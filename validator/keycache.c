/* The key cache: a slab cache keyed by zone name.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "validator/keycache.h"

#include <string.h>

#include "util/base/hash.h"
#include "util/base/mem.h"
#include "util/base/timebase.h"
#include "util/dns/dname.h"
#include "validator/verify.h"

struct keycache {
	struct slab *slab;
	unsigned slabs;
	uint8_t scope; /* link.spare of its entries */
};

static struct key_entry *entry_of(const struct slab_entry *e)
{
	return container_of((struct slab_entry *)(uintptr_t)e, struct key_entry, link);
}

static bool is_same(const struct slab_entry *a, const struct slab_entry *b)
{
	const struct key_entry *l = entry_of(a), *r = entry_of(b);

	return a->spare == b->spare && dname_equals_len(l->data, l->name_len, r->data, r->name_len);
}

static bool is_stale(const struct slab_entry *e, uint32_t now_s)
{
	return time_is_past(now_s, entry_of(e)->expires_s);
}

static void release(struct rcu_slot *retired)
{
	struct key_entry *e = entry_of(slab_entry_of(retired));

	keyset_unpin(e->keys);
	mem_free(e);
}

#define PARSED_KEY 2048 /* bytes OpenSSL takes for one, roughly */

static size_t beside(const struct slab_entry *entry)
{
	const struct key_entry *e = entry_of(entry);

	/* keys are parsed later, and not all of them: room for one */
	return e->keys ? keyset_size(e->keys) + PARSED_KEY : 0;
}

/* Not even the keys of one zone would fit in less, and nothing could be validated: those of a zone are found
 * here when the next one's are validated. */
#define SLAB_LEAST (64u << 10)

static size_t at_least(size_t budget, unsigned slabs)
{
	return MAX(budget, (size_t)slabs * SLAB_LEAST);
}

struct keycache *keycache_new(size_t budget, unsigned slabs)
{
	struct keycache *c = mem_zero(sizeof(*c));

	c->slabs = slabs;
	c->slab = slab_new(&(struct slab_how){ .name = "key",
					       .budget = at_least(budget, slabs),
					       .slabs = slabs,
					       .typical = 256,
					       .same = is_same,
					       .is_stale = is_stale,
					       .beside = beside,
					       .release = release });
	return c;
}

void keycache_resize(struct keycache *c, size_t budget)
{
	slab_resize(c->slab, at_least(budget, c->slabs));
}

void keycache_free(struct keycache *c)
{
	if (c && c->scope == 0)
		slab_free(c->slab);
	mem_free(c);
}

struct keycache *keycache_scoped(const struct keycache *c, uint8_t scope)
{
	struct keycache *scoped = mem_copy(c, sizeof(*c));

	scoped->scope = scope;
	return scoped;
}

struct slab *keycache_slab(struct keycache *c)
{
	return c->slab;
}

static uint64_t hash_of(const uint8_t *name, size_t len)
{
	return hash_dname(name, len, 0x6b657973);
}

const struct key_entry *keycache_find(struct keycache *c, const uint8_t *name, uint32_t now_s)
{
	size_t len = dname_len(name);
	uint64_t hash = hash_of(name, len);

	for (struct slab_entry *e = slab_first(c->slab, hash); e; e = slab_next(e, hash)) {
		const struct key_entry *k = entry_of(e);

		if (e->spare != c->scope || !dname_equals_len(k->data, k->name_len, name, len))
			continue;
		if (!slab_saw(c->slab, e))
			continue;
		return time_is_past(now_s, k->expires_s) ? NULL : k;
	}
	return NULL;
}

bool keycache_cuts_off(struct keycache *c, const uint8_t *zone, const uint8_t *name, uint32_t now_s)
{
	for (; dname_is_strictly_under(name, zone); name = dname_parent(name)) {
		const struct key_entry *e = keycache_find(c, name, now_s);

		if (e && e->kind == KEYS_TRUSTED)
			return true;
	}
	return false;
}

void keycache_put(struct keycache *c, const struct key_news *news, uint32_t now_s)
{
	size_t name_len = dname_len(news->name);
	const char *text = news->text ? news->text : "";
	size_t text_len = strlen(text) + 1;
	struct key_entry *e;

	if (news->ttl_s == 0)
		return;
	e = mem_zero(sizeof(*e) + name_len + text_len);
	e->keys = news->kind == KEYS_TRUSTED ? keyset_pin(news->keys) : NULL;
	e->link.spare = c->scope;
	e->expires_s = now_s + news->ttl_s;
	e->kind = (uint8_t)news->kind;
	e->reason = (uint8_t)news->reason;
	e->name_len = (uint8_t)name_len;
	dname_copy_lower(e->data, news->name);
	memcpy(e->data + name_len, text, text_len);
	slab_put(c->slab, hash_of(news->name, name_len), &e->link, now_s);
}

struct forgetting {
	const uint8_t *name;
	bool only_bogus;
};

static bool stays(const struct slab_entry *e, void *arg)
{
	const struct forgetting *f = arg;
	const struct key_entry *k = entry_of(e);

	return !dname_is_under(k->data, f->name) ||
	       (f->only_bogus && k->kind != KEYS_BOGUS && k->kind != KEYS_UNHEARD);
}

size_t keycache_forget(struct keycache *c, const uint8_t *name, bool only_bogus)
{
	struct forgetting f = { name, only_bogus };

	return slab_sweep(c->slab, stays, &f);
}
