/* Sorted denials: for each zone a treap of NSEC and one of NSEC3 records, under a part's lock.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The priorities of a treap are keyed hashes, so that nobody can unbalance it. */
#include "services/cache/nsec_ranges.h"

#include <limits.h>
#include <pthread.h>

#include "services/cache/presence.h"
#include "util/base/arena.h"
#include "util/base/hash.h"
#include "util/base/list.h"
#include "util/base/mem.h"
#include "util/base/rcu.h"
#include "util/base/timebase.h"
#include "util/dns/dname.h"
#include "util/dns/rr.h"

#define ZONE_SALT      0x6e6567u /* keeps this table's hashes apart from others' */
#define BYTES_A_BUCKET 512 /* less than a zone with its first records */
#define HAND_STEPS     64 /* seen records the hand skips before it evicts one anyway */

enum kind { BY_NAME, BY_HASH, KINDS };

struct range {
	struct list queue;
	struct range *left, *right;
	struct zone *zone;
	uint32_t priority;
	bool seen;
	uint8_t kind;
	uint8_t hash[NSEC3_HASH_LEN]; /* BY_HASH: decoded from the owner name */
	struct rrset set;             /* last: its data follow */
};

struct zone {
	struct zone *next; /* in its bucket */
	struct range *root[KINDS];
	struct rrset *soa; /* or NULL */
	size_t count;
	uint64_t hash;
	uint16_t class_;
	uint16_t iterations; /* of all its NSEC3 records */
	uint32_t most_s;     /* longest TTL, from the last SOA */
	uint8_t salt_len;
	uint8_t *salt;
	bool opts_out;
	uint8_t name[]; /* lower case */
};

struct part {
	_Alignas(CACHE_LINE) pthread_mutex_t lock; /* guards the rest, and its zones and records */
	_Atomic(struct presences *) *present; /* written under the lock, read without */
	struct zone **bucket;
	size_t mask;
	struct list queue; /* newest first */
	struct list *hand; /* SIEVE's, from old to new; the head: start at the oldest */
	size_t bytes, budget, records, zones;
	size_t longest; /* most steps under one lock, of work on everything */
	uint64_t evictions;
};

struct nsec_ranges {
	unsigned part_mask;
	_Atomic(struct presences *) *present; /* of each part; apart from its lock's cache line */
	struct part *parts;
	void *parts_at; /* as allocated; `parts` is aligned to a cache line */
};

/* ---- treaps ---- */

/* A position in a treap: a name or a hash. */
struct query_key {
	enum kind kind;
	const uint8_t *at; /* a name; NSEC3_HASH_LEN bytes */
};

static struct query_key place_of(const struct range *r)
{
	return (struct query_key){ r->kind, r->kind == BY_NAME ? rrset_owner(&r->set) : r->hash };
}

static int compare(struct query_key s, const struct range *r)
{
	return s.kind == BY_NAME ? dname_compare(s.at, rrset_owner(&r->set))
				 : memcmp(s.at, r->hash, NSEC3_HASH_LEN);
}

/* The last record at or before the position, or NULL. */
static struct range *treap_floor(struct range *t, struct query_key s)
{
	struct range *floor = NULL;

	while (t) {
		int order = compare(s, t);

		if (order == 0)
			return t;
		if (order > 0)
			floor = t;
		t = order > 0 ? t->right : t->left;
	}
	return floor;
}

/* The first record at or after the position, or NULL. */
static struct range *treap_ceiling(struct range *t, struct query_key s)
{
	struct range *ceiling = NULL;

	while (t) {
		int order = compare(s, t);

		if (order == 0)
			return t;
		if (order < 0)
			ceiling = t;
		t = order > 0 ? t->right : t->left;
	}
	return ceiling;
}

static struct range *treap_last(struct range *t)
{
	while (t && t->right)
		t = t->right;
	return t;
}

/* No record may be at its position yet. */
static void treap_add(struct range **root, struct range *new)
{
	struct query_key s = place_of(new);
	struct range **at = root, **left = &new->left, **right = &new->right;
	struct range *rest;

	while (*at && (*at)->priority >= new->priority)
		at = compare(s, *at) > 0 ? &(*at)->right : &(*at)->left;
	rest = *at;
	*at = new;
	while (rest) {
		if (compare(s, rest) > 0) {
			*left = rest;
			left = &rest->right;
			rest = rest->right;
		} else {
			*right = rest;
			right = &rest->left;
			rest = rest->left;
		}
	}
	*left = *right = NULL;
}

static void treap_remove(struct range **root, struct range *old)
{
	struct query_key s = place_of(old);
	struct range **at = root, *left = old->left, *right = old->right;

	while (*at != old) {
		PROMISE(*at);
		at = compare(s, *at) > 0 ? &(*at)->right : &(*at)->left;
	}
	while (left && right) {
		if (left->priority >= right->priority) {
			*at = left;
			at = &left->right;
			left = *at;
		} else {
			*at = right;
			at = &right->left;
			right = *at;
		}
	}
	*at = left ? left : right;
}

/* ---- parts ---- */

static uint64_t hash_of(const uint8_t *zone, uint16_t class_)
{
	return hash_dname(zone, dname_len(zone), ZONE_SALT ^ (uint32_t)class_ << 16);
}

static unsigned part_at(const struct nsec_ranges *r, uint64_t hash)
{
	return (unsigned)(hash >> 32) & r->part_mask;
}

/* The part, locked. */
static struct part *part_enter(struct nsec_ranges *r, uint64_t hash)
{
	struct part *p = &r->parts[part_at(r, hash)];

	PROMISE(pthread_mutex_lock(&p->lock) == 0);
	return p;
}

static void part_leave(struct part *p)
{
	PROMISE(pthread_mutex_unlock(&p->lock) == 0);
}

static struct zone **zone_place(struct part *p, uint64_t hash, const struct nsec_ranges_at *at)
{
	struct zone **z = &p->bucket[hash & p->mask];

	while (*z && ((*z)->hash != hash || (*z)->class_ != at->class_ ||
		      !dname_equals((*z)->name, at->zone)))
		z = &(*z)->next;
	return z;
}

static void *owned(struct part *p, void *thing)
{
	p->bytes += mem_size(thing);
	return thing;
}

static void disown(struct part *p, void *thing)
{
	if (thing)
		p->bytes -= mem_size(thing);
	mem_free(thing);
}

static struct zone *zone_get(struct part *p, uint64_t hash, const struct nsec_ranges_at *at)
{
	struct zone **place = zone_place(p, hash, at);

	if (!*place) {
		struct zone *z = owned(p, mem_zero(sizeof(*z) + dname_len(at->zone)));

		z->hash = hash;
		z->class_ = at->class_;
		z->most_s = UINT32_MAX;
		dname_copy_lower(z->name, at->zone);
		*place = z;
		p->zones++;
		presences_add(*p->present, hash);
	}
	return *place;
}

static void say_presence(struct part *p, const struct zone *z)
{
	bool opts_out_only = z->opts_out && z->root[BY_HASH] && !z->root[BY_NAME];

	presences_say(*p->present, z->hash, opts_out_only ? PRESENCE_OPT_OUT : PRESENCE_SOME);
}

/* Remove a zone that has no records left. */
static void zone_drop(struct part *p, struct zone *z)
{
	struct nsec_ranges_at at = { .zone = z->name, .class_ = z->class_ };

	*zone_place(p, z->hash, &at) = z->next;
	p->zones--;
	presences_remove(*p->present, z->hash);
	disown(p, z->soa);
	disown(p, z->salt);
	disown(p, z);
}

/* Remove the record; its zone stays even when empty. */
static void take_out(struct part *p, struct range *r)
{
	struct zone *z = r->zone;

	treap_remove(&z->root[r->kind], r);
	z->count--;
	if (!z->root[BY_HASH])
		z->opts_out = false;
	say_presence(p, z);
	if (p->hand == &r->queue)
		p->hand = r->queue.prev;
	list_remove(&r->queue);
	p->records--;
	disown(p, r);
}

static void range_drop(struct part *p, struct range *r)
{
	struct zone *z = r->zone;

	take_out(p, r);
	if (z->count == 0)
		zone_drop(p, z);
}

static void evict(struct part *p, uint32_t now_s)
{
	for (unsigned steps = 0; p->records;) {
		struct range *r;

		if (p->hand == &p->queue)
			p->hand = p->queue.prev;
		r = LIST_ITEM(p->hand, struct range, queue);
		if (r->seen && steps++ < HAND_STEPS && !time_is_past(now_s, r->set.expires_s)) {
			r->seen = false;
			p->hand = r->queue.prev;
			continue;
		}
		p->evictions++;
		range_drop(p, r);
		return;
	}
}

/* Evict until the part is within its budget, at most `most` records. */
static unsigned fit_some(struct part *p, uint32_t now_s, unsigned most)
{
	unsigned count = 0;

	for (; count < most && p->bytes > p->budget && p->records; count++)
		evict(p, now_s);
	return count;
}

static void fit(struct part *p, uint32_t now_s)
{
	(void)fit_some(p, now_s, UINT_MAX);
}

static void note_steps(struct part *p, size_t steps)
{
	p->longest = MAX(p->longest, steps);
}

/* Tell of the zones there are in a new table of so many slots. */
static void part_tell(struct part *p, size_t count)
{
	struct presences *old = *p->present, *new = presences_new(count);

	p->bytes += presences_bytes(new) - (old ? presences_bytes(old) : 0);
	for (size_t i = 0; p->bucket && i <= p->mask; i++)
		for (const struct zone *z = p->bucket[i]; z; z = z->next)
			presences_add(new, z->hash);
	RCU_PUBLISH(*p->present, new);
	presences_retire(old);
	for (size_t i = 0; p->bucket && i <= p->mask; i++)
		for (const struct zone *z = p->bucket[i]; z; z = z->next)
			say_presence(p, z);
}

static void part_set_budget(struct part *p, size_t budget)
{
	size_t count = 16;
	struct zone **bucket;

	while (count < budget / BYTES_A_BUCKET)
		count *= 2;
	part_tell(p, count);
	bucket = mem_array(count, sizeof(struct zone *));
	for (size_t i = 0; p->bucket && i <= p->mask; i++) {
		for (struct zone *z = p->bucket[i], *next; z; z = next) {
			next = z->next;
			z->next = bucket[z->hash & (count - 1)];
			bucket[z->hash & (count - 1)] = z;
		}
	}
	disown(p, p->bucket);
	p->bucket = owned(p, bucket);
	p->mask = count - 1;
	p->budget = budget;
}

struct nsec_ranges *nsec_ranges_new(size_t budget, unsigned parts)
{
	struct nsec_ranges *r = mem_zero(sizeof(*r));

	r->part_mask = parts - 1;
	r->present = mem_array(parts, sizeof(*r->present));
	r->parts_at = mem_zero(parts * sizeof(struct part) + CACHE_LINE);
	r->parts = (struct part *)(((uintptr_t)r->parts_at + CACHE_LINE - 1) / CACHE_LINE *
				   CACHE_LINE);
	for (unsigned i = 0; i < parts; i++) {
		struct part *p = &r->parts[i];

		PROMISE(pthread_mutex_init(&p->lock, NULL) == 0);
		list_init(&p->queue);
		p->hand = &p->queue;
		p->present = &r->present[i];
		part_set_budget(p, budget / parts);
	}
	return r;
}

void nsec_ranges_free(struct nsec_ranges *r)
{
	if (!r)
		return;
	nsec_ranges_forget(r, dname_root);
	for (unsigned i = 0; i <= r->part_mask; i++) {
		pthread_mutex_destroy(&r->parts[i].lock);
		mem_free(r->parts[i].bucket);
		presences_free(r->present[i]);
	}
	mem_free(r->present);
	mem_free(r->parts_at);
	mem_free(r);
}

void nsec_ranges_resize(struct nsec_ranges *r, size_t budget)
{
	for (unsigned i = 0; i <= r->part_mask; i++) {
		struct part *p = part_enter(r, (uint64_t)i << 32);

		part_set_budget(p, budget / (r->part_mask + 1));
		for (unsigned gone; (gone = fit_some(p, 0, RANGES_STEPS)) == RANGES_STEPS;) {
			note_steps(p, gone);
			part_leave(p);
			p = part_enter(r, (uint64_t)i << 32);
		}
		part_leave(p);
	}
}

/* ---- adding ---- */

static void shorten(struct rrset *set, uint32_t now_s, uint32_t most_s)
{
	set->expires_s = now_s + MIN(time_left(now_s, set->expires_s), most_s);
	set->ttl_s = MIN(set->ttl_s, most_s);
}

static struct range *range_new(const struct rrset *set, enum kind kind, const uint8_t *hash)
{
	struct range *r = mem_new(MAX(offsetof(struct range, set) + set->size, sizeof(*r)));

	memset(r, 0, offsetof(struct range, set));
	memcpy(&r->set, set, set->size);
	r->kind = (uint8_t)kind;
	if (hash)
		memcpy(r->hash, hash, NSEC3_HASH_LEN);
	r->priority = kind == BY_HASH ? (uint32_t)hash_bytes(hash, NSEC3_HASH_LEN)
				      : (uint32_t)hash_dname(rrset_owner(set), set->owner_len, 0);
	return r;
}

static void put(struct part *p, struct zone *z, struct range *new, const struct nsec_ranges_at *at)
{
	struct query_key s = place_of(new);
	struct range *old = treap_floor(z->root[new->kind], s);

	if (old && compare(s, old) == 0) {
		new->seen = old->seen;
		take_out(p, old);
	}
	shorten(&new->set, at->now_s, MIN(at->most_s, z->most_s));
	new->zone = z;
	treap_add(&z->root[new->kind], new);
	z->count++;
	owned(p, new);
	list_push_front(&p->queue, &new->queue);
	p->records++;
	say_presence(p, z);
}

static bool is_worth_it(const struct rrset *set, uint32_t now_s)
{
	return set->size <= RANGE_SIZE_MAX && !time_is_past(now_s, set->expires_s);
}

void nsec_ranges_put_nsec(struct nsec_ranges *r, const struct nsec_ranges_at *at, const struct rrset *set)
{
	uint64_t hash = hash_of(at->zone, at->class_);
	struct range *new;
	struct part *p;

	if (!is_worth_it(set, at->now_s))
		return;
	new = range_new(set, BY_NAME, NULL);
	p = part_enter(r, hash);
	put(p, zone_get(p, hash, at), new, at);
	fit(p, at->now_s);
	part_leave(p);
}

/* Records with other parameters make room first; false while there are too many of them to go under
 * one lock. */
static bool use_parameters(struct part *p, struct zone *z, const struct nsec3 *n)
{
	unsigned steps = 0;

	if (z->root[BY_HASH] && z->iterations == n->iterations && z->salt_len == n->salt.len &&
	    (n->salt.len == 0 || memcmp(z->salt, n->salt.at, n->salt.len) == 0))
		return true;
	for (; z->root[BY_HASH] && steps < RANGES_STEPS; steps++)
		take_out(p, z->root[BY_HASH]);
	note_steps(p, steps);
	if (z->root[BY_HASH])
		return false;
	disown(p, z->salt);
	z->salt = n->salt.len ? owned(p, mem_copy(n->salt.at, n->salt.len)) : NULL;
	z->salt_len = (uint8_t)n->salt.len;
	z->iterations = n->iterations;
	return true;
}

void nsec_ranges_put_nsec3(struct nsec_ranges *r, const struct nsec_ranges_at *at, const struct rrset *set,
		      const struct nsec3 *read)
{
	uint64_t hash = hash_of(at->zone, at->class_);
	struct range *new;
	struct zone *z;
	struct part *p;

	if (!is_worth_it(set, at->now_s))
		return;
	new = range_new(set, BY_HASH, read->owner);
	p = part_enter(r, hash);
	z = zone_get(p, hash, at);
	if (use_parameters(p, z, read)) {
		if (read->flags & NSEC3_OPTOUT)
			z->opts_out = true;
		put(p, z, new, at);
		new = NULL;
		fit(p, at->now_s);
	}
	part_leave(p);
	mem_free(new);
}

void nsec_ranges_put_soa(struct nsec_ranges *r, const struct nsec_ranges_at *at, const struct rrset *soa)
{
	uint64_t hash = hash_of(at->zone, at->class_);
	struct part *p;
	struct zone *z;

	if (!is_worth_it(soa, at->now_s))
		return;
	p = part_enter(r, hash);
	z = *zone_place(p, hash, at);
	if (z) {
		disown(p, z->soa);
		z->soa = owned(p, mem_copy(soa, soa->size));
		shorten(z->soa, at->now_s, at->most_s);
		z->most_s = at->most_s;
		fit(p, at->now_s);
	}
	part_leave(p);
}

/* ---- finding ---- */

/* Not every thread that asks is in a turn. */
static enum presence presence_of(const struct nsec_ranges *r, uint64_t hash)
{
	enum presence what;

	rcu_turn_begin();
	what = presences_look(RCU_READ(r->present[part_at(r, hash)]), hash);
	rcu_turn_end();
	return what;
}

bool nsec_ranges_know(struct nsec_ranges *r, const struct nsec_ranges_at *at, struct nsec_ranges_facts *out)
{
	uint64_t hash = hash_of(at->zone, at->class_);
	enum presence what = presence_of(r, hash);
	const struct zone *z;
	struct part *p;

	if (what == PRESENCE_NONE)
		return false;
	if (what == PRESENCE_OPT_OUT && at->no_opt_out) {
		*out = (struct nsec_ranges_facts){ .has_nsec3 = true, .opts_out = true, .most_s = UINT32_MAX };
		return true;
	}
	p = part_enter(r, hash);
	z = *zone_place(p, hash, at);
	if (z) {
		out->has_nsec = z->root[BY_NAME];
		out->has_nsec3 = z->root[BY_HASH];
		out->opts_out = z->opts_out;
		out->iterations = z->iterations;
		out->most_s = z->most_s;
		out->salt_len = z->salt_len;
		if (z->salt_len)
			memcpy(out->salt, z->salt, z->salt_len);
	}
	part_leave(p);
	return z;
}

static bool reaches(const struct range *r, struct query_key s)
{
	struct nsec3 n;

	if (compare(s, r) == 0)
		return true;
	if (s.kind == BY_NAME)
		return nsec_covers(&r->set, r->zone->name, s.at);
	return nsec3_read(&r->set, r->zone->name, &n) && nsec3_covers(&n, s.at);
}

/* The record at the position or, in the order of the chain, before it; or NULL. */
static struct range *nearest(const struct zone *z, struct query_key s)
{
	struct range *t = z ? treap_floor(z->root[s.kind], s) : NULL;

	/* The last hash of a zone wraps around to the first (RFC 5155 3.1.7). */
	if (z && !t && s.kind == BY_HASH)
		t = treap_last(z->root[BY_HASH]);
	return t;
}

static struct rrset *find(struct nsec_ranges *r, const struct nsec_ranges_at *at, struct query_key s, bool exact,
			  struct arena *a)
{
	uint64_t hash = hash_of(at->zone, at->class_);
	struct part *p = part_enter(r, hash);
	struct range *t = nearest(*zone_place(p, hash, at), s);
	struct rrset *found = NULL;

	if (t && time_is_past(at->now_s, t->set.expires_s)) {
		range_drop(p, t);
	} else if (t && (exact ? compare(s, t) == 0 : reaches(t, s))) {
		t->seen = true;
		found = rrset_copy(a, &t->set);
	}
	part_leave(p);
	return found;
}

struct rrset *nsec_ranges_find_nsec(struct nsec_ranges *r, const struct nsec_ranges_at *at, const uint8_t *name,
			       struct arena *a)
{
	return find(r, at, (struct query_key){ BY_NAME, name }, false, a);
}

struct rrset *nsec_ranges_find_nsec3(struct nsec_ranges *r, const struct nsec_ranges_at *at,
				const uint8_t hash[NSEC3_HASH_LEN], struct arena *a)
{
	return find(r, at, (struct query_key){ BY_HASH, hash }, false, a);
}

struct rrset *nsec_ranges_match_nsec3(struct nsec_ranges *r, const struct nsec_ranges_at *at,
				 const uint8_t hash[NSEC3_HASH_LEN], struct arena *a)
{
	return find(r, at, (struct query_key){ BY_HASH, hash }, true, a);
}

struct rrset *nsec_ranges_find_soa(struct nsec_ranges *r, const struct nsec_ranges_at *at, struct arena *a)
{
	uint64_t hash = hash_of(at->zone, at->class_);
	struct part *p = part_enter(r, hash);
	struct zone *z = *zone_place(p, hash, at);
	struct rrset *found = NULL;

	if (z && z->soa && !time_is_past(at->now_s, z->soa->expires_s))
		found = rrset_copy(a, z->soa);
	part_leave(p);
	return found;
}

/* ---- forgetting, counting ---- */

static void drop(struct nsec_ranges *r, const struct nsec_ranges_at *at, struct query_key s)
{
	uint64_t hash = hash_of(at->zone, at->class_);
	struct part *p = part_enter(r, hash);
	struct range *t = nearest(*zone_place(p, hash, at), s);

	if (t && reaches(t, s))
		range_drop(p, t);
	part_leave(p);
}

void nsec_ranges_drop_nsec(struct nsec_ranges *r, const struct nsec_ranges_at *at, const uint8_t *name)
{
	drop(r, at, (struct query_key){ BY_NAME, name });
}

void nsec_ranges_drop_nsec3(struct nsec_ranges *r, const struct nsec_ranges_at *at,
		       const uint8_t hash[NSEC3_HASH_LEN])
{
	drop(r, at, (struct query_key){ BY_HASH, hash });
}

/* A record whose owner is at or below the name: they follow it. A hash does not tell, so any of those. */
static struct range *some_under(const struct zone *z, const uint8_t *name)
{
	struct range *t = treap_ceiling(z->root[BY_NAME], (struct query_key){ BY_NAME, name });

	return t && dname_is_under(rrset_owner(&t->set), name) ? t : z->root[BY_HASH];
}

size_t nsec_ranges_drop_under(struct nsec_ranges *r, const struct nsec_ranges_at *at, const uint8_t *name)
{
	uint64_t hash = hash_of(at->zone, at->class_);
	size_t count = 0, steps;

	do {
		struct part *p = part_enter(r, hash);

		for (steps = 0; steps < RANGES_STEPS; steps++) {
			struct zone *z = *zone_place(p, hash, at);
			struct range *t = z ? some_under(z, name) : NULL;

			if (!t)
				break;
			range_drop(p, t);
		}
		note_steps(p, steps);
		part_leave(p);
		count += steps;
	} while (steps == RANGES_STEPS);
	return count;
}

/* A walk over the buckets of one part, whose lock is given back every so often. */
struct forgetting {
	const uint8_t *name;
	struct zone **bucket; /* as it was: resized, it starts over */
	size_t mask, at, count;
	unsigned left; /* steps until then */
};

/* False when the lock is to be given back first. */
static bool zone_forget(struct part *p, struct zone *z, struct forgetting *f)
{
	for (enum kind k = BY_NAME; k < KINDS; k++) {
		for (; z->root[k]; f->left--, f->count++) {
			if (!f->left)
				return false;
			take_out(p, z->root[k]);
		}
	}
	zone_drop(p, z);
	return true;
}

static bool bucket_forget(struct part *p, struct forgetting *f)
{
	for (struct zone *z = p->bucket[f->at], *next; z; z = next) {
		next = z->next;
		if (dname_is_under(z->name, f->name) && !zone_forget(p, z, f))
			return false;
	}
	return true;
}

/* As far as one hold of the part's lock goes; false when there is nothing left to do. */
static bool part_forget(struct part *p, struct forgetting *f)
{
	if (f->bucket != p->bucket || f->mask != p->mask) {
		f->bucket = p->bucket;
		f->mask = p->mask;
		f->at = 0;
	}
	f->left = RANGES_STEPS;
	while (f->left && f->at <= p->mask && bucket_forget(p, f)) {
		f->left -= f->left > 0;
		f->at++;
	}
	note_steps(p, RANGES_STEPS - f->left);
	return f->at <= p->mask;
}

size_t nsec_ranges_forget(struct nsec_ranges *r, const uint8_t *name)
{
	size_t count = 0;

	for (unsigned i = 0; i <= r->part_mask; i++) {
		struct forgetting f = { .name = name };
		bool goes_on;

		do {
			struct part *p = part_enter(r, (uint64_t)i << 32);

			goes_on = part_forget(p, &f);
			part_leave(p);
		} while (goes_on);
		count += f.count;
	}
	return count;
}

struct nsec_ranges_count nsec_ranges_counted(struct nsec_ranges *r)
{
	struct nsec_ranges_count sum = { 0 };

	for (unsigned i = 0; i <= r->part_mask; i++) {
		struct part *p = part_enter(r, (uint64_t)i << 32);

		sum.zones += p->zones;
		sum.records += p->records;
		sum.bytes += p->bytes;
		sum.budget += p->budget;
		sum.evictions += p->evictions;
		sum.longest = MAX(sum.longest, p->longest);
		part_leave(p);
	}
	return sum;
}
