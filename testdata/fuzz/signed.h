/* A small internet with true signatures, and what it says to any question: for targets in which an
 * attacker changes some of it on the way.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The root and "good." deny by NSEC, "sub.good." by NSEC3, "plain." is not signed. */
#ifndef TESTDATA_FUZZ_SIGNED_H
#define TESTDATA_FUZZ_SIGNED_H

#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/base/arena.h"
#include "util/base/fault.h"
#include "util/base/mem.h"
#include "util/dns/denial.h"
#include "util/dns/dname.h"
#include "util/dns/msg.h"
#include "util/dns/rr.h"
#include "util/dns/text.h"

#define SIGNED_DATE   "20261115000000"
#define SIGNED_BEGINS 1793491200u /* 2026-11-01 */
#define SIGNED_ENDS   1796083200u /* 2026-12-01 */

enum { SIGNED_SETS = 40, SIGNED_RECORDS = 40, SIGNED_ED25519 = 15, SIGNED_KEY_LEN = 36 };

struct record {
	enum section section;
	const uint8_t *owner;
	uint16_t type;
	uint32_t ttl_s;
	struct slice rdata;
};

struct signed_set {
	const uint8_t *owner;
	uint16_t type;
	struct slice rdata, sig; /* one record each; no signature: empty */
};

struct signed_zone {
	const uint8_t *apex;
	uint8_t server; /* last byte of its address, 192.0.2.x */
	bool is_signed, by_hash;
	const char *text;
	EVP_PKEY *pair;
	uint8_t key[SIGNED_KEY_LEN];
	struct signed_set sets[SIGNED_SETS];
	unsigned count;
};

/* Records of one message. */
struct told {
	uint16_t rcode;
	bool authoritative, secure;
	struct record records[SIGNED_RECORDS];
	unsigned count;
};

#define W(text) ((const uint8_t *)(text))
#define SOA(zone, rest) zone " 600 IN SOA ns.good. admin.good. 1 3600 900 86400 300\n" rest

/* A parent stands before its children, whose DS sets it gets. */
static struct signed_zone signed_zones[] = {
	{ .apex = W(""), .server = 53, .is_signed = true, .text =
		SOA(".", ". 600 IN NS a.root.\n. 300 IN NSEC good. NS SOA RRSIG NSEC DNSKEY\n"
		"good. 600 IN NS ns.good.\nns.good. 600 IN A 192.0.2.1\n"
		"good. 300 IN NSEC plain. NS DS RRSIG NSEC\n"
		"plain. 600 IN NS ns.plain.\nns.plain. 600 IN A 192.0.2.3\n"
		"plain. 300 IN NSEC a.root. NS RRSIG NSEC\n"
		"a.root. 600 IN A 192.0.2.53\na.root. 300 IN NSEC . A RRSIG NSEC\n") },
	{ .apex = W("\4good"), .server = 1, .is_signed = true, .text =
		SOA("good.", "good. 600 IN NS ns.good.\ngood. 300 IN NSEC alias.good. NS SOA RRSIG NSEC DNSKEY\n"
		"alias.good. 600 IN CNAME www.good.\nalias.good. 300 IN NSEC dn.good. CNAME RRSIG NSEC\n"
		"dn.good. 600 IN DNAME sub.good.\ndn.good. 300 IN NSEC far.good. DNAME RRSIG NSEC\n"
		"far.good. 600 IN CNAME www.plain.\nfar.good. 300 IN NSEC ns.good. CNAME RRSIG NSEC\n"
		"ns.good. 600 IN A 192.0.2.1\nns.good. 300 IN NSEC out.good. A RRSIG NSEC\n"
		"out.good. 600 IN CNAME www.sub.good.\nout.good. 300 IN NSEC sub.good. CNAME RRSIG NSEC\n"
		"sub.good. 600 IN NS ns.sub.good.\nns.sub.good. 600 IN A 192.0.2.2\n"
		"sub.good. 300 IN NSEC *.wild.good. NS DS RRSIG NSEC\n"
		"*.wild.good. 600 IN A 198.51.100.2\n*.wild.good. 300 IN NSEC www.good. A RRSIG NSEC\n"
		"www.good. 600 IN A 198.51.100.1\nwww.good. 300 IN NSEC good. A RRSIG NSEC\n") },
	{ .apex = W("\3sub\4good"), .server = 2, .is_signed = true, .by_hash = true, .text =
		SOA("sub.good.", "sub.good. 600 IN NS ns.sub.good.\nns.sub.good. 600 IN A 192.0.2.2\n"
		"sub.good. 300 IN NSEC3PARAM 1 0 2 AB\n"
		"www.sub.good. 600 IN A 198.51.100.3\n*.star.sub.good. 600 IN TXT \"any\"\n") },
	{ .apex = W("\5plain"), .server = 3, .text =
		SOA("plain.", "plain. 600 IN NS ns.plain.\nns.plain. 600 IN A 192.0.2.3\n"
		"www.plain. 600 IN A 198.51.100.4\nback.plain. 600 IN CNAME www.good.\n") },
};

static struct arena signed_arena; /* of all that is made once */

/* ---- making it ---- */

/* RFC 4034 appendix B. */
static inline uint16_t signed_tag(const uint8_t key[SIGNED_KEY_LEN])
{
	uint32_t sum = 0;

	for (unsigned i = 0; i < SIGNED_KEY_LEN; i += 2)
		sum += get_u16(key + i);
	return (uint16_t)(sum + (sum >> 16));
}

/* RFC 4034 3.1.8.1, for a set of one record with names in lower case. */
static inline struct slice signed_signature(const struct signed_zone *z, const struct signed_set *s,
					    uint32_t ttl_s)
{
	uint8_t data[2048], rdata[18 + DNAME_MAX + 64];
	struct writer w = writer_over(rdata, sizeof(rdata));
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	size_t head, len = 64;

	write_u16(&w, s->type);
	write_u8(&w, SIGNED_ED25519);
	write_u8(&w, (uint8_t)(dname_labels(s->owner) - dname_is_wildcard(s->owner)));
	write_u32(&w, ttl_s);
	write_u32(&w, SIGNED_ENDS);
	write_u32(&w, SIGNED_BEGINS);
	write_u16(&w, signed_tag(z->key));
	write_bytes(&w, z->apex, dname_len(z->apex));
	head = writer_len(&w);
	w = writer_over(data, sizeof(data));
	write_bytes(&w, rdata, head);
	write_bytes(&w, s->owner, dname_len(s->owner));
	write_u16(&w, s->type);
	write_u16(&w, CLASS_IN);
	write_u32(&w, ttl_s);
	write_u16(&w, (uint16_t)s->rdata.len);
	write_bytes(&w, s->rdata.at, s->rdata.len);
	PROMISE(!w.bad && EVP_DigestSignInit(ctx, NULL, NULL, NULL, z->pair) == 1);
	PROMISE(EVP_DigestSign(ctx, rdata + head, &len, data, writer_len(&w)) == 1);
	EVP_MD_CTX_free(ctx);
	return (struct slice){ arena_copy(&signed_arena, rdata, head + len), head + len };
}

static inline uint32_t signed_ttl_s(uint16_t type)
{
	return type == TYPE_NSEC || type == TYPE_NSEC3 ? 300 : 600;
}

static inline void signed_add(struct signed_zone *z, const uint8_t *owner, uint16_t type,
			      struct slice rdata)
{
	struct signed_set *s = &z->sets[z->count++];

	PROMISE(z->count <= SIGNED_SETS);
	*s = (struct signed_set){ .owner = arena_copy(&signed_arena, owner, dname_len(owner)),
				  .type = type,
				  .rdata = { arena_copy(&signed_arena, rdata.at, rdata.len), rdata.len } };
}

/* What of `z` is at or below a cut. */
static inline const struct signed_set *signed_cut(const struct signed_zone *z, const uint8_t *name)
{
	for (unsigned i = 0; i < z->count; i++)
		if (z->sets[i].type == TYPE_NS && !dname_equals(z->sets[i].owner, z->apex) &&
		    dname_is_under(name, z->sets[i].owner))
			return &z->sets[i];
	return NULL;
}

static inline void signed_add_key(struct signed_zone *z, unsigned number)
{
	uint8_t seed[32] = { (uint8_t)(number + 1) };
	size_t len = 32;

	z->pair = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, seed, sizeof(seed));
	put_u16(z->key, 257);
	z->key[2] = 3;
	z->key[3] = SIGNED_ED25519;
	PROMISE(z->pair && EVP_PKEY_get_raw_public_key(z->pair, z->key + 4, &len) == 1);
	signed_add(z, z->apex, TYPE_DNSKEY, (struct slice){ z->key, SIGNED_KEY_LEN });
}

static inline struct slice signed_ds(const struct signed_zone *z, uint8_t ds[36])
{
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();

	put_u16(ds, signed_tag(z->key));
	ds[2] = SIGNED_ED25519;
	ds[3] = 2;
	PROMISE(EVP_DigestInit_ex(ctx, EVP_sha256(), NULL) == 1);
	EVP_DigestUpdate(ctx, z->apex, dname_len(z->apex));
	EVP_DigestUpdate(ctx, z->key, SIGNED_KEY_LEN);
	PROMISE(EVP_DigestFinal_ex(ctx, ds + 4, NULL) == 1);
	EVP_MD_CTX_free(ctx);
	return (struct slice){ ds, 36 };
}

static const uint8_t signed_salt[] = { 0xab };

static inline void signed_hash(const uint8_t *name, uint8_t hash[NSEC3_HASH_LEN])
{
	nsec3_hash(name, (struct slice){ signed_salt, sizeof(signed_salt) }, 2, hash);
}

static int signed_by_hash(const void *a, const void *b)
{
	return memcmp(a, b, NSEC3_HASH_LEN);
}

/* The NSEC3 chain of "sub.good.": its names and which types they have. */
static inline void signed_add_hashes(struct signed_zone *z)
{
	static const struct { const char *name, *types; } names[] = {
		{ "\3sub\4good", "\0\7\x22\0\0\0\0\2\x90" },	   /* NS SOA RRSIG DNSKEY NSEC3PARAM */
		{ "\2ns\3sub\4good", "\0\6\x40\0\0\0\0\2" },	   /* A RRSIG */
		{ "\3www\3sub\4good", "\0\6\x40\0\0\0\0\2" },
		{ "\4star\3sub\4good", "" },
		{ "\1*\4star\3sub\4good", "\0\6\0\0\x80\0\0\2" }, /* TXT RRSIG */
	};
	static const uint8_t lens[] = { 9, 8, 8, 0, 8 };
	struct {
		uint8_t hash[NSEC3_HASH_LEN];
		uint8_t index;
	} sorted[COUNT(names)];

	for (unsigned i = 0; i < COUNT(names); i++) {
		signed_hash(W(names[i].name), sorted[i].hash);
		sorted[i].index = (uint8_t)i;
	}
	qsort(sorted, COUNT(sorted), sizeof(*sorted), signed_by_hash);
	for (unsigned i = 0; i < COUNT(sorted); i++) {
		uint8_t owner[DNAME_MAX], rdata[64];
		struct writer w = writer_over(rdata, sizeof(rdata));

		write_bytes(&w, "\1\0\0\2\1\xab\x14", 7);
		write_bytes(&w, sorted[(i + 1) % COUNT(sorted)].hash, NSEC3_HASH_LEN);
		write_bytes(&w, names[sorted[i].index].types, lens[sorted[i].index]);
		PROMISE(!w.bad && nsec3_owner(sorted[i].hash, z->apex, owner));
		signed_add(z, owner, TYPE_NSEC3, (struct slice){ rdata, writer_len(&w) });
	}
}

static inline void signed_read(struct signed_zone *z)
{
	for (const char *at = z->text, *end; *at; at = end + 1) {
		struct fault f = { 0 };
		struct text_rr rr;
		char line[256];

		end = strchr(at, '\n');
		snprintf(line, sizeof(line), "%.*s", (int)(end - at), at);
		PROMISE(text_rr_parse(&signed_arena, line, NULL, &rr, &f));
		signed_add(z, rr.owner, rr.type, rr.rdata);
	}
}

static inline void signed_sign(struct signed_zone *z)
{
	for (unsigned i = 0; i < z->count; i++) {
		struct signed_set *s = &z->sets[i];
		const struct signed_set *cut = signed_cut(z, s->owner);

		if (!cut || (dname_equals(s->owner, cut->owner) && s->type != TYPE_NS))
			s->sig = signed_signature(z, s, signed_ttl_s(s->type));
	}
}

/* Once. `anchor` gets "DS …" of the root. */
static inline void signed_make(char *anchor, size_t room)
{
	uint8_t ds[36];
	int used;

	arena_init(&signed_arena);
	for (unsigned i = 0; i < COUNT(signed_zones); i++) {
		struct signed_zone *z = &signed_zones[i];

		signed_read(z);
		if (!z->is_signed)
			continue;
		signed_add_key(z, i);
		if (z->by_hash)
			signed_add_hashes(z);
		if (i > 0)
			signed_add(&signed_zones[i - 1], z->apex, TYPE_DS, signed_ds(z, ds));
	}
	for (unsigned i = 0; i < COUNT(signed_zones); i++)
		if (signed_zones[i].is_signed)
			signed_sign(&signed_zones[i]);
	signed_ds(&signed_zones[0], ds);
	used = snprintf(anchor, room, "DS %u %u 2 ", get_u16(ds), SIGNED_ED25519);
	for (unsigned i = 4; i < sizeof(ds); i++)
		used += snprintf(anchor + used, room - (size_t)used, "%02x", ds[i]);
	PROMISE((size_t)used < room);
}

/* ---- what it says ---- */

static inline void told_record(struct told *t, struct record r)
{
	if (t->count < SIGNED_RECORDS)
		t->records[t->count++] = r;
}

/* The set and its signature, under `owner` where that is not NULL (a wildcard's). */
static inline void told_set(struct told *t, enum section section, const struct signed_set *s,
			    const uint8_t *owner)
{
	uint32_t ttl_s = signed_ttl_s(s->type);

	owner = owner ? owner : s->owner;
	told_record(t, (struct record){ section, owner, s->type, ttl_s, s->rdata });
	if (s->sig.len)
		told_record(t, (struct record){ section, owner, TYPE_RRSIG, ttl_s, s->sig });
}

static inline const struct signed_set *signed_find(const struct signed_zone *z, const uint8_t *owner,
						   uint16_t type)
{
	for (unsigned i = 0; i < z->count; i++)
		if (z->sets[i].type == type && dname_equals(z->sets[i].owner, owner))
			return &z->sets[i];
	return NULL;
}

/* Something is there, or below it. */
static inline bool signed_exists(const struct signed_zone *z, const uint8_t *name)
{
	for (unsigned i = 0; i < z->count; i++)
		if (z->sets[i].type != TYPE_NSEC3 && dname_is_under(z->sets[i].owner, name))
			return true;
	return false;
}

/* The denial record at `name` or over it. */
static inline void told_denial(struct told *t, const struct signed_zone *z, const uint8_t *name)
{
	const struct signed_set *best = NULL, *last = NULL;
	uint16_t type = z->by_hash ? TYPE_NSEC3 : TYPE_NSEC;
	uint8_t hash[NSEC3_HASH_LEN], hashed[DNAME_MAX];

	if (!z->is_signed)
		return;
	if (z->by_hash) {
		signed_hash(name, hash);
		PROMISE(nsec3_owner(hash, z->apex, hashed));
		name = hashed;
	}
	for (unsigned i = 0; i < z->count; i++) {
		const struct signed_set *s = &z->sets[i];

		if (s->type != type)
			continue;
		if (!last || dname_compare(s->owner, last->owner) > 0)
			last = s;
		if (dname_compare(s->owner, name) <= 0 &&
		    (!best || dname_compare(s->owner, best->owner) > 0))
			best = s;
	}
	best = best ? best : last;
	for (unsigned i = 0; i < t->count; i++)
		if (t->records[i].type == type && dname_equals(t->records[i].owner, best->owner))
			return;
	told_set(t, SECTION_AUTHORITY, best, NULL);
}

static inline void told_soa(struct told *t, const struct signed_zone *z)
{
	told_set(t, SECTION_AUTHORITY, signed_find(z, z->apex, TYPE_SOA), NULL);
}

static inline void told_referral(struct told *t, const struct signed_zone *z,
				 const struct signed_set *cut)
{
	const struct signed_set *ds = signed_find(z, cut->owner, TYPE_DS);
	const struct signed_set *glue = signed_find(z, cut->rdata.at, TYPE_A);

	t->authoritative = false;
	told_set(t, SECTION_AUTHORITY, cut, NULL);
	if (ds)
		told_set(t, SECTION_AUTHORITY, ds, NULL);
	else
		told_denial(t, z, cut->owner);
	if (glue)
		told_set(t, SECTION_ADDITIONAL, glue, NULL);
}

/* What is at a name (`there`), for a question that may be about another one that it stands for. */
static inline void told_of_name(struct told *t, const struct signed_zone *z, const uint8_t *there,
				const struct question *q)
{
	const struct signed_set *s = signed_find(z, there, q->type);

	if (!s && q->type != TYPE_NSEC)
		s = signed_find(z, there, TYPE_CNAME);
	if (s) {
		told_set(t, SECTION_ANSWER, s, q->name);
		return;
	}
	told_soa(t, z);
	told_denial(t, z, there);
}

static inline bool told_of_dname(struct told *t, const struct signed_zone *z, const uint8_t *name)
{
	for (const uint8_t *at = name; !dname_equals(at, z->apex);) {
		const struct signed_set *s = signed_find(z, at = dname_parent(at), TYPE_DNAME);
		static uint8_t target[DNAME_MAX];

		if (!s)
			continue;
		told_set(t, SECTION_ANSWER, s, NULL);
		if (!dname_transplant(target, name, s->owner, s->rdata.at)) {
			t->rcode = RCODE_YXDOMAIN;
			return true;
		}
		told_record(t, (struct record){ SECTION_ANSWER, name, TYPE_CNAME, 600,
						{ target, dname_len(target) } });
		return true;
	}
	return false;
}

static inline void signed_tell(const struct signed_zone *z, const struct question *q, struct told *t)
{
	const struct signed_set *cut = signed_cut(z, q->name);
	const uint8_t *encloser = q->name, *next = q->name;
	uint8_t star[DNAME_MAX];

	*t = (struct told){ .authoritative = true, .secure = z->is_signed };
	if (!dname_is_under(q->name, z->apex)) {
		t->rcode = RCODE_REFUSED;
		return;
	}
	if (cut && !(q->type == TYPE_DS && dname_equals(q->name, cut->owner))) {
		told_referral(t, z, cut);
		return;
	}
	if (signed_exists(z, q->name)) {
		told_of_name(t, z, q->name, q);
		return;
	}
	if (told_of_dname(t, z, q->name))
		return;
	while (!signed_exists(z, encloser)) {
		next = encloser;
		encloser = dname_parent(encloser);
	}
	if (!dname_join(star, W("\1*"), 2, encloser))
		*star = 0;
	if (*star && signed_exists(z, star))
		told_of_name(t, z, star, q);
	else {
		t->rcode = RCODE_NXDOMAIN;
		told_soa(t, z);
		if (*star && !z->by_hash)
			told_denial(t, z, star);
	}
	told_denial(t, z, next);
	if (z->by_hash) {
		told_denial(t, z, encloser);
		if (*star)
			told_denial(t, z, star);
	}
}

/* ---- the truth ---- */

static inline const struct signed_zone *signed_zone_of(const struct question *q)
{
	const struct signed_zone *best = &signed_zones[0];

	for (unsigned i = 1; i < COUNT(signed_zones); i++) {
		const struct signed_zone *z = &signed_zones[i];

		if (q->type == TYPE_DS ? dname_is_strictly_under(q->name, z->apex) :
					 dname_is_under(q->name, z->apex))
			if (dname_labels(z->apex) > dname_labels(best->apex))
				best = z;
	}
	return best;
}

/* The whole answer to `q`, aliases followed: ANSWER without signatures, and the code. */
static inline void signed_truth(struct question q, struct told *truth)
{
	static uint8_t held[8][DNAME_MAX]; /* until the next call */
	struct told t;
	bool alias = true;

	*truth = (struct told){ .secure = true };
	for (unsigned steps = 0; alias && steps < 8; steps++) {
		signed_tell(signed_zone_of(&q), &q, &t);
		alias = false;
		truth->secure &= t.secure;
		truth->rcode = t.rcode;
		for (unsigned i = 0; i < t.count; i++) {
			const struct record *r = &t.records[i];

			if (r->section != SECTION_ANSWER || r->type == TYPE_RRSIG)
				continue;
			told_record(truth, *r);
			if (r->type == TYPE_CNAME && q.type != TYPE_CNAME) {
				alias = true;
				q.name = memcpy(held[steps], r->rdata.at, r->rdata.len);
				q.name_len = (uint16_t)r->rdata.len;
				truth->records[truth->count - 1].rdata.at = q.name;
			}
		}
	}
}

#endif
