/* File descriptors: how many the configuration may need, and how to share them if there are fewer.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Without descriptors the daemon can neither send queries nor accept connections. So it raises its
 * limit to what it may need; if the system does not allow that, it says so and limits client
 * connections so that enough remain for queries, commands, zones and lists. */
#ifndef DAEMON_SYSTEM_FD_LIMITS_H
#define DAEMON_SYSTEM_FD_LIMITS_H

#include "util/base/base.h"

struct conf;

/* For each worker. */
struct fd_limits_share {
	uint32_t clients; /* connections of clients */
	uint32_t ports;   /* UDP ports for queries */
	uint32_t servers; /* connections to other servers */
};

/* The most that may ever be open at once. */
uint64_t fd_limits_needed(const struct conf *conf) PURE;
/* Divide `limit` descriptors; nobody gets more than the options say. */
struct fd_limits_share fd_limits_divide(const struct conf *conf, uint64_t limit) PURE;

/* Raise the limit of this process as far as needed and allowed; logs a warning if that is not
 * enough. */
void fd_limits_raise(const struct conf *conf);
struct fd_limits_share fd_limits_share(const struct conf *conf);

#endif
