/* The arithmetic of signatures and digests: the only door to OpenSSL for them.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A public key is parsed once and then checks any number of signatures, from any thread: a
 * check is one EVP verify, with no parse, no fetch and (unless two threads use the same key at
 * the same instant) no allocation. Which algorithms are to be believed is not decided here (see
 * validator/rules.h), only what can be computed. Fetched things live as long as their thread. */
#ifndef VALIDATOR_CRYPTO_H
#define VALIDATOR_CRYPTO_H

#include "util/bytes.h"

struct crypto_key;

/* Whether the arithmetic of this algorithm is known here and works in the OpenSSL at hand; the
 * answer for one number never changes while the process lives. */
bool crypto_knows(uint8_t algorithm);
/* The mnemonic ("ECDSAP256SHA256"), or "algorithm 200" in `buf`. */
const char *crypto_algorithm_name(uint8_t algorithm, char buf[24]);

/* Parse the public key field of a DNSKEY (RFC 3110, 5702, 6605, 8080). NULL when the algorithm
 * is not known or the key is malformed; `why`, unless NULL, is then a constant phrase for a
 * person ("the point is not on the curve"). RSA moduli have 512 to 4096 bits, exponents 2 to
 * 64 bits. Owned by the caller. */
struct crypto_key *crypto_key_new(uint8_t algorithm, struct slice public_key, const char **why)
	MUST_USE;
void crypto_key_free(struct crypto_key *k);             /* NULL is fine */
size_t crypto_key_size(const struct crypto_key *k);     /* bytes of memory, roughly; for budgets */

/* Bits of the key on the wire, without parsing it (RSA: of the modulus); 0 when it has no shape. */
unsigned crypto_key_bits(uint8_t algorithm, struct slice public_key) PURE;

/* Whether `sig` (the signature field of an RRSIG) is this key's signature of `data`. A signature
 * of the wrong shape is simply false. Any thread. */
bool crypto_verify(const struct crypto_key *k, struct slice data, struct slice sig) MUST_USE;

/* ---- digests of DS records (IANA: ds-rr-types) ---- */

enum { DIGEST_SHA1 = 1, DIGEST_SHA256 = 2, DIGEST_SHA384 = 4 };

#define CRYPTO_DIGEST_MAX 48

/* Bytes of a digest of this type; 0 when its arithmetic is not known. */
size_t crypto_digest_len(uint8_t digest_type);
/* The digest of the pieces one after the other; its length, or 0. */
size_t crypto_digest(uint8_t digest_type, const struct slice *pieces, size_t count,
		     uint8_t out[CRYPTO_DIGEST_MAX]) MUST_USE;

#endif
