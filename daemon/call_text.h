/* A piece of a reply: call.c collects them, control.c sends them.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAEMON_CALL_TEXT_H
#define DAEMON_CALL_TEXT_H

#include "util/base.h"

struct call;

struct call_text {
	struct call_text *next;
	size_t start, end, room; /* start … end is still to be sent */
	char bytes[];
};

void call_clear(struct call *c); /* discard the reply */

#endif
