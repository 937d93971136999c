/* The zones that the operator configured, and which of them a name belongs to.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "iterator/route_zone.h"

#include "services/authzone/zones.h"
#include "services/forward/forward.h"
#include "services/policy/views.h"
#include "services/query/query.h"
#include "services/query/snapshot.h"
#include "util/dns/dname.h"
#include "util/dns/rr.h"

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

const struct authzone *route_authzone(const struct query *q, const uint8_t *name)
{
	const struct authzones *zones = q->snapshot->zones;
	const struct authzone *z = zones->upstream ? authzones_find(zones, name) : NULL;

	return z && z->upstream ? z : NULL;
}

const uint8_t *route_zone(const struct query *q, const uint8_t *name,
			  const uint8_t *failed_authzone)
{
	const struct forward_zone *z = route_config(q, name);
	const struct authzone *authzone = route_authzone(q, name);

	if (authzone && failed_authzone && dname_is_under(failed_authzone, authzone->name))
		authzone = NULL;
	if (!z)
		z = route_stub(q, name);
	if (z && authzone)
		return dname_is_under(authzone->name, z->name) ? authzone->name : z->name;
	return z ? z->name : authzone ? authzone->name : NULL;
}

bool route_is_same(const uint8_t *zone, const uint8_t *other)
{
	return zone && other ? dname_equals(zone, other) : zone == other;
}

const uint8_t *route_look_from(const uint8_t *name, const struct forward_zone *failed, bool stub)
{
	if (!failed || !dname_is_under(name, failed->name))
		return name;
	return dname_is_root(failed->name) || (stub && !failed->is_stub)
		       ? failed->name
		       : dname_parent(failed->name);
}

const uint8_t *route_zone_past(const struct query *q, const uint8_t *name,
			       const struct forward_zone *failed, const uint8_t *failed_authzone)
{
	return route_zone(q, route_look_from(name, failed, false), failed_authzone);
}

bool route_may_ask_parent(const struct query *q, const uint8_t *zone)
{
	const struct forward_zone *z = views_forward_exact(q->view, q->snapshot->forwards, zone);

	return z == NULL || z->first || (z->is_stub && dname_is_root(zone));
}
