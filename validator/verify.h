/* Is this set signed by that key: RFC 4034 3.1.8.1, 4035 5.3, with a bound on all work.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Keys of a zone are a `struct keyset`: immutable, counted, shared by threads; a public key is
 * parsed when a signature first needs it and stays with the set. A check ends in a
 * `struct verdict`, which says what to think of the record set and, when it is bogus, why, in a
 * sentence that names the owner, the key and the time.
 *
 * Verdicts: SECURITY_SECURE, a signature holds; SECURITY_BOGUS, none does; SECURITY_INSECURE,
 * the keys or DS records are of kinds we do not believe in (only from verify_keys, RFC 4035 5.2);
 * SECURITY_UNCHECKED, the query's purse of signature checks was empty: nothing is known. */
#ifndef VALIDATOR_VERIFY_H
#define VALIDATOR_VERIFY_H

#include <stdatomic.h>

#include "util/reason.h"
#include "util/rrset.h"
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
	struct slice head;              /* the rdata up to and with the signer, as signed but for case */
	struct slice signature;
};

/* False when the data is cut. */
bool dnskey_read(struct slice rdata, struct dnskey *out) MUST_USE;
bool ds_read(struct slice rdata, struct ds *out) MUST_USE;
bool rrsig_read(struct slice rdata, struct rrsig *out) MUST_USE;

/* RFC 4034 appendix B (with the exception for algorithm 1). */
uint16_t dnskey_tag(struct slice rdata) PURE;

/* Whether the DS is the digest of this DNSKEY at this owner; key tag and algorithm too. */
bool ds_matches(const struct ds *ds, const uint8_t *owner, struct slice dnskey_rdata);

/* RFC 1982 for dates: whether a comes before b. */
static inline bool date_is_before(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) < 0;
}

/* ---- keys of a zone ---- */

struct zonekey {
	struct slice rdata;             /* lies in the set below */
	uint16_t flags, tag;
	uint8_t protocol, algorithm;
	struct slice public_key;
	_Atomic(struct crypto_key *) parsed;    /* verify.c's own */
};

struct keyset {
	_Atomic uint32_t pins;
	uint16_t count;                 /* keys */
	const struct rrset *dnskeys;    /* lies behind the keys: owner, TTL, records, signatures */
	struct octets wanted;           /* algorithms that must all have signed (every_algorithm) */
	struct zonekey key[];
};

/* A copy of the set, its keys not parsed yet. One pin: the caller's. Broken records are left out. */
struct keyset *keyset_new(const struct rrset *dnskeys) MUST_USE;
struct keyset *keyset_pin(struct keyset *k);
void keyset_unpin(struct keyset *k);                    /* frees it after the last; NULL is fine */
size_t keyset_size(const struct keyset *k);             /* bytes, parsed keys included, roughly */

static inline const uint8_t *keyset_zone(const struct keyset *k)
{
	return rrset_owner(k->dnskeys);
}

/* Bits of the largest usable zone key; for rules_nsec3_limit. */
unsigned keyset_bits(const struct keyset *k) PURE;
/* Whether a zone key has this tag, and (root key sentinel, RFC 8509) is not revoked. */
bool keyset_has_tag(const struct keyset *k, uint16_t tag) PURE;

/* ---- the check ---- */

struct verify_how {
	const struct rules *rules;
	struct arena *arena;            /* scratch, and the sentences of verdicts */
	uint32_t now;                   /* rules_now() */
	bool dates_open;                /* the clock is not to be trusted: any date passes */
	int *signatures;                /* the query's purse; one is taken for each attempt */
};

struct verdict {
	enum security security;
	enum reason reason;             /* REASON_none when secure */
	const char *text;               /* a sentence for a person, in the arena; NULL when secure */
	/* when secure: */
	uint16_t tag;                   /* of the key that did it */
	uint8_t algorithm;
	bool expanded;                  /* the owner is no name of the zone, but came from a wildcard … */
	uint8_t labels;                 /* … that is "*." and the last so many labels of the owner */
	uint32_t ttl_s;                 /* most that the set may be kept (RFC 4035 5.3.3) */
	uint32_t expiration;            /* of the signature that did it */
	bool dates_passed;              /* it only holds because of dates_open */
};

/* Is `set` signed by a zone key of `keys`: any type, DNSKEY too. The owner must be at or below the
 * zone and, for DS, strictly below. An NSEC or NSEC3 that came from a wildcard (`expanded`) is signed, but
 * denies nothing: it is good as an answer to who asked for it. With rules->every_algorithm each
 * algorithm of keys->wanted must have signed. */
void verify_set(const struct rrset *set, const struct keyset *keys, const struct verify_how *how,
		struct verdict *out);

/* As verify_set, by the one key `i` alone, whatever its flags say but for the zone bit: RFC 5011
 * asks whether a revoked key has signed. */
void verify_set_by(const struct rrset *set, const struct keyset *keys, unsigned i,
		   const struct verify_how *how, struct verdict *out);

/* May these keys be believed: a key vouched for by `ds` (a validated DS set of the same owner, or
 * an anchor's; or NULL) or that equals a record of `anchors` (a DNSKEY set that is trusted; or
 * NULL) must have signed the set it is in (RFC 4035 5.2, 5.3.2). SHA-1 digests count only where the
 * set has no other of a kind we believe in (RFC 4509 3). SECURITY_INSECURE when no record of
 * either is of an algorithm and digest we believe in. With every_algorithm, fills keys->wanted
 * and asks for a vouched-for key of each algorithm. */
void verify_keys(struct keyset *keys, const struct rrset *ds, const struct rrset *anchors,
		 const struct verify_how *how, struct verdict *out);

/* Whether the DS set has a record of an algorithm and digest we believe in: without one the zone
 * below is insecure (RFC 4035 5.2, 6840 5.2). */
bool ds_is_believed(const struct rrset *ds, const struct rules *rules);
/* Why it has none: the algorithms or, where one of them counts, the digests. */
enum reason ds_disbelief(const struct rrset *ds, const struct rules *rules);

/* How long a set that was found good before may be kept from now on: what the shortest of its
 * signatures allows; 0 where one of them is not valid now, so that it has to be checked again. */
uint32_t verify_ttl_again(const struct rrset *set, const struct verify_how *how) PURE;

/* Which signer the signatures of a set name; NULL when it has none that can be read. Where they
 * name several, the first that the owner is at or below. */
const uint8_t *verify_signer(const struct rrset *set) PURE;

#endif
