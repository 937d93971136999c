/* What this installation believes: algorithms, digests, dates and limits, from the configuration.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Built once for a snapshot, then read by any number of threads. */
#ifndef VALIDATOR_RULES_H
#define VALIDATOR_RULES_H

#include "util/base.h"

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

#define RULES_NSEC3 8                   /* most pairs of val-nsec3-keysize-iterations */

struct rules {
	struct octets algorithms;       /* whose signatures count; without one, insecure */
	struct octets digests;          /* of DS records that count */
	struct octets fake;             /* algorithms valid without arithmetic (fake-sha1, fake-dsa) */
	bool every_algorithm;           /* harden-algo-downgrade */
	enum rules_date date;
	uint32_t fixed_date;            /* for DATE_FIXED, seconds since 1970 mod 2^32 */
	uint32_t skew_min_s, skew_max_s;
	struct {
		uint16_t bits, iterations;      /* keys up to so many bits; ascending */
	} nsec3[RULES_NSEC3];
	unsigned nsec3_count;
	/* limits of doc/DESIGN.md 9, against KeyTrap */
	unsigned sigs_per_set;          /* checks for one record set: 8 */
	unsigned keys_per_tag;          /* keys with one tag that are tried: 2 */
	unsigned ds_failures;           /* DS records that may fail to match: 4 */
};

/* What an empty configuration gives. */
void rules_default(struct rules *r);
/* False with a sentence when a value that looked right has no meaning together with others. */
bool rules_read(struct rules *r, const struct conf *conf, struct fault *f) MUST_USE;

/* The date at which signatures are judged, mod 2^32, where the clock says `wall_s`. */
uint32_t rules_now(const struct rules *r, int64_t wall_s) PURE;

/* Most NSEC3 iterations believed of a zone whose largest key has `bits` (val-nsec3-keysize-
 * iterations); above it what they prove is insecure, and is not computed (RFC 9276 3.2). */
unsigned rules_nsec3_limit(const struct rules *r, unsigned bits) PURE;

#endif
