/* What NSEC and NSEC3 records prove: pure functions, no cache, no network.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/dns/denial.h"

#include "util/dns/dname.h"
#include "util/dns/rr.h"

/* ---- one NSEC record ---- */

bool nsec_is_sound(const struct rrset *nsec, const uint8_t *zone)
{
	struct slice rd;
	size_t len;

	if (nsec->type != TYPE_NSEC || nsec->count != 1 || !dname_is_under(rrset_owner(nsec), zone))
		return false;
	rd = rrset_record(nsec, 0);
	len = dname_measure(rd.at, rd.at + rd.len);
	if (len == 0 || !dname_is_under(rd.at, zone) ||
	    !types_are_sound((struct slice){ rd.at + len, rd.len - len }))
		return false;
	/* Only the last NSEC of a zone points backwards, and it points to the apex. */
	return dname_compare(rrset_owner(nsec), rd.at) < 0 || dname_equals(rd.at, zone);
}

const uint8_t *nsec_next(const struct rrset *nsec)
{
	return rrset_record(nsec, 0).at;
}

/* The types present at a name, from either kind of record. */
struct types {
	struct slice bitmap;
};

static struct types types_of_nsec(const struct rrset *nsec)
{
	struct slice rd = rrset_record(nsec, 0);
	size_t len = dname_len(rd.at);

	return (struct types){ { rd.at + len, rd.len - len } };
}

static bool has(struct types t, uint16_t type)
{
	return types_hold(t.bitmap, type);
}

/* From the parent's side of a zone cut: the zone's authority ends there. */
static bool is_delegation(struct types t)
{
	return has(t, TYPE_NS) && !has(t, TYPE_SOA);
}

/* Below such a name this zone can deny nothing (RFC 6840 4.1, 5155 8.3). */
static bool says_nothing_below(struct types t)
{
	return is_delegation(t) || has(t, TYPE_DNAME);
}

bool nsec_covers(const struct rrset *nsec, const uint8_t *zone, const uint8_t *name)
{
	const uint8_t *owner = rrset_owner(nsec), *next = nsec_next(nsec);

	if (!dname_is_under(name, zone) || dname_compare(owner, name) >= 0)
		return false;
	if (dname_is_under(name, owner) && says_nothing_below(types_of_nsec(nsec)))
		return false;
	return dname_equals(next, zone) || dname_compare(name, next) < 0;
}

bool nsec_shows_ent(const struct rrset *nsec, const uint8_t *zone, const uint8_t *name)
{
	return nsec_covers(nsec, zone, name) && dname_is_strictly_under(nsec_next(nsec), name);
}

unsigned nsec_closest_encloser(const struct rrset *nsec, const uint8_t *name)
{
	unsigned by_owner = dname_common(rrset_owner(nsec), name);
	unsigned by_next = dname_common(nsec_next(nsec), name);

	return MAX(by_owner, by_next);
}

/* ---- evidence ---- */

void denial_begin(struct denial_evidence *e, const uint8_t *zone, unsigned max_iterations,
		  int *hashes)
{
	e->zone = zone;
	e->nsec_count = e->nsec3_count = 0;
	e->max_iterations = max_iterations;
	e->hashes = hashes;
}

static bool same_parameters(const struct nsec3 *a, const struct nsec3 *b)
{
	return a->iterations == b->iterations && a->salt.len == b->salt.len &&
	       memcmp(a->salt.at, b->salt.at, a->salt.len) == 0;
}

bool denial_add(struct denial_evidence *e, const struct rrset *set)
{
	if (set->type == TYPE_NSEC3 && e->nsec3_count < DENIAL_SETS) {
		struct nsec3 *n = &e->nsec3[e->nsec3_count];

		if (!nsec3_read(set, e->zone, n) ||
		    (e->nsec3_count && !same_parameters(&e->nsec3[0], n)))
			return false;
		e->nsec3_count++;
		return true;
	}
	if (set->type == TYPE_NSEC && e->nsec_count < DENIAL_SETS && nsec_is_sound(set, e->zone)) {
		e->nsec[e->nsec_count++] = set;
		return true;
	}
	return false;
}

/* "*." in front of the last `labels` labels of the name; false when that is too long for a name. */
static bool wildcard_at(const uint8_t *name, unsigned labels, uint8_t to[DNAME_MAX])
{
	return dname_join(to, (const uint8_t *)"\1*", 2, dname_suffix(name, labels)) != 0;
}

/* Whether the types at a name exclude `qtype`: neither it nor CNAME is present, and the record is
 * from the side of the zone cut where that type would be (RFC 4035 5.2, 6840 4.1). */
static bool denies_type(struct types t, const uint8_t *owner, uint16_t qtype)
{
	if (has(t, qtype) || has(t, TYPE_CNAME))
		return false;
	if (qtype == TYPE_ANY)
		return !types_hold_data(t.bitmap);
	if (qtype == TYPE_DS)
		return !has(t, TYPE_SOA) || dname_is_root(owner);
	return !is_delegation(t);
}

/* ---- NSEC ---- */

static const struct rrset *nsec_at(const struct denial_evidence *e, const uint8_t *name)
{
	for (unsigned i = 0; i < e->nsec_count; i++)
		if (dname_equals(rrset_owner(e->nsec[i]), name))
			return e->nsec[i];
	return NULL;
}

static const struct rrset *nsec_over(const struct denial_evidence *e, const uint8_t *name)
{
	for (unsigned i = 0; i < e->nsec_count; i++)
		if (nsec_covers(e->nsec[i], e->zone, name))
			return e->nsec[i];
	return NULL;
}

/* The record proving that the name neither exists nor is an empty non-terminal. */
static const struct rrset *nsec_against(const struct denial_evidence *e, const uint8_t *name)
{
	const struct rrset *n = nsec_over(e, name);

	return n && !nsec_shows_ent(n, e->zone, name) ? n : NULL;
}

static bool nsec_denies_name(const struct denial_evidence *e, const uint8_t *qname)
{
	const struct rrset *n = nsec_against(e, qname);
	uint8_t wildcard[DNAME_MAX];

	if (!n || nsec_at(e, qname))
		return false;
	/* A wildcard too long to be a name cannot exist. */
	return !wildcard_at(qname, nsec_closest_encloser(n, qname), wildcard) ||
	       nsec_against(e, wildcard);
}

static bool nsec_denies_type(const struct denial_evidence *e, const uint8_t *qname, uint16_t qtype)
{
	const struct rrset *n = nsec_at(e, qname);
	uint8_t wildcard[DNAME_MAX];

	if (n)
		return denies_type(types_of_nsec(n), qname, qtype);
	n = nsec_over(e, qname);
	if (!n)
		return false;
	if (nsec_shows_ent(n, e->zone, qname))
		return true;
	if (!wildcard_at(qname, nsec_closest_encloser(n, qname), wildcard))
		return false;
	n = nsec_at(e, wildcard);
	if (n)
		return denies_type(types_of_nsec(n), wildcard, qtype);
	n = nsec_over(e, wildcard);
	return n && nsec_shows_ent(n, e->zone, wildcard);
}

static bool nsec_denies_closer(const struct denial_evidence *e, const uint8_t *qname,
			       unsigned labels)
{
	const struct rrset *n = nsec_against(e, qname);

	return n && nsec_closest_encloser(n, qname) == labels;
}

/* What kind of cut is at a name without DS, for either kind of record. */
static enum denial_cut cut_of_types(struct types t)
{
	if (has(t, TYPE_DS) || has(t, TYPE_SOA))
		return CUT_UNKNOWN;
	if (!has(t, TYPE_NS))
		return CUT_NONE;
	return has(t, TYPE_CNAME) ? CUT_UNKNOWN : CUT_INSECURE; /* RFC 6840 4.3 */
}

static enum denial_cut nsec_cut(const struct denial_evidence *e, const uint8_t *name)
{
	const struct rrset *n = nsec_at(e, name);

	if (n)
		return cut_of_types(types_of_nsec(n));
	return nsec_over(e, name) ? CUT_NONE : CUT_UNKNOWN;
}

/* ---- NSEC3 ---- */

static bool hash_name(const struct denial_evidence *e, const uint8_t *name, uint8_t *out)
{
	const struct nsec3 *n = &e->nsec3[0];
	int cost = nsec3_cost(n->iterations);

	if (e->hashes) {
		if (*e->hashes < cost)
			return false;
		*e->hashes -= cost;
	}
	nsec3_hash(name, n->salt, n->iterations, out);
	return true;
}

static const struct nsec3 *nsec3_at(const struct denial_evidence *e, const uint8_t *hash)
{
	for (unsigned i = 0; i < e->nsec3_count; i++)
		if (memcmp(e->nsec3[i].owner, hash, NSEC3_HASH_LEN) == 0)
			return &e->nsec3[i];
	return NULL;
}

static const struct nsec3 *nsec3_over(const struct denial_evidence *e, const uint8_t *hash)
{
	for (unsigned i = 0; i < e->nsec3_count; i++)
		if (nsec3_covers(&e->nsec3[i], hash))
			return &e->nsec3[i];
	return NULL;
}

static struct types types_of_nsec3(const struct nsec3 *n)
{
	return (struct types){ n->types };
}

/* RFC 5155 8.3: the closest encloser, and the next closer name, which does not exist. */
struct encloser {
	const struct nsec3 *exact; /* qname itself exists, and the rest is unset */
	const struct nsec3 *over;  /* covers the next closer name */
	unsigned labels;           /* of the closest encloser */
};

static enum denial find_encloser(const struct denial_evidence *e, const uint8_t *qname,
				 struct encloser *out)
{
	unsigned top = dname_labels(e->zone), whole = dname_labels(qname);
	uint8_t hash[2][NSEC3_HASH_LEN] = { { 0 } };

	*out = (struct encloser){ .labels = whole };
	if (!dname_is_under(qname, e->zone))
		return DENIAL_NONE;
	if (e->nsec3[0].iterations > e->max_iterations)
		return DENIAL_COSTLY;
	for (unsigned labels = whole; labels + 1 > top; labels--) {
		uint8_t *now = hash[labels % 2], *longer = hash[(labels + 1) % 2];
		const struct nsec3 *at;

		if (!hash_name(e, dname_suffix(qname, labels), now))
			return DENIAL_EXHAUSTED;
		at = nsec3_at(e, now);
		if (!at)
			continue;
		if (labels == whole) {
			out->exact = at;
			return DENIAL_PROVEN;
		}
		if (says_nothing_below(types_of_nsec3(at)))
			return DENIAL_NONE;
		out->labels = labels;
		out->over = nsec3_over(e, longer);
		return out->over ? DENIAL_PROVEN : DENIAL_NONE;
	}
	return DENIAL_NONE;
}

/* What is proven by a record whose span may contain unsigned delegations (RFC 5155 6). */
static enum denial as_far_as(const struct nsec3 *over)
{
	return over->flags & NSEC3_OPTOUT ? DENIAL_INSECURE : DENIAL_PROVEN;
}

static struct denial_both nsec3_denies(const struct denial_evidence *e, const uint8_t *qname, uint16_t qtype)
{
	uint8_t wildcard[DNAME_MAX], hash[NSEC3_HASH_LEN];
	struct denial_both both = { DENIAL_NONE, DENIAL_NONE };
	const struct nsec3 *at;
	struct encloser ce;
	enum denial d = find_encloser(e, qname, &ce);

	if (d != DENIAL_PROVEN)
		return (struct denial_both){ d, d };
	if (ce.exact) {
		if (denies_type(types_of_nsec3(ce.exact), qname, qtype))
			both.type = DENIAL_PROVEN;
		return both;
	}
	/* The span may hide unsigned delegations, and ENTs above them (RFC 5155 7.1). */
	if (ce.over->flags & NSEC3_OPTOUT)
		both.type = DENIAL_INSECURE;
	if (!wildcard_at(qname, ce.labels, wildcard)) {
		both.name = as_far_as(ce.over); /* a wildcard too long to be a name cannot exist */
		return both;
	}
	if (!hash_name(e, wildcard, hash)) {
		both.name = DENIAL_EXHAUSTED;
		both.type = both.type == DENIAL_NONE ? DENIAL_EXHAUSTED : both.type;
		return both;
	}
	if (nsec3_over(e, hash))
		both.name = as_far_as(ce.over);
	at = nsec3_at(e, hash);
	if (both.type == DENIAL_NONE && at && denies_type(types_of_nsec3(at), wildcard, qtype))
		both.type = DENIAL_PROVEN;
	return both;
}

static enum denial nsec3_denies_closer(const struct denial_evidence *e, const uint8_t *qname,
				       unsigned labels)
{
	uint8_t hash[NSEC3_HASH_LEN];
	const struct nsec3 *over;

	if (e->nsec3[0].iterations > e->max_iterations)
		return DENIAL_COSTLY;
	if (!hash_name(e, dname_suffix(qname, labels + 1), hash))
		return DENIAL_EXHAUSTED;
	over = nsec3_over(e, hash);
	return over ? as_far_as(over) : DENIAL_NONE;
}

static enum denial_cut nsec3_cut(const struct denial_evidence *e, const uint8_t *name)
{
	struct encloser ce;

	switch (find_encloser(e, name, &ce)) {
	case DENIAL_PROVEN:
		if (ce.exact)
			return cut_of_types(types_of_nsec3(ce.exact));
		return ce.over->flags & NSEC3_OPTOUT ? CUT_OPTOUT : CUT_NONE;
	case DENIAL_COSTLY:
		return CUT_COSTLY;
	case DENIAL_EXHAUSTED:
		return CUT_EXHAUSTED;
	case DENIAL_NONE:
	case DENIAL_INSECURE:
		break;
	}
	return CUT_UNKNOWN;
}

/* ---- both ---- */

struct denial_both denial_of_both(const struct denial_evidence *e, const uint8_t *qname, uint16_t qtype)
{
	struct denial_both both = {
		.name = nsec_denies_name(e, qname) ? DENIAL_PROVEN : DENIAL_NONE,
		.type = nsec_denies_type(e, qname, qtype) ? DENIAL_PROVEN : DENIAL_NONE,
	};

	if (both.name == DENIAL_PROVEN || both.type == DENIAL_PROVEN || !e->nsec3_count)
		return both;
	return nsec3_denies(e, qname, qtype);
}

enum denial denial_of_name(const struct denial_evidence *e, const uint8_t *qname)
{
	if (nsec_denies_name(e, qname))
		return DENIAL_PROVEN;
	return e->nsec3_count ? nsec3_denies(e, qname, 0).name : DENIAL_NONE;
}

enum denial denial_of_type(const struct denial_evidence *e, const uint8_t *qname, uint16_t qtype)
{
	if (nsec_denies_type(e, qname, qtype))
		return DENIAL_PROVEN;
	return e->nsec3_count ? nsec3_denies(e, qname, qtype).type : DENIAL_NONE;
}

enum denial denial_of_closer(const struct denial_evidence *e, const uint8_t *qname, unsigned labels)
{
	if (!dname_is_under(qname, e->zone) || labels < dname_labels(e->zone) ||
	    labels >= dname_labels(qname))
		return DENIAL_NONE;
	if (nsec_denies_closer(e, qname, labels))
		return DENIAL_PROVEN;
	return e->nsec3_count ? nsec3_denies_closer(e, qname, labels) : DENIAL_NONE;
}

enum denial_cut denial_of_ds(const struct denial_evidence *e, const uint8_t *name)
{
	enum denial_cut cut;

	if (!dname_is_strictly_under(name, e->zone))
		return CUT_UNKNOWN;
	cut = nsec_cut(e, name);
	return cut == CUT_UNKNOWN && e->nsec3_count ? nsec3_cut(e, name) : cut;
}
