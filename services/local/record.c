/* Records of local zones: added and removed, at the start and at run time.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "services/local/private.h"
#include "util/base/arena.h"
#include "util/base/fault.h"
#include "util/base/log.h"
#include "util/dns/text.h"

static struct question question_of(const struct text_rr *rr)
{
	return (struct question){ .name = rr->owner, .type = rr->type, .class_ = rr->class_ };
}

/* For one record alone. */
struct alone {
	struct fault *fault;
	bool wrong;
};

static void note_wrong(void *arg, size_t number, const char *line, const char *why)
{
	struct alone *one = arg;

	(void)number;
	(void)line;
	fault_set(one->fault, "%s", why);
	one->wrong = true;
}

static bool put_alone(struct localzones *z, const struct text_rr *rr, const char *line,
		      struct fault *f)
{
	struct alone one = { .fault = f };
	struct record_batch *b = record_batch_new();

	record_batch_add(b, rr, line, 0);
	record_batch_put(b, z, &(struct record_ends){ .wrong = note_wrong, .arg = &one });
	record_batch_free(b);
	return !one.wrong;
}

bool localzones_put_record(struct localzones *z, const char *line, struct fault *f)
{
	struct text_rr rr;
	struct arena a;
	bool good;

	arena_init(&a);
	good = localzones_read_line(&a, line, &rr, f) &&
	       (rr.left_out || put_alone(z, &rr, line, f));
	arena_clear(&a);
	return good;
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
	struct slice *records = arena_array(a, struct slice, old->count), rd;
	struct rrset_walk w = rrset_records(old);

	*had = false;
	while (rrset_next(&w, &rd)) {
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
	good = localzones_read_line(&a, line, &rr, f) && remove_record(z, &a, &rr, line, f);
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
