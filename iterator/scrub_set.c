/* Reducing RRsets to what may be believed of them.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "iterator/scrub_set.h"

#include "iterator/scrub.h"
#include "services/answer/nat64.h"
#include "services/query/snapshot.h"
#include "util/base/arena.h"
#include "util/conf/options.h"
#include "util/dns/rr.h"
#include "util/names/trie.h"
#include "util/net/addr.h"

enum { SVC_IPV4HINT = 4, SVC_IPV6HINT = 6 }; /* RFC 9460 14.3.2 */

/* Whether it, or the IPv4 address that it leads to, is listed. */
static bool is_private(const struct snapshot *s, const uint8_t *at, uint8_t family)
{
	struct addr a = { .family = family }, inner;

	memcpy(a.ip, at, family == 4 ? 4 : 16);
	if (netset_find(s->private_addresses, &a))
		return true;
	return (nat64_extract(&s->nat64, &a, &inner) || addr_stands_for(&a, &inner)) &&
	       netset_find(s->private_addresses, &inner);
}

static bool hints_private(const struct snapshot *s, struct slice value, uint8_t family)
{
	size_t len = family == 4 ? 4 : 16;

	for (size_t i = 0; i + len <= value.len; i += len) {
		if (is_private(s, value.at + i, family))
			return true;
	}
	return false;
}

static bool svcb_is_private(const struct snapshot *s, struct slice rd)
{
	struct reader r = reader_over(rd.at, rd.len);
	const uint8_t *target = rr_rdata_name(TYPE_SVCB, rd.at, rd.len);

	if (target == NULL)
		return false;
	r.at = target + dname_len(target);
	while (reader_left(&r)) {
		uint16_t key = read_u16(&r);
		struct slice value = { .len = read_u16(&r) };
		value.at = read_bytes(&r, value.len);
		if (value.at == NULL)
			return false;
		if ((key == SVC_IPV4HINT && hints_private(s, value, 4)) ||
		    (key == SVC_IPV6HINT && hints_private(s, value, 6)))
			return true;
	}
	return false;
}

static bool record_is_private(const struct snapshot *s, uint16_t type, struct slice rd)
{
	switch (type) {
	case TYPE_A:
		return rd.len == 4 && is_private(s, rd.at, 4);
	case TYPE_AAAA:
		return rd.len == 16 && is_private(s, rd.at, 6);
	case TYPE_SVCB:
	case TYPE_HTTPS:
		return svcb_is_private(s, rd);
	default:
		return false;
	}
}

static bool may_be_private(const struct snapshot *s, const uint8_t *owner, uint16_t type)
{
	if (type != TYPE_A && type != TYPE_AAAA && type != TYPE_SVCB && type != TYPE_HTTPS)
		return false;
	return s->private_addresses && !(s->private_domains && trie_find_closest(s->private_domains, owner));
}

bool scrub_record_is_private(const struct snapshot *s, const uint8_t *owner, uint16_t type,
			     struct slice rd)
{
	return may_be_private(s, owner, type) && record_is_private(s, type, rd);
}

static struct rrset *rebuild(struct arena *a, const struct rrset *set, const struct slice *records,
			     size_t count, size_t sig_count)
{
	struct slice *sigs = arena_array(a, struct slice, sig_count + 1);
	struct rrset_walk w = rrset_sigs(set);

	for (size_t i = 0; i < sig_count; i++)
		rrset_next(&w, &sigs[i]);
	return rrset_build(a, &(struct rrset_parts){
				      .owner = rrset_owner(set),
				      .type = set->type,
				      .class_ = set->class_,
				      .ttl_s = set->ttl_s,
				      .expires_s = set->expires_s,
				      .records = records,
				      .count = count,
				      .sigs = sigs,
				      .sig_count = sig_count,
				      .trust = set->trust,
				      .security = set->security,
				      .flags = set->flags,
			      });
}

const struct rrset *scrub_set_clean(struct arena *a, const struct rrset *set,
				    const struct snapshot *s, bool from_outside)
{
	size_t sigs = MIN(set->sig_count, s->conf->server.iter_scrub_rrsig);
	bool suspect = from_outside && may_be_private(s, rrset_owner(set), set->type);

	if (sigs == set->sig_count && !suspect)
		return set;
	struct slice *records = arena_array(a, struct slice, set->count + 1u);
	struct rrset_walk w = rrset_records(set);
	size_t count = 0;
	for (struct slice rd; rrset_next(&w, &rd);) {
		if (!suspect || !record_is_private(s, set->type, rd))
			records[count++] = rd;
	}
	if (count == set->count && sigs == set->sig_count)
		return set;
	return count ? rebuild(a, set, records, count, sigs) : NULL;
}

const struct rrset *scrub_set_shorten(struct arena *a, const struct rrset *set, unsigned most)
{
	if (set->count <= most)
		return set;
	struct slice *records = arena_array(a, struct slice, most + 1u);
	struct rrset_walk w = rrset_records(set);
	for (unsigned i = 0; i < most; i++)
		rrset_next(&w, &records[i]);
	return rebuild(a, set, records, most, set->sig_count);
}

#define RRSIG_SIGNER 18 /* offset in the RDATA (RFC 4034 3.1) */

/* Whether an NSEC RRset's owner and next names are in the zone. */
static bool nsec_is_within(const struct rrset *nsec, const uint8_t *zone)
{
	struct rrset_walk w = rrset_records(nsec);

	if (!dname_is_under(rrset_owner(nsec), zone))
		return false;
	for (struct slice rd; rrset_next(&w, &rd);) {
		if (dname_measure(rd.at, rd.at + rd.len) == 0 || !dname_is_under(rd.at, zone))
			return false;
	}
	return true;
}

static bool is_within(const struct rrset *set, const uint8_t *zone, bool is_apex)
{
	const uint8_t *owner = rrset_owner(set);

	if (set->type == TYPE_NSEC)
		return nsec_is_within(set, zone);
	return dname_is_strictly_under(owner, zone) && (!is_apex || dname_equals(dname_parent(owner), zone));
}

bool scrub_set_overreaches(const struct rrset *set, const uint8_t *zone)
{
	struct rrset_walk w = rrset_sigs(set);
	bool overreaches = false;

	if (set->type != TYPE_NSEC && set->type != TYPE_NSEC3)
		return false;
	if (!is_within(set, zone, false))
		return true;
	for (struct slice rd; rrset_next(&w, &rd);) {
		if (rd.len <= RRSIG_SIGNER || dname_measure(rd.at + RRSIG_SIGNER, rd.at + rd.len) == 0)
			continue;
		if (is_within(set, rd.at + RRSIG_SIGNER, true))
			return false;
		overreaches = true;
	}
	return overreaches;
}

struct rrset *scrub_synthesize(struct arena *a, const struct rrset *dname, const uint8_t *name)
{
	uint8_t target[DNAME_MAX];
	size_t len;

	if (dname->count != 1)
		return NULL;
	len = dname_transplant(target, name, rrset_owner(dname), rrset_target(dname, 0));
	if (len == 0)
		return NULL;
	struct slice record = { .at = target, .len = len };
	return rrset_build(a, &(struct rrset_parts){
				      .owner = name,
				      .type = TYPE_CNAME,
				      .class_ = dname->class_,
				      .ttl_s = dname->ttl_s,
				      .expires_s = dname->expires_s,
				      .records = &record,
				      .count = 1,
				      .trust = dname->trust,
				      .security = dname->security,
			      });
}
