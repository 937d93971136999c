/* Which servers to ask: those the operator configured, else the closest we know.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ITERATOR_ROUTE_H
#define ITERATOR_ROUTE_H

#include "util/base.h"

struct delegation;
struct forward_zone;
struct query;

struct route_how {
	const uint8_t *name;   /* find the closest servers at or above this name */
	uint16_t type, class_; /* what will be asked */
	uint32_t now_s;        /* cached delegations must be fresh at this time */
	bool held_failed;      /* skip zones held here */
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

/* The forward or stub zone that `name` belongs to, or NULL. Its servers have the final say: a
 * denial of a name above the zone does not concern it. */
const struct forward_zone *route_config(const struct query *q, const uint8_t *name);
/* The closest stub zone, ignoring forward zones; or NULL. */
const struct forward_zone *route_stub(const struct query *q, const uint8_t *name);
/* The stub-zone ".", or NULL. */
const struct forward_zone *route_root_stub(const struct query *q);

/* The zone that the operator configured for `name`: the closest forward-zone, stub-zone or auth-zone for
 * upstream use. NULL: it is resolved from the root down, as where a forward-zone without servers excepts
 * it. Names whose zones differ (route_is_same) are resolved by different servers, and those of one have no
 * say about the other. Where an auth-zone could not answer (fallback-enabled), `unheld` is the name it was asked for:
 * it and all other auth-zones around that name do not count. Else NULL. */
const uint8_t *route_zone(const struct query *q, const uint8_t *name, const uint8_t *unheld);
/* The same if `failed` and what is below it have failed (forward-first, stub-first); NULL: none has. */
const uint8_t *route_zone_past(const struct query *q, const uint8_t *name,
			       const struct forward_zone *failed, const uint8_t *unheld);
/* Whether both are the same zone, or both none. */
bool route_is_same(const uint8_t *zone, const uint8_t *other) PURE;
/* Whose servers have records of that type at the name: those of the name itself, but DS is the parent's. */
const uint8_t *route_look_name(const uint8_t *name, uint16_t type) PURE;

/* Whether other servers may be sought when those of `zone` fail: not where the operator configured
 * them, unless forward-first or stub-first allows it. */
bool route_may_go_round(const struct query *q, const uint8_t *zone);

#endif
