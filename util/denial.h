/* What NSEC and NSEC3 records prove: pure functions, no cache, no network.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Whoever asks has verified the sets: each is one NSEC or NSEC3 record that a key of `zone` has
 * signed. One that came from a wildcard is no evidence. RFC 4035 5.4, 5155 8, 6840 4, 9276; rules that keep a
 * zone from speaking about others: next name and hash must be of the zone, a record from above
 * a cut or from a DNAME says nothing of the names below. NSEC3 records of unknown hash or flags,
 * or with parameters other than the first's, are no evidence. */
#ifndef UTIL_DENIAL_H
#define UTIL_DENIAL_H

#include "util/rrset.h"

/* ---- one record ---- */

/* Whether a bitmap of types holds the type, and whether it is well-formed (RFC 4034 4.1.2). */
bool types_hold(struct slice bitmap, uint16_t type) PURE;
bool types_are_sound(struct slice bitmap) PURE;

/* Whether the set is one whole NSEC record of a name of `zone` with its next name in `zone`. */
bool nsec_is_sound(const struct rrset *nsec, const uint8_t *zone) PURE;
/* For a sound record. */
const uint8_t *nsec_next(const struct rrset *nsec) PURE;

/* For a sound record: it proves that `name` does not exist (maybe an ENT: nsec_shows_ent). */
bool nsec_covers(const struct rrset *nsec, const uint8_t *zone, const uint8_t *name) PURE;
/* It proves that nothing stands at `name`, but something below. */
bool nsec_shows_ent(const struct rrset *nsec, const uint8_t *zone, const uint8_t *name) PURE;
/* Labels of the longest existing ancestor of a name that the record covers. */
unsigned nsec_closest_encloser(const struct rrset *nsec, const uint8_t *name) PURE;

#define NSEC3_SHA1      1
#define NSEC3_OPTOUT    1
#define NSEC3_HASH_LEN  20

struct nsec3 {
	uint8_t hash_algorithm, flags;
	uint16_t iterations;
	struct slice salt, next, types;
	uint8_t owner[NSEC3_HASH_LEN];  /* the hash its owner name spells */
};

/* False unless the set is one whole NSEC3 record, its owner one label below `zone` that spells a
 * hash, of a known hash algorithm, with a next hash as long, a sound bitmap, and no unknown flag. */
bool nsec3_read(const struct rrset *set, const uint8_t *zone, struct nsec3 *out) MUST_USE;

/* RFC 5155 5: SHA-1 of the lower-cased name and salt, and iterations more. */
void nsec3_hash(const uint8_t *name, struct slice salt, unsigned iterations,
		uint8_t out[NSEC3_HASH_LEN]);
/* What that costs a budget, in units of 50 iterations. */
static inline int nsec3_cost(unsigned iterations)
{
	return (int)(iterations / 50) + 1;
}

/* Whether `hash` lies strictly between the record's owner and its next (which may wrap). */
bool nsec3_covers(const struct nsec3 *n, const uint8_t hash[NSEC3_HASH_LEN]) PURE;

/* The owner name: base32hex of the hash (RFC 4648 7, lower case) in front of the zone. 0 when too
 * long. `to` holds DNAME_MAX bytes. */
size_t nsec3_owner(const uint8_t hash[NSEC3_HASH_LEN], const uint8_t *zone, uint8_t *to);

/* ---- what they prove together ---- */

enum denial {
	DENIAL_NONE,            /* not proven: bogus */
	DENIAL_PROVEN,
	DENIAL_INSECURE,        /* as far as it goes nothing is signed there: opt-out */
	DENIAL_COSTLY,          /* more NSEC3 iterations than are believed: insecure, EDE 27 */
	DENIAL_EXHAUSTED,       /* the purse of hashes was empty: nothing is known */
};

#define DENIAL_SETS 16          /* sets of one kind that are looked at; more are passed over */

struct denial_evidence {
	const uint8_t *zone;            /* apex of the zone that signed all of them */
	unsigned nsec_count, nsec3_count;
	const struct rrset *nsec[DENIAL_SETS];
	struct nsec3 nsec3[DENIAL_SETS];        /* all with the same parameters */
	unsigned max_iterations;        /* above it: DENIAL_COSTLY, and nothing is computed */
	int *hashes;                    /* purse, in units of 50 iterations (struct budget); or NULL */
};

/* Begin with nothing. `zone` and `hashes` are borrowed. */
void denial_begin(struct denial_evidence *e, const uint8_t *zone, unsigned max_iterations,
		  int *hashes);
/* Add a verified set. False when it is of another type or no evidence (see above). */
bool denial_add(struct denial_evidence *e, const struct rrset *set);

/* There is no such name (RFC 4035 5.4, 5155 8.4): neither it nor a wildcard for it. */
enum denial denial_of_name(const struct denial_evidence *e, const uint8_t *qname);

/* The name, or the wildcard that stands for it, has no such type and is no alias (RFC 4035 5.4,
 * 5155 8.5-8.7). Empty non-terminals have no type at all. For DS see denial_of_ds. */
enum denial denial_of_type(const struct denial_evidence *e, const uint8_t *qname, uint16_t qtype);

/* A positive answer that came from the wildcard "*." and the last `labels` labels of `qname`
 * (struct verdict in validator/verify.h): no closer name exists (RFC 4035 5.3.4, 5155 8.8). */
enum denial denial_of_closer(const struct denial_evidence *e, const uint8_t *qname,
			     unsigned labels);

/* What a zone says of a name strictly below its apex that has no DS set. */
enum denial_cut {
	CUT_UNKNOWN,            /* nothing is proven: bogus */
	CUT_INSECURE,           /* a zone begins there, and it is not signed */
	CUT_OPTOUT,             /* a zone may begin there; if so, it is not signed (RFC 5155 8.6, 8.9) */
	CUT_NONE,               /* no zone begins there: the name is one of this zone, or none at all */
	CUT_COSTLY,             /* as DENIAL_COSTLY */
	CUT_EXHAUSTED,          /* as DENIAL_EXHAUSTED */
};

enum denial_cut denial_of_ds(const struct denial_evidence *e, const uint8_t *name);

#endif
