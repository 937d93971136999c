/* The control channel: who may command the daemon, and by which words.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Unbound's protocol to the byte. Served by the main thread without ever waiting: a client that is
 * slow keeps nobody but itself. */
#ifndef DAEMON_CONTROL_H
#define DAEMON_CONTROL_H

#include "util/base.h"

struct call;
struct command;
struct control;
struct daemon;
struct fault;

/* Listen as the daemon's configuration says: nowhere when control-enable is no. NULL with a
 * sentence in `f` when an address cannot be had. */
struct control *control_open(struct daemon *d, struct fault *f) MUST_USE;
/* After a reload: as the new configuration says, or as before, with a line in the log, where that
 * cannot be done. */
void control_reopen(struct control *c);
void control_close(struct control *c); /* NULL is fine; no worker runs any more */

/* Carry out a command that nobody has asked for over the channel. `how` stays the caller's. `over`
 * (may be NULL) is called once, on the main thread, when the call is over, or will never be because
 * the daemon ends (then c->broken). */
struct call_plan {
	const struct command *how;
	void (*over)(struct call *c, void *arg);
	void *arg;
};
void control_run(struct control *c, const struct call_plan *plan);

/* What `status` says of it: "", " control", " control(ssl)", " control(namedpipe)". */
const char *control_kind(const struct control *c);

#endif
