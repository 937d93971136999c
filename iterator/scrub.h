/* What in a response may be believed (RFC 2181 5.4.1, RFC 5452).
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Nothing outside the zone whose server was asked survives; of the rest only what the question
 * called for: the chain of aliases and its data, one NS set where it can be a delegation, the
 * addresses of just those servers, the denial. Aliases that a DNAME makes are made anew. */
#ifndef ITERATOR_SCRUB_H
#define ITERATOR_SCRUB_H

#include "util/msg.h"

struct arena;
struct snapshot;

struct scrub_how {
	const struct question *asked;    /* as sent */
	const uint8_t *zone;             /* whose server was asked */
	const struct snapshot *snapshot; /* its options */
	bool forwarder; /* the server was asked to recurse: chains are taken whole */
	struct arena *arena;
};

/* Rewrite the sections of `m` in place (its sets stay as they are, or are made anew in the arena)
 * and give each set its trust. False: nothing in it can be used; it answers another question,
 * or contradicts itself. */
bool scrub(struct message *m, const struct scrub_how *how) MUST_USE;

/* The CNAME that `dname` makes of `name`, which is below its owner; NULL when the result would be
 * too long, or `dname` is not one record. */
struct rrset *scrub_synthesize(struct arena *a, const struct rrset *dname, const uint8_t *name);

#endif
