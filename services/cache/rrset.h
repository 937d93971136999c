/* The RRset cache: what the iterator and the validator know, ranked by trust.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Keyed by owner, type, class and two flags, so that both sides of a zone cut can be kept: from
 * the parent's side (NS or its glue: RRSET_PARENT_SIDE), and NSEC at the apex (RRSET_NSEC_AT_APEX).
 */
#ifndef SERVICES_CACHE_RRSET_H
#define SERVICES_CACHE_RRSET_H

#include "services/cache/slab.h"
#include "util/dns/rrset.h"

struct arena;
struct rrsetcache;

struct rrset_entry {
	struct slab_entry link;
	struct rrset set; /* last: it carries the data */
};

/* `link.spare` of an entry is its scope: 0, or the scope of a view with caches of its own. */

struct rrsetcache *rrsetcache_new(size_t budget, unsigned slabs) MUST_USE;
void rrsetcache_free(struct rrsetcache *c);
/* The same cache seen in a scope that is not 0: it finds nothing put in others, but shares tables
 * and budget. Free it before `c`. */
struct rrsetcache *rrsetcache_scoped(const struct rrsetcache *c, uint8_t scope) MUST_USE;
struct slab *rrsetcache_slab(struct rrsetcache *c);

/* A fresh RRset, or NULL. Borrowed for the turn: rrset_copy it to keep it over a wait. `flags` is
 * 0, RRSET_PARENT_SIDE or RRSET_NSEC_AT_APEX. */
const struct rrset *rrsetcache_find(struct rrsetcache *c, const uint8_t *owner, uint16_t type,
				    uint16_t class_, uint8_t flags, uint32_t now_s);
/* The same, but fresh or expired for any time. */
const struct rrset *rrsetcache_find_stale(struct rrsetcache *c, const uint8_t *owner, uint16_t type,
					  uint16_t class_, uint8_t flags);

/* Offer `set` to the cache. Returns the RRset to believe from now on: `set` itself, or one in `a`.
 *
 * RFC 2181 5.4.1: it is stored where nothing fresh is cached, or where the cached one is bogus, has
 * less trust, or has equal trust but other data or signatures; an equal one keeps its expiry. A
 * cached RRset of higher trust is returned instead. SECURITY_SECURE ranks as TRUST_VALIDATED: such
 * an RRset stays until the one offered has been validated too; an authoritative one is returned, so
 * that it can be, but not stored. So is an NSEC or NSEC3 RRset of any trust: a message is validated by the
 * denials that came with it, and a cached one never takes their place unless it is equal to them. Bogus data is stored only where nothing fresh is cached, or
 * something bogus. An authoritative SOA also replaces an equal one from a denial.
 *
 * An NS RRset may replace a fresh one but expires no later than that; the expiry of the one returned is
 * limited likewise. (How long a zone is delegated is what the parent's side says: iterator/delegation.h.)
 * An RRset with RRSET_PARENT_SIDE comes from the parent
 * itself, as referral or glue, and replaces what the parent said before. RRsets with TTL 0 and
 * those that are too large (rrset_may_be_kept) are not stored. */
const struct rrset *rrsetcache_put(struct rrsetcache *c, const struct rrset *set, uint32_t now_s,
				   struct arena *a);

/* As rrsetcache_put where there is an RRset already, fresh or not; otherwise nothing is stored. */
const struct rrset *rrsetcache_correct(struct rrsetcache *c, const struct rrset *set,
				       uint32_t now_s, struct arena *a);

/* Whether a DNAME RRset has ever been stored: most resolvers never see one and need not look for
 * one above every name. */
bool rrsetcache_knows_dname(const struct rrsetcache *c);

/* Remove every RRset of this owner and type, from both sides of a cut; from scope 0, those of all
 * scopes. Returns how many. */
size_t rrsetcache_remove(struct rrsetcache *c, const uint8_t *owner, uint16_t type,
			 uint16_t class_);
/* Remove this RRset, found bogus, if it is the one that is cached and was not found secure before. */
void rrsetcache_reject(struct rrsetcache *c, const struct rrset *bogus);

#endif
