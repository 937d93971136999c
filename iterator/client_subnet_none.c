/* In place of client_subnet.c in a build without client subnets: none is sent.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "iterator/client_subnet.h"

enum subnet_choice client_subnet_choose(struct iter *it UNUSED, const struct selection *to UNUSED)
{
	return SUBNET_OMIT;
}

bool client_subnet_check(struct iter *it UNUSED, const struct upstream_reply *reply UNUSED, enum response r UNUSED)
{
	return true;
}
