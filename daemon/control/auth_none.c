/* In place of auth.c in a build without zones held in full.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/control/call.h"

void control_list_auth_zones(struct call *c, struct worker *w UNUSED)
{
	call_lacks(c, PART_AUTH_ZONES);
}

void control_auth_zone_reload(struct call *c, struct worker *w UNUSED)
{
	call_lacks(c, PART_AUTH_ZONES);
}

void control_auth_zone_transfer(struct call *c, struct worker *w UNUSED)
{
	call_lacks(c, PART_AUTH_ZONES);
}

void control_rpz_enable(struct call *c, struct worker *w UNUSED)
{
	call_lacks(c, PART_AUTH_ZONES);
}

void control_rpz_disable(struct call *c, struct worker *w UNUSED)
{
	call_lacks(c, PART_AUTH_ZONES);
}
