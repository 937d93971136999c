/* In place of leases.c in a build without names from files.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/control/call.h"

void control_list_leases(struct call *c, struct worker *w UNUSED)
{
	call_lacks(c, PART_LEASES);
}

void control_lease_status(struct call *c, struct worker *w UNUSED)
{
	call_lacks(c, PART_LEASES);
}
