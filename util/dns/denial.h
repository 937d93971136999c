/* What NSEC and NSEC3 records prove: pure functions, no cache, no network.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The caller has verified the sets: each is one NSEC or NSEC3 record signed by a key of `zone`, at
 * its own owner name: one expanded from a wildcard is no evidence, but which RRSIG holds, only the caller knows. RFC 4035 5.4, 5155 8, 6840 4, 9276, with rules that keep
 * a zone from speaking for others: an NSEC's next name and an NSEC3's owner must be in the zone; a
 * record from above a zone cut, or at a DNAME, says nothing about the names below. NSEC3 records
 * with an unknown hash algorithm or flag, or other parameters than the first, are no evidence. */
#ifndef UTIL_DNS_DENIAL_H
#define UTIL_DNS_DENIAL_H

#include "util/dns/rrset.h"
#include "util/dns/type_bitmap.h"

/* ---- one record ---- */

/* Whether the set is one well-formed NSEC record, its owner and next name both in `zone`. */
bool nsec_is_sound(const struct rrset *nsec, const uint8_t *zone) PURE;
/* The next name of a sound record; borrowed. */
const uint8_t *nsec_next(const struct rrset *nsec) PURE;

/* A sound record proves that nothing is at `name` (it may be an ENT, though: nsec_shows_ent). */
bool nsec_covers(const struct rrset *nsec, const uint8_t *zone, const uint8_t *name) PURE;
/* It proves that `name` is an empty non-terminal: nothing is there, but something below. */
bool nsec_shows_ent(const struct rrset *nsec, const uint8_t *zone, const uint8_t *name) PURE;
/* Labels of the closest encloser of a name that the record covers. */
unsigned nsec_closest_encloser(const struct rrset *nsec, const uint8_t *name) PURE;

#define NSEC3_SHA1      1
#define NSEC3_OPTOUT    1
#define NSEC3_HASH_LEN  20

struct nsec3 {
	uint8_t hash_algorithm, flags;
	uint16_t iterations;
	struct slice salt, next, types;
	uint8_t owner[NSEC3_HASH_LEN];  /* hash decoded from its owner name */
};

/* False unless the set is one well-formed NSEC3 record whose owner is a hash label directly below
 * `zone`, with a known hash algorithm, no unknown flag, a next hash of the same length and a sound
 * bitmap. The slices in `out` are borrowed from the set. */
bool nsec3_read(const struct rrset *set, const uint8_t *zone, struct nsec3 *out) MUST_USE;

/* RFC 5155 5: SHA-1 of the lower-cased name and salt, iterated `iterations` more times. */
void nsec3_hash(const uint8_t *name, struct slice salt, unsigned iterations,
		uint8_t out[NSEC3_HASH_LEN]);
/* Its cost to the query's budget, in units of 50 iterations. */
static inline int nsec3_cost(unsigned iterations)
{
	return (int)(iterations / 50) + 1;
}

/* Whether `hash` is strictly between the record's owner and next hash (which may wrap around). */
bool nsec3_covers(const struct nsec3 *n, const uint8_t hash[NSEC3_HASH_LEN]) PURE;

/* The owner name: the hash in lower-case base32hex (RFC 4648 7), prepended to the zone. Returns the
 * length; 0 when too long. `to` holds DNAME_MAX bytes. */
size_t nsec3_owner(const uint8_t hash[NSEC3_HASH_LEN], const uint8_t *zone, uint8_t *to);

/* ---- what they prove together ---- */

enum denial {
	DENIAL_NONE,            /* not proven: bogus */
	DENIAL_PROVEN,
	DENIAL_INSECURE,        /* an opt-out span: unsigned delegations may be there */
	DENIAL_COSTLY,          /* more NSEC3 iterations than allowed: insecure, EDE 27 */
	DENIAL_EXHAUSTED,       /* the hash budget ran out: nothing is known */
};

#define DENIAL_SETS 16          /* sets of each kind that are examined; more are ignored */

struct denial_evidence {
	const uint8_t *zone;            /* apex of the zone that signed them all */
	unsigned nsec_count, nsec3_count;
	const struct rrset *nsec[DENIAL_SETS];
	struct nsec3 nsec3[DENIAL_SETS];        /* all with the same parameters */
	unsigned max_iterations;        /* above this: DENIAL_COSTLY, and nothing is hashed */
	int *hashes;                    /* budget, in units of 50 iterations; NULL: none */
};

/* Start without evidence. `zone` and `hashes` are borrowed. */
void denial_begin(struct denial_evidence *e, const uint8_t *zone, unsigned max_iterations,
		  int *hashes);
/* Add a verified set, borrowed. False when it is of another type, no evidence (see above), or one
 * too many. */
bool denial_add(struct denial_evidence *e, const struct rrset *set);

/* Neither the name nor a wildcard matching it exists (RFC 4035 5.4, 5155 8.4). */
enum denial denial_of_name(const struct denial_evidence *e, const uint8_t *qname);

/* The name, or the wildcard matching it, has neither that type nor a CNAME (RFC 4035 5.4, 5155
 * 8.5-8.7); for ANY, no data of any type. Empty non-terminals have no types at all. For DS see denial_of_ds. */
enum denial denial_of_type(const struct denial_evidence *e, const uint8_t *qname, uint16_t qtype);

/* Both, at the cost of one of them. */
struct denial_both {
	enum denial name, type;
};

struct denial_both denial_of_both(const struct denial_evidence *e, const uint8_t *qname, uint16_t qtype);

/* For a positive answer expanded from the wildcard "*." + the last `labels` labels of `qname`
 * (struct sig_result in validator/verify.h): no closer match exists (RFC 4035 5.3.4, 5155 8.8). */
enum denial denial_of_closer(const struct denial_evidence *e, const uint8_t *qname,
			     unsigned labels);

/* What a zone proves about a name strictly below its apex that has no DS RRset. */
enum denial_cut {
	CUT_UNKNOWN,            /* nothing proven: bogus */
	CUT_INSECURE,           /* an unsigned delegation */
	CUT_OPTOUT,             /* there may be a delegation; if so, unsigned (RFC 5155 8.6, 8.9) */
	CUT_NONE,               /* no zone cut: the name is in this zone, or does not exist */
	CUT_COSTLY,             /* as DENIAL_COSTLY */
	CUT_EXHAUSTED,          /* as DENIAL_EXHAUSTED */
};

enum denial_cut denial_of_ds(const struct denial_evidence *e, const uint8_t *name);

#endif
