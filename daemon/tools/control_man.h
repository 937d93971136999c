/* The command reference of the manual page.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAEMON_TOOLS_CONTROL_MAN_H
#define DAEMON_TOOLS_CONTROL_MAN_H

#include <stdio.h>

/* Every row of daemon/control/control.def, by topic, in man(7) markup. */
void control_man(FILE *out);

#endif
