/* The service sockets of all threads, as the configuration names them.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Opened by the main thread, while it has the right to; then each worker owns its own. */
#ifndef DAEMON_DOORS_H
#define DAEMON_DOORS_H

#include "services/listen_socket.h"

struct conf;
struct fault;

struct doors { /* of one thread */
	struct listen_socket *items;
	size_t count;
};

/* Fill `doors[0 … threads - 1]`. A socket that `old` (of as many threads, or NULL) has already is
 * taken from there. On failure nothing is open that was not before, and `f` says why. */
bool doors_open(struct doors *doors, const struct doors *old, unsigned threads,
		const struct conf *conf, struct fault *f) MUST_USE;

/* Close what is in `doors` but not in `keep` (or NULL), and forget the lists. */
void doors_close(struct doors *doors, const struct doors *keep, unsigned threads);
void doors_forget(struct doors *doors, unsigned threads); /* closes nothing */

#endif
