/* Root's powers, one by one: which of them the process keeps (Linux; elsewhere nothing happens).
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAEMON_CAPABILITIES_H
#define DAEMON_CAPABILITIES_H

#include "util/base.h"

struct conf;

/* Before another user is become: powers are to outlast that, until capabilities_limit. */
void capabilities_carry(void);

/* Give up, for good, all but what serving takes: ports below 1024 that a reload names, addresses
 * that are not ours where ip-transparent says so; and `as_root`, files as before. What the process
 * does not have it does not get. Calling thread only. */
void capabilities_limit(const struct conf *conf, bool as_root);

#endif
