/* A verified RRset: what its signature says of it, and the copy that may be kept.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/cache/verified_private.h"

#include "util/base/arena.h"
#include "util/base/timebase.h"
#include "util/dns/dname.h"

#define RRSIG_LABELS 3  /* offsets in the RDATA (RFC 4034 3.1) */
#define RRSIG_SIGNER 18

const struct verified *verified_new(struct arena *a, const struct verified *v)
{
	return arena_copy(a, v, sizeof(*v));
}

const struct rrset *verified_set(const struct verified *v)
{
	return v->set;
}

const uint8_t *verified_zone(const struct verified *v)
{
	return v->zone;
}

uint16_t verified_tag(const struct verified *v)
{
	return v->tag;
}

bool verified_is_expanded(const struct verified *v)
{
	return v->expanded;
}

unsigned verified_labels(const struct verified *v)
{
	return v->labels;
}

uint32_t verified_ttl_s(const struct verified *v)
{
	return v->ttl_s;
}

/* Whether the signature may be valid, too. */
static bool may_stand(const struct verified *v, struct slice rd)
{
	return rd.len > RRSIG_SIGNER && rd.at[RRSIG_LABELS] == v->labels &&
	       dname_measure(rd.at + RRSIG_SIGNER, rd.at + rd.len) &&
	       dname_equals(rd.at + RRSIG_SIGNER, v->zone);
}

/* The RRset with only those signatures. */
static struct rrset *with_signatures(const struct verified *v, struct arena *a)
{
	const struct rrset *set = v->set;
	struct slice *records = arena_array(a, struct slice, set->count + 1u);
	struct slice *sigs = arena_array(a, struct slice, set->sig_count + 1u);
	struct rrset_walk w = rrset_sigs(set);
	struct rrset_parts p = { .owner = rrset_owner(set),
				 .type = set->type,
				 .class_ = set->class_,
				 .ttl_s = set->ttl_s,
				 .expires_s = set->expires_s,
				 .records = records,
				 .sigs = sigs,
				 .trust = set->trust,
				 .flags = set->flags };

	for (struct slice rd; rrset_next(&w, &rd);)
		if (may_stand(v, rd))
			sigs[p.sig_count++] = rd;
	if (p.sig_count == set->sig_count)
		return rrset_copy(a, set);
	w = rrset_records(set);
	for (struct slice rd; rrset_next(&w, &rd);)
		records[p.count++] = rd;
	return rrset_build(a, &p);
}

/* Marks a copy. */
static struct rrset *secured(const struct verified *v, struct rrset *set, uint32_t now_s)
{
	set->security = SECURITY_SECURE;
	set->trust = MAX(set->trust, TRUST_VALIDATED);
	if (time_left(now_s, set->expires_s) > v->ttl_s)
		set->expires_s = now_s + v->ttl_s;
	set->ttl_s = MIN(set->ttl_s, v->ttl_s); /* of a cached set more than is left */
	return set;
}

struct rrset *verified_copy(const struct verified *v, struct arena *a, uint32_t now_s)
{
	return secured(v, with_signatures(v, a), now_s);
}

struct rrset *verified_copy_made(const struct verified *dname, const struct rrset *cname, struct arena *a,
				 uint32_t now_s)
{
	struct rrset *copy = rrset_copy(a, cname);

	copy->sig_count = 0;
	return secured(dname, copy, now_s);
}
