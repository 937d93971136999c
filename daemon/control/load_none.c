/* In place of load.c in a build without caches in files.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/control/call.h"

/* The body is read first: whoever still sends would not see the reply. */
void control_load_cache(struct call *c, struct worker *w UNUSED)
{
	c->refused = c->phase == CALL_ITEM;
	if (c->phase == CALL_END)
		call_lacks(c, PART_CACHEFILE);
}
