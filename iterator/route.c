/* Routing: the servers a query goes to first.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "iterator/route.h"

#include "iterator/delegation.h"
#include "iterator/hints.h"
#include "services/authzone.h"
#include "services/forward.h"
#include "services/query.h"
#include "services/snapshot.h"
#include "services/views.h"
#include "util/dname.h"
#include "util/options.h"
#include "util/rr.h"

const struct forward_zone *route_config(const struct query *q, const uint8_t *name)
{
	return views_forward(q->view, q->snapshot->forwards, name);
}

const struct forward_zone *route_stub(const struct query *q, const uint8_t *name)
{
	return views_stub(q->view, q->snapshot->forwards, name);
}

const struct forward_zone *route_root_stub(const struct query *q)
{
	return route_stub(q, dname_root);
}

const uint8_t *route_look_name(const uint8_t *name, uint16_t type)
{
	return type == TYPE_DS && !dname_is_root(name) ? dname_parent(name) : name;
}

static const struct authzone *held_at(const struct query *q, const uint8_t *name)
{
	const struct authzones *zones = q->snapshot->zones;
	const struct authzone *z = zones->upstream ? authzones_find(zones, name) : NULL;

	return z && z->upstream ? z : NULL;
}

const uint8_t *route_zone(const struct query *q, const uint8_t *name, const uint8_t *unheld)
{
	const struct forward_zone *z = route_config(q, name);
	const struct authzone *held = held_at(q, name);

	if (held && unheld && dname_is_under(unheld, held->name))
		held = NULL;
	if (!z)
		z = route_stub(q, name);
	if (z && held)
		return dname_is_under(held->name, z->name) ? held->name : z->name;
	return z ? z->name : held ? held->name : NULL;
}

bool route_is_same(const uint8_t *zone, const uint8_t *other)
{
	return zone && other ? dname_equals(zone, other) : zone == other;
}

/* Where to look for configured zones upwards from: once one has failed, it and all below it are out. A
 * stub zone of the same name as a forward zone that has failed is not. */
static const uint8_t *sought_from(const struct route_how *how, bool stub)
{
	const struct forward_zone *failed = how->failed;

	if (!failed || !dname_is_under(how->name, failed->name))
		return how->name;
	return dname_is_root(failed->name) || (stub && !failed->is_stub)
		       ? failed->name
		       : dname_parent(failed->name);
}

const uint8_t *route_zone_past(const struct query *q, const uint8_t *name,
			       const struct forward_zone *failed, const uint8_t *unheld)
{
	const struct route_how how = { .name = name, .failed = failed };

	return route_zone(q, sought_from(&how, false), unheld);
}

/* The forward zone for the name; NULL: none. */
static const struct forward_zone *forward_for(const struct query *q, const struct route_how *how)
{
	const struct forward_zone *z = route_config(q, sought_from(how, false));

	return z && z != how->failed && !z->is_stub && how->class_ == CLASS_IN ? z : NULL;
}

static const struct forward_zone *stub_for(const struct query *q, const struct route_how *how)
{
	return how->class_ == CLASS_IN ? route_stub(q, sought_from(how, true)) : NULL;
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
static const struct authzone *held_for(const struct query *q, const struct route_how *how)
{
	return how->class_ != CLASS_IN || how->held_failed ? NULL : held_at(q, how->name);
}

static const struct authzone *proposing_for(const struct query *q, const struct route_how *how)
{
	if (how->class_ != CLASS_IN || how->held_failed)
		return NULL;
	return authzones_proposing(q->snapshot->zones, how->name, how->type);
}

static struct route by_held(const struct query *q, const struct authzone *z)
{
	struct delegation *d = delegation_new((struct arena *)&q->arena, z->name);

	d->held = true;
	return (struct route){ .at = d };
}

struct route route_find(const struct query *q, const struct route_how *how)
{
	const struct forward_zone *forward = forward_for(q, how);
	const struct forward_zone *stub = stub_for(q, how);
	const struct authzone *held = held_for(q, how), *proposing = proposing_for(q, how);
	struct delegation *d;

	if (forward && stub && dname_is_strictly_under(stub->name, forward->name))
		forward = NULL; /* the one of the stub's name has failed */
	if (proposing)
		return by_held(q, proposing);
	if (held && (!forward || dname_is_strictly_under(held->name, forward->name)) &&
	    (!stub || dname_is_under(held->name, stub->name))) {
		d = known_for(q, how);
		if (!d || dname_is_under(held->name, d->zone))
			return by_held(q, held);
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

bool route_may_go_round(const struct query *q, const uint8_t *zone)
{
	const struct forward_zone *z = views_forward_exact(q->view, q->snapshot->forwards, zone);

	return z == NULL || z->first || (z->is_stub && dname_is_root(zone));
}
