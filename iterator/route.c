/* Routing: the servers a query goes to first.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "iterator/route.h"

#include "iterator/delegation.h"
#include "iterator/hints.h"
#include "iterator/route_zone.h"
#include "services/authzone/zones.h"
#include "services/forward/forward.h"
#include "services/query/query.h"
#include "services/query/snapshot.h"
#include "util/dns/dname.h"
#include "util/dns/rr.h"

/* The forward zone for the name; NULL: none. */
static const struct forward_zone *forward_for(const struct query *q, const struct route_how *how)
{
	const struct forward_zone *z = route_config(q, route_look_from(how->name, how->failed, false));

	return z && z != how->failed && !z->is_stub && how->class_ == CLASS_IN ? z : NULL;
}

static const struct forward_zone *stub_for(const struct query *q, const struct route_how *how)
{
	return how->class_ == CLASS_IN ? route_stub(q, route_look_from(how->name, how->failed, true)) : NULL;
}

/* The closest delegation in the cache whose servers can be found without asking those servers, or
 * the root hints. NULL: none is cached. */
static struct delegation *known_for(const struct query *q, const struct route_how *how)
{
	const uint8_t *name = how->name;

	for (;;) {
		struct delegation *d = delegation_from_cache(q, name, how->class_, how->now_s);
		if (d == NULL || !delegation_is_stuck(d, q, how->name, how->type))
			return d;
		if (dname_is_root(d->zone))
			return hints_delegation(q);
		name = dname_parent(d->zone);
	}
}

static struct route by_stub(const struct query *q, const struct forward_zone *stub)
{
	if (stub->prime || dname_is_root(stub->name))
		return (struct route){ .prime = stub->name };
	return (struct route){ .at = delegation_from_config((struct arena *)&q->arena, stub) };
}

/* The closest enclosing zone of the name that is held here, if it is for upstream use. */
static const struct authzone *authzone_for(const struct query *q, const struct route_how *how)
{
	return how->class_ != CLASS_IN || how->authzone_failed ? NULL
							       : route_authzone(q, how->name);
}

static const struct authzone *proposing_for(const struct query *q, const struct route_how *how)
{
	if (how->class_ != CLASS_IN || how->authzone_failed)
		return NULL;
	return authzones_proposing(q->snapshot->zones, how->name, how->type);
}

static struct route by_authzone(const struct query *q, const struct authzone *z)
{
	struct delegation *d = delegation_new((struct arena *)&q->arena, z->name);

	d->authzone = true;
	return (struct route){ .at = d };
}

struct route route_find(const struct query *q, const struct route_how *how)
{
	const struct forward_zone *forward = forward_for(q, how);
	const struct forward_zone *stub = stub_for(q, how);
	const struct authzone *authzone = authzone_for(q, how), *proposing = proposing_for(q, how);
	struct delegation *d;

	if (forward && stub && dname_is_strictly_under(stub->name, forward->name))
		forward = NULL; /* the one of the stub's name has failed */
	if (proposing)
		return by_authzone(q, proposing);
	if (authzone && (!forward || dname_is_strictly_under(authzone->name, forward->name)) &&
	    (!stub || dname_is_under(authzone->name, stub->name))) {
		d = known_for(q, how);
		if (!d || dname_is_under(authzone->name, d->zone))
			return by_authzone(q, authzone);
	}
	if (forward)
		return (struct route){
			.at = delegation_from_config((struct arena *)&q->arena, forward),
		};
	d = known_for(q, how);
	if (stub && (d == NULL || dname_is_strictly_under(stub->name, d->zone)))
		return by_stub(q, stub);
	if (d == NULL)
		return (struct route){ .prime = dname_root };
	if (stub && !stub->prime && dname_equals(stub->name, d->zone))
		return (struct route){ .at = delegation_from_config((struct arena *)&q->arena,
								    stub) };
	return (struct route){ .at = d };
}

struct delegation *route_past_priming(const struct query *q, struct delegation *d)
{
	const struct forward_zone *stub = route_root_stub(q);

	if (stub == NULL || stub->prime || !dname_is_root(d->zone))
		return d;
	return delegation_from_config((struct arena *)&q->arena, stub);
}
