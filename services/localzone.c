/* Configured local zones and records: lookup, and changes at run time.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * What readers see of a zone or node is immutable, except for the type of a zone: a changed node is
 * replaced by a new one, and the old one is retired. */
#include "services/localzone.h"

#include <string.h>

#include "services/localzone_private.h"
#include "util/addr.h"
#include "util/arena.h"
#include "util/fault.h"
#include "util/log.h"
#include "util/mem.h"
#include "util/rr.h"
#include "util/text.h"

const struct zone_traits zone_traits[ZONE_TYPES] = {
#define ZONE_TYPE(word_, records_, rest_, logged_) \
	[ZONE_##word_] = { #word_, RECORDS_##records_, REST_##rest_, logged_ },
#include "services/zonetype.def"
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

/* ---- nodes ---- */

struct localnode {
	struct rcu_slot retired;
	struct list in_zone;          /* writer only */
	const struct localzone *zone; /* its zone */
	_Atomic(struct localnode *) under; /* at the same name, of a zone further up; or NULL */
	uint32_t children;            /* writer only: nodes directly below it in the same zone */
	uint16_t count;               /* number of RRsets */
	uint32_t data[];              /* the RRsets, one after another; if none, the name */
};

static size_t set_room(const struct rrset *s)
{
	return (s->size + 3u) & ~(size_t)3;
}

static const struct rrset *first_set(const struct localnode *n)
{
	return (const struct rrset *)(const void *)n->data;
}

static const struct rrset *next_set(const struct rrset *s)
{
	return (const struct rrset *)(const void *)((const uint8_t *)s + set_room(s));
}

static const uint8_t *node_name(const struct localnode *n)
{
	return n->count ? rrset_owner(first_set(n)) : (const uint8_t *)n->data;
}

const struct rrset *localnode_set(const struct localnode *n, uint16_t type)
{
	const struct rrset *s = first_set(n);

	for (unsigned i = 0; i < n->count; i++, s = next_set(s)) {
		if (s->type == type)
			return s;
	}
	return NULL;
}

unsigned localnode_count(const struct localnode *n)
{
	return n ? n->count : 0;
}

/* A copy of `n` without its RRset of `type`, and with `with` appended unless that is NULL. */
static struct localnode *node_make(const struct localzone *zone, const uint8_t *name,
				   const struct localnode *n, uint16_t type,
				   const struct rrset *with)
{
	size_t room = with ? set_room(with) : 0, name_len = dname_len(name);
	const struct rrset *s = n ? first_set(n) : NULL;
	struct localnode *new;
	uint8_t *at;

	for (unsigned i = 0; i < localnode_count(n); i++, s = next_set(s))
		room += s->type == type ? 0 : set_room(s);
	new = mem_zero(sizeof(*new) + MAX(room, name_len));
	new->zone = zone;
	new->children = n ? n->children : 0;
	at = (uint8_t *)new->data;
	s = n ? first_set(n) : NULL;
	for (unsigned i = 0; i < localnode_count(n); i++, s = next_set(s)) {
		if (s->type == type)
			continue;
		memcpy(at, s, s->size);
		at += set_room(s);
		new->count++;
	}
	if (with) {
		memcpy(at, with, with->size);
		new->count++;
	}
	if (new->count == 0)
		dname_copy_lower((uint8_t *)new->data, name);
	return new;
}

static void free_node(struct rcu_slot *retired)
{
	mem_free(container_of(retired, struct localnode, retired));
}

/* The nodes that other zones have at its name stay. */
static void node_drop(const struct localzones *z, struct family *f, struct localnode *n)
{
	struct localnode *top = nametable_find(f->nodes, node_name(n)), *under = RCU_READ(n->under);

	if (top == n && under) {
		nametable_put(f->nodes, node_name(n), under);
	} else if (top == n) {
		nametable_remove(f->nodes, node_name(n));
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

static struct localnode *node_at(const struct family *f, const struct localzone *zone,
				 const uint8_t *name)
{
	struct localnode *n = nametable_find(f->nodes, name);

	while (n && n->zone != zone)
		n = RCU_READ(n->under);
	return n;
}

/* Replaces the node that its zone has at its name. */
static void node_put(const struct localzones *z, struct family *f, struct localzone *zone,
		     struct localnode *n)
{
	struct localnode *old = node_at(f, zone, node_name(n));

	atomic_init(&n->under, nametable_find(f->nodes, node_name(n)));
	list_push_back(&zone->nodes, &n->in_zone);
	nametable_put(f->nodes, node_name(n), n);
	if (old)
		node_drop(z, f, old);
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

static void free_nodes(void *top)
{
	for (struct localnode *n = top, *under; n; n = under) {
		under = RCU_READ(n->under);
		mem_free(n);
	}
}

static void family_clear(struct family *f)
{
	nametable_free(f->nodes, free_nodes);
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
	const uint8_t *name = q->type == TYPE_DS ? dname_parent(q->name) : q->name;

	return f && find_in(f, z->own->seed, name, tags, m);
}

const struct localnode *localzones_node(const struct localzones *z, const struct localzone_match *m,
					const uint8_t *name, uint16_t class_)
{
	const struct family *f = family_find(z, class_);

	return f && m->zone ? node_at(f, m->zone, name) : NULL;
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
			node_drop(z, f, LIST_ITEM(at, struct localnode, in_zone));
		nametable_remove(f->zones, name);
		if (z->own->published)
			rcu_retire(&zone->retired, free_zone);
		else
			zone_clear(zone);
	}
	if (f->packed && nameset_find(f->packed, name) >= 0)
		zone_add(z, f, name, ZONE_nodefault);
}

/* The RRset with `rr` added; `old` itself if it already has that record. */
static const struct rrset *set_with(struct arena *a, const struct rrset *old,
				    const struct text_rr *rr)
{
	struct rrset_parts p = { .owner = rr->owner,
				 .type = rr->type,
				 .class_ = rr->class_,
				 .ttl_s = rr->ttl_s,
				 .trust = TRUST_ULTIMATE,
				 .security = SECURITY_INSECURE };
	struct slice *records = arena_array(a, struct slice, (old ? old->count : 0u) + 1);

	for (unsigned i = 0; old && i < old->count; i++) {
		struct slice rd = records[p.count++] = rrset_record(old, i);

		if (rd.len == rr->rdata.len && memcmp(rd.at, rr->rdata.at, rd.len) == 0)
			return old;
	}
	if (old)
		p.ttl_s = MIN(p.ttl_s, old->ttl_s);
	records[p.count++] = rr->rdata;
	p.records = records;
	p.expires_s = p.ttl_s;
	return rrset_build(a, &p);
}

/* Ensure that the nodes between `name` and the zone apex exist: empty non-terminals exist. */
static void climb(const struct localzones *z, struct family *f, struct localzone *zone,
		  const uint8_t *name, unsigned zone_labels)
{
	unsigned labels = dname_labels(name);

	while (labels-- > zone_labels) {
		struct localnode *n;

		name = dname_parent(name);
		n = node_at(f, zone, name);
		if (n) {
			n->children++;
			return;
		}
		n = node_make(zone, name, NULL, 0, NULL);
		n->children = 1;
		node_put(z, f, zone, n);
	}
}

/* A redirect zone has one set of records for all its names. */
static bool suits_redirect(const struct localnode *n, const struct text_rr *rr,
			   const struct localzone_match *m, const char *line, struct fault *f)
{
	if (zone_traits[m->type].records != RECORDS_ALL)
		return true;
	if (!dname_equals(rr->owner, m->name)) {
		fault_set(f,
			  "the records of a redirect zone stand at its own name, not below it: %s",
			  line);
		return false;
	}
	if (n && n->count && (rr->type == TYPE_CNAME) != (localnode_set(n, TYPE_CNAME) != NULL)) {
		fault_set(f, "an alias of a redirect zone has no other records beside it: %s",
			  line);
		return false;
	}
	return true;
}

static bool is_second_alias(const struct rrset *old, const struct text_rr *rr)
{
	struct slice rd;

	if (!old || !(rr_flags(rr->type) & RR_SINGLE))
		return false;
	rd = rrset_record(old, 0);
	return rd.len != rr->rdata.len || memcmp(rd.at, rr->rdata.at, rd.len) != 0;
}

enum put_end record_put(struct localzones *z, const struct text_rr *rr, const char *line,
			struct fault *f)
{
	struct question q = { .name = rr->owner, .type = rr->type, .class_ = rr->class_ };
	struct family *family = family_get(z, rr->class_);
	struct localzone_match m;
	struct localzone *zone;
	struct localnode *n;
	const struct rrset *old, *new;
	struct arena a;

	if (!localzones_find(z, &q, NULL, &m))
		return PUT_UNCOVERED;
	zone = zone_unpacked(z, family, m.name);
	n = node_at(family, zone, rr->owner);
	old = n ? localnode_set(n, rr->type) : NULL;
	if (!suits_redirect(n, rr, &m, line, f))
		return PUT_WRONG;
	if (is_second_alias(old, rr)) {
		if (zone_traits[m.type].records == RECORDS_ALL) {
			fault_set(f, "there can be only one such record at a name: %s", line);
			return PUT_WRONG;
		}
		log_warn("local-data: there can be only one such record at a name, the last holds: %s", line);
		old = NULL;
	}
	arena_init(&a);
	new = set_with(&a, old, rr);
	if (new != old) {
		if (!n)
			climb(z, family, zone, rr->owner, dname_labels(m.name));
		node_put(z, family, zone, node_make(zone, rr->owner, n, rr->type, new));
	}
	arena_clear(&a);
	if (rr->class_ == CLASS_IN)
		tops_mark(z, rr->owner);
	return PUT_DONE;
}

static bool put_covered(struct localzones *z, const struct text_rr *rr, const uint8_t *cover,
			const char *line, struct fault *f)
{
	enum put_end end = record_put(z, rr, line, f);

	if (end == PUT_UNCOVERED) {
		localzones_put(z, cover, rr->class_, ZONE_transparent);
		end = record_put(z, rr, line, f);
	}
	return end == PUT_DONE;
}

bool localzones_put_record(struct localzones *z, const char *line, struct fault *f)
{
	struct text_rr rr;
	struct arena a;
	bool good;

	arena_init(&a);
	good = text_rr_parse(&a, line, NULL, &rr, f) && put_covered(z, &rr, rr.owner, line, f);
	arena_clear(&a);
	return good;
}

bool localzones_put_rr(struct localzones *z, const struct text_rr *rr, const uint8_t *cover,
		       struct fault *f)
{
	char name[DNAME_TEXT];

	return put_covered(z, rr, cover, dname_print(rr->owner, name), f);
}

/* The node has lost its last RRset: if there is no name below it, remove it, and likewise its
 * ancestors. */
static void node_prune(struct localzones *z, struct family *f, const struct localzone *zone,
		       struct localnode *n)
{
	while (n && n->count == 0 && n->children == 0) {
		uint8_t name[DNAME_MAX];

		dname_copy_lower(name, node_name(n));
		node_drop(z, f, n);
		if (dname_is_root(name))
			return;
		n = node_at(f, zone, dname_parent(name));
		if (n)
			n->children--;
	}
}

static void node_cut(struct localzones *z, struct family *f, struct localzone *zone,
		     struct localnode *new)
{
	node_put(z, f, zone, new);
	node_prune(z, f, zone, new);
}

static struct localzone *zone_of(struct localzones *z, struct family *f, const uint8_t *name)
{
	struct localzone_match m;

	return find_in(f, z->own->seed, name, NULL, &m) ? (struct localzone *)(uintptr_t)m.zone
							: NULL;
}

void localzones_remove_name(struct localzones *z, const uint8_t *name, uint16_t class_)
{
	struct family *f = family_get(z, class_);
	struct localzone *zone = zone_of(z, f, name);
	struct localnode *n = zone ? node_at(f, zone, name) : NULL, *bare;

	if (!n || n->count == 0)
		return;
	bare = node_make(zone, name, NULL, 0, NULL);
	bare->children = n->children;
	node_cut(z, f, zone, bare);
}

/* The RRset without one of its records; NULL if none is left. `*had`: the record was present. */
static const struct rrset *set_without(struct arena *a, const struct rrset *old,
				       const struct text_rr *rr, bool *had)
{
	struct rrset_parts p = { .owner = rrset_owner(old),
				 .type = old->type,
				 .class_ = old->class_,
				 .ttl_s = old->ttl_s,
				 .expires_s = old->ttl_s,
				 .trust = TRUST_ULTIMATE,
				 .security = SECURITY_INSECURE };
	struct slice *records = arena_array(a, struct slice, old->count);

	*had = false;
	for (unsigned i = 0; i < old->count; i++) {
		struct slice rd = rrset_record(old, i);

		if (rd.len == rr->rdata.len && memcmp(rd.at, rr->rdata.at, rd.len) == 0)
			*had = true;
		else
			records[p.count++] = rd;
	}
	p.records = records;
	return p.count ? rrset_build(a, &p) : NULL;
}

static bool remove_record(struct localzones *z, struct arena *a, const struct text_rr *rr,
			  const char *line, struct fault *f)
{
	struct family *family = family_get(z, rr->class_);
	struct localzone *zone;
	struct localzone_match m;
	struct localnode *n;
	const struct rrset *old, *new;
	bool had;

	if (!find_in(family, z->own->seed, rr->owner, NULL, &m)) {
		fault_set(f, "no zone for rr %s", line);
		return false;
	}
	zone = (struct localzone *)(uintptr_t)m.zone;
	n = zone ? node_at(family, zone, rr->owner) : NULL;
	if (!n) {
		fault_set(f, "no local data for rr %s", line);
		return false;
	}
	old = localnode_set(n, rr->type);
	if (!old) {
		fault_set(f, "no rrset for rr %s", line);
		return false;
	}
	new = set_without(a, old, rr, &had);
	if (!had) {
		fault_set(f, "rr %s not found in rrset", line);
		return false;
	}
	node_cut(z, family, zone, node_make(zone, rr->owner, n, rr->type, new));
	return true;
}

bool localzones_remove_record(struct localzones *z, const char *line, struct fault *f)
{
	struct text_rr rr;
	struct arena a;
	bool good;

	arena_init(&a);
	good = text_rr_parse(&a, line, NULL, &rr, f) && remove_record(z, &a, &rr, line, f);
	arena_clear(&a);
	return good;
}

bool localzones_remove_rr(struct localzones *z, const struct text_rr *rr, struct fault *f)
{
	char name[DNAME_TEXT];
	struct arena a;
	bool good;

	arena_init(&a);
	good = remove_record(z, &a, rr, dname_print(rr->owner, name), f);
	arena_clear(&a);
	return good;
}

unsigned localzones_records_at(const struct localzones *z, const uint8_t *name, uint16_t class_)
{
	const struct family *f = family_find(z, class_);
	const struct localnode *n = f ? nametable_find(f->nodes, name) : NULL;
	unsigned count = 0;

	for (; n; n = RCU_READ(n->under)) {
		const struct rrset *s = first_set(n);

		for (unsigned i = 0; i < n->count; i++, s = next_set(s))
			count += s->count;
	}
	return count;
}

/* ---- listing ---- */

struct listing {
	const struct family *family;
	bool (*zone)(const uint8_t *name, enum zone_type type, void *arg);
	bool (*set)(const struct rrset *set, void *arg);
	void *arg;
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
		const struct rrset *s = first_set(n);

		for (unsigned i = 0; i < n->count && l->on; i++, s = next_set(s))
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

size_t localzones_count(const struct localzones *z)
{
	return z->own->zone_count;
}
