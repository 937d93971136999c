/* The sockets of the control channel: addresses, and paths in the file system.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A socket's file is created with access for owner and group only, belongs to the user the daemon
 * runs as, and remains when the daemon ends: connecting is then refused, which tells a client that
 * the daemon is down. A file that another process answers at is not touched. */
#ifndef DAEMON_CONTROL_SOCKETS_H
#define DAEMON_CONTROL_SOCKETS_H

#include "util/base/list.h"

struct daemon;
struct fault;

struct control_sockets {
	struct daemon *daemon;
	struct list open; /* made with list_init */
	/* A client has connected: `fd`, non-blocking and close-on-exec, is now the owner's. */
	void (*connected)(void *owner, int fd);
	void *owner;
};

/* Open what the configuration names (nothing without control-enable) and close the rest. False,
 * with a sentence in `f`, if one cannot be opened: then it listens where it did before, and nowhere else. */
bool control_sockets_open(struct control_sockets *all, struct fault *f) MUST_USE;
void control_sockets_close(struct control_sockets *all);
bool control_sockets_are_paths(const struct control_sockets *all); /* the first one is a path */

#endif
