/* Narrowing what the process can still do, once it serves: system calls, files, new rights.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * What somebody who took over the process would want and serving never needs is given up: to start
 * programs, to read and write files outside the folders of the configuration, to make raw sockets,
 * to run memory it has written. See doc/hardening.md. */
#ifndef DAEMON_SANDBOX_H
#define DAEMON_SANDBOX_H

#include "util/base.h"

struct conf;
struct fault;
struct sandbox;

/* Draw it around the calling thread and those it will start: before there are others. NULL when
 * `sandbox: no` says so. What this system does not have is told in the log, and done without.
 * `locked_in`: the process is in its chroot. */
struct sandbox *sandbox_draw(const struct conf *conf, bool locked_in) MUST_USE;
void sandbox_free(struct sandbox *s); /* forgets; what was drawn stays */

/* Whether everything that `conf` names can be reached from inside; NULL admits everything. */
bool sandbox_admits(const struct sandbox *s, const struct conf *conf, struct fault *f) MUST_USE;

#endif
