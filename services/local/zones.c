/* Configured local zones: lookup, zones that come and go at run time, listing.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/local/zones.h"

#include <string.h>

#include "services/local/private.h"
#include "util/base/arena.h"
#include "util/base/mem.h"
#include "util/net/addr.h"

const struct zone_traits zone_traits[ZONE_TYPES] = {
#define ZONE_TYPE(word_, records_, rest_, logged_) \
	[ZONE_##word_] = { #word_, RECORDS_##records_, REST_##rest_, logged_ },
#include "services/local/zonetype.def"
#undef ZONE_TYPE
};

bool zone_type_parse(const char *text, enum zone_type *type)
{
	for (unsigned i = 0; i < ZONE_TYPES; i++) {
		if (strcmp(text, zone_traits[i].word) == 0) {
			*type = (enum zone_type)i;
			return true;
		}
	}
	return false;
}

/* ---- families ---- */

static void family_init(struct family *f, uint64_t seed, uint16_t class_)
{
	f->class_ = class_;
	f->zones = nametable_new(seed);
	f->nodes = nametable_new(seed);
}

static const struct family *family_find(const struct localzones *z, uint16_t class_)
{
	const struct family *f = &z->own->in;

	while (f && f->class_ != class_)
		f = RCU_READ(f->next);
	return f;
}

struct family *family_get(struct localzones *z, uint16_t class_)
{
	struct family *f = (struct family *)(uintptr_t)family_find(z, class_);

	if (f)
		return f;
	f = mem_zero(sizeof(*f));
	family_init(f, z->own->seed, class_);
	if (z->own->published) {
		nametable_publish(f->zones);
		nametable_publish(f->nodes);
	}
	atomic_init(&f->next, RCU_READ(z->own->in.next));
	RCU_PUBLISH(z->own->in.next, f);
	atomic_store_explicit(&z->has_others, true, memory_order_relaxed);
	return f;
}

static void zone_clear(struct localzone *zone)
{
	tagset_clear(&zone->tags);
	netset_free(zone->overrides);
	mem_free(zone);
}

static void free_zone(struct rcu_slot *retired)
{
	zone_clear(container_of(retired, struct localzone, retired));
}

static void free_zone_value(void *value)
{
	zone_clear(value);
}

static void family_clear(struct family *f)
{
	nametable_free(f->nodes, localnodes_free);
	nametable_free(f->zones, free_zone_value);
	nameset_free(f->packed);
}

struct localzones *localzones_pin(struct localzones *z)
{
	atomic_fetch_add_explicit(&z->own->holders, 1, memory_order_relaxed);
	return z;
}

void localzones_unpin(struct localzones *z)
{
	struct family *f, *next;

	if (!z || atomic_fetch_sub_explicit(&z->own->holders, 1, memory_order_acq_rel) != 1)
		return;
	for (f = RCU_READ(z->own->in.next); f; f = next) {
		next = RCU_READ(f->next);
		family_clear(f);
		mem_free(f);
	}
	family_clear(&z->own->in);
	mem_free(z->own);
	mem_free(z);
}

/* ---- lookup ---- */

void tops_mark(struct localzones *z, const uint8_t *name)
{
	uint32_t n;

	if (dname_is_root(name)) {
		atomic_store_explicit(&z->tops.all, true, memory_order_relaxed);
		return;
	}
	while (*dname_parent(name))
		name = dname_parent(name);
	n = localzone_top(name);
	atomic_fetch_or_explicit(&z->tops.bits[n / 64], UINT64_C(1) << n % 64,
				 memory_order_relaxed);
}

/* A zone that leaves everything but its records to resolution needs no mark: its records have
 * theirs. */
void zone_mark(struct localzones *z, const struct family *f, const uint8_t *name,
	       enum zone_type type)
{
	const struct zone_traits *t = &zone_traits[type];

	if (f->class_ == CLASS_IN &&
	    (z->own->logs_all || t->logged || (t->rest != REST_ASK && t->rest != REST_ASK_TYPES)))
		tops_mark(z, name);
}

static bool is_visible(const struct localzone *zone, const struct tagset *tags)
{
	return !tags || tagset_is_empty(&zone->tags) || tagset_common(&zone->tags, tags) >= 0;
}

static bool find_in(const struct family *f, uint64_t seed, const uint8_t *name,
		    const struct tagset *tags, struct localzone_match *m)
{
	unsigned deepest = nametable_deepest(f->zones);
	struct suffixes s;

	if (f->packed)
		deepest = MAX(deepest, nameset_deepest(f->packed));
	suffixes_find(&s, name, seed, deepest);
	for (unsigned i = s.hashed + 1; i-- > 0;) {
		const struct localzone *zone = nametable_at(f->zones, &s, i);
		int type = -1;

		if (zone) {
			type = atomic_load_explicit(&zone->type, memory_order_relaxed);
			if (type == ZONE_nodefault || !is_visible(zone, tags))
				continue;
		} else if (f->packed) {
			type = nameset_at(f->packed, &s, i);
		}
		if (type >= 0) {
			*m = (struct localzone_match){ zone, suffix_name(&s, i),
						       (enum zone_type)type };
			return true;
		}
	}
	return false;
}

bool localzones_find(const struct localzones *z, const struct question *q,
		     const struct tagset *tags, struct localzone_match *m)
{
	const struct family *f = family_find(z, q->class_);

	return f && find_in(f, z->own->seed, name_in_zone(q->name, q->type), tags, m);
}

const struct localnode *localzones_node(const struct localzones *z, const struct localzone_match *m,
					const uint8_t *name, uint16_t class_)
{
	const struct family *f = family_find(z, class_);

	return f && m->zone ? localnode_at(f, m->zone, name) : NULL;
}

/* RFC 2308 3 */
const struct rrset *localzones_soa(const struct localzones *z, const struct localzone_match *m,
				   uint16_t class_, struct arena *a)
{
	const struct localnode *n = localzones_node(z, m, m->name, class_);
	const struct rrset *soa = n ? localnode_set(n, TYPE_SOA) : NULL;
	struct rrset *copy;
	struct slice rd;

	if (!soa)
		return NULL;
	copy = rrset_copy(a, soa);
	rd = rrset_record(soa, 0);
	copy->ttl_s = copy->expires_s = MIN(soa->ttl_s, get_u32(rd.at + rd.len - 4));
	return copy;
}

bool localzone_override(const struct localzone *zone, const struct addr *client,
			enum zone_type *type)
{
	const struct zone_traits *t =
		zone && zone->overrides ? netset_find(zone->overrides, client) : NULL;

	if (t)
		*type = (enum zone_type)(t - zone_traits);
	return t;
}

const struct tagset *localzone_tags(const struct localzone *zone)
{
	static const struct tagset none;

	return zone ? &zone->tags : &none;
}

/* ---- changes ---- */

bool zone_exists(const struct family *f, const uint8_t *name)
{
	const struct localzone *zone = nametable_find(f->zones, name);

	if (zone)
		return atomic_load_explicit(&zone->type, memory_order_relaxed) != ZONE_nodefault;
	return f->packed && nameset_find(f->packed, name) >= 0;
}

struct localzone *zone_add(struct localzones *z, struct family *f, const uint8_t *name,
			   enum zone_type type)
{
	struct localzone *zone = mem_zero(sizeof(*zone));

	atomic_init(&zone->type, (uint8_t)type);
	list_init(&zone->nodes);
	PROMISE(nametable_put(f->zones, name, zone) == NULL);
	zone_mark(z, f, name, type);
	return zone;
}

struct localzone *zone_unpacked(struct localzones *z, struct family *f, const uint8_t *name)
{
	struct localzone *zone = nametable_find(f->zones, name);
	int type;

	if (zone)
		return zone;
	type = f->packed ? nameset_find(f->packed, name) : -1;
	return type < 0 ? NULL : zone_add(z, f, name, (enum zone_type)type);
}

void localzones_put(struct localzones *z, const uint8_t *name, uint16_t class_, enum zone_type type)
{
	struct family *f = family_get(z, class_);
	struct localzone *zone = nametable_find(f->zones, name);

	z->own->zone_count += !zone_exists(f, name);
	if (zone)
		atomic_store_explicit(&zone->type, (uint8_t)type, memory_order_relaxed);
	else
		zone_add(z, f, name, type);
	zone_mark(z, f, name, type);
}

void localzones_remove(struct localzones *z, const uint8_t *name, uint16_t class_)
{
	struct family *f = family_get(z, class_);
	struct localzone *zone = nametable_find(f->zones, name);

	z->own->zone_count -= zone_exists(f, name);
	if (zone) {
		LIST_EACH_SAFE (at, &zone->nodes)
			localnode_drop(z, f, LIST_ITEM(at, struct localnode, in_zone));
		nametable_remove(f->zones, name);
		if (z->own->published)
			rcu_retire(&zone->retired, free_zone);
		else
			zone_clear(zone);
	}
	if (f->packed && nameset_find(f->packed, name) >= 0)
		zone_add(z, f, name, ZONE_nodefault);
}

unsigned localzones_records_at(const struct localzones *z, const uint8_t *name, uint16_t class_)
{
	const struct family *f = family_find(z, class_);
	const struct localnode *n = f ? nametable_find(f->nodes, name) : NULL;
	unsigned count = 0;

	for (; n; n = RCU_READ(n->under)) {
		const struct rrset *s = localnode_first(n);

		for (unsigned i = 0; i < n->count; i++, s = localnode_next(s))
			count += s->count;
	}
	return count;
}

/* ---- listing ---- */

struct listing {
	const struct family *family;
	bool (*zone)(const uint8_t *name, enum zone_type type, void *arg);
	bool (*set)(const struct rrset *set, void *arg);
	bool (*rest)(void *arg); /* NULL: in one go */
	void *arg;
	const struct nametable *table;
	unsigned since_rest;
	bool on;
};

static bool list_zone(const uint8_t *name, void *value, void *arg)
{
	const struct localzone *zone = value;
	struct listing *l = arg;
	uint8_t type = atomic_load_explicit(&zone->type, memory_order_relaxed);

	if (type != ZONE_nodefault)
		l->on = l->zone(name, (enum zone_type)type, l->arg);
	return l->on;
}

static bool list_packed(const uint8_t *name, uint8_t type, void *arg)
{
	struct listing *l = arg;

	if (!nametable_find(l->family->zones, name))
		l->on = l->zone(name, (enum zone_type)type, l->arg);
	return l->on;
}

void localzones_each(const struct localzones *z,
		     bool (*fn)(const uint8_t *name, enum zone_type type, void *arg), void *arg)
{
	struct listing l = { .zone = fn, .arg = arg, .on = true };

	for (l.family = &z->own->in; l.family && l.on; l.family = RCU_READ(l.family->next)) {
		nametable_each(l.family->zones, list_zone, &l);
		if (l.on && l.family->packed)
			nameset_each(l.family->packed, list_packed, &l);
	}
}

static bool list_node(const uint8_t *name, void *value, void *arg)
{
	struct listing *l = arg;

	(void)name;
	for (const struct localnode *n = value; n; n = RCU_READ(n->under)) {
		const struct rrset *s = localnode_first(n);

		for (unsigned i = 0; i < n->count && l->on; i++, s = localnode_next(s))
			l->on = l->set(s, l->arg);
	}
	return l->on;
}

void localzones_each_set(const struct localzones *z, bool (*fn)(const struct rrset *set, void *arg),
			 void *arg)
{
	struct listing l = { .set = fn, .arg = arg, .on = true };

	for (l.family = &z->own->in; l.family && l.on; l.family = RCU_READ(l.family->next))
		nametable_each(l.family->nodes, list_node, &l);
}

/* Names at once, which are copied; and between two rests. */
enum { PAGE = 8192, STRIDE = 64 };

static void one_turn(struct listing *l, const uint8_t *name,
		     bool (*fn)(const uint8_t *name, void *value, void *arg))
{
	void *value;

	rcu_turn_begin();
	value = nametable_find(l->table, name);
	if (value && l->on)
		(void)fn(name, value, l);
	rcu_turn_end();
	if (++l->since_rest % STRIDE == 0)
		l->on = l->on && l->rest(l->arg);
}

static void list_table(struct listing *l, const struct nametable *t,
		       bool (*fn)(const uint8_t *name, void *value, void *arg))
{
	uint8_t **names = mem_array(PAGE, sizeof(*names)), *last = NULL;
	size_t count;

	l->table = t;
	do {
		rcu_turn_begin();
		count = nametable_after(t, last, names, PAGE);
		rcu_turn_end();
		mem_free(last);
		last = NULL;
		for (size_t i = 0; i < count; i++) {
			one_turn(l, names[i], fn);
			mem_free(last);
			last = names[i];
		}
	} while (count == PAGE && l->on);
	mem_free(last);
	mem_free(names);
}

/* What is packed never changes. */
static bool list_packed_in_turns(const uint8_t *name, uint8_t type, void *arg)
{
	struct listing *l = arg;

	rcu_turn_begin();
	(void)list_packed(name, type, l);
	rcu_turn_end();
	if (++l->since_rest % STRIDE == 0)
		l->on = l->on && l->rest(l->arg);
	return l->on;
}

void localzones_list(const struct localzones *z,
		     bool (*fn)(const uint8_t *name, enum zone_type type, void *arg),
		     bool (*rest)(void *arg), void *arg)
{
	struct listing l = { .zone = fn, .rest = rest, .arg = arg, .on = true };

	for (l.family = &z->own->in; l.family && l.on; l.family = RCU_READ(l.family->next)) {
		list_table(&l, l.family->zones, list_zone);
		if (l.on && l.family->packed)
			nameset_each(l.family->packed, list_packed_in_turns, &l);
	}
}

void localzones_list_sets(const struct localzones *z, bool (*fn)(const struct rrset *set, void *arg),
			  bool (*rest)(void *arg), void *arg)
{
	struct listing l = { .set = fn, .rest = rest, .arg = arg, .on = true };

	for (l.family = &z->own->in; l.family && l.on; l.family = RCU_READ(l.family->next))
		list_table(&l, l.family->nodes, list_node);
}

size_t localzones_count(const struct localzones *z)
{
	return z->own->zone_count;
}
