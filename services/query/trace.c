/* The resolution of one answer, step by step, reported to the caller that asked for a trace.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/query/trace.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "util/base/mem.h"
#include "util/dns/dname.h"
#include "util/dns/rr.h"

#define LINE 700

struct trace {
	const struct timebase *time;
	void (*hear)(void *arg, unsigned depth, const char *line); /* NULL: no listener */
	void *arg;
	uint64_t begun_us;
	unsigned refs;
};

struct trace *trace_begin(const struct timebase *time,
			  void (*hear)(void *arg, unsigned depth, const char *line), void *arg)
{
	struct trace *t = mem_new(sizeof(*t));

	*t = (struct trace){
		.time = time, .hear = hear, .arg = arg, .begun_us = time->now_us, .refs = 1
	};
	return t;
}

void trace_end(struct trace *t)
{
	t->hear = NULL;
	trace_unpin(t);
}

struct trace *trace_pin(struct trace *t)
{
	if (t)
		t->refs++;
	return t;
}

void trace_unpin(struct trace *t)
{
	if (t && --t->refs == 0)
		mem_free(t);
}

bool trace_is_shared(const struct trace *t)
{
	return t->refs > 1;
}

/* "    12.3 ms  www.example. A: …" */
void trace_say(struct trace *t, const struct query *q, const char *fmt, ...)
{
	uint64_t took_us = t->time->now_us - t->begun_us;
	char line[LINE], name[DNAME_TEXT], type[16];
	int len = snprintf(line, sizeof(line), "%6" PRIu64 ".%" PRIu64 " ms  ", took_us / 1000,
			   took_us / 100 % 10);
	va_list args;

	if (!t->hear)
		return;
	if (q)
		len += snprintf(line + len, sizeof(line) - (size_t)len, "%*s%s %s: ",
				(int)q->depth * 2, "", dname_print(q->question.name, name),
				rr_type_name(q->question.type, type));
	va_start(args, fmt);
	if ((size_t)len < sizeof(line))
		vsnprintf(line + len, sizeof(line) - (size_t)len, fmt, args);
	va_end(args);
	t->hear(t->arg, q ? q->depth : 0, line);
}
