/* Keep-alives for the service manager's watchdog, sent while every thread is responsive.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The main thread polls every worker's loop, several times within the watchdog's timeout, and
 * notifies the manager only when all have responded; if a thread hangs, the daemon is restarted. */
#ifndef DAEMON_PROCESS_WATCHDOG_H
#define DAEMON_PROCESS_WATCHDOG_H

#include "util/base/base.h"

struct daemon;
struct watchdog;

/* Call when the workers run. NULL if there is no watchdog. */
struct watchdog *watchdog_start(struct daemon *d) MUST_USE;
void watchdog_stop(struct watchdog *p); /* once the workers have stopped; NULL is fine */

#endif
