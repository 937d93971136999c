/* Sockets opened by the service manager: LISTEN_FDS of sd_listen_fds(3), without libsystemd.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * They are found by the address they are bound to, and stay open for the life of the process, so an
 * address that one reload removes can come back with another. Main thread only. */
#ifndef DAEMON_PROCESS_SOCKET_ACTIVATION_H
#define DAEMON_PROCESS_SOCKET_ACTIVATION_H

#include "util/base/base.h"

struct addr;

/* Record the sockets and remove them from the environment. Call before any fork: the environment
 * names the process they are for. */
void socket_activation_open(void);

/* A new descriptor, the caller's, for the socket bound to this address (TCP: and listening) or
 * path; -1: there is none. */
int socket_activation_socket(const struct addr *a, bool stream);
int socket_activation_path(const char *path);

/* Log each socket not used so far; a single line for all if they are not `wanted` (use-systemd). */
void socket_activation_report(bool wanted);

void socket_activation_close(void);

#endif
