/* Where a question is taken: where the operator says, else to the closest servers we know.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ITERATOR_ROUTE_H
#define ITERATOR_ROUTE_H

#include "util/base.h"

struct delegation;
struct forward_zone;
struct query;

struct route_how {
	const uint8_t *name;   /* find servers for this, or for what is above it */
	uint16_t type, class_; /* what will be asked */
	uint32_t now_s;        /* cached delegations must be good at this time */
	bool not_held;         /* zones held here have failed */
	const struct forward_zone *
		not ; /* this one has failed (forward-first, stub-first); or NULL */
};

struct route {
	struct delegation *at; /* these servers; or NULL: */
	const uint8_t *prime;  /* first ask this zone's configured servers for its NS set */
};

struct route route_find(const struct query *q, const struct route_how *how);

/* The servers to ask once priming has led to `d`: where the operator has named the root's servers
 * and not asked for priming, those all the same. */
struct delegation *route_past_priming(const struct query *q, struct delegation *d);

/* The forward or stub zone that the name belongs to, and whose word settles everything (that a
 * name above it does not exist is nothing to it); or NULL. */
const struct forward_zone *route_config(const struct query *q, const uint8_t *name);
/* The closest stub zone, as if there were no forward zones; or NULL. */
const struct forward_zone *route_stub(const struct query *q, const uint8_t *name);
/* The stub-zone ".", or NULL. */
const struct forward_zone *route_root_stub(const struct query *q);

/* Whether other servers may be looked for when those of `zone` fail: not where the operator has
 * named them, unless forward-first or stub-first allows it. */
bool route_may_go_round(const struct query *q, const uint8_t *zone);

#endif
