/* What the daemon replies, as JSON: the work of `resolver-control --json`.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The reply stays what it is on the wire, so that this works towards Unbound, too. Everything
 * printed is one object on one line:
 *
 *	{"command":"status","ok":true,"data":…}
 *	{"command":"flush","ok":false,"error":"error …"}
 *
 * `data` is an object for pairs (stats, status), an array of objects for tables, and an array of
 * strings for text; a command that says "ok" has none. */
#ifndef DAEMON_CONTROL_JSON_H
#define DAEMON_CONTROL_JSON_H

#include <stdio.h>

#include "util/base.h"

/* `reply` is the whole of it, ended by NUL; it is cut up. */
void control_json(FILE *to, const char *command, char *reply);

#endif
