/* What this installation accepts: algorithms, digests, dates and limits, from the configuration.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Built once per snapshot, then read by any number of threads. */
#ifndef VALIDATOR_RULES_H
#define VALIDATOR_RULES_H

#include "util/base/base.h"

struct conf;
struct fault;

/* A set of numbers 0..255: algorithms, digest types. */
struct octets {
	uint32_t bits[8];
};

static inline bool octets_hold(const struct octets *o, uint8_t n)
{
	return o->bits[n / 32] >> (n % 32) & 1;
}

static inline void octets_put(struct octets *o, uint8_t n)
{
	o->bits[n / 32] |= UINT32_C(1) << (n % 32);
}

static inline bool octets_empty(const struct octets *o)
{
	uint32_t any = 0;

	for (unsigned i = 0; i < 8; i++)
		any |= o->bits[i];
	return any == 0;
}

enum rules_date { DATE_CLOCK, DATE_FIXED, DATE_ANY };   /* val-override-date: 0, a date, -1 */

#define RULES_NSEC3 8                   /* most pairs in val-nsec3-keysize-iterations */

struct rules {
	struct octets algorithms;       /* whose signatures count; a zone with none is insecure */
	struct octets digests;          /* whose DS records count */
	struct octets fake;             /* accepted without computing (fake-sha1, fake-dsa) */
	bool every_algorithm;           /* harden-algo-downgrade */
	enum rules_date date;
	uint32_t fixed_date;            /* for DATE_FIXED, seconds since 1970 mod 2^32 */
	uint32_t skew_min_s, skew_max_s;
	uint32_t least_ttl_s;           /* that no signature's original TTL shortens (cache-min-ttl) */
	struct {
		uint16_t bits, iterations;      /* for keys of up to `bits` bits; ascending */
	} nsec3[RULES_NSEC3];
	unsigned nsec3_count;
	/* limits against KeyTrap */
	unsigned sigs_per_set;          /* signature checks per RRset: 8 */
	unsigned keys_per_tag;          /* keys tried per key tag: 2 */
	unsigned ds_failures;           /* DS records that may have a key's tag and not match it: 4 */
};

/* The rules of an empty configuration. */
void rules_default(struct rules *r);
/* False with a sentence in `f` when values that are valid by themselves make no sense together. */
bool rules_read(struct rules *r, const struct conf *conf, struct fault *f) MUST_USE;

bool rules_are_same(const struct rules *a, const struct rules *b) PURE;

/* The time at which signatures are validated, mod 2^32, when the clock says `wall_s`. */
uint32_t rules_now(const struct rules *r, int64_t wall_s) PURE;

/* Most NSEC3 iterations accepted from a zone whose largest key has `bits` bits (val-nsec3-keysize-
 * iterations); beyond it, proofs are not computed and count as insecure (RFC 9276 3.2). */
unsigned rules_nsec3_limit(const struct rules *r, unsigned bits) PURE;

#endif
