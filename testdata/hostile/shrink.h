/* Of a world that fails, as little as fails still.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TESTDATA_HOSTILE_SHRINK_H
#define TESTDATA_HOSTILE_SHRINK_H

#include "testdata/hostile/choices.h"

/* Plays these choices in a process of its own. Returns whether they fail as `why` says (its part behind the first colon,
 * as far as the next ';'), or at all if that is empty; `got` (800 bytes) says how. */
bool shrink_fails(struct choices *c, bool alone, const char *why, char *got);

/* Leaves out and plains what it can within so many seconds. */
void shrink(struct choices *c, bool alone, const char *why, unsigned seconds);

#endif
