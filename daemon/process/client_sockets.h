/* The sockets for clients, of all threads, as configured.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The main thread opens them while it has the privileges; then each worker owns its own. */
#ifndef DAEMON_PROCESS_CLIENT_SOCKETS_H
#define DAEMON_PROCESS_CLIENT_SOCKETS_H

#include "services/listen/socket.h"

struct conf;
struct fault;

struct client_sockets { /* of one thread */
	struct listen_socket *items;
	size_t count;
};

/* Fill `client_sockets[0 … threads - 1]`. Sockets that `old` (of as many threads, or NULL) already has are
 * reused, and so are those that threads are still leaving. On failure no new socket stays open,
 * and `f` says why. */
bool client_sockets_open(struct client_sockets *client_sockets, const struct client_sockets *old, unsigned threads,
		const struct conf *conf, struct fault *f) MUST_USE;

/* Before the threads learn that of `client_sockets` they go on with no more than `keep`: what they leave can be
 * opened again at once. */
void client_sockets_part(const struct client_sockets *client_sockets, const struct client_sockets *keep, unsigned threads);

/* Close what is in `client_sockets` but not in `keep` (or NULL), and free the lists. */
void client_sockets_close(struct client_sockets *client_sockets, const struct client_sockets *keep, unsigned threads);
void client_sockets_forget(struct client_sockets *client_sockets, unsigned threads); /* frees the lists only */

#endif
