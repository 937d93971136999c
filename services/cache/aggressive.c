/* The negative cache: answers from sorted denials (RFC 8198); util/dns/denial decides what is proof.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/cache/aggressive.h"

#include "services/cache/nsec_ranges.h"
#include "services/cache/referral_ds.h"
#include "services/cache/rrset.h"
#include "services/cache/verified.h"
#include "util/base/arena.h"
#include "util/base/mem.h"
#include "util/base/timebase.h"
#include "util/conf/options.h"
#include "util/dns/msg.h"
#include "util/dns/rr.h"

#define MAX_ITERATIONS 50 /* of the NSEC3 records kept (RFC 9276) */
#define MAX_HASHES     16 /* most labels of a name below its zone: each costs a hash */
#define PART_MIN       (256 * (size_t)1024) /* bytes of a part of the ranges, if possible */

struct aggressive {
	struct nsec_ranges *ranges;
	struct referral_ds *referral_ds;
	unsigned parts;
};

/* An eighth of the budget is for denials not yet validated. */
static size_t unchecked_share(size_t budget)
{
	return budget / 8;
}

struct aggressive *aggressive_new(size_t budget, unsigned slabs)
{
	struct aggressive *c = mem_zero(sizeof(*c));
	size_t share = unchecked_share(budget);

	for (c->parts = 1; c->parts < slabs && (budget - share) / c->parts >= 2 * PART_MIN;)
		c->parts *= 2;
	c->ranges = nsec_ranges_new(budget - share, c->parts);
	c->referral_ds = referral_ds_new(share, c->parts);
	return c;
}

void aggressive_free(struct aggressive *c)
{
	if (!c)
		return;
	nsec_ranges_free(c->ranges);
	referral_ds_free(c->referral_ds);
	mem_free(c);
}

void aggressive_resize(struct aggressive *c, size_t budget)
{
	nsec_ranges_resize(c->ranges, budget - unchecked_share(budget));
	slab_resize(referral_ds_slab(c->referral_ds), unchecked_share(budget));
}

size_t aggressive_forget(struct aggressive *c, const uint8_t *name)
{
	size_t count = nsec_ranges_forget(c->ranges, name);

	for (const uint8_t *zone = name; !dname_is_root(zone);) {
		struct nsec_ranges_at at = { .class_ = CLASS_IN };

		at.zone = zone = dname_parent(zone);
		count += nsec_ranges_drop_under(c->ranges, &at, name);
	}
	return count;
}

/* From the name up to the apex, exclusive; deeper names are never hashed. */
static void forget_hashes(struct aggressive *c, const struct nsec_ranges_at *at,
			  const struct nsec_ranges_facts *facts, const uint8_t *name)
{
	struct slice salt = { facts->salt, facts->salt_len };
	unsigned whole = dname_labels(name), top = dname_labels(at->zone);
	uint8_t hash[NSEC3_HASH_LEN];

	for (unsigned labels = whole; labels > top && whole - top <= MAX_HASHES; labels--) {
		nsec3_hash(dname_suffix(name, labels), salt, facts->iterations, hash);
		nsec_ranges_drop_nsec3(c->ranges, at, hash);
	}
}

void aggressive_forget_name(struct aggressive *c, const uint8_t *name, uint16_t class_)
{
	for (const uint8_t *zone = name;; zone = dname_parent(zone)) {
		struct nsec_ranges_at at = { .zone = zone, .class_ = class_ };
		struct nsec_ranges_facts facts;

		if (nsec_ranges_know(c->ranges, &at, &facts)) {
			nsec_ranges_drop_nsec(c->ranges, &at, name);
			forget_hashes(c, &at, &facts, name);
		}
		if (dname_is_root(zone))
			return;
	}
}

struct aggressive_count aggressive_counted(struct aggressive *c)
{
	struct nsec_ranges_count r = nsec_ranges_counted(c->ranges);
	struct slab_count h = slab_counted(referral_ds_slab(c->referral_ds));

	return (struct aggressive_count){ .zones = r.zones,
					.records = r.records,
					.bytes = r.bytes + h.bytes,
					.budget = r.budget + h.budget,
					.evictions = r.evictions + h.evictions };
}

void aggressive_hear(struct aggressive *c, const struct message *referral, const uint8_t *cut,
		   uint16_t class_, uint32_t now_s)
{
	referral_ds_put(c->referral_ds, referral, cut, class_, now_s);
}

struct message *aggressive_heard(struct aggressive *c, const struct question *ds, struct arena *a,
			       uint32_t now_s)
{
	return referral_ds_take(c->referral_ds, ds, a, now_s);
}

/* ---- learning ---- */

static bool is_proof(const struct verified *v)
{
	return verified_set(v)->type == TYPE_NSEC || verified_set(v)->type == TYPE_NSEC3;
}

/* Whether it is the SOA RRset of the zone that signed it. */
static bool is_soa(const struct verified *v)
{
	const struct rrset *set = verified_set(v);

	return set->type == TYPE_SOA && set->count && dname_equals(rrset_owner(set), verified_zone(v));
}

static void learn_set(struct aggressive *c, const struct nsec_ranges_at *at, const struct verified *v,
		      struct arena *a)
{
	const struct rrset *set;
	struct nsec3 n;

	if (verified_is_expanded(v))
		return;
	set = verified_copy(v, a, at->now_s);
	if (set->type == TYPE_NSEC && nsec_is_sound(set, at->zone))
		nsec_ranges_put_nsec(c->ranges, at, set);
	if (set->type == TYPE_NSEC3 && nsec3_read(set, at->zone, &n) &&
	    n.iterations <= MAX_ITERATIONS)
		nsec_ranges_put_nsec3(c->ranges, at, set, &n);
}

/* Whether an RRset that is kept as secure is at its own owner name there, not as a wildcard expansion, and
 * the zone's: all its RRSIGs are by the zone that it was verified for (verified_copy). */
static bool is_own(const struct rrset *set, const uint8_t *zone)
{
	struct rrset_walk w = rrset_sigs(set);
	struct slice rd;

	return !rrset_is_expanded(set) && rrset_next(&w, &rd) && rd.len > 18 &&
	       dname_measure(rd.at + 18, rd.at + rd.len) && dname_equals(rd.at + 18, zone);
}

/* When its TTL began to run. */
static uint32_t birth_of(const struct rrset *set)
{
	return set->expires_s - set->ttl_s;
}

/* RFC 2308 5: the lesser of the SOA's TTL and its MINIMUM field; but cache-min-ttl may have raised a
 * denial's. */
static uint32_t soa_most(const struct rrset *soa, uint32_t now_s)
{
	struct slice rd = rrset_record(soa, 0);
	uint32_t left = time_left(now_s, soa->expires_s);

	if (soa->flags & RRSET_SOA_NEGATIVE)
		return left; /* already limited (store) */
	return rd.len < 4 ? 0 : MIN(left, get_u32(rd.at + rd.len - 4));
}

/* A referral's denial comes here as it arrived, so cache-max-ttl limits it here. */
static uint32_t most_of(const struct conf *conf)
{
	const struct conf_server *s = &conf->server;

	return s->serve_original_ttl ? s->cache_max_negative_ttl
				     : MIN(s->cache_max_negative_ttl, s->cache_max_ttl);
}

static struct nsec_ranges_at place_of(const struct verified *v, const struct conf *conf, uint32_t now_s)
{
	return (struct nsec_ranges_at){ .zone = verified_zone(v),
				   .class_ = verified_set(v)->class_,
				   .now_s = now_s,
				   .most_s = most_of(conf) };
}

/* The SOA RRset of the zone among them, as it may be kept; or NULL. */
static const struct rrset *find_soa(const struct verified *const *sets, unsigned count,
				    const struct nsec_ranges_at *at, struct arena *a)
{
	for (unsigned i = 0; i < count; i++)
		if (is_soa(sets[i]) && dname_equals(verified_zone(sets[i]), at->zone) &&
		    verified_set(sets[i])->class_ == at->class_)
			return verified_copy(sets[i], a, at->now_s);
	return NULL;
}

static bool has_proof_of(const struct verified *const *sets, unsigned count, const uint8_t *zone)
{
	for (unsigned i = 0; i < count; i++)
		if (is_proof(sets[i]) && dname_equals(verified_zone(sets[i]), zone))
			return true;
	return false;
}

void aggressive_learn(struct aggressive *c, const struct verified *const *sets, unsigned count,
		    const struct conf *conf, uint32_t now_s, struct arena *a)
{
	for (unsigned i = 0; i < count; i++) {
		struct nsec_ranges_at at = place_of(sets[i], conf, now_s);
		const struct rrset *soa;

		if (!is_proof(sets[i]))
			continue;
		soa = find_soa(sets, count, &at, a);
		if (soa)
			at.most_s = MIN(at.most_s, soa_most(soa, birth_of(soa)));
		learn_set(c, &at, sets[i], a);
	}
	for (unsigned i = 0; i < count; i++) {
		struct nsec_ranges_at at = place_of(sets[i], conf, now_s);
		const struct rrset *soa;

		if (!is_soa(sets[i]) || !has_proof_of(sets, count, at.zone))
			continue;
		soa = verified_copy(sets[i], a, now_s);
		at.most_s = MIN(at.most_s, soa_most(soa, birth_of(soa)));
		nsec_ranges_put_soa(c->ranges, &at, soa);
	}
}

static unsigned slices_of(struct rrset_walk w, unsigned count, struct slice **out, struct arena *a)
{
	unsigned taken = 0;

	*out = arena_array(a, struct slice, count + 1);
	for (struct slice rd; rrset_next(&w, &rd);)
		(*out)[taken++] = rd;
	return taken;
}

/* The same records and signatures at another owner name. */
static struct rrset *standing_at(const struct rrset *set, const uint8_t *owner, struct arena *a)
{
	struct slice *records, *sigs;
	struct rrset_parts p = { .owner = owner,
				 .type = set->type,
				 .class_ = set->class_,
				 .ttl_s = set->ttl_s,
				 .expires_s = set->expires_s,
				 .trust = set->trust,
				 .security = set->security };

	p.count = slices_of(rrset_records(set), set->count, &records, a);
	p.sig_count = slices_of(rrset_sigs(set), set->sig_count, &sigs, a);
	p.records = records;
	p.sigs = sigs;
	return rrset_build(a, &p);
}

static bool wildcard_at(const uint8_t *name, unsigned labels, uint8_t to[DNAME_MAX])
{
	return dname_join(to, (const uint8_t *)"\1*", 2, dname_suffix(name, labels)) != 0;
}

void aggressive_learn_wildcard(struct rrsetcache *rrsets, const struct verified *v, uint32_t now_s,
			     struct arena *a)
{
	uint8_t wildcard[DNAME_MAX];

	if (verified_is_expanded(v) &&
	    wildcard_at(rrset_owner(verified_set(v)), verified_labels(v), wildcard))
		(void)rrsetcache_put(rrsets, standing_at(verified_copy(v, a, now_s), wildcard, a), now_s, a);
}

/* ---- what is known of a name ---- */

/* Denial records that together say something about a name, in the order they are sent. */
struct findings {
	struct denial_evidence evidence;
	const struct rrset *closer; /* covers the name, or the next closer one */
	const struct rrset *sets[3];
	unsigned count;
	unsigned encloser; /* labels of the closest encloser; meaningless if the name exists */
	uint32_t ends_s;   /* when the first of them expires */
	uint32_t whole_s;  /* the least of the TTLs they were kept for */
};

static void findings_begin(struct findings *f, const struct nsec_ranges_at *at)
{
	memset(f, 0, sizeof(*f));
	f->ends_s = at->now_s + UINT32_MAX / 2;
	f->whole_s = UINT32_MAX;
	denial_begin(&f->evidence, at->zone, MAX_ITERATIONS, NULL);
}

static void found(struct findings *f, const struct rrset *set)
{
	for (unsigned i = 0; i < f->count; i++)
		if (dname_equals(rrset_owner(f->sets[i]), rrset_owner(set)))
			return;
	if (!denial_add(&f->evidence, set))
		return;
	f->sets[f->count++] = set;
	if (time_is_past(f->ends_s, set->expires_s))
		f->ends_s = set->expires_s;
	f->whole_s = MIN(f->whole_s, set->ttl_s);
}

/* NSEC: the record matching or covering the wildcard, then the one for the name itself. */
static void look_by_name(struct aggressive *c, const struct nsec_ranges_at *at, const uint8_t *name,
			 struct arena *a, struct findings *f)
{
	const struct rrset *n = nsec_ranges_find_nsec(c->ranges, at, name, a), *beside;
	uint8_t wildcard[DNAME_MAX];

	findings_begin(f, at);
	if (!n)
		return;
	if (!dname_equals(rrset_owner(n), name) && !nsec_shows_ent(n, at->zone, name)) {
		f->closer = n;
		f->encloser = nsec_closest_encloser(n, name);
		if (wildcard_at(name, f->encloser, wildcard) &&
		    (beside = nsec_ranges_find_nsec(c->ranges, at, wildcard, a)))
			found(f, beside);
	}
	found(f, n);
}

/* NSEC3: the record matching the name; or those of its closest encloser, the next closer name, and
 * the wildcard. */
static bool look_by_hash(struct aggressive *c, const struct nsec_ranges_at *at,
			 const struct nsec_ranges_facts *facts, const uint8_t *name, struct arena *a,
			 struct findings *f)
{
	struct slice salt = { facts->salt, facts->salt_len };
	unsigned whole = dname_labels(name), top = dname_labels(at->zone), labels;
	uint8_t hash[2][NSEC3_HASH_LEN], wildcard[DNAME_MAX];
	const struct rrset *n = NULL;

	findings_begin(f, at);
	if (whole - top > MAX_HASHES)
		return false;
	for (labels = whole; !n; labels--) {
		uint8_t *h = hash[labels % 2];

		nsec3_hash(dname_suffix(name, labels), salt, facts->iterations, h);
		n = nsec_ranges_match_nsec3(c->ranges, at, h, a);
		if (n || labels == top)
			break;
	}
	if (!n)
		return false;
	found(f, n);
	if (labels == whole)
		return true;
	f->encloser = labels;
	f->closer = nsec_ranges_find_nsec3(c->ranges, at, hash[(labels + 1) % 2], a);
	if (!f->closer)
		return false;
	found(f, f->closer);
	if (wildcard_at(name, labels, wildcard)) {
		nsec3_hash(wildcard, salt, facts->iterations, hash[0]);
		n = nsec_ranges_find_nsec3(c->ranges, at, hash[0], a);
		if (n)
			found(f, n);
	}
	return true;
}

/* ---- answers ---- */

/* A copy that expires no later than the proof it belongs to, and was never to live longer than that. */
static struct rrset *ending(const struct rrset *set, uint32_t ends_s, uint32_t whole_s,
			    struct arena *a)
{
	struct rrset *s = rrset_copy(a, set);

	if (time_is_past(s->expires_s, ends_s))
		s->expires_s = ends_s;
	s->ttl_s = MIN(s->ttl_s, whole_s);
	return s;
}

static struct message *message_new(const struct aggressive_ask *ask, enum rcode rcode)
{
	struct message *m = arena_new(ask->arena, struct message);

	m->q = *ask->q;
	m->flags = FLAG_QR;
	m->rcode = (uint16_t)rcode;
	m->security = SECURITY_SECURE;
	m->sets = arena_array(ask->arena, const struct rrset *, 5);
	return m;
}

/* The zone's SOA, with its TTL limited to that of a negative answer; or NULL. */
static const struct rrset *soa_for(struct aggressive *c, const struct nsec_ranges_at *at,
				   const struct aggressive_ask *ask)
{
	const struct rrset *soa = nsec_ranges_find_soa(c->ranges, at, ask->arena);

	if (soa)
		return soa;
	soa = rrsetcache_find(ask->rrsets, at->zone, TYPE_SOA, at->class_, 0, at->now_s);
	if (!soa || soa->security != SECURITY_SECURE || !soa->count || !is_own(soa, at->zone))
		return NULL;
	return ending(soa, at->now_s + soa_most(soa, at->now_s), soa_most(soa, birth_of(soa)), ask->arena);
}

static struct message *deny(struct aggressive *c, const struct nsec_ranges_at *at,
			    const struct aggressive_ask *ask, const struct findings *f,
			    enum rcode rcode)
{
	const struct rrset *soa = soa_for(c, at, ask);
	struct message *m;
	struct rrset *copy;
	unsigned count = 0;

	if (!soa || time_is_past(at->now_s, soa->expires_s))
		return NULL;
	m = message_new(ask, rcode);
	for (unsigned i = 0; i < f->count; i++)
		m->sets[count++] = f->sets[i];
	copy = ending(soa, f->ends_s, f->whole_s, ask->arena);
	copy->flags |= RRSET_SOA_NEGATIVE;
	m->sets[count++] = copy;
	m->count[SECTION_AUTHORITY] = (uint16_t)count;
	return m;
}

static bool is_plain_type(uint16_t type)
{
	return type != 0 && type != TYPE_OPT && (type < 128 || type > 255);
}

static const struct rrset *wildcard_set(const struct nsec_ranges_at *at, const struct aggressive_ask *ask,
					const uint8_t *wildcard, uint16_t type)
{
	const struct rrset *set =
		rrsetcache_find(ask->rrsets, wildcard, type, at->class_, 0, at->now_s);

	return set && set->security == SECURITY_SECURE && set->count && is_own(set, at->zone)
		       ? set
		       : NULL;
}

/* A wildcard answer: the next closer name is denied, and the wildcard's records are cached. */
static struct message *expand(const struct nsec_ranges_at *at, const struct aggressive_ask *ask,
			      const struct findings *f)
{
	uint8_t wildcard[DNAME_MAX];
	const struct rrset *set;
	struct message *m;

	if (!f->closer || ask->q->type == TYPE_DS || rr_flags(ask->q->type) & RR_BESIDE ||
	    denial_of_closer(&f->evidence, ask->q->name, f->encloser) != DENIAL_PROVEN ||
	    !wildcard_at(ask->q->name, f->encloser, wildcard))
		return NULL;
	set = wildcard_set(at, ask, wildcard, ask->q->type);
	if (!set)
		set = wildcard_set(at, ask, wildcard, TYPE_CNAME);
	if (!set)
		return NULL;
	m = message_new(ask, RCODE_NOERROR);
	set = standing_at(set, ask->q->name, ask->arena);
	m->sets[0] = ending(set, f->closer->expires_s, f->closer->ttl_s, ask->arena);
	m->sets[1] = f->closer;
	m->count[SECTION_ANSWER] = 1;
	m->count[SECTION_AUTHORITY] = 1;
	return m;
}

static struct message *conclude(struct aggressive *c, const struct nsec_ranges_at *at,
				const struct aggressive_ask *ask, const struct findings *f)
{
	const struct question *q = ask->q;

	if (denial_of_name(&f->evidence, q->name) == DENIAL_PROVEN)
		return deny(c, at, ask, f, RCODE_NXDOMAIN);
	if (!is_plain_type(q->type))
		return NULL;
	if (denial_of_type(&f->evidence, q->name, q->type) == DENIAL_PROVEN)
		return deny(c, at, ask, f, RCODE_NOERROR);
	return expand(at, ask, f);
}

/* With Opt-Out, a covering NSEC3 record does not prove that a name does not exist: only DS queries
 * and the apex are answered. */
static bool may_hash(const struct nsec_ranges_at *at, const struct nsec_ranges_facts *facts,
		     const struct question *q)
{
	return facts->has_nsec3 &&
	       (!facts->opts_out || q->type == TYPE_DS || dname_equals(q->name, at->zone));
}

static struct message *answer_from(struct aggressive *c, const struct nsec_ranges_at *at,
				   const struct nsec_ranges_facts *facts, const struct aggressive_ask *ask)
{
	struct message *m = NULL;
	struct findings f;

	if (facts->has_nsec) {
		look_by_name(c, at, ask->q->name, ask->arena, &f);
		m = conclude(c, at, ask, &f);
	}
	if (!m && may_hash(at, facts, ask->q) &&
	    look_by_hash(c, at, facts, ask->q->name, ask->arena, &f))
		m = conclude(c, at, ask, &f);
	return m;
}

struct message *aggressive_answer(struct aggressive *c, const struct aggressive_ask *ask)
{
	const struct question *q = ask->q;
	const uint8_t *zone = q->type == TYPE_DS ? dname_parent(q->name) : q->name;
	struct nsec_ranges_facts facts;

	/* What the closest known zone cannot answer, no zone above it can. */
	for (; dname_is_under(zone, ask->within); zone = dname_parent(zone)) {
		struct nsec_ranges_at at = { .zone = zone, .class_ = q->class_, .now_s = ask->now_s };

		at.no_opt_out = q->type != TYPE_DS && !dname_equals(zone, q->name);
		if (nsec_ranges_know(c->ranges, &at, &facts))
			return answer_from(c, &at, &facts, ask);
		if (dname_is_root(zone))
			break;
	}
	return NULL;
}

static struct aggressive_cut cut_of(const struct nsec_ranges_at *at, const struct findings *f,
				  const uint8_t *name)
{
	enum denial_cut cut = denial_of_ds(&f->evidence, name);

	if (cut == CUT_NONE && f->closer)
		cut = CUT_UNKNOWN;
	return (struct aggressive_cut){ .cut = cut, .ttl_s = time_left(at->now_s, f->ends_s) };
}

struct aggressive_cut aggressive_ds(struct aggressive *c, const uint8_t *zone, const uint8_t *name,
				uint16_t class_, uint32_t now_s)
{
	struct nsec_ranges_at at = { .zone = zone, .class_ = class_, .now_s = now_s };
	struct aggressive_cut known = { .cut = CUT_UNKNOWN };
	struct nsec_ranges_facts facts;
	struct findings f;
	struct arena a;

	if (!dname_is_strictly_under(name, zone) || !nsec_ranges_know(c->ranges, &at, &facts))
		return known;
	arena_init(&a);
	if (facts.has_nsec) {
		look_by_name(c, &at, name, &a, &f);
		known = cut_of(&at, &f, name);
	}
	if (known.cut == CUT_UNKNOWN && facts.has_nsec3 &&
	    look_by_hash(c, &at, &facts, name, &a, &f))
		known = cut_of(&at, &f, name);
	arena_clear(&a);
	return known;
}
