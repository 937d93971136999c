/* Where log lines end up: a file, a pipe, standard error, or syslog.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Used by one thread at a time: the writer of util/base/log.c, or before and after its time whoever holds the log's lock. */
#ifndef UTIL_BASE_LOG_OUT_H
#define UTIL_BASE_LOG_OUT_H

#include "util/base/base.h"

enum { LOG_IDENT_MOST = 64 };

struct log_out {
	int fd;       /* owned, unless it is standard error */
	bool syslog;  /* instead */
	bool regular; /* a file proper: it takes any length at once, and nobody can say for how long */
	char ident[LOG_IDENT_MOST]; /* for syslog */
};

/* Open a file for adding to. A FIFO that nobody reads is opened all the same, and keeps what fits. On failure false, with
 * errno. */
bool log_out_open(struct log_out *o, const char *file) MUST_USE;
/* From `old`, which is closed, to `new`. A connection to syslog is kept: inside a chroot it could not be opened again. */
void log_out_change(struct log_out *old, const struct log_out *new);
/* Write `len` bytes of whole lines, LFs included (syslog: one line). Waits only as long as `goes_on` says so, which is
 * asked ten times a second; NULL: for ever. False: it could not be written, or not all. */
bool log_out_write(const struct log_out *o, int priority, const char *text, size_t len,
		   bool (*goes_on)(void *arg), void *arg) MUST_USE;

#endif
