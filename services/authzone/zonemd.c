/* The digest over all records of a zone (RFC 8976). Calls OpenSSL, for SHA-2.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/authzone/zonemd.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

#include "services/authzone/data.h"
#include "util/base/fault.h"
#include "util/base/mem.h"
#include "util/dns/dname.h"
#include "util/dns/rr.h"
#include "util/dns/text.h"

#define DIGEST_LEAST 12 /* bytes: RFC 8976 2.2.4 */

/* ---- records in canonical form and order (RFC 4034 6) ---- */

struct canonical {
	uint8_t *rdata;
	size_t len;
	uint32_t ttl_s;
	uint16_t type;
};

struct digesting {
	EVP_MD_CTX *ctx;
	const struct zonedata *z;
	struct canonical *items; /* of one owner name */
	size_t count, room;
};

static uint16_t covered(const struct text_rr *rr)
{
	return rr->type == TYPE_RRSIG && rr->rdata.len >= 2 ? get_u16(rr->rdata.at) : 0;
}

/* RFC 8976 3.3.1: the digest does not cover itself. */
static bool is_left_out(const struct digesting *d, const struct text_rr *rr)
{
	return (rr->type == TYPE_ZONEMD || covered(rr) == TYPE_ZONEMD) &&
	       dname_equals(rr->owner, d->z->apex);
}

static void take(struct digesting *d, const struct text_rr *rr)
{
	struct canonical *c;

	if (is_left_out(d, rr))
		return;
	if (d->count == d->room) {
		d->room = d->room ? d->room * 2 : 16;
		d->items = mem_grow(d->items, d->room * sizeof(*d->items));
	}
	c = &d->items[d->count++];
	*c = (struct canonical){ .rdata = mem_copy(rr->rdata.at, rr->rdata.len),
				 .len = rr->rdata.len,
				 .ttl_s = rr->ttl_s,
				 .type = rr->type };
	rr_canonical_rdata(c->type, c->rdata, c->len);
}

static void take_set(struct digesting *d, const struct rrset *s)
{
	struct text_rr rr = { .owner = rrset_owner(s),
			      .type = s->type,
			      .class_ = s->class_,
			      .ttl_s = s->ttl_s };
	struct rrset_walk w = rrset_records(s);

	while (rrset_next(&w, &rr.rdata))
		take(d, &rr);
	rr.type = TYPE_RRSIG;
	w = rrset_sigs(s);
	while (rrset_next(&w, &rr.rdata))
		take(d, &rr);
}

static int by_canon(const void *va, const void *vb)
{
	const struct canonical *a = va, *b = vb;
	size_t both = MIN(a->len, b->len);
	int order = (a->type > b->type) - (a->type < b->type);

	if (order == 0 && both)
		order = memcmp(a->rdata, b->rdata, both);
	return order ? order : (a->len > b->len) - (a->len < b->len);
}

static void feed(const struct digesting *d, const void *at, size_t len)
{
	if (len)
		PROMISE(EVP_DigestUpdate(d->ctx, at, len));
}

static void feed_node(struct digesting *d, const struct zonenode *n)
{
	uint8_t owner[DNAME_MAX], head[10];
	size_t owner_len = dname_copy_lower(owner, n->name);

	d->count = 0;
	for (uint32_t i = 0; i < n->count; i++)
		take_set(d, n->sets[i]);
	if (d->count)
		qsort(d->items, d->count, sizeof(*d->items), by_canon);
	for (size_t i = 0; i < d->count; i++) {
		const struct canonical *c = &d->items[i];

		put_u16(head, c->type);
		put_u16(head + 2, CLASS_IN);
		put_u32(head + 4, c->ttl_s);
		put_u16(head + 8, (uint16_t)c->len);
		feed(d, owner, owner_len);
		feed(d, head, sizeof(head));
		feed(d, c->rdata, c->len);
		mem_free(c->rdata);
	}
}

size_t zonemd_digest(const struct zonedata *z, uint8_t algorithm, uint8_t to[ZONEMD_MOST])
{
	const EVP_MD *md = algorithm == ZONEMD_SHA384   ? EVP_sha384()
			   : algorithm == ZONEMD_SHA512 ? EVP_sha512()
							: NULL;
	struct digesting d = { .z = z };
	unsigned len = 0;

	if (!md)
		return 0;
	d.ctx = EVP_MD_CTX_new();
	PROMISE(d.ctx && EVP_DigestInit_ex(d.ctx, md, NULL));
	for (size_t i = 0; i < z->count; i++)
		feed_node(&d, &z->nodes[i]);
	PROMISE(EVP_DigestFinal_ex(d.ctx, to, &len));
	EVP_MD_CTX_free(d.ctx);
	mem_free(d.items);
	return len;
}

/* ---- the record ---- */

struct zonemd {
	uint32_t serial;
	uint8_t scheme, algorithm;
	struct slice digest;
};

static bool read_one(struct slice rd, struct zonemd *out)
{
	if (rd.len < 6 + DIGEST_LEAST)
		return false;
	*out = (struct zonemd){ .serial = get_u32(rd.at),
				.scheme = rd.at[4],
				.algorithm = rd.at[5],
				.digest = { rd.at + 6, rd.len - 6 } };
	return true;
}

/* RFC 8976 4: at most one record per scheme and algorithm is allowed. */
static bool is_repeated(const struct rrset *set, const struct zonemd *one)
{
	struct rrset_walk w = rrset_records(set);
	unsigned alike = 0;
	struct zonemd other;

	for (struct slice rd; rrset_next(&w, &rd);)
		alike += read_one(rd, &other) && other.scheme == one->scheme &&
			 other.algorithm == one->algorithm;
	return alike > 1;
}

static bool is_right(const struct zonedata *z, const struct zonemd *one)
{
	uint8_t digest[ZONEMD_MOST];
	size_t len = zonemd_digest(z, one->algorithm, digest);

	return len == one->digest.len && CRYPTO_memcmp(digest, one->digest.at, len) == 0;
}

enum zonemd_end zonemd_check(const struct zonedata *z, struct fault *f)
{
	const struct rrset *set = zonenode_set(zonedata_node(z, z->apex), TYPE_ZONEMD);
	bool usable = false, repeated = false, wrong_serial = false;
	struct rrset_walk w;
	struct zonemd one;

	if (!set)
		return ZONEMD_ABSENT;
	w = rrset_records(set);
	for (struct slice rd; rrset_next(&w, &rd);) {
		if (!read_one(rd, &one) || one.scheme != ZONEMD_SIMPLE ||
		    (one.algorithm != ZONEMD_SHA384 && one.algorithm != ZONEMD_SHA512))
			continue;
		usable = true;
		if (is_repeated(set, &one))
			repeated = true;
		else if (one.serial != z->serial)
			wrong_serial = true;
		else if (is_right(z, &one))
			return ZONEMD_RIGHT;
	}
	if (!usable)
		return ZONEMD_UNKNOWN;
	fault_set(f, repeated       ? "more than one ZONEMD record has the same scheme and algorithm"
		     : wrong_serial ? "its ZONEMD record is of another serial number"
				    : "its digest (ZONEMD) does not match its records");
	return ZONEMD_WRONG;
}
