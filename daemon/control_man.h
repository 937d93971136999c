/* The reference of the commands as a manual page has it.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAEMON_CONTROL_MAN_H
#define DAEMON_CONTROL_MAN_H

#include <stdio.h>

/* Every row of daemon/control.def, by topic, in the language of man(7). */
void control_man(FILE *out);

#endif
