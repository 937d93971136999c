/* One immutable record set with its signatures, in one piece of memory.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A set is built once (rrset_build) and never changed but for the fields under
 * "judgement" by whoever built it, before it is shared. `data` holds: the owner
 * name; then `count` records and `sig_count` RRSIG records, each a 16-bit
 * big-endian length and that many bytes of uncompressed data. All offsets and
 * sizes are bytes. Sets have no pointers inside, so they may be copied. */
#ifndef UTIL_RRSET_H
#define UTIL_RRSET_H

#include "util/bytes.h"

struct arena;

/* RFC 2181 5.4.1, lowest first; numbers as Unbound's cache dump prints them. */
enum trust {
	TRUST_NONE = 0,
	TRUST_ADD_NOAA = 1,     /* additional, not authoritative */
	TRUST_AUTH_NOAA = 2,    /* authority section of a referral */
	TRUST_ADD_AA = 3,
	TRUST_NONAUTH_ANS_AA = 4,
	TRUST_ANS_NOAA = 5,
	TRUST_GLUE = 6,
	TRUST_AUTH_AA = 7,
	TRUST_ANS_AA = 8,
	TRUST_SECONDARY = 9,
	TRUST_PRIMARY = 10,
	TRUST_VALIDATED = 11,
	TRUST_ULTIMATE = 12,
};

/* RFC 4035 4.3; numbers as Unbound's cache dump prints them. */
enum security {
	SECURITY_UNCHECKED = 0,
	SECURITY_BOGUS = 1,
	SECURITY_INDETERMINATE = 2,
	SECURITY_INSECURE = 3,
	SECURITY_SECURE_SENTINEL_FAIL = 4,
	SECURITY_SECURE = 5,
};

enum {
	RRSET_NSEC_AT_APEX = 1,
	RRSET_PARENT_SIDE = 2,          /* NS set (or its glue) as the parent gave it */
	RRSET_SOA_NEGATIVE = 4,
	RRSET_FROM_POLICY = 8,
	RRSET_UNVERIFIED_GLUE = 16,
};

struct rrset {
	uint32_t size;          /* of the whole, this head included */
	uint32_t ttl_s;         /* as it came, after the cache's limits */
	uint32_t expires_s;     /* on the monotonic clock of timebase */
	uint16_t type;
	uint16_t class_;
	uint16_t count;         /* records */
	uint16_t sig_count;     /* RRSIGs that cover the type */
	/* judgement */
	uint8_t trust;
	uint8_t security;
	uint8_t flags;
	uint8_t owner_len;      /* 1..255 */
	uint8_t data[];
};

/* What rrset_build is given: slices of uncompressed data. */
struct rrset_parts {
	const uint8_t *owner;
	uint16_t type, class_;
	uint32_t ttl_s, expires_s;
	const struct slice *records;
	size_t count;
	const struct slice *sigs;
	size_t sig_count;
	uint8_t trust, security, flags;
};

/* What a cache keeps of one name and type. More is given to who asks, and then forgotten: one answer of
 * a hostile zone is to take no more room than hundreds of honest ones (CVE-2024-1737). */
#define RRSET_RECORDS_MOST 256
#define RRSET_BYTES_MOST   65536

static inline bool rrset_may_be_kept(const struct rrset *s)
{
	return s->count <= RRSET_RECORDS_MOST && s->size <= RRSET_BYTES_MOST;
}

struct rrset *rrset_build(struct arena *a, const struct rrset_parts *parts) MUST_USE;
struct rrset *rrset_copy(struct arena *a, const struct rrset *set) MUST_USE;

/* The same records at another name, without signatures; the first of them is number `turn`. */
struct rrset *rrset_rename(struct arena *a, const struct rrset *set, const uint8_t *owner,
			   unsigned turn) MUST_USE;

static inline const uint8_t *rrset_owner(const struct rrset *s)
{
	return s->data;
}

/* A walk over the records, then (where it is told so) the signatures:
 *     struct rrset_walk w = rrset_records(set);
 *     for (struct slice rd; rrset_next(&w, &rd);) … */
struct rrset_walk {
	const uint8_t *at;
	uint16_t left;
};

struct rrset_walk rrset_records(const struct rrset *s);
struct rrset_walk rrset_sigs(const struct rrset *s);

static inline bool rrset_next(struct rrset_walk *w, struct slice *rdata)
{
	if (w->left == 0)
		return false;
	w->left--;
	*rdata = (struct slice){ .at = w->at + 2, .len = get_u16(w->at) };
	w->at += 2 + rdata->len;
	return true;
}

/* Record `i` (0 based); `i` < count. */
struct slice rrset_record(const struct rrset *s, unsigned i);

/* The target of a CNAME, DNAME, NS or PTR record (i). */
const uint8_t *rrset_target(const struct rrset *s, unsigned i);

/* Signed with fewer labels than the owner has, a first "*" aside: it was made from a wildcard (RFC 4035
 * 5.3.4), and would need the proof that the wildcard applies. */
bool rrset_is_expanded(const struct rrset *s);

/* Same owner, type and class. */
bool rrset_is(const struct rrset *s, const uint8_t *owner, uint16_t type, uint16_t class_);

/* Equal records, as sets, whatever their order; signatures aside. */
bool rrset_same_records(const struct rrset *a, const struct rrset *b);
/* Equal signatures, in the same order. */
bool rrset_same_signatures(const struct rrset *a, const struct rrset *b);

#endif
