/* Which configured zone a name belongs to: a forward-zone, a stub-zone, or a zone held here for upstream use.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Of a query's view and snapshot alone: no cache is asked, and no server. */
#ifndef ITERATOR_ROUTE_ZONE_H
#define ITERATOR_ROUTE_ZONE_H

#include "util/base/base.h"

struct authzone;
struct forward_zone;
struct query;

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
 * say about the other. Where an auth-zone could not answer (fallback-enabled), `failed_authzone` is the name it
 * was asked for: it and all other auth-zones around that name do not count. Else NULL. */
const uint8_t *route_zone(const struct query *q, const uint8_t *name,
			  const uint8_t *failed_authzone);
/* The same if `failed` and what is below it have failed (forward-first, stub-first); NULL: none has. */
const uint8_t *route_zone_past(const struct query *q, const uint8_t *name,
			       const struct forward_zone *failed, const uint8_t *failed_authzone);
/* Whether both are the same zone, or both none. */
bool route_is_same(const uint8_t *zone, const uint8_t *other) PURE;
/* The closest zone at or above `name` that is held here for upstream use; NULL: there is none. */
const struct authzone *route_authzone(const struct query *q, const uint8_t *name);
/* Where to look for configured zones upwards from: once one has failed, it and all below it are out. A
 * stub zone of the same name as a forward zone that has failed is not. */
const uint8_t *route_look_from(const uint8_t *name, const struct forward_zone *failed, bool stub) PURE;
/* Whose servers have records of that type at the name: those of the name itself, but DS is the parent's. */
const uint8_t *route_look_name(const uint8_t *name, uint16_t type) PURE;

/* Whether other servers may be asked when those of `zone` fail: not where the operator configured
 * them, unless forward-first or stub-first allows it. */
bool route_may_ask_parent(const struct query *q, const uint8_t *zone);

#endif
