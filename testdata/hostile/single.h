/* One thread: what others would do meanwhile is done at once.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A world's caches are small, but to hand a walk through them to a thread, and what was retired to another, takes as long
 * as the machine likes. So whoever links this has both done here (the linker's --wrap, as in keys_crypto.c): what was
 * retired goes when the outermost turn ends, which is as early as util/base/rcu.h allows. */
#ifndef TESTDATA_HOSTILE_SINGLE_H
#define TESTDATA_HOSTILE_SINGLE_H

#include "util/base/base.h"

/* Does what was to be done aside; outside a turn. False: there was nothing. */
bool single_work(void);

#endif
