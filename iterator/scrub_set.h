/* Record sets cut down to what may be believed of them.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ITERATOR_SCRUB_SET_H
#define ITERATOR_SCRUB_SET_H

#include "util/base.h"

struct arena;
struct rrset;
struct snapshot;

/* A set of the message in hand: it was built for us alone a moment ago and nobody shares it yet,
 * so its judgement may be written. */
static inline struct rrset *scrub_set_own(const struct rrset *fresh)
{
	return (struct rrset *)fresh;
}

/* Without surplus signatures (iter-scrub-rrsig) and without addresses that public names must not
 * have (private-address, private-domain; A, AAAA and the hints of SVCB and HTTPS): the set itself
 * where nothing is wrong, NULL where nothing is left. */
const struct rrset *scrub_set_clean(struct arena *a, const struct rrset *set,
				    const struct snapshot *s);

/* Its first `most` records; the set itself when it has no more. */
const struct rrset *scrub_set_shorten(struct arena *a, const struct rrset *set, unsigned most);

/* An NSEC whose next name is outside `zone` would deny names that are not its zone's. */
bool scrub_set_overreaches(const struct rrset *nsec, const uint8_t *zone);

#endif
