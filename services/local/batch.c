/* Records added to local zones, many at a time: each RRset is built once, however many it has.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "services/local/private.h"
#include "util/base/arena.h"
#include "util/base/fault.h"
#include "util/base/hash.h"
#include "util/base/log.h"
#include "util/base/mem.h"
#include "util/dns/text.h"

#define SET_BYTES_MAX (1u << 24) /* of data in one RRset, which no message holds */

struct item {
	struct item *next; /* at the same name */
	struct text_rr rr;
	const char *line;
	size_t number;
	size_t place; /* among those at the name */
};

/* An RRset that has changed. */
struct made {
	size_t place; /* of its first record */
	const struct rrset *set;
};

/* The records of one name and class, as they came. */
struct place {
	struct place *next, *other_class;
	struct item *first, **last;
	size_t count;
};

struct record_batch {
	struct arena arena;
	struct nametable *places;
	struct place *first, **last;
	size_t widest;
};

struct record_batch *record_batch_new(void)
{
	struct record_batch *b = mem_zero(sizeof(*b));

	arena_init(&b->arena);
	b->places = nametable_new(hash_bytes("batch", 5));
	b->last = &b->first;
	return b;
}

void record_batch_free(struct record_batch *b)
{
	if (!b)
		return;
	nametable_free(b->places, NULL);
	arena_clear(&b->arena);
	mem_free(b);
}

static struct place *place_of(struct record_batch *b, const struct text_rr *rr)
{
	struct place *first = nametable_find(b->places, rr->owner), *p = first;

	while (p && p->first->rr.class_ != rr->class_)
		p = p->other_class;
	if (p)
		return p;
	p = arena_new(&b->arena, struct place);
	*p = (struct place){ .last = &p->first, .other_class = first };
	*b->last = p;
	b->last = &p->next;
	nametable_put(b->places, rr->owner, p);
	return p;
}

void record_batch_add(struct record_batch *b, const struct text_rr *rr, const char *line,
		      size_t number)
{
	struct place *p = place_of(b, rr);
	struct item *i = arena_new(&b->arena, struct item);

	*i = (struct item){ .rr = *rr, .line = line, .number = number, .place = p->count++ };
	i->rr.owner = p->first ? p->first->rr.owner : NULL;
	if (!i->rr.owner || memcmp(i->rr.owner, rr->owner, dname_len(rr->owner)) != 0)
		i->rr.owner = arena_copy(&b->arena, rr->owner, dname_len(rr->owner));
	i->rr.rdata.at = arena_copy(&b->arena, rr->rdata.at, rr->rdata.len);
	*p->last = i;
	p->last = &i->next;
	b->widest = MAX(b->widest, p->count);
}

static void tell_odd(void *line, const char *why)
{
	log_warn("local-data '%s': %s", (const char *)line, why);
}

bool localzones_read_line(struct arena *a, const char *line, struct text_rr *rr, struct fault *f)
{
	struct text_zone z;

	text_zone_init(&z);
	z.odd = tell_odd;
	z.odd_arg = (void *)(uintptr_t)line;
	return text_rr_parse(a, line, &z, rr, f);
}

bool record_batch_read(struct record_batch *b, const char *line, size_t number, struct fault *f)
{
	struct text_rr rr;
	struct arena a;
	bool good;

	arena_init(&a);
	good = localzones_read_line(&a, line, &rr, f);
	if (good && !rr.left_out)
		record_batch_add(b, &rr, line, number);
	arena_clear(&a);
	return good;
}

const char *record_batch_keep(struct record_batch *b, const char *line)
{
	return arena_copy(&b->arena, line, strlen(line) + 1);
}

/* ---- one RRset ---- */

/* What is put at one name, in one zone. */
struct putting {
	struct localzones *z;
	const struct record_ends *ends;
	struct family *family;
	struct localzone *zone;
	struct localzone_match m;
	const struct localnode *node; /* as it was; or NULL */
	struct arena *arena;
};

static void refuse(const struct putting *p, const struct item *i, const char *why)
{
	char text[sizeof(((struct fault *)0)->text)];

	snprintf(text, sizeof(text), "%s: %s", why, i->line);
	p->ends->wrong(p->ends->arg, i->number, i->line, text);
}

static const struct rrset *build(const struct putting *p, const struct item *i,
				 const struct slice *records, size_t count, uint32_t ttl_s)
{
	return rrset_build(p->arena, &(struct rrset_parts){ .owner = i->rr.owner,
							    .type = i->rr.type,
							    .class_ = i->rr.class_,
							    .ttl_s = ttl_s,
							    .expires_s = ttl_s,
							    .records = records,
							    .count = count,
							    .trust = TRUST_ULTIMATE,
							    .security = SECURITY_INSECURE });
}

static bool same_data(struct slice a, struct slice b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.at, b.at, a.len) == 0);
}

/* Of a type of which a name has one record the last holds; a redirect zone takes no second. */
static const struct rrset *put_single(const struct putting *p, const struct rrset *old,
				      struct item *const *items, size_t count)
{
	const struct item *holds = NULL;
	struct slice rd = old ? rrset_record(old, 0) : (struct slice){ NULL, 0 };

	for (size_t i = 0; i < count; i++) {
		bool second = rd.at && !same_data(rd, items[i]->rr.rdata);

		if (second && zone_traits[p->m.type].records == RECORDS_ALL) {
			refuse(p, items[i], "only one record of this type allowed at a name");
			continue;
		}
		if (second)
			log_warn("local-data: only one record of this type allowed at a name, the last is used: %s",
				 items[i]->line);
		if (second || !rd.at)
			holds = items[i];
		rd = items[i]->rr.rdata;
	}
	return holds ? build(p, holds, &holds->rr.rdata, 1, holds->rr.ttl_s) : old;
}

/* By data; the same data in order of arrival. */
static int by_data(const void *va, const void *vb)
{
	const struct slice *a = *(const struct slice *const *)va;
	const struct slice *b = *(const struct slice *const *)vb;
	int order;

	if (a->len != b->len)
		return a->len < b->len ? -1 : 1;
	order = a->len ? memcmp(a->at, b->at, a->len) : 0;
	return order ? order : (a > b) - (a < b);
}

/* Which of the records have come before. */
static bool *find_repeated(struct arena *a, const struct slice *records, size_t count)
{
	bool *again = arena_zeros(a, count, sizeof(*again));
	const struct slice **order = arena_array(a, const struct slice *, count);

	for (size_t i = 0; i < count; i++)
		order[i] = &records[i];
	qsort(order, count, sizeof(*order), by_data);
	for (size_t i = 1; i < count; i++)
		again[order[i] - records] = same_data(*order[i - 1], *order[i]);
	return again;
}

static void warn_of_width(const struct rrset *old, const struct rrset *new, const struct item *i)
{
	char name[DNAME_TEXT];
	/* each record has a pointer to its owner name, type, class and TTL, in place of its length */
	size_t was = old ? old->size + 10u * old->count : 0, is = new->size + 10u * new->count;

	if (is > MSG_MAX && was <= MSG_MAX)
		log_warn("local-data: RRset of %u records at %s does not fit a DNS message",
			 new->count, dname_print(i->rr.owner, name));
}

/* The RRset with these records; `old` itself if it has them all. */
static const struct rrset *put_records(const struct putting *p, const struct rrset *old,
				       struct item *const *items, size_t count)
{
	size_t had = old ? old->count : 0, kept = 0, bytes = 0;
	struct slice *records = arena_array(p->arena, struct slice, had + count);
	uint32_t ttl_s = old ? old->ttl_s : UINT32_MAX;
	const struct rrset *new;
	bool *again;

	if (old) {
		struct rrset_walk w = rrset_records(old);

		bytes = old->size;
		while (kept < had && rrset_next(&w, &records[kept]))
			kept++;
	}
	for (size_t i = 0; i < count; i++)
		records[had + i] = items[i]->rr.rdata;
	again = find_repeated(p->arena, records, had + count);
	for (size_t i = 0; i < count; i++) {
		const struct text_rr *rr = &items[i]->rr;

		if (again[had + i])
			continue;
		if (kept == UINT16_MAX || bytes + rr->rdata.len > SET_BYTES_MAX) {
			refuse(p, items[i], "there are too many such records at this name");
			continue;
		}
		bytes += rr->rdata.len;
		ttl_s = MIN(ttl_s, rr->ttl_s);
		records[kept++] = rr->rdata;
	}
	if (kept == had)
		return old;
	new = build(p, *items, records, kept, ttl_s);
	warn_of_width(old, new, *items);
	return new;
}

/* ---- one name ---- */

/* Ensure that the nodes between `name` and the zone apex exist: empty non-terminals exist. */
static void put_ancestors(const struct putting *p, const uint8_t *name)
{
	unsigned labels = dname_labels(name), zone_labels = dname_labels(p->m.name);

	while (labels-- > zone_labels) {
		struct localnode *n;

		name = dname_parent(name);
		n = localnode_at(p->family, p->zone, name);
		if (n) {
			n->children++;
			return;
		}
		n = localnode_make(p->zone, name, NULL, 0, NULL);
		n->children = 1;
		localnode_put(p->z, p->family, p->zone, n);
	}
}

/* A redirect zone has one set of records for all its names; leaves out what does not suit it. */
static size_t leave_suitable(const struct putting *p, struct item **items, size_t count)
{
	bool any = p->node && localnode_count(p->node);
	bool alias = p->node && localnode_set(p->node, TYPE_CNAME);
	size_t kept = 0;

	if (zone_traits[p->m.type].records != RECORDS_ALL)
		return count;
	for (size_t i = 0; i < count; i++) {
		bool is_alias = items[i]->rr.type == TYPE_CNAME;

		if (!dname_equals(items[i]->rr.owner, p->m.name)) {
			refuse(p, items[i],
			       "the records of a redirect zone stand at its own name, not below it");
		} else if (any && is_alias != alias) {
			refuse(p, items[i],
			       "a CNAME of a redirect zone has no other records beside it");
		} else {
			any = true;
			alias = is_alias;
			items[kept++] = items[i];
		}
	}
	return kept;
}

static int by_type(const void *va, const void *vb)
{
	const struct item *a = *(const struct item *const *)va, *b = *(const struct item *const *)vb;

	if (a->rr.type != b->rr.type)
		return a->rr.type < b->rr.type ? -1 : 1;
	return (a->place > b->place) - (a->place < b->place);
}

static int by_place(const void *va, const void *vb)
{
	const struct made *a = va, *b = vb;

	return (a->place > b->place) - (a->place < b->place);
}

/* The RRsets that change, in the order in which their first records came. */
static size_t make_sets(const struct putting *p, struct item **items, size_t count,
			const struct rrset **sets)
{
	struct made *made = arena_array(p->arena, struct made, count);
	size_t n = 0;

	if (count > 1)
		qsort(items, count, sizeof(struct item *), by_type);
	for (size_t i = 0, end; i < count; i = end) {
		uint16_t type = items[i]->rr.type;
		const struct rrset *old = p->node ? localnode_set(p->node, type) : NULL, *new;

		for (end = i; end < count && items[end]->rr.type == type;)
			end++;
		new = rr_flags(type) & RR_SINGLE ? put_single(p, old, items + i, end - i) :
						   put_records(p, old, items + i, end - i);
		if (new != old)
			made[n++] = (struct made){ items[i]->place, new };
	}
	if (n > 1)
		qsort(made, n, sizeof(*made), by_place);
	for (size_t i = 0; i < n; i++)
		sets[i] = made[i].set;
	return n;
}

static bool cover(const struct putting *p, const struct item *i)
{
	if (p->ends->uncovered)
		return p->ends->uncovered(p->ends->arg, &i->rr, i->number, i->line);
	localzones_put(p->z, name_in_zone(i->rr.owner, i->rr.type), i->rr.class_, ZONE_transparent);
	return true;
}

/* All at one name and for one zone. */
static void put_items(struct putting *p, struct item **items, size_t count)
{
	const struct text_rr *rr = &items[0]->rr;
	struct question q = { .name = rr->owner, .type = rr->type, .class_ = rr->class_ };
	const struct rrset **sets = arena_array(p->arena, const struct rrset *, count);
	bool covered = localzones_find(p->z, &q, NULL, &p->m);

	for (size_t i = 0; !covered && i < count; i++)
		covered = cover(p, items[i]) && localzones_find(p->z, &q, NULL, &p->m);
	if (!covered)
		return;
	p->family = family_get(p->z, rr->class_);
	p->zone = zone_unpacked(p->z, p->family, p->m.name);
	p->node = localnode_at(p->family, p->zone, rr->owner);
	count = leave_suitable(p, items, count);
	count = make_sets(p, items, count, sets);
	if (count) {
		if (!p->node)
			put_ancestors(p, q.name);
		localnode_put(p->z, p->family, p->zone,
			      localnode_with(p->zone, q.name, p->node, sets, count));
	}
	if (q.class_ == CLASS_IN)
		tops_mark(p->z, q.name);
}

/* DS records belong to the zone above, all others to the closest. */
static void put_place(struct putting *p, const struct place *place, struct item **items)
{
	for (unsigned ds = 0; ds < 2; ds++) {
		size_t count = 0;

		for (struct item *i = place->first; i; i = i->next)
			if ((i->rr.type == TYPE_DS) == ds)
				items[count++] = i;
		if (count)
			put_items(p, items, count);
		arena_clear(p->arena);
	}
}

void record_batch_put(struct record_batch *b, struct localzones *z, const struct record_ends *ends)
{
	struct arena a;
	struct putting p = { .z = z, .ends = ends, .arena = &a };
	struct item **items = mem_array(b->widest + 1, sizeof(struct item *));

	arena_init(&a);
	for (const struct place *at = b->first; at; at = at->next)
		put_place(&p, at, items);
	mem_free(items);
}
