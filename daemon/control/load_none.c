/* In place of load.c in a build without caches in files.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/control/call.h"

void control_load_cache(struct call *c, struct worker *w UNUSED)
{
	if (c->phase != CALL_BEGIN)
		return;
	call_lacks(c, PART_CACHEFILE);
	c->refused = true;
}
