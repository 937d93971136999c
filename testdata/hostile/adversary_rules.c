/* The rules of adversary.def.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "testdata/hostile/adversary.h"
#include "testdata/hostile/keys.h"
#include "util/base/mem.h"
#include "util/dns/denial.h"

static struct told_record *some_record(struct attack *a)
{
	return a->told->count ? &a->told->records[pick(a, a->told->count)] : NULL;
}

static struct set *some_true_set(struct attack *a, const struct zone **zone)
{
	const struct zone *z = *zone = pick_site(a)->zone;

	return z->sets[pick(a, z->count)];
}

void rule_add_made(struct attack *a)
{
	const uint8_t *owner = pick_name(a);

	tell_signed(a, pick_section(a), pick_set(a, owner, pick_type(a)));
}

void rule_add_true(struct attack *a)
{
	const struct zone *z;
	struct set *s = some_true_set(a, &z);

	told_set(a->told, pick_section(a), z, s, NULL);
}

void rule_add_moved(struct attack *a)
{
	const struct zone *z;
	struct set *s = some_true_set(a, &z);

	told_set(a->told, pick_section(a), z, s, pick_name(a));
}

static const uint8_t *hashed_owner(struct attack *a)
{
	const struct zone *z = pick_site(a)->zone;
	uint8_t hash[NSEC3_HASH_LEN], owner[DNAME_MAX];
	const uint8_t *name = pick_name(a);

	nsec3_hash(name, z->salt, z->iterations, hash);
	if (pick(a, 2))
		for (unsigned i = NSEC3_HASH_LEN; i-- && hash[i]-- == 0;)
			; /* just before it */
	if (!nsec3_owner(hash, pick(a, 2) ? z->apex : pick_site(a)->zone->apex, owner))
		return name;
	return arena_copy(a->arena, owner, dname_len(owner));
}

void rule_add_denial(struct attack *a)
{
	bool by_hash = pick(a, 2);
	const uint8_t *owner = by_hash ? hashed_owner(a) : pick_name(a);

	tell_signed(a, SECTION_AUTHORITY, pick_set(a, owner, by_hash ? TYPE_NSEC3 : TYPE_NSEC));
	if (pick(a, 2))
		a->told->rcode = RCODE_NXDOMAIN;
}

void rule_alias(struct attack *a)
{
	struct set *s = pick_set(a, a->q->name, TYPE_CNAME);

	if (pick(a, 2))
		a->told->count = 0;
	tell_signed(a, SECTION_ANSWER, s);
	if (pick(a, 2) == 0)
		return;
	tell_signed(a, SECTION_ANSWER, pick_set(a, s->rdata[0].at, pick(a, 2) ? pick_type(a) : a->q->type));
}

void rule_dname(struct attack *a)
{
	const uint8_t *owner = a->q->name, *target;
	uint8_t made[DNAME_MAX];
	struct set *s;
	size_t len;

	for (unsigned up = pick(a, 4); up; up--)
		owner = dname_parent(owner);
	s = pick_set(a, owner, TYPE_DNAME);
	target = s->rdata[0].at;
	if (pick(a, 2))
		a->told->count = 0;
	tell_signed(a, SECTION_ANSWER, s);
	if (pick(a, 2))
		return;
	len = dname_transplant(made, a->q->name, owner, target);
	if (len)
		told_record(a->told, SECTION_ANSWER, a->q->name, TYPE_CNAME, s->ttl_s,
			    (struct slice){ arena_copy(a->arena, made, len), len });
}

void rule_referral(struct attack *a)
{
	const uint8_t *cut = pick_name(a);
	struct set *ns = pick_set(a, cut, TYPE_NS);

	if (pick(a, 2)) {
		a->told->count = 0;
		a->told->flags = 0;
		a->told->rcode = 0;
	}
	tell_signed(a, SECTION_AUTHORITY, ns);
	if (pick(a, 3) == 0)
		tell_signed(a, SECTION_AUTHORITY, pick_set(a, cut, TYPE_DS));
	for (unsigned i = 0; i < ns->count; i++)
		if (pick(a, 4))
			tell_signed(a, SECTION_ADDITIONAL,
				    pick_set(a, ns->rdata[i].at, a->net->six && pick(a, 2) ? TYPE_AAAA : TYPE_A));
}

void rule_other_truth(struct attack *a)
{
	static struct told other;
	struct question q = *a->q;

	q.name = pick_name(a);
	q.name_len = (uint16_t)dname_len(q.name);
	q.type = pick_type(a);
	told_honest(&other, internet_site_of(a->net, &q, false)->zone, &q, a->arena);
	if (pick(a, 2)) {
		told_copy(a->told, &other);
		return;
	}
	for (unsigned i = 0; i < other.count; i++)
		told_record(a->told, other.records[i].section, other.records[i].owner, other.records[i].type,
			    other.records[i].ttl_s, other.records[i].rdata);
}

void rule_drop(struct attack *a)
{
	struct told_record *r = some_record(a);

	if (r)
		*r = a->told->records[--a->told->count];
}

void rule_move(struct attack *a)
{
	struct told_record *r = some_record(a);

	if (r)
		r->section = pick_section(a);
}

void rule_rename(struct attack *a)
{
	struct told_record *r = some_record(a);

	if (r)
		r->owner = pick_name(a);
}

void rule_spoil(struct attack *a)
{
	struct told_record *r = some_record(a);
	uint8_t *copy;

	if (!r || !r->rdata.len)
		return;
	copy = arena_copy(a->arena, r->rdata.at, r->rdata.len);
	copy[pick(a, (unsigned)MIN(r->rdata.len, 256))] ^= (uint8_t)(1 + pick(a, 255));
	/* names are measured before they are read */
	if (rr_rdata_is_whole(r->type, copy, r->rdata.len) || a->told->squeeze == SQUEEZE_NONE)
		r->rdata.at = copy;
}

void rule_ttl(struct attack *a)
{
	uint32_t ttl_s = pick_ttl(a);
	bool all = pick(a, 2);
	struct told_record *r = some_record(a);

	for (unsigned i = 0; all && i < a->told->count; i++)
		a->told->records[i].ttl_s = ttl_s;
	if (r)
		r->ttl_s = ttl_s;
}

void rule_unsigned_(struct attack *a)
{
	bool denials = pick(a, 2);

	for (unsigned i = a->told->count; i-- > 0;) {
		uint16_t type = a->told->records[i].type;

		if (type == TYPE_RRSIG || (denials && (type == TYPE_NSEC || type == TYPE_NSEC3)))
			a->told->records[i] = a->told->records[--a->told->count];
	}
}

void rule_rcode(struct attack *a)
{
	static const uint16_t codes[] = { 0, 3, 2, 5, 1, 4, 6, 9, 15, 16, 23, 4095 };

	a->told->rcode = codes[pick(a, COUNT(codes))];
}

void rule_flags(struct attack *a)
{
	static const uint16_t flags[] = { FLAG_AA, 0, FLAG_AA | FLAG_AD, FLAG_RA, FLAG_CD | FLAG_RA, FLAG_Z | FLAG_AA,
					  FLAG_RD };

	a->told->flags = flags[pick(a, COUNT(flags))];
}

void rule_edns(struct attack *a)
{
	static const struct slice options[] = {
		{ NULL, 0 },
		{ (const uint8_t *)"\0\17\0\6\0\6evil", 10 },	       /* EDE: bogus */
		{ (const uint8_t *)"\0\12\0\10\1\2\3\4\5\6\7\10", 12 }, /* a cookie */
		{ (const uint8_t *)"\0\17\0\377", 4 },		       /* cut */
		{ (const uint8_t *)"\0\10\0\7\0\1\30\0\1\2\3", 11 },   /* a client subnet */
		{ (const uint8_t *)"\0\22\0\3\1x\0", 7 },	       /* a report channel */
	};

	switch (pick(a, 4)) {
	case 0:
		a->told->no_opt = true;
		break;
	case 1:
		a->told->opt_version = (uint8_t)pick(a, 3);
		a->told->rcode = RCODE_BADVERS;
		break;
	case 2:
		a->told->rcode = RCODE_FORMERR;
		a->told->no_opt = pick(a, 2);
		a->told->count = 0;
		break;
	default:
		a->told->options = options[pick(a, COUNT(options))];
	}
}

/* Each name is a label longer than the one before: written with compression, each points to that. */
void rule_ladder(struct attack *a)
{
	static const uint16_t types[] = { TYPE_NS, TYPE_MX, TYPE_PTR, TYPE_CNAME };
	const uint8_t *name = pick_own_name(a);
	uint16_t type = types[pick(a, COUNT(types))];
	enum section section = pick_section(a);
	unsigned count = 20 + pick(a, 110);
	bool one_owner = pick(a, 2) == 0;

	if (pick(a, 2) == 0)
		a->told->count = 0;
	for (unsigned i = 0; i < count; i++) {
		uint8_t rdata[2 + DNAME_MAX] = { 0, 10 };
		size_t head = type == TYPE_MX ? 2 : 0, len;
		const uint8_t *owner = one_owner ? a->q->name : name, *kept;

		len = dname_join(rdata + head, (const uint8_t *)"\1a", 2, name);
		if (!len)
			break;
		kept = arena_copy(a->arena, rdata, head + len);
		told_record(a->told, section, owner, type, 3600, (struct slice){ kept, head + len });
		name = kept + head;
	}
}

void rule_crowd(struct attack *a)
{
	unsigned count = 1 + pick(a, pick(a, 4) ? 40 : 500);
	const uint8_t *owner = pick_name(a);
	uint16_t type = pick_type(a);
	enum section section = pick_section(a);
	bool many_owners = pick(a, 2);

	for (unsigned i = 0; i < count; i++) {
		const struct set *s = pick_set(a, owner, type);

		told_record(a->told, section, owner, type, s->ttl_s, s->rdata[0]);
		if (many_owners)
			owner = pick_name(a);
	}
}

void rule_keys(struct attack *a)
{
	uint16_t type = pick(a, 2) ? TYPE_DNSKEY : TYPE_DS;
	const uint8_t *owner = pick(a, 2) ? pick_name(a) : a->q->name;
	unsigned count = 1 + pick(a, 60);

	for (unsigned i = 0; i < count; i++)
		tell_signed(a, SECTION_ANSWER, pick_set(a, owner, type));
}

void rule_silence(struct attack *a)
{
	a->delay_ms = 100 + 10 * pick(a, 200);
	a->silent = pick(a, 2) == 0;
}

void rule_copies(struct attack *a)
{
	if (pick(a, 2))
		a->copies = 1 + pick(a, 3);
	else
		a->strays = 1 + pick(a, 6);
}

void rule_cut(struct attack *a)
{
	a->keep = 1 + pick(a, 600);
}

void rule_truncated(struct attack *a)
{
	a->told->flags |= FLAG_TC;
	if (pick(a, 2))
		a->told->count = 0;
}

void rule_stream(struct attack *a)
{
	if (!a->tcp) {
		a->told->flags |= FLAG_TC;
		a->told->count = 0;
		return;
	}
	a->breaks = pick(a, 4) < 3;
	if (pick(a, 2))
		a->delay_ms = 10 + 10 * pick(a, 100);
}

void rule_question(struct attack *a)
{
	if (pick(a, 2))
		a->told->no_question = true;
	else
		a->other_question = true;
}

void rule_case_(struct attack *a)
{
	a->lowers = true;
}

void rule_squeezed(struct attack *a)
{
	a->told->squeeze = pick(a, 2) ? SQUEEZE_FIRST : SQUEEZE_LAST;
}
