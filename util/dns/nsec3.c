/* Single NSEC3 records: reading, hashing, covering. Calls OpenSSL, for SHA-1 alone.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/dns/denial.h"

#include <openssl/evp.h>
#include <pthread.h>

#include "util/base/mem.h"
#include "util/dns/dname.h"
#include "util/dns/rr.h"

/* ---- SHA-1, fetching and allocating nothing after a thread's first use ---- */

static EVP_MD *sha1;
static pthread_once_t sha1_once = PTHREAD_ONCE_INIT;
static pthread_key_t sha1_key;
static _Thread_local EVP_MD_CTX *sha1_ctx;

static void free_ctx(void *ctx)
{
	EVP_MD_CTX_free(ctx);
	sha1_ctx = NULL;
}

static void fetch_sha1(void)
{
	sha1 = EVP_MD_fetch(NULL, "SHA1", NULL);
	PROMISE(sha1 != NULL);
	PROMISE(pthread_key_create(&sha1_key, free_ctx) == 0);
}

static EVP_MD_CTX *ctx_of_thread(void)
{
	if (UNLIKELY(!sha1_ctx)) {
		PROMISE(pthread_once(&sha1_once, fetch_sha1) == 0);
		sha1_ctx = EVP_MD_CTX_new();
		PROMISE(sha1_ctx && EVP_DigestInit_ex2(sha1_ctx, sha1, NULL));
		pthread_setspecific(sha1_key, sha1_ctx);
	}
	return sha1_ctx;
}

static void hash_round(EVP_MD_CTX *ctx, struct slice in, struct slice salt, uint8_t *out)
{
	PROMISE(EVP_DigestInit_ex2(ctx, NULL, NULL) && EVP_DigestUpdate(ctx, in.at, in.len) &&
		EVP_DigestUpdate(ctx, salt.at, salt.len) && EVP_DigestFinal_ex(ctx, out, NULL));
}

void nsec3_hash(const uint8_t *name, struct slice salt, unsigned iterations,
		uint8_t out[NSEC3_HASH_LEN])
{
	EVP_MD_CTX *ctx = ctx_of_thread();
	uint8_t lower[DNAME_MAX];
	size_t len = dname_copy_lower(lower, name);

	hash_round(ctx, (struct slice){ lower, len }, salt, out);
	while (iterations--)
		hash_round(ctx, (struct slice){ out, NSEC3_HASH_LEN }, salt, out);
}

/* ---- base32hex without padding (RFC 4648 7): 20 bytes are 32 characters ---- */

#define HASH_TEXT 32

static int digit(uint8_t c)
{
	c = ascii_lower[c];
	if (c <= '9')
		return c - '0'; /* negative for none */
	return c >= 'a' && c <= 'v' ? c - 'a' + 10 : -1;
}

static bool read_hash(const uint8_t *text, uint8_t *out)
{
	for (unsigned i = 0; i < HASH_TEXT; i += 8, out += 5) {
		uint64_t bits = 0;

		for (unsigned j = 0; j < 8; j++) {
			int d = digit(text[i + j]);

			if (d < 0)
				return false;
			bits = bits << 5 | (uint64_t)d;
		}
		for (unsigned j = 0; j < 5; j++)
			out[j] = (uint8_t)(bits >> (32 - 8 * j));
	}
	return true;
}

static void write_hash(const uint8_t *hash, uint8_t *to)
{
	for (unsigned i = 0; i < HASH_TEXT; i += 8, hash += 5) {
		uint64_t bits = 0;

		for (unsigned j = 0; j < 5; j++)
			bits = bits << 8 | hash[j];
		for (unsigned j = 0; j < 8; j++)
			to[i + j] =
				(uint8_t) "0123456789abcdefghijklmnopqrstuv"[bits >> (35 - 5 * j) &
									     31];
	}
}

size_t nsec3_owner(const uint8_t hash[NSEC3_HASH_LEN], const uint8_t *zone, uint8_t *to)
{
	static const uint8_t label[1 + HASH_TEXT] = { HASH_TEXT };
	size_t len = dname_join(to, label, sizeof(label), zone);

	if (len)
		write_hash(hash, to + 1);
	return len;
}

/* ---- one record ---- */

bool nsec3_read(const struct rrset *set, const uint8_t *zone, struct nsec3 *out)
{
	const uint8_t *owner = rrset_owner(set);
	struct reader r;
	struct slice rd;
	size_t len;

	if (set->type != TYPE_NSEC3 || set->count != 1 || owner[0] != HASH_TEXT ||
	    !dname_equals(dname_parent(owner), zone) || !read_hash(owner + 1, out->owner))
		return false;
	rd = rrset_record(set, 0);
	r = reader_over(rd.at, rd.len);
	out->hash_algorithm = read_u8(&r);
	out->flags = read_u8(&r);
	out->iterations = read_u16(&r);
	len = read_u8(&r);
	out->salt = (struct slice){ read_bytes(&r, len), len };
	len = read_u8(&r);
	out->next = (struct slice){ read_bytes(&r, len), len };
	out->types = (struct slice){ r.at, reader_left(&r) };
	return !r.bad && out->hash_algorithm == NSEC3_SHA1 && !(out->flags & ~NSEC3_OPTOUT) &&
	       out->next.len == NSEC3_HASH_LEN && types_are_sound(out->types);
}

/* The last record of a zone points back to the first; a sole one to itself, covering all else. */
bool nsec3_covers(const struct nsec3 *n, const uint8_t hash[NSEC3_HASH_LEN])
{
	bool after = memcmp(n->owner, hash, NSEC3_HASH_LEN) < 0;
	bool before = memcmp(hash, n->next.at, NSEC3_HASH_LEN) < 0;

	if (memcmp(n->owner, n->next.at, NSEC3_HASH_LEN) < 0)
		return after && before;
	return after || before;
}
