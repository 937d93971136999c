/* Where the control channel is open: addresses, and sockets in the file system.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A socket's file is made for its owner and group alone, given to the user the daemon runs as, and left
 * when the daemon ends: who asks there for the status is refused, and knows. A file that somebody
 * answers at is not touched. */
#ifndef DAEMON_CONTROL_DOORS_H
#define DAEMON_CONTROL_DOORS_H

#include "util/list.h"

struct daemon;
struct fault;

struct control_doors {
	struct daemon *daemon;
	struct list open; /* made with list_init */
	/* Somebody came: `fd` is now the owner's, does not block and is not inherited. */
	void (*knocked)(void *owner, int fd);
	void *owner;
};

/* As the daemon's configuration says (nowhere without control-enable): what is open and no longer
 * wanted is closed. False, with a sentence, when one cannot be had: then nothing is closed. */
bool control_doors_open(struct control_doors *all, struct fault *f) MUST_USE;
void control_doors_close(struct control_doors *all);
bool control_doors_are_paths(const struct control_doors *all); /* the first one is */

#endif
