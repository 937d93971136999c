/* Trust anchors: those configured, those built in, and those that roll (RFC 5011).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "validator/anchors.h"

#include <stdlib.h>
#include <string.h>

#include "util/base/arena.h"
#include "util/base/fault.h"
#include "util/base/log.h"
#include "util/base/mem.h"
#include "util/dns/dname.h"
#include "util/dns/rr.h"
#include "util/dns/text.h"
#include "util/names/trie.h"
#include "validator/autotrust.h"
#include "validator/verify.h"

/* IANA's root zone trust anchors (RFC 9718): the keys of 2017 and 2024. From October 2026 only the
 * latter signs. */
static const char *const built_in[] = {
	". IN DS 20326 8 2 E06D44B80B8F1D39A95C0B0D7C65D08458E880409BBC683457104237C7F8EC8D",
	". IN DS 38696 8 2 683D2D0ACB8C9B712A1948B27F741219298D0A450D612C483AF444A4C0FB2B16",
};

size_t anchors_built_in(const char *const **lines)
{
	*lines = built_in;
	return COUNT(built_in);
}

/* One name: its configured anchor, and the published one, which includes that. */
struct place {
	const struct anchor *fixed;               /* or NULL */
	_Atomic(const struct anchor *) published; /* or NULL: the point is deleted */
};

struct anchors {
	struct trie *places;
	struct autotrust **points;
	size_t point_count;
};

/* ---- one anchor ---- */

/* The union of both sets (either may be NULL), in the arena; NULL when there are no records. */
static struct rrset *merge(struct arena *arena, const uint8_t *owner, uint16_t type,
			   const struct rrset *a, const struct rrset *b)
{
	size_t room = (a ? a->count : 0u) + (b ? b->count : 0u);
	struct rrset_parts parts = { .owner = owner, .type = type, .class_ = CLASS_IN };
	struct slice *records;

	if (room == 0)
		return NULL;
	records = arena_array(arena, struct slice, room);
	for (unsigned pass = 0; pass < 2; pass++) {
		const struct rrset *set = pass ? b : a;
		struct rrset_walk w = rrset_records_if(set);

		for (struct slice rd; rrset_next(&w, &rd);) {
			bool twice = false;

			for (size_t j = 0; j < parts.count && !twice; j++)
				twice = records[j].len == rd.len &&
					memcmp(records[j].at, rd.at, rd.len) == 0;
			if (!twice)
				records[parts.count++] = rd;
		}
		if (set)
			parts.ttl_s = set->ttl_s;
	}
	parts.records = records;
	return rrset_build(arena, &parts);
}

static size_t aligned(size_t len)
{
	return (len + 15) & ~(size_t)15;
}

/* All that is known for the name, in one heap block with one pin. `base` and the sets may be NULL;
 * NULL if there are no records. */
static const struct anchor *anchor_build(const uint8_t *owner, const struct anchor *base,
					 const struct rrset *ds, const struct rrset *keys,
					 bool rolls)
{
	const struct rrset *both[2];
	struct anchor *anchor;
	struct arena arena;
	uint8_t *at;

	arena_init(&arena);
	both[0] = merge(&arena, owner, TYPE_DS, base ? base->ds : NULL, ds);
	both[1] = merge(&arena, owner, TYPE_DNSKEY, base ? base->keys : NULL, keys);
	if (!both[0] && !both[1]) {
		arena_clear(&arena);
		return NULL;
	}
	anchor = mem_zero(aligned(sizeof(*anchor)) + (both[0] ? aligned(both[0]->size) : 0) +
			  (both[1] ? both[1]->size : 0));
	atomic_init(&anchor->pins, 1);
	anchor->rolls = rolls || (base && base->rolls);
	dname_copy_lower(anchor->owner, owner);
	at = (uint8_t *)anchor + aligned(sizeof(*anchor));
	if (both[0]) {
		anchor->ds = memcpy(at, both[0], both[0]->size);
		at += aligned(both[0]->size);
	}
	if (both[1])
		anchor->keys = memcpy(at, both[1], both[1]->size);
	arena_clear(&arena);
	return anchor;
}

const struct anchor *anchor_pin(const struct anchor *a)
{
	atomic_fetch_add_explicit(&((struct anchor *)a)->pins, 1, memory_order_relaxed);
	return a;
}

void anchor_unpin(const struct anchor *a)
{
	if (a &&
	    atomic_fetch_sub_explicit(&((struct anchor *)a)->pins, 1, memory_order_acq_rel) == 1)
		mem_free((void *)a);
}

static void unpin_retired(struct rcu_slot *retired)
{
	anchor_unpin(container_of(retired, struct anchor, retired));
}

static int compare_tags(const void *a, const void *b)
{
	uint16_t x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return x - y;
}

size_t anchor_tags(const struct anchor *a, uint16_t *tags, size_t room)
{
	struct rrset_walk w = rrset_records_if(a->ds);
	size_t count = 0, kept = 0;
	struct slice rd;
	struct ds ds;

	while (count < room && rrset_next(&w, &rd))
		if (ds_read(rd, &ds))
			tags[count++] = ds.tag;
	for (w = rrset_records_if(a->keys); count < room && rrset_next(&w, &rd);)
		tags[count++] = rr_key_tag(rd);
	if (count > 1)
		qsort(tags, count, sizeof(*tags), compare_tags);
	for (size_t i = 0; i < count; i++)
		if (i == 0 || tags[i] != tags[kept - 1])
			tags[kept++] = tags[i];
	return kept;
}

/* ---- the store ---- */

struct anchors *anchors_empty(void)
{
	struct anchors *a = mem_zero(sizeof(*a));

	a->places = trie_new();
	return a;
}

static void free_place(void *value)
{
	struct place *p = value;

	anchor_unpin(atomic_load(&p->published));
	anchor_unpin(p->fixed);
	mem_free(p);
}

void anchors_free(struct anchors *a)
{
	if (!a)
		return;
	trie_free(a->places, free_place);
	for (size_t i = 0; i < a->point_count; i++)
		autotrust_free(a->points[i]);
	mem_free(a->points);
	mem_free(a);
}

static struct place *place_get(struct anchors *a, const uint8_t *owner)
{
	struct place *p = trie_find(a->places, owner);

	if (!p) {
		p = mem_zero(sizeof(*p));
		(void)trie_put(a->places, owner, p);
	}
	return p;
}

/* Takes over the anchor's pin. Once others read the store, the old anchor may still be seen and its
 * pin is released after a grace period. */
static void publish(struct place *p, const struct anchor *anchor, bool others_read)
{
	const struct anchor *old =
		atomic_exchange_explicit(&p->published, anchor, memory_order_acq_rel);

	if (old && others_read)
		rcu_retire(&((struct anchor *)old)->retired, unpin_retired);
	else
		anchor_unpin(old);
}

static void publish_point(struct anchors *a, const struct autotrust *point, bool others_read)
{
	struct place *p = place_get(a, point->owner);
	struct rrset *ds = autotrust_ds(point), *keys = autotrust_keys(point);

	publish(p, anchor_build(point->owner, p->fixed, ds, keys, ds || keys), others_read);
	mem_free(ds);
	mem_free(keys);
}

void anchors_republish(struct anchors *a, const struct autotrust *point)
{
	publish_point(a, point, true);
}

size_t anchors_rolling_count(const struct anchors *a)
{
	return a->point_count;
}

struct autotrust *anchors_rolling(const struct anchors *a, size_t i)
{
	return a->points[i];
}

int64_t anchors_newest_time(const struct anchors *a)
{
	int64_t newest = 0;

	for (size_t i = 0; i < a->point_count; i++)
		newest = MAX(newest, autotrust_newest_time(a->points[i]));
	return newest;
}

struct counting {
	size_t count;
	bool (*each)(const struct anchor *anchor, void *arg);
	void *arg;
};

static bool visit(const uint8_t *name, void *value, void *arg)
{
	const struct anchor *anchor = RCU_READ(((struct place *)value)->published);
	struct counting *c = arg;

	(void)name;
	if (!anchor)
		return true;
	c->count++;
	return !c->each || c->each(anchor, c->arg);
}

size_t anchors_count(const struct anchors *a)
{
	struct counting c = { .each = NULL };

	trie_each(a->places, visit, &c);
	return c.count;
}

void anchors_each(const struct anchors *a, bool (*each)(const struct anchor *anchor, void *arg),
		  void *arg)
{
	struct counting c = { .each = each, .arg = arg };

	trie_each(a->places, visit, &c);
}

/* ---- finding ---- */

const struct anchor *anchors_find_at(const struct anchors *a, const uint8_t *name)
{
	struct place *p = trie_find(a->places, name);

	return p ? RCU_READ(p->published) : NULL;
}

static bool same_records(const struct rrset *a, const struct rrset *b)
{
	return a && b ? rrset_same_records(a, b) : a == b;
}

struct comparison {
	const struct anchors *with;
	void (*differs)(const uint8_t *owner, void *arg);
	void *arg;
};

static bool share_a_tag(const struct anchor *a, const struct anchor *b)
{
	uint16_t one[32], other[32];
	size_t count = anchor_tags(a, one, COUNT(one)), others = anchor_tags(b, other, COUNT(other));

	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < others; j++)
			if (one[i] == other[j])
				return true;
	return false;
}

/* One that rolls need not be further in one set than in the other. */
static bool compare(const struct anchor *anchor, void *comparison)
{
	const struct comparison *c = comparison;
	const struct anchor *other = anchors_find_at(c->with, anchor->owner);
	bool same;

	if (other && anchor->rolls && other->rolls)
		same = share_a_tag(anchor, other);
	else
		same = other && same_records(anchor->ds, other->ds) && same_records(anchor->keys, other->keys);
	if (!same)
		c->differs(anchor->owner, c->arg);
	return true;
}

void anchors_each_difference(const struct anchors *a, const struct anchors *b,
			     void (*differs)(const uint8_t *owner, void *arg), void *arg)
{
	struct comparison c = { .with = b, .differs = differs, .arg = arg };

	anchors_each(a, compare, &c);
	c.with = a;
	anchors_each(b, compare, &c);
}

static void note_difference(const uint8_t *owner, void *differ)
{
	(void)owner;
	*(bool *)differ = true;
}

bool anchors_are_same(const struct anchors *a, const struct anchors *b)
{
	bool differ = false;

	anchors_each_difference(a, b, note_difference, &differ);
	return !differ;
}

/* Whether the set has a name at or above `name` and below `top`. */
static bool stands_between(const struct trie *set, const uint8_t *name, const uint8_t *top)
{
	unsigned labels = dname_labels(name), least = dname_labels(top);

	if (!set || !trie_find_closest(set, name))
		return false;
	for (; labels > least; name = dname_parent(name), labels--)
		if (trie_find(set, name))
			return true;
	return false;
}

const struct anchor *anchors_find(const struct anchors *a, const struct trie *insecure,
				  const uint8_t *name, bool above)
{
	const struct anchor *anchor = NULL;
	const uint8_t *from;
	struct place *p;

	if (above && dname_is_root(name))
		return NULL;
	if (above)
		name = dname_parent(name);
	p = trie_find_closest(a->places, name);
	if (p)
		anchor = RCU_READ(p->published);
	/* A deleted point does not hide those above it; this is rare. */
	for (from = name; p && !anchor && !dname_is_root(from);) {
		from = dname_parent(from);
		anchor = anchors_find_at(a, from);
	}
	if (!anchor || stands_between(insecure, name, anchor->owner))
		return NULL;
	return anchor;
}

/* ---- records ---- */

static bool is_anchor(uint16_t type, struct slice rdata)
{
	struct dnskey key;
	struct ds ds;

	if (type == TYPE_DS)
		return ds_read(rdata, &ds) && ds.digest.len > 0;
	return type == TYPE_DNSKEY && dnskey_read(rdata, &key) && key.public_key.len > 0;
}

static bool add_record(struct anchors *a, const struct text_rr *rr)
{
	struct rrset_parts parts = { .owner = rr->owner,
				     .type = rr->type,
				     .class_ = CLASS_IN,
				     .ttl_s = rr->ttl_s,
				     .records = &rr->rdata,
				     .count = 1 };
	const struct anchor *fixed, *now;
	const struct rrset *set;
	struct arena arena;
	struct place *p;

	if (rr->class_ != CLASS_IN || !is_anchor(rr->type, rr->rdata))
		return false;
	arena_init(&arena);
	set = rrset_build(&arena, &parts);
	p = place_get(a, rr->owner);
	now = atomic_load(&p->published);
	fixed = anchor_build(rr->owner, p->fixed, rr->type == TYPE_DS ? set : NULL,
			     rr->type == TYPE_DNSKEY ? set : NULL, false);
	anchor_unpin(p->fixed);
	p->fixed = fixed;
	publish(p,
		now && now->rolls ? anchor_build(rr->owner, fixed, now->ds, now->keys, true)
				  : anchor_pin(fixed),
		false);
	arena_clear(&arena);
	return true;
}

bool anchors_add_text(struct anchors *a, const char *record, struct fault *f)
{
	struct text_rr rr;
	struct arena arena;
	bool good;

	arena_init(&arena);
	good = text_rr_parse(&arena, record, NULL, &rr, f);
	if (good && !add_record(a, &rr)) {
		fault_set(f, "'%s' is not a DS or DNSKEY record of class IN", record);
		good = false;
	}
	arena_clear(&arena);
	return good;
}

/* ---- files ---- */

struct filing {
	struct anchors *a;
	size_t taken;
	bool broken;
};

static bool file_record(const struct text_rr *rr, void *arg)
{
	struct filing *g = arg;

	if (rr->type != TYPE_DS && rr->type != TYPE_DNSKEY)
		return true;
	if (add_record(g->a, rr))
		g->taken++;
	else
		g->broken = true;
	return !g->broken;
}

bool anchors_add_file(struct anchors *a, const char *path, struct fault *f)
{
	struct filing g = { .a = a };
	struct text_zone zone;

	text_zone_init(&zone);
	if (!text_zone_read(path, &zone, file_record, &g, f))
		return false;
	if (g.broken || g.taken == 0)
		fault_set(f, "%s: %s", path,
			  g.broken ? "a DS or DNSKEY record is truncated, or not of class IN"
				   : "holds no DS or DNSKEY record");
	return !g.broken && g.taken > 0;
}

bool anchors_add_point(struct anchors *a, struct autotrust *point)
{
	for (size_t i = 0; i < a->point_count; i++)
		if (dname_equals(a->points[i]->owner, point->owner))
			return false;
	a->points = mem_grow(a->points, (a->point_count + 1) * sizeof(struct autotrust *));
	a->points[a->point_count++] = point;
	publish_point(a, point, false);
	return true;
}

bool anchors_add_rolling(struct anchors *a, const char *path, struct fault *f)
{
	struct autotrust *point = autotrust_read(path, f);
	char name[DNAME_TEXT];

	if (!point)
		return false;
	if (anchors_add_point(a, point))
		return true;
	fault_set(f, "%s: another file holds the anchor of %s already", path, dname_print(point->owner, name));
	autotrust_free(point);
	return false;
}

/* ---- what is not supported ---- */

static bool has_supported_key(const struct rrset *keys, const struct rules *rules)
{
	struct rrset_walk w = rrset_records_if(keys);
	struct dnskey key;

	for (struct slice rd; rrset_next(&w, &rd);)
		if (dnskey_read(rd, &key) && octets_hold(&rules->algorithms, key.algorithm))
			return true;
	return false;
}

/* `arg`: the rules, unchanged. */
static bool drop_unsupported(const uint8_t *name, void *value, void *arg)
{
	struct place *p = value;
	const struct anchor *a = atomic_load(&p->published);
	const struct rules *rules = arg;
	char text[DNAME_TEXT];

	if (!a || a->rolls || (a->ds && ds_is_believed(a->ds, rules)) || has_supported_key(a->keys, rules))
		return true;
	log_warn("the trust anchor of %s is ignored: none of its records has a supported algorithm and digest type",
		 dname_print(name, text));
	anchor_unpin(p->fixed);
	p->fixed = NULL;
	publish(p, NULL, false);
	return true;
}

void anchors_drop_unsupported(struct anchors *a, const struct rules *rules)
{
	trie_each(a->places, drop_unsupported, (void *)(uintptr_t)rules);
}
