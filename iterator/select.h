/* The next server to try.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Servers stand in tiers, from those nothing speaks against to those that have proved unfit; in
 * the best tier that anybody is in, one of the fast ones is drawn: all within 400 ms of the
 * fastest, so that each gets asked now and then and an attacker cannot tell which. Of forwarders
 * the operator may want it otherwise (forward-strategy). */
#ifndef ITERATOR_SELECT_H
#define ITERATOR_SELECT_H

#include "iterator/delegation.h"
#include "services/cache/infra.h"

#define SELECT_BAND_MS 400

enum tier {
	TIER_GOOD,
	TIER_PARENT,    /* known by the parent's glue alone */
	TIER_NO_DNSSEC, /* left out signatures that should be there */
	TIER_RECURSOR,  /* a recursor, which must be asked to recurse */
	TIER_AVOIDED,   /* the validator has found its data bogus */
	TIERS
};

struct selection {
	struct place *place; /* NULL: nobody is left */
	enum tier tier;
	struct infra_view known; /* of that place */
};

/* Draw a server of `d` that may be asked for `type`. While addresses are still being looked
 * up (`pending`) none that has proved unfit is taken; waiting is better. Marks nothing. */
struct selection select_server(const struct delegation *d, const struct query *q, uint16_t type,
			       unsigned pending);

/* Those of the same tier besides `first`, fastest first, at most `most` of them. */
unsigned select_others(const struct delegation *d, const struct query *q, uint16_t type,
		       const struct selection *first, struct place *out[], unsigned most);

/* It is about to be asked: counts the try; after `most` of them it is spent. */
void select_count(struct place *p, unsigned most);

#endif
