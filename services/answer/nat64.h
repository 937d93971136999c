/* IPv4 addresses in IPv6 prefixes (RFC 6052), for made answers and for servers that are reached through NAT64 (do-nat64,
 * nat64-prefix).
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SERVICES_ANSWER_NAT64_H
#define SERVICES_ANSWER_NAT64_H

#include "util/conf/options.h"
#include "util/net/addr.h"

struct arena;
struct rrset;

/* RFC 6052 2.2: embed an IPv4 address in the prefix (32, 40, 48, 56, 64 or 96 bits), and the IPv4
 * address embedded in `a` (false: it is not in the prefix). */
void nat64_embed(const struct netblock *prefix, const uint8_t ip4[4], uint8_t ip6[16]);
bool nat64_extract(const struct netblock *prefix, const struct addr *a, struct addr *ip4);
/* The AAAA RRset made of an A RRset, with the same TTL; insecure. */
struct rrset *nat64_embed_set(struct arena *a, const struct netblock *prefix,
			      const struct rrset *s) MUST_USE;

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
	nat64_embed(&prefix, a->ip, to.ip);
	*a = to;
}

/* The IPv4 address of a server that is reached at `a`; false: it is not reached through NAT64. */
static inline bool nat64_reads(const struct conf_server *c, const struct addr *a, struct addr *ip4)
{
	struct netblock prefix;

	return netblock_parse(&prefix, c->nat64_prefix, NULL) && nat64_extract(&prefix, a, ip4);
}

#endif
