/* A listening socket of the main thread that copes with running out of descriptors.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * While no descriptor is left for a pending connection, the socket would be ready forever: it is
 * paused for a second instead. One descriptor is held in reserve, so that the operator gets in when
 * clients have taken all others. */
#ifndef DAEMON_CONTROL_ACCEPTOR_H
#define DAEMON_CONTROL_ACCEPTOR_H

#include "util/base/base.h"
#include "util/base/loop.h"

struct addr;

#define CONTROL_BACKLOG 64 /* connections that may be pending */

struct acceptor {
	struct watch watch; /* passed to `ready`, which calls acceptor_take */
	struct loop *loop;
	struct timer rest;
	int kept; /* the descriptor in reserve; or -1 */
};

/* A TCP socket listening at `a`: non-blocking, close-on-exec, IPV6_V6ONLY. The caller's; or -1 with
 * errno set. */
int acceptor_listen(const struct addr *a) MUST_USE;
/* Takes over `fd`, which is listening and non-blocking. */
void acceptor_start(struct acceptor *k, struct loop *l, int fd,
		 void (*ready)(struct watch *w, unsigned what));
/* Accept the next connection, non-blocking and close-on-exec; or -1. */
int acceptor_take(struct acceptor *k) MUST_USE;
void acceptor_stop(struct acceptor *k); /* closes the socket, too */

#endif
