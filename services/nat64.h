/* Reaching IPv4-only servers through NAT64: do-nat64, nat64-prefix (RFC 6052).
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SERVICES_NAT64_H
#define SERVICES_NAT64_H

#include "services/dns64.h"
#include "util/addr.h"
#include "util/options.h"

/* Whether IPv4 addresses of servers can be used. */
static inline bool nat64_reaches_ip4(const struct conf_server *c)
{
	return c->do_ip4 || c->do_nat64;
}

/* Replace an IPv4 address by the address to send to. */
static inline void nat64_map(const struct conf_server *c, struct addr *a)
{
	struct netblock prefix;
	struct addr to = { .family = 6, .port = a->port };

	if (!c->do_nat64 || a->family != 4 || !netblock_parse(&prefix, c->nat64_prefix, NULL))
		return;
	dns64_embed(&prefix, a->ip, to.ip);
	*a = to;
}

#endif
