/* Core dumps: only if configured.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAEMON_SYSTEM_CORE_DUMPS_H
#define DAEMON_SYSTEM_CORE_DUMPS_H

struct conf;

/* Call after changing user: no core dumps, and no debugger run by the same user, unless
 * `core-dumps` allows it. */
void core_dumps_forbid(const struct conf *conf);

#endif
