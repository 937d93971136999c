/* IPv4 addresses in IPv6 prefixes (RFC 6052).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/answer/nat64.h"

#include <string.h>

#include "util/base/arena.h"
#include "util/dns/rr.h"
#include "util/dns/rrset.h"

/* The position of byte `i` of the IPv4 address: bits 64 to 71 are skipped (RFC 6052 2.2). */
static unsigned place_of(const struct netblock *prefix, unsigned i)
{
	unsigned at = prefix->bits / 8u + i;

	return at + (prefix->bits < 96 && at >= 8);
}

void nat64_embed(const struct netblock *prefix, const uint8_t ip4[4], uint8_t ip6[16])
{
	memcpy(ip6, prefix->net.ip, 16);
	for (unsigned i = 0; i < 4; i++)
		ip6[place_of(prefix, i)] = ip4[i];
}

bool nat64_extract(const struct netblock *prefix, const struct addr *a, struct addr *ip4)
{
	if (!netblock_holds(prefix, a))
		return false;
	*ip4 = (struct addr){ .family = 4 };
	for (unsigned i = 0; i < 4; i++)
		ip4->ip[i] = a->ip[place_of(prefix, i)];
	return true;
}

struct rrset *nat64_embed_set(struct arena *a, const struct netblock *prefix, const struct rrset *s)
{
	struct slice *records = arena_array(a, struct slice, s->count);
	struct rrset_walk w = rrset_records(s);
	struct rrset_parts p = { .owner = rrset_owner(s),
				 .type = TYPE_AAAA,
				 .class_ = CLASS_IN,
				 .ttl_s = s->ttl_s,
				 .expires_s = s->expires_s,
				 .records = records,
				 .trust = s->trust,
				 .security = SECURITY_INSECURE };

	for (struct slice rd; rrset_next(&w, &rd);) {
		uint8_t *ip6;

		if (rd.len != 4)
			continue;
		ip6 = arena_take(a, 16);
		nat64_embed(prefix, rd.at, ip6);
		records[p.count++] = (struct slice){ .at = ip6, .len = 16 };
	}
	return rrset_build(a, &p);
}
