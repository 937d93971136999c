/* In place of subnets.c in a build without client subnets: module-config cannot name subnetcache
 * (util/conf/parts.def), and a client's option is treated as unknown.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/forward/subnets.h"

bool subnets_configured(const struct conf *conf UNUSED)
{
	return false;
}

bool subnets_read(struct subnets **to, const struct conf *conf UNUSED, struct fault *f UNUSED)
{
	*to = NULL;
	return true;
}

void subnets_free(struct subnets *s UNUSED)
{
}

enum client_subnet_end subnets_locate(const struct subnets *s UNUSED, const struct edns *e UNUSED,
				      const struct addr *client UNUSED, struct client_subnet *w UNUSED)
{
	return CLIENT_SUBNET_GOOD;
}

uint32_t subnets_most(const struct subnets *s UNUSED, unsigned family UNUSED)
{
	return 0;
}
