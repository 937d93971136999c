/* Signature verification: RFC 4034 3.1.8.1, 4035 5.3, with a bound on all work.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The keys of a zone are a `struct keyset`: immutable, reference-counted, shared by threads; a
 * public key is parsed when a signature first needs it and stays with the set. A check ends in a
 * `struct sig_result`, which gives the security of the RRset and, when it is bogus, the reason, in a
 * sentence that names the owner, the key and the time.
 *
 * Verdicts: SECURITY_SECURE, a signature is valid; SECURITY_BOGUS, none is; SECURITY_INSECURE, the
 * keys or DS records are of algorithms or digests that do not count (only from verify_keys, RFC
 * 4035 5.2); SECURITY_UNCHECKED, the query's budget of signature checks was empty: nothing is
 * known. A set that is secure comes with a `struct verified`, which is made nowhere else. */
#ifndef VALIDATOR_VERIFY_H
#define VALIDATOR_VERIFY_H

#include <stdatomic.h>

#include "services/cache/verified.h"
#include "util/dns/reason.h"
#include "util/dns/rrset.h"
#include "validator/rules.h"

struct arena;
struct crypto_key;

enum { DNSKEY_ZONE = 0x0100, DNSKEY_REVOKE = 0x0080, DNSKEY_SEP = 0x0001 };

/* ---- records read ---- */

struct dnskey {
	uint16_t flags;
	uint8_t protocol, algorithm;
	struct slice public_key;
};

struct ds {
	uint16_t tag;
	uint8_t algorithm, digest_type;
	struct slice digest;
};

struct rrsig {
	uint16_t covered;
	uint8_t algorithm, labels;
	uint32_t original_ttl_s;
	uint32_t expiration, inception; /* mod 2^32: RFC 4034 3.1.5 */
	uint16_t tag;
	const uint8_t *signer;
	struct slice head;              /* RDATA through the signer, as signed but for case */
	struct slice signature;
};

/* False when the RDATA is truncated. */
bool dnskey_read(struct slice rdata, struct dnskey *out) MUST_USE;
bool ds_read(struct slice rdata, struct ds *out) MUST_USE;
bool rrsig_read(struct slice rdata, struct rrsig *out) MUST_USE;

/* Whether the DS matches this DNSKEY at this owner: key tag, algorithm and digest. */
bool ds_matches(const struct ds *ds, const uint8_t *owner, struct slice dnskey_rdata);

/* Whether date a is before b in serial number arithmetic (RFC 1982). */
static inline bool date_is_before(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) < 0;
}

/* ---- keys of a zone ---- */

struct zonekey {
	struct slice rdata;             /* points into keyset.dnskeys */
	uint16_t flags, tag;
	uint8_t protocol, algorithm;
	struct slice public_key;
	_Atomic(struct crypto_key *) parsed;    /* private: see zonekey_parsed */
};

struct keyset {
	_Atomic uint32_t pins;
	uint16_t count;                 /* keys */
	const struct rrset *dnskeys;    /* lies behind the keys: owner, TTL, records, signatures */
	struct octets wanted;           /* algorithms that must all sign (every_algorithm) */
	const uint32_t *by_tag;         /* private: see keyset_next */
	struct zonekey key[];
};

/* A copy of the set, keys not parsed yet, malformed ones left out. Holds one pin, the caller's. */
struct keyset *keyset_new(const struct rrset *dnskeys) MUST_USE;
struct keyset *keyset_pin(struct keyset *k);
void keyset_unpin(struct keyset *k);                    /* the last one frees; NULL is fine */
size_t keyset_size(const struct keyset *k);             /* approximate bytes, with parsed keys */

static inline const uint8_t *keyset_zone(const struct keyset *k)
{
	return rrset_owner(k->dnskeys);
}

/* Size in bits of the largest zone key; for rules_nsec3_limit. */
unsigned keyset_bits(const struct keyset *k) PURE;
/* The keys with one tag, one after the other, in the order of the set: `at` begins as 0. Found by search: who
 * fills a DNSKEY set may not have all of it looked through for every signature and DS record. */
struct tag_walk {
	const struct keyset *keys;
	uint16_t tag;
	unsigned at;
};

/* The index of the next key of the walk, or -1. */
int keyset_next(struct tag_walk *w);
/* Whether a zone key that is not revoked has this tag. */
bool keyset_has_tag(const struct keyset *k, uint16_t tag) PURE;

/* ---- the check ---- */

struct verify_how {
	const struct rules *rules;
	struct arena *arena;            /* scratch, and the text of verdicts */
	uint32_t now;                   /* rules_now() */
	bool dates_open;                /* the clock is wrong: accept any date */
	int *signatures;                /* the query's budget; each attempt that fails takes one … */
	int *good;                      /* … and each that succeeds takes one of these; NULL: of the same */
};

struct sig_result {
	enum security security;
	enum reason reason;             /* REASON_none when secure */
	const char *text;               /* a sentence for people, in the arena; NULL when secure */
	/* when secure: */
	const struct verified *verified;        /* in the arena: what may be concluded from the set; else NULL */
	uint16_t tag;                   /* of the key that verified it */
	uint8_t algorithm;
	bool expanded;                  /* the owner was expanded from a wildcard: … */
	uint8_t labels;                 /* … "*." and this many last labels of the owner */
	uint32_t ttl_s;                 /* longest time the set may be kept (RFC 4035 5.3.3) */
	uint32_t expiration;            /* of the signature that was valid */
	bool dates_passed;              /* valid only because of dates_open */
};

/* Verify `set`, of any type including DNSKEY, with the zone keys in `keys`. The owner must be at or
 * below the zone and, for DS, strictly below. An NSEC or NSEC3 expanded from a wildcard can be
 * secure but denies nothing: it only answers a query for that type. With rules->every_algorithm,
 * each algorithm in keys->wanted must have signed. */
void verify_set(const struct rrset *set, const struct keyset *keys, const struct verify_how *how,
		struct sig_result *out);

/* Whether `kept`, from the RRset cache, is secure and the same RRset with the same signatures, by the zone of
 * these keys: then it has been verified, and nothing is computed. Its owner is that of `set` or, for one
 * expanded from a wildcard, the wildcard's (`expanded`). False: that is not so, or not any more. */
bool verify_again(const struct rrset *set, const struct rrset *kept, bool expanded,
		  const struct keyset *keys, const struct verify_how *how, struct sig_result *out) MUST_USE;

/* As verify_set, but by key `i` alone, whose flags other than the zone bit are ignored: RFC 5011
 * asks whether a revoked key has signed. */
void verify_set_by(const struct rrset *set, const struct keyset *keys, unsigned i,
		   const struct verify_how *how, struct sig_result *out);

/* Whether these keys may be trusted: a key matched by `ds` (a validated DS set of the same owner,
 * or an anchor's; or NULL) or equal to a record of `anchors` (a trusted DNSKEY set; or NULL) must
 * have signed the set it is in (RFC 4035 5.2, 5.3.2); failing that, a key of `anchors` that is not
 * in the set may have (RFC 5011 4.2, MISSING). SHA-1 digests are tried last and, with
 * every_algorithm, only where no other digest counts (RFC 4509 3). SECURITY_INSECURE when no
 * record of either is of an algorithm and digest that count. With every_algorithm, fills
 * keys->wanted and requires an authenticated key of each algorithm. */
void verify_keys(struct keyset *keys, const struct rrset *ds, const struct rrset *anchors,
		 const struct verify_how *how, struct sig_result *out);

/* Whether the DS set has a record whose algorithm and digest both count: without one the child zone
 * is insecure (RFC 4035 5.2, 6840 5.2). */
bool ds_is_believed(const struct rrset *ds, const struct rules *rules);
/* Why it has none: the algorithms or, where one of those counts, the digests. */
enum reason ds_disbelief(const struct rrset *ds, const struct rules *rules);

/* How long a set verified earlier may still be kept, in seconds: what the shortest-lived of its
 * signatures allows; 0 if one is not valid now, so that the set must be verified again. */
uint32_t verify_ttl_again(const struct rrset *set, const struct verify_how *how) PURE;

/* The zone to ask for the keys of this set, by the names of its signers: the closest at or above its owner, as only
 * the zone that has the set may sign it (RFC 4035 5.3.1), whatever other RRSIGs lie beside that one; if none is,
 * any; NULL when none can be read. */
const uint8_t *verify_signer(const struct rrset *set) PURE;
/* Whether an RRSIG of the set names that zone as its signer. */
bool verify_names_signer(const struct rrset *set, const uint8_t *zone) PURE;

#endif
