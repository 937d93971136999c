/* Denials in order: the NSEC records of a zone by name, its NSEC3 records by hash, and its SOA.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Used by the negative cache alone. Zones are spread over a few parts, each with a lock, a byte
 * budget and a SIEVE queue of its own. A lock is held for one search or one change, or RANGES_STEPS
 * of work on everything; what is found is copied to the caller's arena before it is released. Whether
 * there is anything to search is known without it (services/cache/presence.h). */
#ifndef SERVICES_CACHE_NSEC_RANGES_H
#define SERVICES_CACHE_NSEC_RANGES_H

#include "util/dns/denial.h"

#define RANGE_SIZE_MAX 4096 /* bytes of the largest RRset that is kept */
#define RANGES_STEPS   128  /* buckets or records under one lock, where there are many */

struct arena;
struct nsec_ranges;

struct nsec_ranges *nsec_ranges_new(size_t budget, unsigned parts) MUST_USE; /* parts: a power of two */
void nsec_ranges_free(struct nsec_ranges *r);
void nsec_ranges_resize(struct nsec_ranges *r, size_t budget);

struct nsec_ranges_at {
	const uint8_t *zone;
	uint16_t class_;
	uint32_t now_s;
	uint32_t most_s; /* for the put functions: upper bound of the lifetime */
	bool no_opt_out; /* for nsec_ranges_know: of a zone that opts out, nothing else is asked */
};

/* Keep a copy of a well-formed RRset until its expires_s, in place of an older one at its owner.
 * NSEC3 records with other parameters are dropped (the zone has changed them), RANGES_STEPS at a
 * time; the new one is kept once none is left. */
void nsec_ranges_put_nsec(struct nsec_ranges *r, const struct nsec_ranges_at *at, const struct rrset *set);
void nsec_ranges_put_nsec3(struct nsec_ranges *r, const struct nsec_ranges_at *at, const struct rrset *set,
		      const struct nsec3 *read);
/* Likewise the zone's SOA RRset; ignored when the zone has no record here. `most_s` also bounds
 * what is put later (RFC 9077). */
void nsec_ranges_put_soa(struct nsec_ranges *r, const struct nsec_ranges_at *at, const struct rrset *soa);

struct nsec_ranges_facts {
	bool has_nsec, has_nsec3;
	bool opts_out; /* some NSEC3 record has the opt-out flag */
	uint16_t iterations;
	uint32_t most_s; /* from its last SOA; UINT32_MAX: unknown */
	uint8_t salt_len;
	uint8_t salt[255];
};

/* False when nothing of the zone is kept; called by a thread that has joined (util/base/rcu.h). Told without a lock, as well as, for `no_opt_out`, that the zone has
 * nothing but NSEC3 records with opt-out (the iterations and the salt in `out` then mean nothing). */
bool nsec_ranges_know(struct nsec_ranges *r, const struct nsec_ranges_at *at, struct nsec_ranges_facts *out);

/* The fresh record that matches or covers the name (hash), or NULL. */
struct rrset *nsec_ranges_find_nsec(struct nsec_ranges *r, const struct nsec_ranges_at *at, const uint8_t *name,
			       struct arena *a);
struct rrset *nsec_ranges_find_nsec3(struct nsec_ranges *r, const struct nsec_ranges_at *at,
				const uint8_t hash[NSEC3_HASH_LEN], struct arena *a);
/* Only one that matches. */
struct rrset *nsec_ranges_match_nsec3(struct nsec_ranges *r, const struct nsec_ranges_at *at,
				 const uint8_t hash[NSEC3_HASH_LEN], struct arena *a);
struct rrset *nsec_ranges_find_soa(struct nsec_ranges *r, const struct nsec_ranges_at *at, struct arena *a);

/* Forget the record that matches or covers the name (hash). */
void nsec_ranges_drop_nsec(struct nsec_ranges *r, const struct nsec_ranges_at *at, const uint8_t *name);
void nsec_ranges_drop_nsec3(struct nsec_ranges *r, const struct nsec_ranges_at *at,
		       const uint8_t hash[NSEC3_HASH_LEN]);

/* Forget the zone's NSEC records whose owners are at or below `name`, and all its NSEC3 records, as their owners do
 * not tell; RANGES_STEPS at a time. Returns how many. */
size_t nsec_ranges_drop_under(struct nsec_ranges *r, const struct nsec_ranges_at *at, const uint8_t *name);

/* Forget every zone at or below `name`; returns how many records. What is learned meanwhile may
 * stay. */
size_t nsec_ranges_forget(struct nsec_ranges *r, const uint8_t *name);

struct nsec_ranges_count {
	size_t zones, records, bytes, budget;
	size_t longest; /* most steps under one lock, where there are many */
	uint64_t evictions;
};

struct nsec_ranges_count nsec_ranges_counted(struct nsec_ranges *r);

#endif
