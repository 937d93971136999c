/* The negative cache: ranges that validated NSEC and NSEC3 records have proven empty (RFC 8198).
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Records are kept by zone, in order, so that one denial answers for every other name in its
 * range. It is consulted only on the way to the network, never on a cache hit: readers take a short
 * lock. What it returns is copied to the caller's arena. Bytes are counted against a budget (SIEVE
 * evicts); a record lives no longer than its zone's SOA allows for a denial (RFC 9077).
 *
 * It takes nothing but what the validator has verified (services/cache/verified.h), and keeps it for the zone
 * whose key has signed it, whatever other RRSIGs lie beside it. Not kept: RRsets that were expanded from
 * a wildcard; next names outside the zone; NSEC3 with more than 50 iterations (RFC 9276). Opt-out
 * spans prove only that a delegation is unsigned; records from above a zone cut say nothing of the
 * names below it. */
#ifndef SERVICES_CACHE_AGGRESSIVE_H
#define SERVICES_CACHE_AGGRESSIVE_H

#include "util/dns/denial.h"

struct arena;
struct conf;
struct message;
struct aggressive;
struct question;
struct rrsetcache;
struct verified;

/* `budget` bytes in all; at most `slabs` locks (a power of two). */
struct aggressive *aggressive_new(size_t budget, unsigned slabs) MUST_USE;
void aggressive_free(struct aggressive *c); /* NULL is fine */
void aggressive_resize(struct aggressive *c, size_t budget);

/* ---- learning: the validator's side ---- */

/* Learn the NSEC, NSEC3 and SOA RRsets among these, which came together: each for the zone that signed it,
 * for no longer than that zone's SOA says, if that is there. Others are skipped. `a` is for scratch. */
void aggressive_learn(struct aggressive *c, const struct verified *const *sets, unsigned count,
		    const struct conf *conf, uint32_t now_s, struct arena *a);

/* `set` was expanded from a wildcard: also cache it under the wildcard's own name, so that it can answer for
 * other names (RFC 8198 5.3). */
void aggressive_learn_wildcard(struct rrsetcache *rrsets, const struct verified *set, uint32_t now_s,
			     struct arena *a);

/* ---- asking ---- */

struct aggressive_ask {
	const struct question *q;
	/* The closest trust anchor, stub-zone or forward-zone at or above the question's name:
	 * proofs from zones strictly above it do not count. */
	const uint8_t *within;
	struct rrsetcache *rrsets; /* for wildcards */
	struct arena *arena;
	uint32_t now_s;
};

/* A SECURE answer synthesised from the cache, or NULL: NXDOMAIN or NODATA with proofs, then SOA, in
 * the authority section; or the expansion of a wildcard, with the proof that no closer name exists
 * (a CNAME is then for the caller to follow). TTLs are the remaining ones; no extended error marks
 * it. ANY and other meta-types only get NXDOMAIN. */
struct message *aggressive_answer(struct aggressive *c, const struct aggressive_ask *ask) MUST_USE;

/* What the cached records of `zone` prove about a name below it without a DS RRset (see
 * denial_of_ds), and for how many seconds: CUT_INSECURE, CUT_OPTOUT, CUT_NONE; or CUT_UNKNOWN.
 * CUT_NONE only for a name that exists: at one that did not, a signed zone may have begun since. */
struct aggressive_cut {
	enum denial_cut cut;
	uint32_t ttl_s;
};

struct aggressive_cut aggressive_ds(struct aggressive *c, const uint8_t *zone, const uint8_t *name,
				uint16_t class_, uint32_t now_s);

/* ---- referral_ds: what a referral said, not validated yet ---- */

/* A referral to `cut` came with NSEC or NSEC3 RRsets instead of a DS RRset: keep them briefly. */
void aggressive_hear(struct aggressive *c, const struct message *referral, const uint8_t *cut,
		   uint16_t class_, uint32_t now_s);

/* Those RRsets as an unchecked NODATA answer (without SOA) to the DS question; once; or NULL. */
struct message *aggressive_heard(struct aggressive *c, const struct question *ds, struct arena *a,
			       uint32_t now_s) MUST_USE;

/* ---- for the operator ---- */

/* Forget the records of all zones at or below `name`, and those of zones above that may deny something below it;
 * returns how many. */
size_t aggressive_forget(struct aggressive *c, const uint8_t *name);

/* Forget the records that deny the name or a type at it, so that it is looked up again. */
void aggressive_forget_name(struct aggressive *c, const uint8_t *name, uint16_t class_);

struct aggressive_count {
	size_t zones, records, bytes, budget;
	uint64_t evictions;
};

struct aggressive_count aggressive_counted(struct aggressive *c);

#endif
