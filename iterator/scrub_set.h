/* RRsets reduced to what may be believed of them.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ITERATOR_SCRUB_SET_H
#define ITERATOR_SCRUB_SET_H

#include "util/base/bytes.h"

struct arena;
struct rrset;
struct snapshot;

/* A writable view of a set of the message being scrubbed: it was just built for us and is not
 * shared yet, so its trust and security may be set. */
static inline struct rrset *scrub_set_own(const struct rrset *fresh)
{
	return (struct rrset *)fresh;
}

/* The set without surplus signatures (iter-scrub-rrsig) and, if it comes from outside, without
 * addresses that public names must not have (private-address, private-domain; in A, AAAA and the
 * hints of SVCB and HTTPS): the set itself if nothing is wrong, NULL if nothing is left. */
const struct rrset *scrub_set_clean(struct arena *a, const struct rrset *set,
				    const struct snapshot *s, bool from_outside);

/* Whether such an address is in the record. */
bool scrub_record_is_private(const struct snapshot *s, const uint8_t *owner, uint16_t type,
			     struct slice rd);

/* The set's first `most` records; the set itself if it has no more. */
const struct rrset *scrub_set_shorten(struct arena *a, const struct rrset *set, unsigned most);

/* Whether it is an NSEC or NSEC3 RRset that would deny names of other zones: its owner or its next name is
 * outside `zone`, whose server was asked, or outside each zone that an RRSIG says has signed it; an NSEC3 record
 * is directly below its zone's apex. Such an RRset is of no use in any section, and is not kept. An RRSIG by
 * one zone takes nothing from that by another (RFC 4035 5.3.1): which of them holds, the validator will see. */
bool scrub_set_overreaches(const struct rrset *set, const uint8_t *zone);

#endif
