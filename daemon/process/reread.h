/* Whether a reload will be able to read again what a start has read.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAEMON_PROCESS_REREAD_H
#define DAEMON_PROCESS_REREAD_H

#include "util/base/base.h"

struct conf;
struct fault;
struct privileges;

/* As root, before the change of user: log a warning for each file that the configuration has read and that the user
 * the process becomes may not read. False: that file is one of auto-trust-anchor-file, or we could not be root again. */
bool reread_foresee(const struct privileges *p, const struct conf *conf, struct fault *f) MUST_USE;

#endif
