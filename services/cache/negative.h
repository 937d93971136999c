/* The negative cache: ranges that validated NSEC and NSEC3 records have proven empty (RFC 8198).
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Records are kept by zone, in order, so that one denial answers for every other name in its
 * range. It is asked on the way to the network only, never on a cache hit: readers take a short
 * lock. What it gives is copied to the asker's arena. Bytes are counted against a budget (eviction
 * is SIEVE's); a record lives no longer than its zone's SOA lets a denial live (RFC 9077).
 *
 * Not kept: sets that are not SECURE or not signed by the zone as the names they stand at; next
 * names outside the zone; NSEC3 of more than 50 iterations (RFC 9276). Opt-out spans prove nothing
 * but that a delegation is unsigned; records from above a cut say nothing of the names below. */
#ifndef SERVICES_CACHE_NEGATIVE_H
#define SERVICES_CACHE_NEGATIVE_H

#include "util/denial.h"

struct arena;
struct conf;
struct message;
struct negcache;
struct question;
struct rrsetcache;

/* `budget` bytes in all; `slabs` (a power of two) is the most locks there will be. */
struct negcache *negcache_new(size_t budget, unsigned slabs) MUST_USE;
void negcache_free(struct negcache *c); /* NULL is fine */
void negcache_resize(struct negcache *c, size_t budget);

/* ---- learning: the validator's side ---- */

/* Take from `m` what its SECURE NSEC, NSEC3 and SOA sets say of `zone`, whose keys have signed
 * them. Those of other zones are passed over: call it once for each signer. */
void negcache_learn(struct negcache *c, const struct message *m, const uint8_t *zone,
		    const struct conf *conf, uint32_t now_s);

/* The same for one such set. */
void negcache_learn_set(struct negcache *c, const struct rrset *set, const uint8_t *zone,
			const struct conf *conf, uint32_t now_s);

/* `set` is SECURE and was made from the wildcard "*." and the last `labels` labels of its owner
 * (struct verdict in validator/verify.h): keep it under the wildcard's own name, too, so that it
 * can answer for other names (RFC 8198 5.3). */
void negcache_learn_wildcard(struct rrsetcache *rrsets, const struct rrset *set, unsigned labels,
			     uint32_t now_s, struct arena *a);

/* ---- asking ---- */

struct negcache_ask {
	const struct question *q;
	/* Proofs of zones strictly above this name do not count: the closest trust anchor,
	 * stub-zone or forward-zone at or above the question's name. */
	const uint8_t *within;
	struct rrsetcache *rrsets; /* for wildcards */
	struct arena *arena;
	uint32_t now_s;
};

/* A SECURE answer made from what is kept, or NULL: NXDOMAIN or NODATA with proofs, then SOA, in
 * AUTHORITY; or what a wildcard gives, with the proof that no closer name exists (a CNAME then
 * leads on). Its TTLs are what is left; no extended error tells it from others. For ANY and other
 * questions for no type of its own only NXDOMAIN is answered. */
struct message *negcache_answer(struct negcache *c, const struct negcache_ask *ask) MUST_USE;

/* What `zone` is known to say of a name below it that has no DS set (see denial_of_ds), for so many
 * seconds: CUT_INSECURE, CUT_OPTOUT, CUT_NONE; or CUT_UNKNOWN. CUT_NONE only of a name that exists:
 * where there was nothing, a signed zone may have begun since. */
struct negcache_cut {
	enum denial_cut cut;
	uint32_t ttl_s;
};

struct negcache_cut negcache_ds(struct negcache *c, const uint8_t *zone, const uint8_t *name,
				uint16_t class_, uint32_t now_s);

/* ---- hearsay: what a referral said, not validated yet ---- */

/* A referral to `cut` came with NSEC or NSEC3 sets instead of a DS set: keep them for a moment. */
void negcache_hear(struct negcache *c, const struct message *referral, const uint8_t *cut,
		   uint16_t class_, uint32_t now_s);

/* The same as an unchecked NODATA answer (without SOA) to the cut's DS question, once; or NULL. */
struct message *negcache_heard(struct negcache *c, const struct question *ds, struct arena *a,
			       uint32_t now_s) MUST_USE;

/* ---- for the operator ---- */

/* Forget what zones at or below `name` have said; how many records. */
size_t negcache_forget(struct negcache *c, const uint8_t *name);

/* Forget what denies the name, or something of it: it is to be asked for anew. */
void negcache_forget_name(struct negcache *c, const uint8_t *name, uint16_t class_);

struct negcache_count {
	size_t zones, records, bytes, budget;
	uint64_t evictions;
};

struct negcache_count negcache_counted(struct negcache *c);

#endif
