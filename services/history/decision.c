/* What decided a query locally, without asking any server.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/history/decision.h"

#include <stdarg.h>
#include <stdio.h>

void decision_say(struct decision *s, enum decision_how how, const char *fmt, ...)
{
	va_list args;

	s->how = how;
	va_start(args, fmt);
	vsnprintf(s->what, sizeof(s->what), fmt, args);
	va_end(args);
}
