/* What has been verified: an RRset, the zone whose key signed it, and for how long that holds.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * An RRSIG that lies beside an RRset proves nothing: it may name any zone. So whatever concludes from
 * signed data (the validation of an answer, the chain of trust, the negative cache, what the RRset cache
 * keeps as secure) takes a `struct verified`, and asks it for the signer, not the RRset. Only the
 * validator's verify.c makes one (services/cache/verified_private.h; contrib/graph checks it). It lives in the
 * arena of the query, as does its RRset. */
#ifndef SERVICES_CACHE_VERIFIED_H
#define SERVICES_CACHE_VERIFIED_H

#include "util/dns/rrset.h"

struct arena;
struct verified;

/* The RRset as it was verified, with all the signatures it came with. */
const struct rrset *verified_set(const struct verified *v) PURE;
/* The zone whose key has signed it. */
const uint8_t *verified_zone(const struct verified *v) PURE;
/* The key tag of that key. */
uint16_t verified_tag(const struct verified *v) PURE;
/* Whether it was expanded from a wildcard (RFC 4035 5.3.4): "*." and the last `verified_labels` labels of
 * its owner. */
bool verified_is_expanded(const struct verified *v) PURE;
unsigned verified_labels(const struct verified *v) PURE;
/* Longest time it may be kept, in seconds (RFC 4035 5.3.3). */
uint32_t verified_ttl_s(const struct verified *v) PURE;

/* A copy in the arena as it may be kept and sent: SECURITY_SECURE, TRUST_VALIDATED, expiring no later than
 * its signature allows, without the signatures that cannot be valid beside the one verified: those of
 * another zone, or that count other labels. So every RRSIG of an RRset that is kept as secure names the
 * zone that it was verified for. Nothing else makes an RRset secure. */
struct rrset *verified_copy(const struct verified *v, struct arena *a, uint32_t now_s) MUST_USE;
/* The same of a CNAME that was synthesized from the verified DNAME (RFC 6672 5.3.1): it has no signatures. */
struct rrset *verified_copy_made(const struct verified *dname, const struct rrset *cname, struct arena *a,
				 uint32_t now_s) MUST_USE;

#endif
