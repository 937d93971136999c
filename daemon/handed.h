/* Sockets that the service manager opened for us: LISTEN_FDS of sd_listen_fds(3), by itself.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * They are found by where they are bound. What was handed over stays open as long as the process
 * lives, so that an address that a reload takes away can come back. Main thread only. */
#ifndef DAEMON_HANDED_H
#define DAEMON_HANDED_H

#include "util/base.h"

struct addr;

/* Take note of what was handed over, and take it out of the environment. Before any fork, since the
 * environment tells whom it is for. */
void handed_open(void);

/* A descriptor of one's own for the socket that is bound to this address (TCP: and listens), or to
 * this path; -1: none was handed over. */
int handed_socket(const struct addr *a, bool stream);
int handed_path(const char *path);

/* A line in the log for each that nothing was served on so far; one for all when they are not
 * `wanted` (use-systemd). */
void handed_report(bool wanted);

void handed_close(void);

#endif
