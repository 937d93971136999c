/* The counters in the log at times (statistics-interval).
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAEMON_CONTROL_STATS_H
#define DAEMON_CONTROL_STATS_H

struct daemon;

/* Do what the newest configuration says, from now on. */
void stats_log_plan(struct daemon *d);

#endif
