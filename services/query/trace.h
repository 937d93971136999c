/* Traces the resolution of one answer step by step (`resolver-control why`).
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A trace is attached to the budget that a client's query shares with all queries it causes
 * (services/query/budget.h), so that code working on any of them can report to it. For all others it
 * costs one pointer test. Within one worker. */
#ifndef SERVICES_QUERY_TRACE_H
#define SERVICES_QUERY_TRACE_H

#include "services/query/budget.h"
#include "services/query/query.h"

struct trace;

/* `hear` gets each line, without a newline, until trace_end; `depth` is 0 for the query itself, 1
 * for those it causes, and so on. Returns one reference. */
struct trace *trace_begin(const struct timebase *time,
			  void (*hear)(void *arg, unsigned depth, const char *line),
			  void *arg) MUST_USE;
void trace_end(struct trace *t); /* nobody listens any more; drops that reference */
struct trace *trace_pin(struct trace *t);
void trace_unpin(struct trace *t);  /* NULL is fine */
bool trace_is_shared(const struct trace *t); /* some query tells of itself */

void trace_say(struct trace *t, const struct query *q, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* tell(query, "asks %s", …): the arguments are only evaluated when somebody listens. */
#define tell(q, ...)                                                          \
	do {                                                                  \
		if (UNLIKELY((q)->budget->trace))                             \
			trace_say((q)->budget->trace, (q), __VA_ARGS__);      \
	} while (0)

#endif
