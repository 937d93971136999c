/* Restricts what the process can do once it serves: system calls, files, new privileges.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * It gives up what an attacker who took over the process would want and serving never needs:
 * running programs, accessing files outside the configured folders, raw sockets, executing memory
 * it has written. See doc/hardening.md. */
#ifndef DAEMON_SYSTEM_SANDBOX_H
#define DAEMON_SYSTEM_SANDBOX_H

#include "util/base/base.h"

struct conf;
struct fault;
struct sandbox;

/* Confine the calling thread and those it will start; call before there are others. NULL under
 * `sandbox: no`. What this system lacks is logged and skipped. `locked_in`: the process is in its
 * chroot. */
struct sandbox *sandbox_draw(const struct conf *conf, bool locked_in) MUST_USE;
void sandbox_free(struct sandbox *s); /* frees the description; the confinement stays */

/* Whether everything `conf` names is accessible inside; NULL admits everything. */
bool sandbox_admits(const struct sandbox *s, const struct conf *conf, struct fault *f) MUST_USE;

#endif
