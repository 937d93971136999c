/* Control replies as JSON, for `resolver-control --json`.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The reply on the wire is unchanged, so this works with Unbound, too. The output is one object on
 * one line:
 *
 *	{"command":"status","ok":true,"data":…}
 *	{"command":"flush","ok":false,"error":"error …"}
 *
 * `data` is an object for pairs (stats, status), an array of objects for tables, an array of
 * strings for text, and absent for a command that replies "ok". `error` is the whole reply. */
#ifndef DAEMON_TOOLS_CONTROL_JSON_H
#define DAEMON_TOOLS_CONTROL_JSON_H

#include <stdio.h>

#include "util/base/base.h"

/* Whether a reply that begins so says that the command failed; six bytes or the whole are enough. */
bool control_is_error(const char *reply) PURE;

/* `reply` is the whole reply, NUL-terminated; it is modified. */
void control_json(FILE *to, const char *command, char *reply);

#endif
