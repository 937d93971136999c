/* Log lines for the operator, which cost nothing when they are switched off.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Levels and line format are Unbound's: "[epoch] resolverd[pid:thread] info: ..."; with log-format: json a line is an object
 * instead (util/base/log_json.h), which has the parts of what is logged with LOG_FACTS.
 * log_on() is a single load of a global; log_ops, log_detail, log_query and log_algo
 * evaluate their arguments only if it holds. Thread-safe; lines stay whole, and those of a thread in order.
 *
 * At first, and in small programs, whoever logs writes. A daemon starts a writer: from then on lines are handed to a thread
 * of their own through bounded memory, and a file, pipe or syslog that stands still keeps nobody waiting. What does not fit
 * is lost; the log says how much once it goes on. */
#ifndef UTIL_BASE_LOG_H
#define UTIL_BASE_LOG_H

#include <stdatomic.h>

#include "util/base/log_event.h"

enum log_level {
	LOG_ERROR = 0,          /* always logged, as are warnings and notices */
	LOG_OPS = 1,            /* verbosity 1: operational */
	LOG_DETAIL = 2,
	LOG_QUERY = 3,          /* per query */
	LOG_ALGO = 4,
	LOG_CLIENT = 5,
};

extern _Atomic int log_verbosity;

static inline bool log_on(enum log_level level)
{
	return atomic_load_explicit(&log_verbosity, memory_order_relaxed) >= (int)level;
}

struct log_how {
	const char *ident;              /* program name in lines; copied */
	const char *file;               /* NULL or "": stderr; copied */
	bool syslog;
	bool json;                      /* log-format: json; then times are in UTC, unless time_ascii */
	bool time_ascii;                /* log-time-ascii */
	bool time_iso;                  /* log-time-iso */
	bool thread_id;                 /* log-thread-id: show the system's thread IDs */
};

/* Set or change where lines go; a file is opened again even if it is the same (logrotate). On failure
 * logs that, keeps the old way, and returns false. */
bool log_start(const struct log_how *how);

/* After the last fork. At the end what is left is written, for a second at most. */
void log_writer_start(void);
void log_writer_end(void);
uint64_t log_lost(void); /* lines, since the start of the process */

void log_thread(int number);                    /* this thread's number in lines */
void log_capture(void (*sink)(const char *line, void *arg), void *arg);     /* tests */

void log_write(const struct log_origin *o, const char *fmt, ...) PRINTF_LIKE(2, 3);

#define log_line(word, ...) log_write(&(struct log_origin){ .file = __FILE__, .kind = (word) }, __VA_ARGS__)
/* The same, but a line repeated again and again is written ten times a minute and then only counted
 * (util/base/log_repeats.h). */
#define log_rare(word, ...) log_write(&(struct log_origin){ .file = __FILE__, .kind = (word), .rare = true }, __VA_ARGS__)
/* The same two with the parts: log_line_of("info", query, LOG_FACTS(LOG_TEXT(client, text), …), "%s …", …). */
#define log_line_of(word, what, parts, ...) \
	log_write(&(struct log_origin){ .file = __FILE__, .kind = (word), .event = LOG_EVENT_##what, .facts = (parts) }, __VA_ARGS__)
#define log_rare_of(word, what, parts, ...) \
	log_write(&(struct log_origin){ .file = __FILE__, .kind = (word), .rare = true, .event = LOG_EVENT_##what, \
					.facts = (parts) }, __VA_ARGS__)
/* Log how often lines were held back: those whose minute is over, or all. Call it now and then. */
void log_report_repeats(bool at_once);

#define log_error(...)          log_rare("error", __VA_ARGS__)
#define log_warn(...)           log_rare("warning", __VA_ARGS__)
#define log_notice(...)         log_rare("notice", __VA_ARGS__)
#define log_ops_of(...)         do { if (log_on(LOG_OPS)) log_line_of("info", __VA_ARGS__); } while (0)
#define log_detail_of(...)      do { if (log_on(LOG_DETAIL)) log_line_of("info", __VA_ARGS__); } while (0)
#define log_ops(...)            do { if (log_on(LOG_OPS)) log_line("info", __VA_ARGS__); } while (0)
#define log_detail(...)         do { if (log_on(LOG_DETAIL)) log_line("info", __VA_ARGS__); } while (0)
#define log_query(...)          do { if (log_on(LOG_QUERY)) log_line("info", __VA_ARGS__); } while (0)
#define log_algo(...)           do { if (log_on(LOG_ALGO)) log_line("debug", __VA_ARGS__); } while (0)

#endif
