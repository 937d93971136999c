/* The names that local zones have, and the records there.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "services/local/private.h"
#include "util/base/mem.h"

static size_t set_room(const struct rrset *s)
{
	return (s->size + 3u) & ~(size_t)3;
}

const struct rrset *localnode_first(const struct localnode *n)
{
	return (const struct rrset *)(const void *)n->data;
}

const struct rrset *localnode_next(const struct rrset *s)
{
	return (const struct rrset *)(const void *)((const uint8_t *)s + set_room(s));
}

const uint8_t *localnode_name(const struct localnode *n)
{
	return n->count ? rrset_owner(localnode_first(n)) : (const uint8_t *)n->data;
}

const struct rrset *localnode_set(const struct localnode *n, uint16_t type)
{
	const struct rrset *s = localnode_first(n);

	for (unsigned i = 0; i < n->count; i++, s = localnode_next(s)) {
		if (s->type == type)
			return s;
	}
	return NULL;
}

unsigned localnode_count(const struct localnode *n)
{
	return n ? n->count : 0;
}

static bool stays(const struct rrset *s, uint16_t gone, const struct rrset *const *sets, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (sets[i]->type == s->type)
			return false;
	return s->type != gone;
}

static uint8_t *append(struct localnode *n, uint8_t *at, const struct rrset *s)
{
	memcpy(at, s, s->size);
	n->count++;
	return at + set_room(s);
}

/* A copy of `n` without the types of `gone`, with `sets` appended. */
static struct localnode *make(const struct localzone *zone, const uint8_t *name,
			      const struct localnode *n, uint16_t gone,
			      const struct rrset *const *sets, size_t count)
{
	size_t room = 0, name_len = dname_len(name);
	const struct rrset *s = n ? localnode_first(n) : NULL;
	struct localnode *new;
	uint8_t *at;

	for (unsigned i = 0; i < localnode_count(n); i++, s = localnode_next(s))
		room += stays(s, gone, sets, count) ? set_room(s) : 0;
	for (size_t i = 0; i < count; i++)
		room += set_room(sets[i]);
	new = mem_zero(sizeof(*new) + MAX(room, name_len));
	new->zone = zone;
	new->children = n ? n->children : 0;
	at = (uint8_t *)new->data;
	s = n ? localnode_first(n) : NULL;
	for (unsigned i = 0; i < localnode_count(n); i++, s = localnode_next(s))
		if (stays(s, gone, sets, count))
			at = append(new, at, s);
	for (size_t i = 0; i < count; i++)
		at = append(new, at, sets[i]);
	if (new->count == 0)
		dname_copy_lower((uint8_t *)new->data, name);
	return new;
}

struct localnode *localnode_make(const struct localzone *zone, const uint8_t *name,
				 const struct localnode *n, uint16_t type,
				 const struct rrset *with)
{
	return make(zone, name, n, type, &with, with != NULL);
}

struct localnode *localnode_with(const struct localzone *zone, const uint8_t *name,
				 const struct localnode *n, const struct rrset *const *sets,
				 size_t count)
{
	return make(zone, name, n, sets[0]->type, sets, count);
}

static void free_node(struct rcu_slot *retired)
{
	mem_free(container_of(retired, struct localnode, retired));
}

void localnode_drop(const struct localzones *z, struct family *f, struct localnode *n)
{
	struct localnode *top = nametable_find(f->nodes, localnode_name(n));
	struct localnode *under = RCU_READ(n->under);

	if (top == n && under) {
		nametable_put(f->nodes, localnode_name(n), under);
	} else if (top == n) {
		nametable_remove(f->nodes, localnode_name(n));
	} else {
		while (RCU_READ(top->under) != n)
			top = RCU_READ(top->under);
		RCU_PUBLISH(top->under, under);
	}
	list_remove(&n->in_zone);
	if (z->own->published)
		rcu_retire(&n->retired, free_node);
	else
		mem_free(n);
}

struct localnode *localnode_at(const struct family *f, const struct localzone *zone,
			       const uint8_t *name)
{
	struct localnode *n = nametable_find(f->nodes, name);

	while (n && n->zone != zone)
		n = RCU_READ(n->under);
	return n;
}

void localnode_put(const struct localzones *z, struct family *f, struct localzone *zone,
		   struct localnode *n)
{
	struct localnode *old = localnode_at(f, zone, localnode_name(n));

	atomic_init(&n->under, nametable_find(f->nodes, localnode_name(n)));
	list_push_back(&zone->nodes, &n->in_zone);
	nametable_put(f->nodes, localnode_name(n), n);
	if (old)
		localnode_drop(z, f, old);
}

void localnodes_free(void *top)
{
	for (struct localnode *n = top, *under; n; n = under) {
		under = RCU_READ(n->under);
		mem_free(n);
	}
}

