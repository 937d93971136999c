/* How a zone answers a query (RFC 1034 4.3.2, RFC 4035 3.1, RFC 5155 7.2).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/authzone/answer.h"

#include "services/authzone/data.h"
#include "util/base/arena.h"
#include "util/dns/rr.h"

#define SETS_MAX    64 /* in one section */
#define ALIASES_MAX 11

struct fill {
	const struct zonedata *z;
	const struct question *q;
	struct arena *a;
	struct message *m;
	const uint8_t *name; /* after the aliases followed so far */
	const struct rrset *sets[3][SETS_MAX];
	unsigned aliases;
};

/* ---- adding RRsets ---- */

static bool has(const struct fill *f, enum section s, const struct rrset *set)
{
	for (unsigned i = 0; i < f->m->count[s]; i++)
		if (f->sets[s][i] == set)
			return true;
	return false;
}

static void add(struct fill *f, enum section s, const struct rrset *set)
{
	if (!set || f->m->count[s] == SETS_MAX || has(f, s, set))
		return;
	f->sets[s][f->m->count[s]++] = set;
}

/* A wildcard's records and signatures, with the name asked for as their owner. */
static const struct rrset *expanded(const struct fill *f, const struct rrset *set)
{
	struct rrset_parts parts = { .owner = f->name,
				     .type = set->type,
				     .class_ = set->class_,
				     .ttl_s = set->ttl_s,
				     .expires_s = set->ttl_s,
				     .count = set->count,
				     .sig_count = set->sig_count,
				     .trust = set->trust };
	struct slice *all = arena_array(f->a, struct slice, set->count + set->sig_count + 1u);
	struct rrset_walk w = rrset_records(set);
	unsigned n = 0;

	while (rrset_next(&w, &all[n]))
		n++;
	w = rrset_sigs(set);
	while (rrset_next(&w, &all[n]))
		n++;
	parts.records = all;
	parts.sigs = all + set->count;
	return rrset_build(f->a, &parts);
}

static const struct rrset *face(const struct fill *f, const struct rrset *set)
{
	return dname_equals(rrset_owner(set), f->name) ? set : expanded(f, set);
}

/* RFC 2308 3: the TTL of a negative answer is at most the SOA's MINIMUM field. */
static void add_soa(struct fill *f)
{
	const struct zonedata *z = f->z;
	const struct rrset *soa = z->soa;

	if (!soa)
		return; /* a policy zone may lack one */
	if (z->minimum_s < soa->ttl_s) {
		struct rrset *mine = rrset_copy(f->a, soa);

		mine->ttl_s = mine->expires_s = z->minimum_s;
		soa = mine;
	}
	add(f, SECTION_AUTHORITY, soa);
}

static void add_addresses(struct fill *f, const uint8_t *name)
{
	const struct zonenode *n;

	if (!dname_is_under(name, f->z->apex) || !(n = zonedata_node(f->z, name)))
		return;
	add(f, SECTION_ADDITIONAL, zonenode_set(n, TYPE_A));
	add(f, SECTION_ADDITIONAL, zonenode_set(n, TYPE_AAAA));
}

static void add_hosts(struct fill *f, const struct rrset *set)
{
	struct rrset_walk w = rrset_records(set);
	struct slice rd;

	if (set->type != TYPE_NS && set->type != TYPE_MX && set->type != TYPE_SRV)
		return;
	while (f->m->count[SECTION_ADDITIONAL] < SETS_MAX && rrset_next(&w, &rd)) {
		const uint8_t *host = rr_rdata_name(set->type, rd.at, rd.len);

		if (host)
			add_addresses(f, host);
	}
}

/* ---- proofs ---- */

/* The closest encloser of `name`. */
static const uint8_t *encloser(const struct zonedata *z, const uint8_t *name)
{
	while (dname_labels(name) > z->apex_labels && !zonedata_exists(z, name))
		name = dname_parent(name);
	return name;
}

static const uint8_t *one_label_longer(const uint8_t *name, const uint8_t *above)
{
	while (!dname_equals(dname_parent(name), above))
		name = dname_parent(name);
	return name;
}

/* The closest provable encloser (RFC 5155 7.2.1): its NSEC3 record must match, which with Opt-Out
 * an unsigned name need not have. `*proof` is that record, or NULL. */
static const uint8_t *hashed_encloser(const struct zonedata *z, const uint8_t *name,
				      const struct rrset **proof)
{
	bool matches;

	for (name = encloser(z, name);; name = dname_parent(name)) {
		*proof = zonedata_nsec3(z, name, &matches);
		if (matches)
			return name;
		*proof = NULL;
		if (dname_labels(name) <= z->apex_labels)
			return name;
	}
}

static void add_hash_cover(struct fill *f, const uint8_t *name)
{
	bool matches;
	const struct rrset *set = zonedata_nsec3(f->z, name, &matches);

	if (!matches)
		add(f, SECTION_AUTHORITY, set);
}

static void add_wildcard_cover(struct fill *f, const uint8_t *above, bool hashed)
{
	uint8_t star[DNAME_MAX];

	if (dname_join(star, (const uint8_t *)"\1*", 2, above) == 0)
		return;
	if (hashed)
		add_hash_cover(f, star);
	else
		add(f, SECTION_AUTHORITY, zonedata_nsec(f->z, star));
}

/* That `name` lacks the type: its own record, or with Opt-Out a closest encloser proof. */
static void prove_nodata(struct fill *f, const uint8_t *name)
{
	const struct zonedata *z = f->z;
	const struct zonenode *n = zonedata_node(z, name);
	const struct rrset *set = zonenode_set(n, TYPE_NSEC);
	bool matches;

	if (set || z->hash_count == 0) {
		add(f, SECTION_AUTHORITY, set ? set : zonedata_nsec(z, name));
		return;
	}
	set = zonedata_nsec3(z, name, &matches);
	if (!matches) {
		const uint8_t *above = dname_labels(name) > z->apex_labels ?
					       hashed_encloser(z, dname_parent(name), &set) :
					       name;

		add(f, SECTION_AUTHORITY, matches ? NULL : set);
		if (above != name)
			add_hash_cover(f, one_label_longer(name, above));
		return;
	}
	add(f, SECTION_AUTHORITY, set);
}

/* That f->name itself does not exist and is rightly expanded from the wildcard below `above`. */
static void prove_expansion(struct fill *f, const uint8_t *above, bool with_encloser)
{
	const struct rrset *set;
	bool matches;

	if (f->z->hash_count == 0) {
		add(f, SECTION_AUTHORITY, zonedata_nsec(f->z, f->name));
		return;
	}
	if (with_encloser) {
		set = zonedata_nsec3(f->z, above, &matches);
		add(f, SECTION_AUTHORITY, matches ? set : NULL);
	}
	add_hash_cover(f, one_label_longer(f->name, above));
}

static void prove_nxdomain(struct fill *f, const uint8_t *above)
{
	const struct rrset *set;

	if (f->z->hash_count == 0) {
		add(f, SECTION_AUTHORITY, zonedata_nsec(f->z, f->name));
		add_wildcard_cover(f, above, false);
		return;
	}
	above = hashed_encloser(f->z, above, &set);
	add(f, SECTION_AUTHORITY, set);
	add_hash_cover(f, one_label_longer(f->name, above));
	add_wildcard_cover(f, above, true);
}

/* ---- building the answer ---- */

static void refer(struct fill *f, const struct zonenode *cut)
{
	const struct rrset *ns = zonenode_set(cut, TYPE_NS), *ds = zonenode_set(cut, TYPE_DS);

	if (f->aliases)
		return; /* the resolver asks for the target itself */
	f->m->flags &= (uint16_t)~FLAG_AA;
	add(f, SECTION_AUTHORITY, ns);
	add(f, SECTION_AUTHORITY, ds);
	if (!ds)
		prove_nodata(f, cut->name);
	add_hosts(f, ns);
}

/* True: go on at the new f->name, which is within the zone. */
static bool follow(struct fill *f, const uint8_t *target)
{
	f->name = target;
	return ++f->aliases <= ALIASES_MAX && dname_is_under(target, f->z->apex);
}

static bool take_alias(struct fill *f, const struct rrset *set)
{
	add(f, SECTION_ANSWER, set);
	return follow(f, rrset_target(set, 0));
}

static bool take_dname(struct fill *f, const struct rrset *dname)
{
	uint8_t *target = arena_take(f->a, DNAME_MAX);
	struct slice record = { .at = target };
	const struct rrset *alias;

	add(f, SECTION_ANSWER, dname);
	record.len = dname_transplant(target, f->name, rrset_owner(dname), rrset_target(dname, 0));
	if (record.len == 0) {
		f->m->rcode = RCODE_YXDOMAIN;
		return false;
	}
	alias = rrset_build(f->a, &(struct rrset_parts){ .owner = f->name,
							 .type = TYPE_CNAME,
							 .class_ = CLASS_IN,
							 .ttl_s = dname->ttl_s,
							 .expires_s = dname->ttl_s,
							 .records = &record,
							 .count = 1,
							 .trust = dname->trust });
	if (f->q->type == TYPE_CNAME || f->q->type == TYPE_ANY) {
		add(f, SECTION_ANSWER, alias); /* is what was asked for, wherever it leads */
		return false;
	}
	return take_alias(f, alias);
}

static struct rrset_walk signatures_of(const struct rrset *set)
{
	return set->type == TYPE_RRSIG ? rrset_records(set) : rrset_sigs(set);
}

/* All signatures at a node, which are kept with the sets they cover; NULL: there are none. */
static const struct rrset *signatures(const struct fill *f, const struct zonenode *n)
{
	struct rrset_parts parts = { .owner = n->name,
				     .type = TYPE_RRSIG,
				     .class_ = CLASS_IN,
				     .ttl_s = UINT32_MAX,
				     .trust = TRUST_PRIMARY };
	size_t most = 0;
	struct slice *all;

	for (uint32_t i = 0; i < n->count; i++)
		most += signatures_of(n->sets[i]).left;
	if (most == 0)
		return NULL;
	most = MIN(most, (size_t)UINT16_MAX);
	parts.records = all = arena_array(f->a, struct slice, most);
	for (uint32_t i = 0; i < n->count; i++) {
		struct rrset_walk w = signatures_of(n->sets[i]);

		if (w.left)
			parts.ttl_s = MIN(parts.ttl_s, n->sets[i]->ttl_s);
		while (parts.count < most && rrset_next(&w, &all[parts.count]))
			parts.count++;
	}
	parts.expires_s = parts.ttl_s;
	return rrset_build(f->a, &parts);
}

static const struct rrset *set_of(const struct fill *f, const struct zonenode *n)
{
	switch (f->q->type) {
	case TYPE_ANY:
		return NULL;
	case TYPE_RRSIG:
		return signatures(f, n);
	default:
		return zonenode_set(n, f->q->type);
	}
}

/* Answer from a node; `above` is set when the node is the wildcard below that name. */
static bool take_node(struct fill *f, const struct zonenode *n, const uint8_t *above)
{
	uint16_t type = f->q->type;
	const struct rrset *set = set_of(f, n);
	bool more = false;

	if (set) {
		add(f, SECTION_ANSWER, face(f, set));
		add_hosts(f, set);
	} else if (type == TYPE_ANY && n->count) {
		for (uint32_t i = 0; i < n->count; i++)
			add(f, SECTION_ANSWER, face(f, n->sets[i]));
	} else if ((set = zonenode_set(n, TYPE_CNAME))) {
		const uint8_t *was = f->name;

		more = take_alias(f, face(f, set));
		if (above) {
			const uint8_t *target = f->name;

			f->name = was;
			prove_expansion(f, above, false);
			f->name = target;
		}
		return more;
	} else {
		add_soa(f);
		prove_nodata(f, n->name);
		if (above)
			prove_expansion(f, above, true);
		return false;
	}
	if (above)
		prove_expansion(f, above, false);
	return false;
}

/* There is nothing at f->name, below `above`: a wildcard answers for it, be it one without records
 * (RFC 4592 2.2.2, 3.3.1), or nobody does. */
static bool take_nothing(struct fill *f, const uint8_t *above)
{
	uint8_t star[DNAME_MAX] = { 0 };
	const struct zonenode *n = NULL;

	if (dname_join(star, (const uint8_t *)"\1*", 2, above))
		n = zonedata_node(f->z, star);
	if (n)
		return take_node(f, n, above);
	if (*star && zonedata_exists(f->z, star)) {
		add_soa(f);
		prove_nodata(f, star);
		prove_expansion(f, above, true);
		return false;
	}
	f->m->rcode = RCODE_NXDOMAIN;
	add_soa(f);
	prove_nxdomain(f, above);
	return false;
}

/* One pass from the apex down to f->name. True: an alias leads on within the zone. */
static bool walk(struct fill *f)
{
	const struct zonedata *z = f->z;
	unsigned labels = dname_labels(f->name);
	const uint8_t *above = z->apex;

	for (unsigned i = z->apex_labels; i <= labels; i++) {
		const uint8_t *at = dname_suffix(f->name, i);
		const struct zonenode *n = zonedata_node(z, at);
		const struct rrset *set;

		if (!n && !zonedata_exists(z, at) && i > z->apex_labels)
			return take_nothing(f, above);
		above = at;
		if (!n)
			continue;
		if (i > z->apex_labels && zonenode_set(n, TYPE_NS) &&
		    !(i == labels && f->q->type == TYPE_DS)) {
			refer(f, n);
			return false;
		}
		if (i < labels && (set = zonenode_set(n, TYPE_DNAME)))
			return take_dname(f, set);
		if (i == labels)
			return take_node(f, n, NULL);
	}
	add_soa(f);
	prove_nodata(f, f->name);
	return false;
}

void zonedata_answer(const struct zonedata *z, const struct question *q, struct arena *a,
		     struct message *out)
{
	struct fill *f = arena_new(a, struct fill);
	unsigned count = 0;

	*out = (struct message){ .flags = FLAG_QR | FLAG_AA, .q = *q };
	*f = (struct fill){ .z = z, .q = q, .a = a, .m = out, .name = q->name };
	while (walk(f) && f->aliases <= ALIASES_MAX)
		;
	out->sets = arena_array(a, const struct rrset *,
				out->count[0] + out->count[1] + out->count[2] + 1u);
	for (unsigned s = 0; s < 3; s++)
		for (unsigned i = 0; i < out->count[s]; i++)
			out->sets[count++] = f->sets[s][i];
}
