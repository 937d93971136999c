/* A line of the log as a JSON object (log-format: json).
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Every line is a whole object (RFC 8259) in UTF-8, whatever the values are, of at most LOG_JSON_MOST bytes with its LF. A
 * string that does not fit is shortened between characters, what no longer fits at all is left out, and the member "cut"
 * says so; what is known beforehand comes first, so that it is the long sentences that lose. */
#ifndef UTIL_BASE_LOG_JSON_H
#define UTIL_BASE_LOG_JSON_H

#include <time.h>

#include "util/base/log_event.h"

enum { LOG_JSON_MOST = 8192 };

struct log_head {
	struct timespec time;
	bool local_time; /* else UTC */
	long pid, thread;
	const char *ident;
};

/* `to` has LOG_JSON_MOST bytes; returns the length, without LF, which there is room for. `text` is the sentence. */
size_t log_json_build(char *to, const struct log_head *h, const struct log_origin *o, const char *text);

#endif
