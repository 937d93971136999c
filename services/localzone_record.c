/* Records of local zones: added and removed, at the start and at run time.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "services/localzone_private.h"
#include "util/arena.h"
#include "util/fault.h"
#include "util/log.h"
#include "util/text.h"

static struct question question_of(const struct text_rr *rr)
{
	return (struct question){ .name = rr->owner, .type = rr->type, .class_ = rr->class_ };
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
		n = localnode_at(f, zone, name);
		if (n) {
			n->children++;
			return;
		}
		n = localnode_make(zone, name, NULL, 0, NULL);
		n->children = 1;
		localnode_put(z, f, zone, n);
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
	struct question q = question_of(rr);
	struct family *family = family_get(z, rr->class_);
	struct localzone_match m;
	struct localzone *zone;
	struct localnode *n;
	const struct rrset *old, *new;
	struct arena a;

	if (!localzones_find(z, &q, NULL, &m))
		return PUT_UNCOVERED;
	zone = zone_unpacked(z, family, m.name);
	n = localnode_at(family, zone, rr->owner);
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
		localnode_put(z, family, zone, localnode_make(zone, rr->owner, n, rr->type, new));
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
		localzones_put(z, name_in_zone(cover, rr->type), rr->class_, ZONE_transparent);
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

		dname_copy_lower(name, localnode_name(n));
		localnode_drop(z, f, n);
		if (dname_is_root(name))
			return;
		n = localnode_at(f, zone, dname_parent(name));
		if (n)
			n->children--;
	}
}

static void node_cut(struct localzones *z, struct family *f, struct localzone *zone,
		     struct localnode *new)
{
	localnode_put(z, f, zone, new);
	node_prune(z, f, zone, new);
}

/* Where records of that type at the name belong: their zone, which is NULL unless it has records,
 * and its node at the name, if any. False when no zone covers them. */
static bool find_place(const struct localzones *z, const struct family *f, struct question q,
		       struct localzone **zone, struct localnode **n)
{
	struct localzone_match m;

	if (!localzones_find(z, &q, NULL, &m))
		return false;
	*zone = (struct localzone *)(uintptr_t)m.zone;
	*n = m.zone ? localnode_at(f, m.zone, q.name) : NULL;
	return true;
}

void localzones_remove_name(struct localzones *z, const uint8_t *name, uint16_t class_)
{
	struct family *f = family_get(z, class_);
	struct question q = { .name = name, .type = TYPE_DS, .class_ = class_ };
	struct localzone *zone;
	struct localnode *n, *bare;

	/* of a zone's apex, DS is the zone's above */
	if (find_place(z, f, q, &zone, &n) && n && localnode_set(n, TYPE_DS))
		node_cut(z, f, zone, localnode_make(zone, name, n, TYPE_DS, NULL));
	q.type = TYPE_ANY;
	if (!find_place(z, f, q, &zone, &n) || !n || n->count == 0)
		return;
	bare = localnode_make(zone, name, NULL, 0, NULL);
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
	struct localnode *n;
	const struct rrset *old, *new;
	bool had;

	if (!find_place(z, family, question_of(rr), &zone, &n)) {
		fault_set(f, "no zone for rr %s", line);
		return false;
	}
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
	node_cut(z, family, zone, localnode_make(zone, rr->owner, n, rr->type, new));
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
