/* The module dns64: synthesises AAAA records for names that have only A records (RFC 6147).
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * They are made of the A records as they are, for everybody; what a client may be told of them is
 * for policy to judge, by rules for the IPv4 addresses as well (services/policy.h). */
#ifndef SERVICES_DNS64_H
#define SERVICES_DNS64_H

#include "services/module.h"

struct addr;
struct arena;
struct netblock;
struct rrset;

extern const struct module dns64_module;

/* RFC 6052 2.2: embed an IPv4 address in the prefix (32, 40, 48, 56, 64 or 96 bits), and the IPv4
 * address embedded in `a` (false: it is not in the prefix). */
void dns64_embed(const struct netblock *prefix, const uint8_t ip4[4], uint8_t ip6[16]);
bool dns64_extract(const struct netblock *prefix, const struct addr *a, struct addr *ip4);
/* The AAAA RRset made of an A RRset, with the same TTL; insecure. */
struct rrset *dns64_embed_set(struct arena *a, const struct netblock *prefix,
			      const struct rrset *s) MUST_USE;

#endif
