/* Parts of the pages: where answers come from, the last reload, top lists.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Written to the reply of a call (daemon/control/call.h) on the main thread. */
#ifndef DAEMON_PAGES_SOURCES_H
#define DAEMON_PAGES_SOURCES_H

struct call;
struct json;
struct stats;
struct top_tables;

/* For /metrics. `tops` has been joined. */
void sources_say_metrics(struct call *c, const struct stats *total, const struct top_tables *tops);
/* For /status.json: adds members to the object being written. */
void sources_put_json(struct json *j, const struct call *c, const struct stats *total,
		      const struct top_tables *tops);

#endif
