/* The table of all commands: every row of control.def, with its handler.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/control/call.h"

const struct command commands[] = {
#define CMD(word_, args_, place_, help_) \
	{ .word = #word_, .args = args_, .place = place_, .run = control_##word_ },
#include "daemon/control/control.def"
#undef CMD
	{ .word = NULL },
};
