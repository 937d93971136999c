/* Signs of life for the service manager's watchdog: given while every thread still takes turns.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The main thread asks every worker's loop for a sign, several times within the manager's patience.
 * Only when all have answered is the manager told; so a thread that hangs ends in a new start. */
#ifndef DAEMON_PULSE_H
#define DAEMON_PULSE_H

#include "util/base.h"

struct daemon;
struct pulse;

/* NULL where nobody waits for signs of life. When the workers run. */
struct pulse *pulse_start(struct daemon *d) MUST_USE;
void pulse_stop(struct pulse *p); /* when the workers have stopped; NULL is harmless */

#endif
