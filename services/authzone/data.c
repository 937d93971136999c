/* The records of one whole zone, packed: built aside, then immutable, found by name.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/authzone/data.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/base/fault.h"
#include "util/base/file.h"
#include "util/base/log.h"
#include "util/base/mem.h"
#include "util/dns/dname.h"
#include "util/dns/rr.h"
#include "util/dns/text.h"

#define SET_BYTES_MAX (1 << 24)
#define BROKEN_TOLD   20 /* log lines about one file */
#define ITERATIONS_MAX 500 /* of NSEC3: costlier chains are not used for denials (RFC 9276) */

/* ---- building ---- */

struct item {
	const uint8_t *owner;
	const uint8_t *rdata;
	size_t seq;
	uint32_t ttl_s;
	uint16_t len, type;
	bool gone; /* it deletes a record */
};

struct zonebuild {
	struct arena arena;
	const uint8_t *apex;
	struct item *items;
	size_t count, room;
	bool spares_soa;
	struct rcu_slot released;
};

struct zonebuild *zonebuild_new(const uint8_t *apex)
{
	struct zonebuild *b = mem_zero(sizeof(*b));

	arena_init(&b->arena);
	b->apex = arena_copy(&b->arena, apex, dname_len(apex));
	return b;
}

static void free_build(struct rcu_slot *released)
{
	struct zonebuild *b = container_of(released, struct zonebuild, released);

	arena_clear(&b->arena);
	mem_free(b->items);
	mem_free(b);
}

/* A transfer of a large zone that breaks off is dropped by a worker. */
void zonebuild_free(struct zonebuild *b)
{
	if (b)
		rcu_release(&b->released, free_build);
}

static void put(struct zonebuild *b, const struct text_rr *rr, bool gone)
{
	struct item *i;

	if (rr->class_ != CLASS_IN || !dname_is_under(rr->owner, b->apex) ||
	    rr_flags(rr->type) & RR_META)
		return;
	if (b->count == b->room) {
		b->room = b->room ? b->room * 2 : 64;
		b->items = mem_grow(b->items, b->room * sizeof(*b->items));
	}
	i = &b->items[b->count];
	*i = (struct item){ .seq = b->count++,
			    .ttl_s = rr->ttl_s,
			    .len = (uint16_t)rr->rdata.len,
			    .type = rr->type,
			    .gone = gone };
	if (i->seq && dname_equals(i[-1].owner, rr->owner) &&
	    memcmp(i[-1].owner, rr->owner, dname_len(rr->owner)) == 0)
		i->owner = i[-1].owner;
	else
		i->owner = arena_copy(&b->arena, rr->owner, dname_len(rr->owner));
	i->rdata = arena_copy(&b->arena, rr->rdata.at, rr->rdata.len);
}

void zonebuild_spare_soa(struct zonebuild *b)
{
	b->spares_soa = true;
}

void zonebuild_add(struct zonebuild *b, const struct text_rr *rr)
{
	put(b, rr, false);
}

void zonebuild_remove(struct zonebuild *b, const struct text_rr *rr)
{
	put(b, rr, true);
}

typedef void each_record(const struct text_rr *rr, void *arg);

static void records_of(const struct rrset *s, each_record *fn, void *arg)
{
	struct text_rr rr = { .owner = rrset_owner(s), .ttl_s = s->ttl_s, .type = s->type, .class_ = s->class_ };
	struct rrset_walk w = rrset_records(s);

	while (rrset_next(&w, &rr.rdata))
		fn(&rr, arg);
}

static void signatures_of(const struct rrset *s, each_record *fn, void *arg)
{
	struct text_rr rr = { .owner = rrset_owner(s), .ttl_s = s->ttl_s, .type = TYPE_RRSIG, .class_ = s->class_ };
	struct rrset_walk w = rrset_sigs(s);

	while (rrset_next(&w, &rr.rdata))
		fn(&rr, arg);
}

static void each_of(const struct rrset *s, each_record *fn, void *arg)
{
	records_of(s, fn, arg);
	signatures_of(s, fn, arg);
}

static void add_one(const struct text_rr *rr, void *arg)
{
	put(arg, rr, false);
}

/* The signatures come after all other records of their name: those that lose what they cover by a change are then,
 * as in Unbound, behind those that cover nothing in the old zone. */
void zonebuild_add_all(struct zonebuild *b, const struct zonedata *z)
{
	if (z->soa)
		records_of(z->soa, add_one, b);
	for (size_t i = 0; i < z->count; i++) {
		const struct zonenode *n = &z->nodes[i];

		for (uint32_t j = 0; j < n->count; j++)
			if (n->sets[j] != z->soa)
				records_of(n->sets[j], add_one, b);
		for (uint32_t j = 0; j < n->count; j++)
			signatures_of(n->sets[j], add_one, b);
	}
}

void zonebuild_put_under(struct zonebuild *b, const struct zonedata *z)
{
	size_t changes = b->count;

	zonebuild_add_all(b, z);
	for (size_t i = 0; i < b->count; i++)
		b->items[i].seq = i < changes ? b->count - changes + i : i - changes;
}

static int by_seq(const struct item *a, const struct item *b)
{
	return a->seq < b->seq ? -1 : a->seq > b->seq;
}

/* Names in the data are compared without regard to case. */
static int by_data(const struct item *a, const struct item *b)
{
	uint8_t one[2048], other[2048];
	int order;

	if (a->len != b->len)
		return a->len < b->len ? -1 : 1;
	if (a->len == 0 || (order = memcmp(a->rdata, b->rdata, a->len)) == 0)
		return 0;
	if (a->len > sizeof(one))
		return order;
	memcpy(one, a->rdata, a->len);
	memcpy(other, b->rdata, b->len);
	rr_canonical_rdata(a->type, one, a->len);
	rr_canonical_rdata(b->type, other, b->len);
	return memcmp(one, other, a->len);
}

static int by_record(const void *va, const void *vb)
{
	const struct item *a = va, *b = vb;
	int order = a->owner == b->owner ? 0 : dname_compare(a->owner, b->owner);

	if (order == 0)
		order = (a->type > b->type) - (a->type < b->type);
	if (order == 0)
		order = by_data(a, b);
	return order ? order : by_seq(a, b);
}

static int by_place(const void *va, const void *vb)
{
	const struct item *a = va, *b = vb;
	int order = a->owner == b->owner ? 0 : dname_compare(a->owner, b->owner);

	return order ? order : by_seq(a, b);
}

static bool same_record(const struct item *a, const struct item *b)
{
	return a->type == b->type && dname_equals(a->owner, b->owner) && by_data(a, b) == 0;
}

/* Keep one item per record that is left. False: a record was deleted that did not exist. */
static bool keep_final(struct zonebuild *b)
{
	size_t kept = 0;
	bool good = true;

	if (b->count == 0)
		return true;
	qsort(b->items, b->count, sizeof(*b->items), by_record);
	for (size_t i = 0, end; i < b->count; i = end) {
		const struct item *stands = NULL;

		for (end = i; end < b->count && same_record(&b->items[i], &b->items[end]); end++) {
			good = good && !(b->items[end].gone && !stands);
			if (b->items[end].gone)
				stands = NULL;
			else if (!stands)
				stands = &b->items[end];
		}
		if (stands)
			b->items[kept++] = *stands;
	}
	b->count = kept;
	if (kept)
		qsort(b->items, b->count, sizeof(*b->items), by_place);
	return good;
}

static uint16_t covers(const struct item *i)
{
	return i->type == TYPE_RRSIG && i->len >= 2 ? get_u16(i->rdata) : 0;
}

/* A record in its RRset. */
struct member {
	const struct item *item;
	uint16_t own, type; /* its own type; that of the RRset */
};

/* Room for the widest name. */
struct gather {
	struct slice *records, *sigs;
	struct member *members;
	size_t cut; /* records left out, */
	const struct item *first_cut;
};

static int by_own_type(const void *va, const void *vb)
{
	const struct member *a = va, *b = vb;

	return (a->own > b->own) - (a->own < b->own);
}

static int by_set(const void *va, const void *vb)
{
	const struct member *a = va, *b = vb;
	int order = (a->type > b->type) - (a->type < b->type);

	return order ? order : by_seq(a->item, b->item);
}

/* The records of a name by RRset, and in each in their order. Signatures go with what they cover, if
 * that exists. */
static void sort_into_sets(struct member *m, const struct item *items, size_t count)
{
	for (size_t i = 0; i < count; i++)
		m[i] = (struct member){ &items[i], items[i].type, items[i].type };
	if (count == 1)
		return;
	qsort(m, count, sizeof(*m), by_own_type);
	for (size_t i = 0; i < count; i++) {
		struct member wanted = { .own = covers(m[i].item) };

		if (wanted.own && bsearch(&wanted, m, count, sizeof(*m), by_own_type))
			m[i].type = wanted.own;
	}
	qsort(m, count, sizeof(*m), by_set);
}

/* Members of one RRset. */
static struct rrset *build_set(struct arena *a, const struct member *m, size_t count,
			       struct gather *g)
{
	struct rrset_parts parts = { .owner = m->item->owner,
				     .type = m->type,
				     .class_ = CLASS_IN,
				     .ttl_s = UINT32_MAX,
				     .records = g->records,
				     .sigs = g->sigs,
				     .trust = TRUST_PRIMARY };
	size_t bytes = 0;

	for (size_t i = 0; i < count; i++) {
		const struct item *item = m[i].item;
		struct slice rd = { item->rdata, item->len };

		if (bytes + rd.len > SET_BYTES_MAX || parts.count == UINT16_MAX ||
		    parts.sig_count == UINT16_MAX) {
			g->first_cut = g->cut++ ? g->first_cut : item;
			continue;
		}
		bytes += rd.len;
		if (m[i].own == m->type) {
			g->records[parts.count++] = rd;
			parts.ttl_s = MIN(parts.ttl_s, item->ttl_s);
		} else {
			g->sigs[parts.sig_count++] = rd;
		}
	}
	parts.ttl_s = MIN(parts.ttl_s, (uint32_t)INT32_MAX);
	parts.expires_s = parts.ttl_s;
	return rrset_build(a, &parts);
}

static bool has_set(const struct zonenode *n, uint16_t type)
{
	return zonenode_set(n, type) != NULL;
}

static void build_node(struct zonedata *z, struct zonenode *n, const struct item *items,
		       size_t count, struct gather *g)
{
	const struct member *m = g->members;
	size_t sets = 0;

	sort_into_sets(g->members, items, count);
	for (size_t i = 0; i < count; i++)
		sets += i == 0 || m[i].type != m[i - 1].type;
	n->sets = arena_zeros(&z->arena, sets, sizeof(*n->sets));
	n->hashed = true;
	for (size_t i = 0, end; i < count; i = end) {
		for (end = i; end < count && m[end].type == m[i].type;)
			end++;
		n->hashed &= m[i].type == TYPE_NSEC3;
		z->has_nsec |= m[i].type == TYPE_NSEC;
		n->sets[n->count++] = build_set(&z->arena, m + i, end - i, g);
	}
	n->name = rrset_owner(n->sets[0]);
}

static int by_hash(const void *a, const void *b)
{
	return memcmp(((const struct zonehash *)a)->hash, ((const struct zonehash *)b)->hash,
		      NSEC3_HASH_LEN);
}

static bool same_hashing(const struct nsec3 *a, const struct nsec3 *b)
{
	return a->hash_algorithm == b->hash_algorithm && a->iterations == b->iterations &&
	       a->salt.len == b->salt.len &&
	       (a->salt.len == 0 || memcmp(a->salt.at, b->salt.at, a->salt.len) == 0);
}

/* The chain that NSEC3PARAM gives; without one, build_chain takes that of the first record. A flag means
 * that the chain is not whole (RFC 5155 4.1.2). */
static void read_hashing(struct zonedata *z)
{
	const struct rrset *param = zonenode_set(zonedata_node(z, z->apex), TYPE_NSEC3PARAM);

	struct rrset_walk w;
	struct slice rd;

	if (!param)
		return;
	w = rrset_records(param);
	while (z->hashing.hash_algorithm == 0 && rrset_next(&w, &rd)) {
		if (rd.len < 5 || rd.len < 5u + rd.at[4] || rd.at[0] != NSEC3_SHA1 || rd.at[1])
			continue;
		z->hashing = (struct nsec3){ .hash_algorithm = rd.at[0],
					     .iterations = get_u16(rd.at + 2),
					     .salt = { rd.at + 5, rd.at[4] } };
	}
}

static void build_chain(struct zonedata *z)
{
	size_t room = 0;

	for (size_t i = 0; i < z->count; i++)
		room += has_set(&z->nodes[i], TYPE_NSEC3);
	z->hashes = arena_zeros(&z->arena, room + 1, sizeof(*z->hashes));
	read_hashing(z);
	for (size_t i = 0; i < z->count; i++) {
		const struct rrset *set = zonenode_set(&z->nodes[i], TYPE_NSEC3);
		struct nsec3 n;

		if (!set || !nsec3_read(set, z->apex, &n))
			continue;
		if (z->hashing.hash_algorithm == 0)
			z->hashing = n;
		if (!same_hashing(&z->hashing, &n) || n.iterations > ITERATIONS_MAX)
			continue;
		memcpy(z->hashes[z->hash_count].hash, n.owner, NSEC3_HASH_LEN);
		z->hashes[z->hash_count++].set = set;
	}
	qsort(z->hashes, z->hash_count, sizeof(*z->hashes), by_hash);
}

static bool read_soa(struct zonedata *z, bool spare, struct fault *f)
{
	struct slice rd;

	z->soa = zonenode_set(zonedata_node(z, z->apex), TYPE_SOA);
	if (!z->soa && spare)
		return true;
	if (!z->soa) {
		fault_set(f, "it has no SOA record at its apex");
		return false;
	}
	if (z->soa->count != 1) {
		fault_set(f, "it has more than one SOA record");
		return false;
	}
	rd = rrset_record(z->soa, 0);
	rd.at += rd.len - 20;
	z->serial = get_u32(rd.at);
	z->refresh_s = get_u32(rd.at + 4);
	z->retry_s = get_u32(rd.at + 8);
	z->expire_s = MIN(get_u32(rd.at + 12), (uint32_t)INT32_MAX); /* times are compared modulo 2^32 */
	z->minimum_s = get_u32(rd.at + 16);
	return true;
}

static void tell_cut(const struct zonedata *z, const struct gather *g)
{
	char zone[DNAME_TEXT], name[DNAME_TEXT];

	if (g->cut)
		log_rare_of("warning", zone, LOG_FACTS(LOG_TEXT(zone, dname_print(z->apex, zone)), LOG_COUNT(count, g->cut)),
			    "zone %s: %zu records ignored, of RRsets of more than %u records or 16 MiB, first at %s", zone,
			    g->cut, UINT16_MAX, dname_print(g->first_cut->owner, name));
}

static void build_nodes(struct zonedata *z, const struct zonebuild *b)
{
	struct gather g = { .cut = 0 };
	size_t count = 0, widest = 1;

	for (size_t i = 0, end; i < b->count; i = end, count++) {
		for (end = i; end < b->count &&
			      dname_equals(b->items[i].owner, b->items[end].owner);)
			end++;
		widest = end - i > widest ? end - i : widest;
	}
	g.records = mem_array(widest, sizeof(*g.records));
	g.sigs = mem_array(widest, sizeof(*g.sigs));
	g.members = mem_array(widest, sizeof(*g.members));
	z->nodes = arena_zeros(&z->arena, count + 1, sizeof(*z->nodes));
	for (size_t i = 0, end; i < b->count; i = end) {
		for (end = i; end < b->count &&
			      dname_equals(b->items[i].owner, b->items[end].owner);)
			end++;
		build_node(z, &z->nodes[z->count++], &b->items[i], end - i, &g);
	}
	mem_free(g.records);
	mem_free(g.sigs);
	mem_free(g.members);
	tell_cut(z, &g);
}

struct zonedata *zonebuild_finish(struct zonebuild *b, struct fault *f)
{
	struct zonedata *z = mem_zero(sizeof(*z));
	bool good = keep_final(b);

	if (!good)
		fault_set(f, "a record is taken out of it that is not there");
	arena_init(&z->arena);
	z->apex = arena_copy(&z->arena, b->apex, dname_len(b->apex));
	z->apex_labels = dname_labels(z->apex);
	z->records = b->count;
	if (good) {
		build_nodes(z, b);
		build_chain(z);
		good = read_soa(z, b->spares_soa, f);
	}
	zonebuild_free(b);
	if (good)
		return z;
	zonedata_free(z);
	return NULL;
}

static void free_retired(struct rcu_slot *slot)
{
	struct zonedata *z = container_of(slot, struct zonedata, retired);

	if (z->rules)
		z->rules_free(z->rules);
	arena_clear(&z->arena);
	mem_free(z);
}

void zonedata_free(struct zonedata *z)
{
	if (z)
		rcu_release(&z->retired, free_retired);
}

void zonedata_attach(struct zonedata *z, void *rules, void (*rules_free)(void *rules))
{
	if (z->rules)
		z->rules_free(z->rules);
	z->rules = rules;
	z->rules_free = rules_free;
}

void zonedata_retire(struct zonedata *z)
{
	if (z)
		rcu_retire(&z->retired, free_retired);
}

/* ---- files ---- */

/* A file being read. */
struct filing {
	struct zonebuild *b;
	const char *path;
	size_t soa;         /* 1 + index of the SOA record; 0: none yet */
	size_t broken, odd; /* lines told of */
};

static void note_broken(void *arg, const char *why)
{
	struct filing *x = arg;

	if (++x->broken <= BROKEN_TOLD)
		log_rare_of("warning", zone, LOG_FACTS(LOG_TEXT(source, x->path), LOG_TEXT(reason, why)), "%s", why);
	else if (x->broken == BROKEN_TOLD + 1)
		log_warn("%s: more records are malformed", x->path);
}

static void note_odd(void *arg, const char *why)
{
	struct filing *x = arg;

	if (++x->odd <= BROKEN_TOLD)
		log_rare_of("warning", zone, LOG_FACTS(LOG_TEXT(source, x->path), LOG_TEXT(reason, why)), "%s", why);
	else if (x->odd == BROKEN_TOLD + 1)
		log_warn("%s: more lines are doubtful", x->path);
}

static void tell_soas(struct filing *x)
{
	char *text = mem_textf("%s: there is more than one SOA record, the last holds", x->path);

	note_odd(x, text);
	mem_free(text);
}

/* Of several SOA records the last holds. */
static bool is_another_soa(struct filing *x, const struct text_rr *rr)
{
	struct zonebuild *b = x->b;
	struct item *old;

	if (rr->type != TYPE_SOA || rr->class_ != CLASS_IN || !dname_equals(rr->owner, b->apex))
		return false;
	if (!x->soa) {
		x->soa = b->count + 1;
		return false;
	}
	old = &b->items[x->soa - 1];
	if (old->len != rr->rdata.len || memcmp(old->rdata, rr->rdata.at, old->len) != 0)
		tell_soas(x);
	old->ttl_s = rr->ttl_s;
	old->len = (uint16_t)rr->rdata.len;
	old->rdata = arena_copy(&b->arena, rr->rdata.at, rr->rdata.len);
	return true;
}

static bool take_record(const struct text_rr *rr, void *arg)
{
	struct filing *x = arg;

	if (!is_another_soa(x, rr))
		put(x->b, rr, false);
	return true;
}

static struct zonebuild *read_file(const struct zonedata_how *how, const char *path,
				   size_t *broken, struct fault *f)
{
	struct filing x = { .b = zonebuild_new(how->apex), .path = path };
	struct text_zone t;
	bool good;

	text_zone_init(&t);
	memcpy(t.origin, how->apex, dname_len(how->apex));
	t.file = how->file;
	t.alone = how->file != NULL;
	t.odd = note_odd;
	t.odd_arg = &x;
	if (how->lenient) {
		t.broken = note_broken;
		t.broken_arg = &x;
	}
	good = text_zone_read(path, &t, take_record, &x, f);
	/* what was fetched must be known to be the zone, and no file may be empty */
	if (how->lenient || (!how->file && x.b->count))
		zonebuild_spare_soa(x.b);
	*broken = x.broken;
	if (good)
		return x.b;
	zonebuild_free(x.b);
	return NULL;
}

struct zonedata *zonedata_read(const struct zonedata_how *how, struct fault *f)
{
	struct fault first = { 0 };
	size_t broken = 0;
	struct zonebuild *b = read_file(how, how->path, &broken, &first);
	struct zonedata *z;

	if (!b && how->fallback)
		b = read_file(how, how->fallback, &broken, NULL);
	if (how->broken)
		*how->broken = broken;
	if (!b) {
		fault_set(f, "%s", first.text);
		return NULL;
	}
	z = zonebuild_finish(b, &first);
	if (z && broken > z->records) {
		fault_set(&first, "%zu of its records cannot be read, and only %zu can", broken,
			  z->records);
		zonedata_free(z);
		z = NULL;
	}
	if (!z)
		fault_set(f, "%s: %s", how->path, first.text);
	return z;
}

struct printing {
	FILE *to;
	char *line;
	size_t room;
};

static void print_record(const struct text_rr *rr, void *arg)
{
	struct printing *p = arg;
	size_t len = text_rr_print(p->line, p->room, rr->owner, rr->ttl_s, rr->class_, rr->type,
				   rr->rdata);

	if (len >= p->room) {
		p->room = len + 1;
		p->line = mem_grow(p->line, p->room);
		text_rr_print(p->line, p->room, rr->owner, rr->ttl_s, rr->class_, rr->type,
			      rr->rdata);
	}
	fputs(p->line, p->to);
	if (rr->type == TYPE_DNSKEY)
		fprintf(p->to, " ;{id = %u}", rr_key_tag(rr->rdata));
	fputc('\n', p->to);
}

bool zonedata_write(const struct zonedata *z, const char *path, struct fault *f)
{
	struct printing p = { .line = mem_new(4096), .room = 4096 };
	struct file_new n;
	bool good = file_new_begin(&n, path, ".new", 0666);

	p.to = good ? fdopen(dup(n.fd), "w") : NULL;
	if (p.to) {
		zonedata_each(z, print_record, &p);
		good = fflush(p.to) == 0 && !ferror(p.to);
		good = fclose(p.to) == 0 && good;
	}
	good = file_new_end(&n, good && p.to);
	if (!good)
		fault_set(f, "cannot write %s: %s", path, strerror(errno));
	mem_free(p.line);
	return good;
}

void zonedata_each(const struct zonedata *z, void (*fn)(const struct text_rr *rr, void *arg),
		   void *arg)
{
	if (z->soa)
		each_of(z->soa, fn, arg);
	for (size_t i = 0; i < z->count; i++)
		for (uint32_t j = 0; j < z->nodes[i].count; j++)
			if (z->nodes[i].sets[j] != z->soa)
				each_of(z->nodes[i].sets[j], fn, arg);
}

/* ---- finding ---- */

size_t zonedata_place(const struct zonedata *z, const uint8_t *name)
{
	size_t low = 0, high = z->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (dname_compare(z->nodes[middle].name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct zonenode *zonedata_node(const struct zonedata *z, const uint8_t *name)
{
	size_t i = zonedata_place(z, name);

	if (i == z->count || !dname_equals(z->nodes[i].name, name) || z->nodes[i].hashed)
		return NULL;
	return &z->nodes[i];
}

bool zonedata_exists(const struct zonedata *z, const uint8_t *name)
{
	size_t i = zonedata_place(z, name);

	return i < z->count && dname_is_under(z->nodes[i].name, name) &&
	       !(z->nodes[i].hashed && dname_equals(z->nodes[i].name, name));
}

const struct rrset *zonenode_set(const struct zonenode *n, uint16_t type)
{
	for (uint32_t i = 0; n && i < n->count; i++)
		if (n->sets[i]->type == type)
			return n->sets[i];
	return NULL;
}

const struct rrset *zonedata_nsec(const struct zonedata *z, const uint8_t *name)
{
	size_t i = zonedata_place(z, name);
	const struct rrset *set;

	if (!z->has_nsec)
		return NULL; /* else every denial would walk through half of the zone */
	if (i < z->count && dname_equals(z->nodes[i].name, name))
		i++;
	while (i-- > 0)
		if ((set = zonenode_set(&z->nodes[i], TYPE_NSEC)))
			return set;
	return NULL;
}

const struct rrset *zonedata_nsec3(const struct zonedata *z, const uint8_t *name, bool *matches)
{
	struct zonehash wanted;
	size_t low = 0, high = z->hash_count;

	*matches = false;
	if (z->hash_count == 0)
		return NULL;
	nsec3_hash(name, z->hashing.salt, z->hashing.iterations, wanted.hash);
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (by_hash(&z->hashes[middle], &wanted) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low > 0)
		*matches = by_hash(&z->hashes[low - 1], &wanted) == 0;
	return z->hashes[low ? low - 1 : z->hash_count - 1].set;
}
