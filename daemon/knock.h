/* A door at which connections come in, for rooms of the main thread; it survives a want of files.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * While the process has no descriptor left for a connection that knocks, the door would be ready for
 * ever: it rests a second instead. One descriptor is kept back for it, so that the operator gets in
 * when clients have taken all the others. */
#ifndef DAEMON_KNOCK_H
#define DAEMON_KNOCK_H

#include "util/base.h"
#include "util/loop.h"

struct addr;

#define KNOCK_BACKLOG 16 /* who may stand before a door until it is opened */

struct knock {
	struct watch watch; /* `ready` is told of it: knock_take there */
	struct loop *loop;
	struct timer rest;
	int kept; /* the descriptor that is given up for who comes when there is no other; or -1 */
};

/* A TCP socket that listens at `a`: not blocking, not inherited, and an IPv6 one for IPv6 alone. The
 * caller's; or -1, and errno says why. */
int knock_listen(const struct addr *a) MUST_USE;
/* `fd` listens and does not block; it becomes the knock's. */
void knock_start(struct knock *k, struct loop *l, int fd,
		 void (*ready)(struct watch *w, unsigned what));
/* The next connection, not blocking and not inherited; or -1. */
int knock_take(struct knock *k) MUST_USE;
void knock_stop(struct knock *k); /* and close */

#endif
