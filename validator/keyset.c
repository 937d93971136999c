/* Reading DNSSEC records, and the keys of a zone, each parsed when first needed.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "validator/verify_private.h"

#include <stdlib.h>

#include "util/base/mem.h"
#include "util/dns/dname.h"
#include "util/dns/rr.h"
#include "validator/crypto.h"

/* ---- reading records ---- */

bool dnskey_read(struct slice rdata, struct dnskey *out)
{
	struct reader r = reader_over(rdata.at, rdata.len);

	out->flags = read_u16(&r);
	out->protocol = read_u8(&r);
	out->algorithm = read_u8(&r);
	out->public_key = (struct slice){ r.at, reader_left(&r) };
	return !r.bad;
}

bool ds_read(struct slice rdata, struct ds *out)
{
	struct reader r = reader_over(rdata.at, rdata.len);

	out->tag = read_u16(&r);
	out->algorithm = read_u8(&r);
	out->digest_type = read_u8(&r);
	out->digest = (struct slice){ r.at, reader_left(&r) };
	return !r.bad;
}

#define RRSIG_FIXED 18

bool rrsig_read(struct slice rdata, struct rrsig *out)
{
	struct reader r = reader_over(rdata.at, rdata.len);
	size_t len;

	out->covered = read_u16(&r);
	out->algorithm = read_u8(&r);
	out->labels = read_u8(&r);
	out->original_ttl_s = read_u32(&r);
	out->expiration = read_u32(&r);
	out->inception = read_u32(&r);
	out->tag = read_u16(&r);
	len = dname_measure(r.at, r.end);
	out->signer = read_bytes(&r, len);
	out->head = (struct slice){ rdata.at, RRSIG_FIXED + len };
	out->signature = (struct slice){ r.at, reader_left(&r) };
	return !r.bad && len > 0;
}

bool ds_matches(const struct ds *ds, const uint8_t *owner, struct slice dnskey_rdata)
{
	uint8_t lower[DNAME_MAX], digest[CRYPTO_DIGEST_MAX];
	struct slice pieces[2] = { { lower, dname_copy_lower(lower, owner) }, dnskey_rdata };
	struct dnskey key;

	if (!dnskey_read(dnskey_rdata, &key) || key.algorithm != ds->algorithm ||
	    rr_key_tag(dnskey_rdata) != ds->tag || ds->digest.len == 0)
		return false;
	/* 0: of a type that is not known */
	return crypto_digest(ds->digest_type, pieces, 2, digest) == ds->digest.len &&
	       memcmp(digest, ds->digest.at, ds->digest.len) == 0;
}

/* ---- keys of a zone ---- */

/* Marks a public key that could not be parsed, so that it is tried only once. */
static char broken_place;
#define BROKEN ((struct crypto_key *)(void *)&broken_place)

static int compare_numbers(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Sorts the keys by tag; by_tag holds the tag of each above its index. */
static void sort_by_tag(struct keyset *k, uint32_t *by_tag)
{
	for (unsigned i = 0; i < k->count; i++)
		by_tag[i] = (uint32_t)k->key[i].tag << 16 | i;
	if (k->count)
		qsort(by_tag, k->count, sizeof(*by_tag), compare_numbers);
	k->by_tag = by_tag;
}

/* One piece of memory: keys, the copy of the set, by_tag. */
struct keyset *keyset_new(const struct rrset *dnskeys)
{
	struct rrset_walk w = rrset_records(dnskeys);
	size_t head = sizeof(struct keyset) + dnskeys->count * sizeof(struct zonekey);
	size_t tags_at = (head + dnskeys->size + 3) & ~(size_t)3;
	struct keyset *k = mem_zero(tags_at + dnskeys->count * sizeof(uint32_t));
	struct rrset *copy = (struct rrset *)(void *)((uint8_t *)k + head);

	memcpy(copy, dnskeys, dnskeys->size);
	k->dnskeys = copy;
	atomic_init(&k->pins, 1);
	w = rrset_records(copy);
	for (struct slice rd; rrset_next(&w, &rd);) {
		struct zonekey *z = &k->key[k->count];
		struct dnskey key;

		if (!dnskey_read(rd, &key))
			continue;
		z->rdata = rd;
		z->flags = key.flags;
		z->tag = rr_key_tag(rd);
		z->protocol = key.protocol;
		z->algorithm = key.algorithm;
		z->public_key = key.public_key;
		k->count++;
	}
	sort_by_tag(k, (uint32_t *)(void *)((uint8_t *)k + tags_at));
	return k;
}

struct keyset *keyset_pin(struct keyset *k)
{
	atomic_fetch_add_explicit(&k->pins, 1, memory_order_relaxed);
	return k;
}

void keyset_unpin(struct keyset *k)
{
	if (!k || atomic_fetch_sub_explicit(&k->pins, 1, memory_order_acq_rel) != 1)
		return;
	for (unsigned i = 0; i < k->count; i++) {
		struct crypto_key *parsed = atomic_load(&k->key[i].parsed);

		if (parsed != BROKEN)
			crypto_key_free(parsed);
	}
	mem_free(k);
}

size_t keyset_size(const struct keyset *k)
{
	size_t size = mem_size(k);

	for (unsigned i = 0; i < k->count; i++) {
		struct crypto_key *parsed = atomic_load(&k->key[i].parsed);

		if (parsed && parsed != BROKEN)
			size += crypto_key_size(parsed);
	}
	return size;
}

bool zonekey_is_one(const struct zonekey *z)
{
	return z->flags & DNSKEY_ZONE && z->protocol == 3;
}

bool zonekey_may_sign(const struct zonekey *z)
{
	return zonekey_is_one(z) && !(z->flags & DNSKEY_REVOKE);
}

unsigned keyset_bits(const struct keyset *k)
{
	unsigned most = 0;

	for (unsigned i = 0; i < k->count; i++) {
		unsigned bits = crypto_key_bits(k->key[i].algorithm, k->key[i].public_key);

		if (zonekey_is_one(&k->key[i]) && crypto_knows(k->key[i].algorithm) && bits > most)
			most = bits;
	}
	return most;
}

/* How many of the keys have a lower tag. */
static unsigned keys_below(const struct keyset *k, uint16_t tag)
{
	unsigned from = 0, to = k->count;

	while (from < to) {
		unsigned mid = (from + to) / 2;

		if (k->by_tag[mid] >> 16 < tag)
			from = mid + 1;
		else
			to = mid;
	}
	return from;
}

/* In between, `at` is one more than the place in by_tag where it goes on. */
int keyset_next(struct tag_walk *w)
{
	unsigned at = w->at ? w->at - 1 : keys_below(w->keys, w->tag);

	if (at >= w->keys->count || w->keys->by_tag[at] >> 16 != w->tag)
		return -1;
	w->at = at + 2;
	return (int)(w->keys->by_tag[at] & 0xffff);
}

bool keyset_has_tag(const struct keyset *k, uint16_t tag)
{
	struct tag_walk w = { .keys = k, .tag = tag };

	for (int i; (i = keyset_next(&w)) >= 0;)
		if (zonekey_may_sign(&k->key[i]))
			return true;
	return false;
}

const struct crypto_key *zonekey_parsed(const struct zonekey *z, const char **why)
{
	_Atomic(struct crypto_key *) *place = &((struct zonekey *)z)->parsed;
	struct crypto_key *key = atomic_load_explicit(place, memory_order_acquire);
	struct crypto_key *none = NULL;

	*why = "malformed";
	if (key)
		return key == BROKEN ? NULL : key;
	key = crypto_key_new(z->algorithm, z->public_key, why);
	if (!key)
		key = BROKEN;
	if (!atomic_compare_exchange_strong(place, &none, key)) {
		if (key != BROKEN)
			crypto_key_free(key);
		key = none;
	}
	return key == BROKEN ? NULL : key;
}
