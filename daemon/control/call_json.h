/* The reply to a command as JSON, for those who ask for it: "UBCT1 --json status".
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * One object on one line:
 *
 *	{"command":"status","ok":true,"data":…}
 *	{"command":"flush","ok":false,"error":"error …"}
 *
 * A handler that has more to say than "ok" asks for a writer, by which it gives `data` members with types; each of these
 * functions returns NULL when the reply is to be text, and then the handler says it with call_say. In JSON what it says with
 * call_say is an error, if it begins so; else its lines are `data`, an array of strings. An "ok" alone is no data. An error may
 * have `data` after it: of a body, the lines that were good. */
#ifndef DAEMON_CONTROL_CALL_JSON_H
#define DAEMON_CONTROL_CALL_JSON_H

#include "daemon/control/call.h"
#include "util/base/json.h"

/* `data` is an object: its members, until the call ends. */
struct json *call_object(struct call *c);
/* `data` is an array: say so before its first row, since it may have none. */
struct json *call_rows(struct call *c);
/* The next object in that array, until call_row_end. */
struct json *call_row(struct call *c);
void call_row_end(struct call *c);
/* A record in presentation format: its members `name`, `ttl`, `class`, `type`, and `data`, whose fields are strings. */
void call_record(struct json *j, const char *line);

/* ---- for the channel ---- */

/* Take the line of a request into c->line. If "--json" and a blank are before the command, the reply is to be JSON. */
void call_take_line(struct call *c, const char *line);
void call_json_words(struct call *c, const char *text, size_t len);
/* Handlers have said everything. */
void call_json_end(struct call *c);
/* Nothing has been said. */
void call_json_clear(struct call *c);
void call_json_free(struct call *c);
/* The whole reply, of some 120 bytes, to a client that a thread keeps waiting, while the call is elsewhere. */
void call_print_late(const struct call *c, int thread, unsigned s, char *to, size_t room);

#endif
