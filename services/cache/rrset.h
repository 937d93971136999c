/* The RRset cache: what the iterator and the validator know, by rank.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Keyed by owner, type, class, and whether it is the parent's side of a cut (an NS
 * set, or a DS's neighbour: RRSET_PARENT_SIDE) so that both sides can be kept. */
#ifndef SERVICES_CACHE_RRSET_H
#define SERVICES_CACHE_RRSET_H

#include "services/cache/slab.h"
#include "util/rrset.h"

struct arena;
struct rrsetcache;

struct rrset_entry {
	struct slab_entry link;
	struct rrset set; /* last: it carries the data */
};

/* `link.spare` of an entry is its scope: 0, or the number of a view whose sets are its own. */

struct rrsetcache *rrsetcache_new(size_t budget, unsigned slabs) MUST_USE;
void rrsetcache_free(struct rrsetcache *c);
/* The same cache seen in another scope: it finds nothing that was put in others, and shares room
 * and budget. Freed before what it was made of; NULL of NULL. */
struct rrsetcache *rrsetcache_scoped(const struct rrsetcache *c, uint8_t scope) MUST_USE;
struct slab *rrsetcache_slab(struct rrsetcache *c);

/* Fresh, or NULL. Borrowed for the turn: rrset_copy it to keep it over a wait.
 * `flags` is 0 or RRSET_PARENT_SIDE or RRSET_NSEC_AT_APEX. */
const struct rrset *rrsetcache_find(struct rrsetcache *c, const uint8_t *owner, uint16_t type,
				    uint16_t class_, uint8_t flags, uint32_t now_s);
/* The same, however long expired. */
const struct rrset *rrsetcache_find_stale(struct rrsetcache *c, const uint8_t *owner, uint16_t type,
					  uint16_t class_, uint8_t flags);

/* Offer `set` to the cache and learn which set to believe from now on: `set` itself, or one in `a`.
 *
 * RFC 2181 5.4.1: it goes in where nothing fresh stands or what stands is bogus, has less trust, or
 * has equal trust but other data or signatures; what is equal ends when it was to end. A
 * higher one that stands is what comes back. SECURITY_SECURE ranks as TRUST_VALIDATED: such a set
 * stands until what is offered has been validated too; an authoritative one comes back for that,
 * though not kept. Bogus data only goes where nothing fresh stands.
 *
 * Only the parent prolongs a delegation (ghost domains, CVE-2012-1033, CVE-2022-30698): an NS set
 * may replace a fresh one but lives no longer than that, nor than its parent's side; what comes
 * back then ends there too. What has RRSET_PARENT_SIDE comes from the parent itself, as referral or
 * glue, and replaces whatever that said before. TTL 0 is not kept, nor
 * what is too large (rrset_may_be_kept). */
const struct rrset *rrsetcache_put(struct rrsetcache *c, const struct rrset *set, uint32_t now_s,
				   struct arena *a);

/* As rrsetcache_put where a set stands already, fresh or not; else nothing is kept. */
const struct rrset *rrsetcache_correct(struct rrsetcache *c, const struct rrset *set,
				       uint32_t now_s, struct arena *a);

/* Whether a DNAME set has ever been offered: most resolvers never see one, and need not look for it
 * above every name. */
bool rrsetcache_knows_dname(const struct rrsetcache *c);

/* Every set of this owner and type, both sides of a cut; in scope 0 those of all scopes; how many. */
size_t rrsetcache_remove(struct rrsetcache *c, const uint8_t *owner, uint16_t type,
			 uint16_t class_);

#endif
