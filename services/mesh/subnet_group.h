/* Clients with the same question whose answers may differ by client subnet (RFC 7871).
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * With the module "subnetcache" all clients with the same question first join one query, whose
 * answer is for all. Only where a server is to be sent the client subnet (the operator's lists
 * decide) does the iterator stop that query (ECS_REQUIRED). It then becomes a group: its clients wait
 * in it, and for each subnet among them a member is started, the same question for clients in that
 * subnet. At most SUBNET_GROUP_MEMBERS run at a time, and only one until the servers have been seen to tell
 * clients apart, so that many subnets do not make a birthday attack. A member's answer goes to
 * every waiting client it is valid for (within its scope, or all if it has none); then the next
 * members are started. When a member fails, so do those who wait: they would only fail later. */
#ifndef SERVICES_MESH_SUBNET_GROUP_H
#define SERVICES_MESH_SUBNET_GROUP_H

#include "services/query/module.h"

#define SUBNET_GROUP_MEMBERS 10

struct netblock;
struct subnet_key;
struct query;

extern const struct module subnetcache_module;

/* Whether the finished query's reply is valid for some clients only; if so, `at` says which. */
bool subnet_group_key(const struct query *q, struct subnet_key *at);

/* `q` builds its answer on that of `child`, so it is valid for the same clients only. True: a
 * server was to be sent the client subnet, and `q` is for all: ECS_REQUIRED. */
bool subnet_groups_depend(struct query *q, const struct query *child);

#endif
