/* Signature and digest arithmetic: the only place that calls OpenSSL for it.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A public key is parsed once and then verifies any number of signatures, from any thread: one
 * verification is one EVP verify, with no parse, no fetch and (unless two threads use the same key
 * at the same instant) no allocation. This room only knows what can be computed; which algorithms
 * count is decided in validator/rules.h. Fetched OpenSSL objects live as long as their thread. */
#ifndef VALIDATOR_CRYPTO_H
#define VALIDATOR_CRYPTO_H

#include "util/base/bytes.h"

struct crypto_key;

/* Whether this algorithm is implemented here and works in the OpenSSL at hand; never changes for a
 * number during the life of the process. */
bool crypto_knows(uint8_t algorithm);
/* The mnemonic ("ECDSAP256SHA256"), or "algorithm 200" in `buf`. */
const char *crypto_algorithm_name(uint8_t algorithm, char buf[24]);

/* Parse the public key field of a DNSKEY (RFC 3110, 5702, 6605, 8080). NULL when the algorithm is
 * unknown or the key malformed; *why, unless `why` is NULL, is then a constant phrase for people
 * ("the point is not on the curve"). RSA moduli must have 512 to 4096 bits, exponents 2 to 64.
 * Owned by the caller. */
struct crypto_key *crypto_key_new(uint8_t algorithm, struct slice public_key, const char **why)
	MUST_USE;
void crypto_key_free(struct crypto_key *k);             /* NULL is fine */
size_t crypto_key_size(const struct crypto_key *k);     /* approximate bytes of memory */

/* Keys of these can be described, but no signature by them can be verified (RFC 8624 3.1). */
enum { ALGORITHM_DSA = 3, ALGORITHM_DSA_NSEC3 = 6 };

/* Key size in bits (RSA: of the modulus; DSA: of the prime P, RFC 2536) read from the wire form; 0 when it is
 * malformed or of an unknown algorithm. */
unsigned crypto_key_bits(uint8_t algorithm, struct slice public_key) PURE;

/* What a check with this key costs, in checks with a usual key. */
unsigned crypto_key_cost(const struct crypto_key *k) PURE;

/* Likewise, with the cheapest key of this algorithm; 0: it is not known. */
unsigned crypto_algorithm_cost(uint8_t algorithm) PURE;

/* Whether `sig` (the signature field of an RRSIG) is this key's signature of `data`; false for a
 * malformed one. Safe from any thread. */
bool crypto_verify(const struct crypto_key *k, struct slice data, struct slice sig) MUST_USE;

/* ---- digests of DS records (IANA: ds-rr-types) ---- */

enum { DIGEST_SHA1 = 1, DIGEST_SHA256 = 2, DIGEST_SHA384 = 4 };

#define CRYPTO_DIGEST_MAX 48

/* Length of a digest of this type in bytes; 0: a type that is not supported. */
size_t crypto_digest_len(uint8_t digest_type);
/* Digest the concatenated pieces into `out`. Returns the length in bytes, or 0. */
size_t crypto_digest(uint8_t digest_type, const struct slice *pieces, size_t count,
		     uint8_t out[CRYPTO_DIGEST_MAX]) MUST_USE;

#endif
