/* The sockets for clients, of all threads, as configured.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The main thread opens them while it has the privileges; then each worker owns its own. */
#ifndef DAEMON_PROCESS_CLIENT_SOCKETS_H
#define DAEMON_PROCESS_CLIENT_SOCKETS_H

#include "services/listen/socket.h"

struct conf;
struct fault;

struct doors { /* of one thread */
	struct listen_socket *items;
	size_t count;
};

/* Fill `doors[0 … threads - 1]`. Sockets that `old` (of as many threads, or NULL) already has are
 * reused, and so are those that threads are still leaving. On failure no new socket stays open,
 * and `f` says why. */
bool doors_open(struct doors *doors, const struct doors *old, unsigned threads,
		const struct conf *conf, struct fault *f) MUST_USE;

/* Before the threads learn that of `doors` they go on with no more than `keep`: what they leave can be
 * opened again at once. */
void doors_part(const struct doors *doors, const struct doors *keep, unsigned threads);

/* Close what is in `doors` but not in `keep` (or NULL), and free the lists. */
void doors_close(struct doors *doors, const struct doors *keep, unsigned threads);
void doors_forget(struct doors *doors, unsigned threads); /* frees the lists only */

#endif
