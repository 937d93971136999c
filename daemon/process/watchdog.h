/* Keep-alives for the service manager's watchdog, sent while every thread is responsive.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The main thread polls every worker's loop, several times within the watchdog's timeout, and
 * notifies the manager only when all have responded; if a thread hangs, the daemon is restarted. */
#ifndef DAEMON_PROCESS_WATCHDOG_H
#define DAEMON_PROCESS_WATCHDOG_H

#include "util/base/base.h"

struct daemon;
struct pulse;

/* Call when the workers run. NULL if there is no watchdog. */
struct pulse *pulse_start(struct daemon *d) MUST_USE;
void pulse_stop(struct pulse *p); /* once the workers have stopped; NULL is fine */

#endif
