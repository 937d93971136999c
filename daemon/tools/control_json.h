/* Control replies as JSON, for `resolver-control --json`, from a daemon that makes none itself.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * resolverd makes its own (daemon/control/call_json.h), with more members and better types. Here the text of Unbound's replies
 * is taken apart as far as its form is known. The output is one object on one line:
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

/* Whether a reply that is such an object already says that the command failed. */
bool control_json_failed(const char *json) PURE;

/* `reply` is the whole reply, NUL-terminated; it is modified. */
void control_json(FILE *to, const char *command, char *reply);

#endif
