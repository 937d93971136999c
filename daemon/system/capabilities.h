/* Which of root's capabilities the process keeps (Linux; elsewhere these do nothing).
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAEMON_SYSTEM_CAPABILITIES_H
#define DAEMON_SYSTEM_CAPABILITIES_H

#include "util/base/base.h"

struct conf;

/* Call before changing user: capabilities survive that, until capabilities_limit. */
void capabilities_carry(void);

/* Drop for good all capabilities but those serving needs: to bind ports below 1024 that a reload
 * names, and foreign addresses under ip-transparent; `as_root`, also to access files as before.
 * Adds none. Affects the calling thread only. */
void capabilities_limit(const struct conf *conf, bool as_root);

#endif
