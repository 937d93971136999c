/* The control channel: accepts commands from clients and runs them.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Unbound's protocol, byte for byte. Served by the main thread without ever blocking: a slow client
 * delays only itself. */
#ifndef DAEMON_CONTROL_CONTROL_H
#define DAEMON_CONTROL_CONTROL_H

#include "util/base/base.h"

struct call;
struct command;
struct control;
struct daemon;
struct fault;

/* Listen where the configuration says: nowhere if control-enable is no; clients may give the commands of `table`, whose last
 * has a NULL word. NULL, with a sentence in `f`, if an address cannot be opened. */
struct control *control_open(struct daemon *d, const struct command *table, struct fault *f) MUST_USE;
/* After a reload: listen where the new configuration says, or if that fails, as before, with a line
 * in the log. */
void control_reopen(struct control *c);
void control_close(struct control *c); /* once no worker runs; NULL is fine */

/* Run a command that did not come over the channel. `how` stays the caller's. `over` (may be NULL)
 * is called once, on the main thread: when the call is over, or, with c->broken, when the daemon
 * ends first, or at once when many others wait for a worker that stands still. */
struct call_plan {
	const struct command *how;
	void (*over)(struct call *c, void *arg);
	void *arg;
};
void control_run(struct control *c, const struct call_plan *plan);

/* How `status` describes it: "", " control", " control(ssl)", " control(namedpipe)". */
const char *control_kind(const struct control *c);

#endif
