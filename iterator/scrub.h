/* What in a response may be believed (RFC 2181 5.4.1, RFC 5452).
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Nothing outside the zone whose server was asked survives; of the rest, only what belongs to the
 * question: the alias chain and its data, one NS set where it can be a delegation, glue for just
 * those servers, the denial. CNAMEs synthesised from a DNAME are synthesised again here.
 *
 * Names in a zone configured otherwise (forward-zone, stub-zone, auth-zone: route_zone) are outside as
 * well, though they be below: a chain of aliases ends where it leads into one, or out of one. */
#ifndef ITERATOR_SCRUB_H
#define ITERATOR_SCRUB_H

#include "util/dns/msg.h"

struct arena;
struct query;
struct snapshot;

struct scrub_how {
	const struct question *asked;    /* as sent */
	const uint8_t *zone;             /* whose server was asked */
	const struct snapshot *snapshot; /* for its options */
	bool forwarder; /* the server was asked to recurse: accept whole chains */
	bool whole;     /* what is asked is what is wanted, and will be validated: so is the signed data of a CNAME's target */
	bool authzone;  /* from a zone held here: the operator's, so private addresses stay */
	const struct query *q; /* for which it is; NULL: no zones are configured */
	const uint8_t *look;   /* what is being resolved is looked for at or above this name (route_look_name) */
	/* those configured for that name, and once they have failed for what is left of it: route_zone,
	 * route_zone_past; NULL: none */
	const uint8_t *configured[2];
	const uint8_t *failed_authzone; /* `look`, where a zone held here for it has failed (fallback-enabled); or NULL */
	bool large;     /* so much that nothing in ADDITIONAL is of use but addresses */
	struct arena *arena;
};

/* Rewrite the sections of `m` in place (sets are kept as they are, or rebuilt in the arena) and
 * rank each set by its trust. False when nothing is usable: the message answers another question
 * or contradicts itself. */
bool scrub(struct message *m, const struct scrub_how *how) MUST_USE;

/* The CNAME that `dname` yields for `name`, which is below its owner (RFC 6672 3.1); in the arena.
 * NULL when the target would be too long or `dname` is not a single record. */
struct rrset *scrub_synthesize(struct arena *a, const struct rrset *dname, const uint8_t *name);

#endif
