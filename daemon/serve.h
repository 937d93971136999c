/* The daemon from its start to its end: opens everything, serves, closes everything.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAEMON_SERVE_H
#define DAEMON_SERVE_H

#include "util/base/base.h"

struct conf;
struct daemon;
struct fault;

/* Keep back SIGHUP and SIGUSR1, which would end the process, until serve_run can obey them: a start
 * may take long, and scripts need not wait for its end. */
void serve_hold_signals(void);

/* Open sockets and control channel, write the pid file, change user, make the workers. Takes over
 * `conf`, also on failure. The process must not fork after this. */
bool serve_open(struct daemon *d, struct conf *conf, struct fault *f) MUST_USE;
/* Serve until daemon_stop. `ready` is called once, when all threads are serving. */
bool serve_run(struct daemon *d, void (*ready)(void *arg), void *arg, struct fault *f) MUST_USE;
void serve_close(struct daemon *d); /* cleans up after a failure at any point, too */

#endif
