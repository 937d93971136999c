/* In place of subnet_groups.c in a build without client subnets: all clients share one query.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/mesh/subnet_group.h"

#include "services/mesh/private.h"

const struct module subnetcache_module = { .name = "" };

unsigned subnet_group_kind(unsigned kind, const struct client_subnet *w UNUSED)
{
	return kind;
}

bool subnet_group_key(const struct query *q UNUSED, struct subnet_key *at UNUSED)
{
	return false;
}

bool subnet_groups_depend(struct query *q UNUSED, const struct query *child UNUSED)
{
	return false;
}

void subnet_group_gather(struct query *member UNUSED)
{
}

void subnet_group_wake(struct query *group UNUSED)
{
}

void subnet_group_leave(struct query *q UNUSED)
{
}
