/* The next server to try.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Servers are sorted into tiers, from unobjectionable to proven unfit. From the best tier that is
 * not empty, one of the fast ones is drawn at random: any whose RTO is within 40 ms of the least, and once in
 * eight times any within 400 ms, so that each is asked now and then and an attacker cannot predict which. Of servers
 * that the operator names any within 400 ms, or as forward-strategy says. Who was silent lets the others have their turn,
 * and one that is silent everywhere (infra_family_is_silent) is not asked where there is the other. */
#ifndef ITERATOR_SELECT_H
#define ITERATOR_SELECT_H

#include "iterator/delegation.h"
#include "services/cache/infra.h"

#define SELECT_BAND_MS      40
#define SELECT_WIDE_BAND_MS 400
#define SELECT_WIDE_ONE_IN  8

enum tier {
	TIER_GOOD,
	TIER_PARENT,    /* known from the parent's glue only */
	TIER_NO_DNSSEC, /* left out signatures that must exist */
	TIER_RECURSOR,  /* a recursive server, which needs RD */
	TIER_AVOIDED,   /* the validator found its data bogus */
	TIERS
};

struct selection {
	struct target *target; /* NULL: no server is left */
	enum tier tier;
	struct infra_view known; /* what the infra cache knows of it */
};

/* Draw a server of `d` that may be asked for `type`. While `pending` address lookups are under way,
 * none that has proved unfit is taken: waiting is better. Changes nothing. */
struct selection select_server(const struct delegation *d, const struct query *q, uint16_t type,
			       unsigned pending);

/* Others of the same tier as `first`, fastest first, at most `most`. Returns how many. */
unsigned select_others(const struct delegation *d, const struct query *q, uint16_t type,
		       const struct selection *first, struct target *out[], unsigned most);

/* Whether one try is enough for now: there is another server that was not tried more often, and is not known to keep silent.
 * Of servers that the operator names only where nothing is known of this one, its address family may be silent, and the other is of the other. */
bool select_may_give_up_early(const struct delegation *d, const struct query *q, uint16_t type,
			      const struct selection *s);

/* Count a try of a server about to be asked; after `most` tries it is spent. */
void select_count(struct target *p, unsigned most);

#endif
