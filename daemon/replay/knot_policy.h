/* Knot Resolver's policies in Deckard's dialect, as local zones and forward zones that mean the same.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAEMON_REPLAY_KNOT_POLICY_H
#define DAEMON_REPLAY_KNOT_POLICY_H

#include "util/base/base.h"

struct arena;

/* Configuration for policies, each the value of a `feature-list:` line, in their order: the first that matches a name
 * decides. NULL: `*foreign` is the one that means nothing to us. */
const char *knot_policies_text(struct arena *a, const char *const *policies, size_t count, const char **foreign) MUST_USE;

#endif
