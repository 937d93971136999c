/* Pages about where answers come from, the last reload, and what comes most often.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * For calls on the main thread (daemon/call.h), whose reply it is written to. */
#ifndef DAEMON_PAGES_SOURCES_H
#define DAEMON_PAGES_SOURCES_H

struct call;
struct json;
struct stats;
struct top_tables;

/* For /metrics. `tops` has been joined. */
void sources_say_metrics(struct call *c, const struct stats *total, const struct top_tables *tops);
/* For /status.json: members of the object that is open. */
void sources_put_json(struct json *j, const struct call *c, const struct stats *total,
		      const struct top_tables *tops);

#endif
