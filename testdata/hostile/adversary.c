/* Answers put together by rules, and what rules choose from.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "testdata/hostile/adversary.h"

#include <string.h>

#include "testdata/hostile/keys.h"
#include "util/base/mem.h"
#include "util/dns/denial.h"

enum {
#define RULE(name, weight, what) RULE_##name,
#include "testdata/hostile/adversary.def"
#undef RULE
};

static const struct rule {
	const char *name;
	unsigned weight;
	void (*run)(struct attack *a);
} rules[] = {
#define RULE(name, weight, what) { #name, weight, rule_##name },
#include "testdata/hostile/adversary.def"
#undef RULE
};

const char *adversary_rule_name(unsigned i)
{
	return i < COUNT(rules) ? rules[i].name : NULL;
}

unsigned pick(const struct attack *a, unsigned bound)
{
	return draw(a->net->choices, CHOICES_ATTACK, bound);
}

bool pick_chance(const struct attack *a, unsigned percent)
{
	return chance(a->net->choices, CHOICES_ATTACK, percent);
}

static void run_any(struct attack *a)
{
	static unsigned sum;
	unsigned at;

	if (!sum)
		for (unsigned i = 0; i < COUNT(rules); i++)
			sum += rules[i].weight;
	at = pick(a, sum);
	for (unsigned i = 0; i < COUNT(rules); i++) {
		if (at < rules[i].weight) {
			rules[i].run(a);
			return;
		}
		at -= rules[i].weight;
	}
}

/* Rules that are for questions of a type. */
static const struct {
	uint16_t type;
	uint8_t percent;
	void (*run)(struct attack *a);
} suits[] = {
	{ TYPE_NSEC, 30, rule_borrowed }, { TYPE_NS, 10, rule_homes },	  { TYPE_MX, 10, rule_homes },
	{ TYPE_NS, 10, rule_glue },	  { TYPE_MX, 10, rule_glue },
	{ TYPE_DNSKEY, 10, rule_keys },	  { TYPE_SRV, 20, rule_hosts }, { TYPE_HTTPS, 20, rule_hosts },
};

void adversary_too_large(struct attack *a)
{
	a->net->large = arena_copy(a->arena, a->told, offsetof(struct told, records) + a->told->count * sizeof(*a->told->records));
	a->net->large_q = *a->q;
}

/* What was too large is told whole, mostly. */
static bool tell_whole(struct attack *a)
{
	const struct told *t = a->net->large;

	if (!t || !dname_equals(a->net->large_q.name, a->q->name) || a->net->large_q.type != a->q->type || !pick_chance(a, 80))
		return false;
	told_copy(a->told, t);
	return true;
}

void adversary_answer(struct attack *a)
{
	/* mostly one to three changes; now and then none, or many */
	static const uint8_t counts[] = { 0, 1, 1, 1, 2, 2, 3, 0, 4, 6 };
	static const uint8_t scopes[] = { 24, 0, 8, 16, 25, 32, 255 };
	unsigned count = counts[pick(a, COUNT(counts))];

	if (a->forwards)
		forwarder_tell(a->net, a->told, a->q);
	else
		told_honest(a->told, a->site->zone, a->q, a->arena);
	if (a->site->configured)
		a->told->flags |= FLAG_RA;
	if (a->net->shown.len && pick(a, 3))
		a->told->options = places_echo(a->net, scopes[pick(a, COUNT(scopes))]);
	if (a->tcp && tell_whole(a))
		return;
	for (unsigned i = 0; i < COUNT(suits); i++)
		if (suits[i].type == a->q->type && pick_chance(a, suits[i].percent)) {
			told_begin(a->told);
			a->told->flags = FLAG_AA;
			suits[i].run(a);
			return;
		}
	if (!dname_is_under(a->q->name, a->site->zone->apex) && pick_chance(a, 70)) {
		told_begin(a->told); /* he has been taken for another's server */
		a->told->flags = FLAG_AA;
		tell_signed(a, SECTION_ANSWER, pick_set(a, a->q->name, a->q->type));
		return;
	}
	if (count && pick_chance(a, 15))
		told_begin(a->told);
	if (a->net->habit && count && pick_chance(a, 60)) {
		rules[a->net->habit - 1].run(a);
		count--;
	}
	while (count--)
		run_any(a);
}

void adversary_begin(struct internet *net)
{
	const bool leaves = net->focus == &net->sites[SITE_GONE]; /* and prepares for it */

	if (chance(net->choices, CHOICES_WORLD, 60))
		net->habit = 1 + draw(net->choices, CHOICES_WORLD, COUNT(rules));
	if (net->focus == &net->sites[SITE_ISLE] && chance(net->choices, CHOICES_WORLD, 40))
		net->habit = 1 + RULE_denied_below;
	if (leaves && chance(net->choices, CHOICES_WORLD, 40))
		net->habit = 1 + RULE_deeper;
}

/* ---- choosing ---- */

struct site *pick_site(const struct attack *a)
{
	return internet_pick(a->net, CHOICES_ATTACK);
}

static const uint8_t *below(const struct attack *a, const char *label, const uint8_t *name)
{
	uint8_t to[DNAME_MAX];
	const uint8_t *first = name_make(a->arena, label);
	size_t len = dname_join(to, first, dname_len(first) - 1, name);

	return len ? arena_copy(a->arena, to, len) : name;
}

/* Labels that stand before and behind others in canonical order. */
static const char *const labels[] = { "a", "*", "zz", "www", "ns", "0", "_x", "_dns", "\xff" };

const uint8_t *pick_name(const struct attack *a)
{
	const struct site *s;
	const uint8_t *name;

	switch (pick(a, 8)) {
	case 0:
		return a->q->name;
	case 1:
		return pick_site(a)->zone->apex;
	case 2:
		return below(a, labels[pick(a, COUNT(labels))], a->q->name);
	case 3:
		return below(a, labels[pick(a, COUNT(labels))], pick_site(a)->zone->apex);
	case 4:
		name = a->q->name;
		for (unsigned up = 1 + pick(a, 3); up; up--)
			name = dname_parent(name);
		return name;
	default:
		s = pick_site(a);
		return site_name(a->net, s, prefixes[pick(a, prefix_count)]);
	}
}

const uint8_t *pick_own_name(const struct attack *a)
{
	const struct site *s = a->net->sites[SITE_EVIL].zone ? &a->net->sites[SITE_EVIL] : a->site;

	return site_name(a->net, s, prefixes[pick(a, prefix_count)]);
}

/* Less usual ones, those that no zone has among them. */
static const uint16_t rare_types[] = { TYPE_SRV,   TYPE_NAPTR, TYPE_SVCB, TYPE_HTTPS, TYPE_TLSA, TYPE_CAA,   TYPE_SSHFP,
				       TYPE_HINFO, TYPE_LOC,   TYPE_RP,	  TYPE_APL,   TYPE_CDS,	 TYPE_CDNSKEY, TYPE_NSEC3PARAM,
				       TYPE_ZONEMD, TYPE_OPT,  TYPE_TSIG, TYPE_ANY,   TYPE_NULL, 0, 3, 4, 128, 65280, 65535 };

uint16_t pick_type(const struct attack *a)
{
	static const uint16_t types[] = { TYPE_A,    TYPE_NS,	TYPE_CNAME, TYPE_DNAME,	 TYPE_DS,  TYPE_SOA,
					  TYPE_AAAA, TYPE_NSEC, TYPE_NSEC3, TYPE_DNSKEY, TYPE_TXT, TYPE_MX,
					  TYPE_PTR,  TYPE_RRSIG };
	unsigned n = pick(a, COUNT(types) + 4);

	if (n == COUNT(types))
		return pick(a, 8) ? rare_types[pick(a, COUNT(rare_types))] : (uint16_t)pick(a, 65536);
	return n < COUNT(types) ? types[n] : a->q->type;
}

uint32_t pick_ttl(const struct attack *a)
{
	static const uint32_t ttls[] = { 3600, 0, 1, 30, 300, 86400, 604800, 0x7fffffff, 0x80000000, 0xffffffff };

	return ttls[pick(a, COUNT(ttls))];
}

enum section pick_section(const struct attack *a)
{
	return (enum section)pick(a, 3);
}

/* ---- made up data ---- */

/* Of any types: windows of any length, also of none, and now and then twice or out of order (RFC 4034 4.1.2). */
static void write_any_types(const struct attack *a, struct writer *w)
{
	unsigned window = pick(a, 2) ? pick(a, 256) : 0;

	for (unsigned windows = 1 + pick(a, 3); windows; windows--) {
		unsigned len = pick_chance(a, 5) ? 0 : 1 + pick(a, pick(a, 4) ? 8 : 32);

		write_u8(w, (uint8_t)window);
		write_u8(w, (uint8_t)len);
		while (len--)
			write_u8(w, (uint8_t)pick(a, 256));
		window += pick_chance(a, 10) ? 0 : 1 + pick(a, 128);
	}
}

static void write_types(const struct attack *a, struct writer *w)
{
	static const uint8_t maps[][10] = {
		{ 0, 6, 0x40, 0, 0, 0, 0, 3 },	 /* A RRSIG NSEC */
		{ 0, 6, 0, 0, 0, 0, 0, 3 },	 /* RRSIG NSEC */
		{ 0, 6, 0x20, 0, 0, 0, 0, 3 },	 /* NS: an unsigned delegation */
		{ 0, 6, 0x20, 0, 0, 0, 0, 0x13 }, /* NS DS */
		{ 0, 6, 0x22, 0, 0, 0, 0, 3 },	 /* NS SOA: an apex */
		{ 0, 6, 0x04, 0, 0, 0, 0, 3 },	 /* CNAME */
		{ 0, 6, 0, 0, 0, 0, 1, 3 },	 /* DNAME */
		{ 0, 1, 0x40 },
	};
	unsigned n = pick(a, COUNT(maps) + 4);

	if (n < COUNT(maps))
		write_bytes(w, maps[n], 2u + maps[n][1]);
	else if (n < COUNT(maps) + 3)
		write_any_types(a, w);
}

static void write_hash_range(const struct attack *a, const uint8_t *owner, struct writer *w)
{
	const struct zone *z = pick_site(a)->zone;
	uint8_t next[NSEC3_HASH_LEN];

	(void)owner;
	write_u8(w, NSEC3_SHA1);
	write_u8(w, (uint8_t)pick(a, 2));
	write_u16(w, pick_chance(a, 10) ? (uint16_t)(100 + pick(a, 2500)) : z->iterations);
	write_u8(w, (uint8_t)z->salt.len);
	write_bytes(w, z->salt.at, z->salt.len);
	memset(next, pick(a, 2) ? 0xff : 0, sizeof(next));
	if (pick(a, 3) == 0)
		nsec3_hash(pick_name(a), z->salt, z->iterations, next);
	write_u8(w, NSEC3_HASH_LEN);
	write_bytes(w, next, sizeof(next));
	write_types(a, w);
}

static void write_address(const struct attack *a, struct writer *w, unsigned len)
{
	static const uint8_t ips[][4] = { { 203, 0, 113, 66 }, { 203, 0, 113, 69 }, { 192, 0, 2, 2 },
					  { 192, 0, 2, 10 },   { 198, 51, 100, 9 }, { 127, 0, 0, 1 } };
	static const uint8_t ip6s[][16] = {
		{ 0x20, 1, 0xd, 0xb8, 0, 0x66, [15] = 66 }, { 0x20, 1, 0xd, 0xb8, 0, 0x66, [15] = 69 },
		{ 0x20, 1, 0xd, 0xb8, 0, 1, [15] = 2 },	    { 0x20, 1, 0xd, 0xb8, 0, 1, [15] = 10 },
		{ [10] = 0xff, 0xff, 203, 0, 113, 66 },	    { 0, 0x64, 0xff, 0x9b, [12] = 203, 0, 113, 66 },
		{ [10] = 0xff, 0xff, 203, 0, 113, 69 },	    { 0x20, 2, 198, 51, 100, 9, [15] = 1 },
		{ [15] = 1 },				    { 0xfe, 0x80, [15] = 9 },
	};

	if (len == 4)
		write_bytes(w, ips[pick(a, COUNT(ips))], len);
	else
		write_bytes(w, ip6s[pick(a, COUNT(ip6s))], len);
}

static void write_key(const struct attack *a, struct writer *w)
{
	unsigned key = pick(a, KEYS);
	uint8_t rdata[KEY_RDATA];

	memcpy(rdata, key_rdata(key), KEY_RDATA);
	if (pick_chance(a, 20))
		rdata[4 + pick(a, 32)] ^= 1; /* nobody's */
	if (pick_chance(a, 20))
		rdata[1] = (uint8_t)(pick(a, 2) ? 0x81 : 0); /* revoked; no zone key */
	if (pick_chance(a, 10))
		rdata[3] = (uint8_t)pick(a, 17);
	write_bytes(w, rdata, KEY_RDATA);
}

static void write_soa(const struct attack *a, struct writer *w)
{
	const uint8_t *name = pick_name(a);

	write_bytes(w, name, dname_len(name));
	write_bytes(w, name, dname_len(name));
	write_u32(w, 1);
	write_u32(w, 3600);
	write_u32(w, 900);
	write_u32(w, 86400);
	write_u32(w, pick_ttl(a));
}

static void write_rdata(const struct attack *a, const uint8_t *owner, uint16_t type, struct writer *w)
{
	const uint8_t *name;
	uint8_t ds[KEY_DS];

	switch (type) {
	case TYPE_A:
	case TYPE_AAAA:
		write_address(a, w, type == TYPE_A ? 4 : 16);
		return;
	case TYPE_DS:
		key_ds(pick(a, KEYS), owner, ds);
		ds[3] = (uint8_t)(pick_chance(a, 20) ? pick(a, 8) : 2);
		write_bytes(w, ds, sizeof(ds));
		return;
	case TYPE_DNSKEY:
		write_key(a, w);
		return;
	case TYPE_NSEC3:
		write_hash_range(a, owner, w);
		return;
	case TYPE_SOA:
		write_soa(a, w);
		return;
	case TYPE_TXT:
		write_bytes(w, "\4evil", 5);
		return;
	case TYPE_RRSIG:
		write_bytes(w, "\0\1\17\2\0\0\16\20\x6d\0\0\0\x6a\0\0\0\0\0\0", 19);
		return;
	case TYPE_MX:
		write_u16(w, 10);
		break;
	case TYPE_NSEC:
	case TYPE_NS:
	case TYPE_CNAME:
	case TYPE_DNAME:
	case TYPE_PTR:
		break;
	default:
		for (unsigned len = pick(a, 24); len; len--)
			write_u8(w, (uint8_t)pick(a, 256));
		if (pick(a, 2))
			return;
	}
	name = pick_name(a);
	write_bytes(w, name, dname_len(name));
	if (type == TYPE_NSEC)
		write_types(a, w);
}

struct set *pick_set(const struct attack *a, const uint8_t *owner, uint16_t type)
{
	struct set *s = arena_new(a->arena, struct set);

	s->owner = owner;
	s->type = type;
	s->ttl_s = pick_ttl(a);
	s->count = pick_chance(a, 15) ? 1 + pick(a, SET_RECORDS) : 1;
	if (rr_flags(type) & RR_SINGLE && pick(a, 8))
		s->count = 1;
	for (unsigned i = 0; i < s->count; i++) {
		uint8_t rdata[2 * DNAME_MAX + 64];
		struct writer w = writer_over(rdata, sizeof(rdata));

		write_rdata(a, owner, type, &w);
		PROMISE(!w.bad);
		s->rdata[i] = (struct slice){ arena_copy(a->arena, rdata, writer_len(&w)), writer_len(&w) };
	}
	return s;
}

/* ---- signed somehow ---- */

/* Another's signature over a set of this type; its own where there is one at that name. */
static struct slice copied_signature(const struct attack *a, const struct set *s)
{
	const struct zone *z = pick_site(a)->zone;
	struct set *same = zdata_find(z, s->owner, s->type);

	for (unsigned i = 0; !same && i < z->count; i++)
		if (z->sets[i]->type == s->type)
			same = z->sets[i];
	return same ? zdata_sig(z, same) : (struct slice){ NULL, 0 };
}

static struct slice own_signature(const struct attack *a, const struct set *s)
{
	const struct zone *evil = a->net->sites[SITE_EVIL].zone;
	struct signing how = { .key = 7, .from = SIGNED_FROM, .until = SIGNED_UNTIL };

	how.signer = evil ? evil->apex : a->site->zone->apex;
	if (pick_chance(a, 15))
		how.key = (int)(24 + pick(a, 4));
	if (pick_chance(a, 25))
		how.signer = pick_name(a);
	if (pick_chance(a, 15))
		how.labels_less = (uint8_t)MIN(1 + pick(a, 2), dname_labels(s->owner) - dname_is_wildcard(s->owner));
	if (pick_chance(a, 8))
		how.until = SIGNED_FROM + 1;
	return set_sign(a->arena, s, &how);
}

void tell_signed(struct attack *a, enum section section, struct set *s)
{
	struct slice sigs[3] = { { NULL, 0 } };
	unsigned way = pick(a, 6);

	for (unsigned i = 0; i < s->count; i++)
		told_record(a->told, section, s->owner, s->type, s->ttl_s, s->rdata[i]);
	if (way == 1 || way == 2 || way == 4)
		sigs[0] = own_signature(a, s);
	if (way == 3 || way == 4)
		sigs[1] = copied_signature(a, s);
	if (way == 5)
		sigs[2] = own_signature(a, s);
	if (way == 5 && sigs[2].len) { /* forged: an honest signer's name, nobody's bytes */
		uint8_t *bytes = arena_copy(a->arena, sigs[2].at, sigs[2].len);

		bytes[sigs[2].len - 1 - pick(a, KEY_SIGNATURE)] ^= 1;
		sigs[2].at = bytes;
	}
	for (unsigned i = 0; i < COUNT(sigs); i++)
		if (sigs[i].len)
			told_record(a->told, section, s->owner, TYPE_RRSIG, s->ttl_s, sigs[i]);
}
