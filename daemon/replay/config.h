/* The resolver configuration a scenario is played with.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAEMON_REPLAY_CONFIG_H
#define DAEMON_REPLAY_CONFIG_H

#include "util/base/base.h"

struct conf;
struct fault;
struct scenario;

/* The scenario's configuration behind a preamble that makes nothing on this host matter; `minimise`
 * is for Deckard's dialect. NULL: either `skip` says which feature it needs that is not built, or
 * `f` says what is wrong with it. */
struct conf *replay_config(const struct scenario *s, int minimise, char *skip, size_t skip_len,
			   struct fault *f);

#endif
