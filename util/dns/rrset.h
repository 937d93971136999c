/* One immutable RRset with its signatures, in a single block of memory.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A set is built once (rrset_build) and never changed, except that its builder
 * may set the fields under "validation" before sharing it. `data` holds the owner
 * name, then `count` records and `sig_count` RRSIG records, each a 16-bit
 * big-endian length and that many bytes of uncompressed RDATA. All offsets and
 * sizes are in bytes. A set contains no pointers, so it may be copied bytewise. */
#ifndef UTIL_DNS_RRSET_H
#define UTIL_DNS_RRSET_H

#include "util/base/bytes.h"

struct arena;

/* Ranking of RFC 2181 5.4.1, lowest first; numbered as in Unbound's cache dump. */
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

/* Security status (RFC 4035 4.3); numbered as in Unbound's cache dump. */
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
	RRSET_PARENT_SIDE = 2,          /* NS set, or its glue, as the parent zone gave it */
	RRSET_SOA_NEGATIVE = 4,
	RRSET_FROM_POLICY = 8,
	RRSET_UNVERIFIED_GLUE = 16,
	RRSET_GLUE_APART = 32, /* of a name that is resolved by others here: for this delegation only */
};

/* Those that an RRset keeps when it leaves the process and comes back: in the cache file, in a dump. */
#define RRSET_FLAGS_KEPT \
	(RRSET_NSEC_AT_APEX | RRSET_PARENT_SIDE | RRSET_SOA_NEGATIVE | RRSET_UNVERIFIED_GLUE)

struct rrset {
	uint32_t size;          /* of the whole set, this header included */
	uint32_t ttl_s;         /* as received, within the cache's limits */
	uint32_t expires_s;     /* on the monotonic clock of timebase */
	uint16_t type;
	uint16_t class_;
	uint16_t count;         /* records */
	uint16_t sig_count;     /* RRSIGs covering it */
	/* validation */
	uint8_t trust;
	uint8_t security;
	uint8_t flags;
	uint8_t owner_len;      /* 1..255 */
	uint8_t data[];
};

/* Input of rrset_build, which copies it all: slices of uncompressed RDATA. */
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

/* The largest set a cache keeps. A larger one is passed on to the client and then forgotten, so
 * that no answer from a hostile zone takes the room of hundreds of honest ones (CVE-2024-1737). */
#define RRSET_RECORDS_MOST 256
#define RRSET_BYTES_MOST   65536

static inline bool rrset_may_be_kept(const struct rrset *s)
{
	return s->count <= RRSET_RECORDS_MOST && s->size <= RRSET_BYTES_MOST;
}

struct rrset *rrset_build(struct arena *a, const struct rrset_parts *parts) MUST_USE;
struct rrset *rrset_copy(struct arena *a, const struct rrset *set) MUST_USE;

/* The same records under another owner name, without signatures (so SECURITY_INSECURE), rotated
 * to begin with number `turn` modulo their count. */
struct rrset *rrset_rename(struct arena *a, const struct rrset *set, const uint8_t *owner,
			   unsigned turn) MUST_USE;

static inline const uint8_t *rrset_owner(const struct rrset *s)
{
	return s->data;
}

/* A walk over the records (rrset_records) or the signatures (rrset_sigs):
 *     struct rrset_walk w = rrset_records(set);
 *     for (struct slice rd; rrset_next(&w, &rd);) … */
struct rrset_walk {
	const uint8_t *at;
	uint16_t left;
};

struct rrset_walk rrset_records(const struct rrset *s);
/* The same; nothing if `s` is NULL. */
static inline struct rrset_walk rrset_records_if(const struct rrset *s)
{
	return s ? rrset_records(s) : (struct rrset_walk){ .left = 0 };
}
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

/* Record `i`, counting from 0; `i` < count. It is found from the first on: walk to see more than one (a set
 * may have thousands, and whoever made it chose how many). */
struct slice rrset_record(const struct rrset *s, unsigned i);

/* The name in record `i`: the target of a CNAME, DNAME, NS or PTR. */
const uint8_t *rrset_target(const struct rrset *s, unsigned i);

/* Whether it was expanded from a wildcard, and so needs proof that the wildcard applies: an RRSIG
 * counts fewer labels than the owner has, a leading "*" aside (RFC 4035 5.3.4). */
bool rrset_is_expanded(const struct rrset *s);

/* Same owner, type and class. */
bool rrset_is(const struct rrset *s, const uint8_t *owner, uint16_t type, uint16_t class_);

/* The same records in any order; signatures are ignored. */
bool rrset_same_records(const struct rrset *a, const struct rrset *b);
/* The same signatures in the same order. */
bool rrset_same_signatures(const struct rrset *a, const struct rrset *b);

/* A checksum of records and signatures, in any order and in any case of the names that canonical form lower-cases. It is
 * the same in every process. Against mistaking one RRset for another, not against malice. */
uint64_t rrset_checksum(const struct rrset *s);

#endif
