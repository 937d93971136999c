/* Which servers to ask: those the operator configured, else the closest we know.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ITERATOR_ROUTE_H
#define ITERATOR_ROUTE_H

#include "util/base/base.h"

struct delegation;
struct forward_zone;
struct query;

struct route_how {
	const uint8_t *name;   /* find the closest servers at or above this name */
	uint16_t type, class_; /* what will be asked */
	uint32_t now_s;        /* cached delegations must be fresh at this time */
	bool authzone_failed;  /* skip zones held here */
	/* skip this one and those below it (forward-first, stub-first); or NULL */
	const struct forward_zone *failed;
};

struct route {
	struct delegation *at; /* the servers to ask; if NULL: */
	const uint8_t *prime;  /* first prime this zone: ask its configured servers for NS */
};

struct route route_find(const struct query *q, const struct route_how *how);

/* The servers to ask once priming has yielded `d`: if the operator configured the root's servers
 * without priming, those nevertheless. */
struct delegation *route_past_priming(const struct query *q, struct delegation *d);

#endif
