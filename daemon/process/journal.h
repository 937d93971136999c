/* A file of changes, one line each: what was appended is there after a power cut, whatever else is cut off.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 *	file = "resolverd-changes 1" LF *( line LF )
 *	line = check SP number SP time SP drops SP text
 *
 * `check` is of the rest of the line (SipHash-2-4, 16 hex digits), so that a line that was not written whole is known. `drops`
 * are the numbers of earlier lines that this one undoes, with commas, or "-". A line and what it undoes come and go
 * together. Lines are appended; a file with much that is undone is written anew and renamed. */
#ifndef DAEMON_PROCESS_JOURNAL_H
#define DAEMON_PROCESS_JOURNAL_H

#include <sys/types.h>

#include "util/base/base.h"

struct fault;

struct journal { /* begins zeroed */
	char *path;
	off_t bytes;     /* of the file as it was last read or written; 0: there is none */
	off_t former;    /* before the last line was appended */
	bool cut;        /* what follows the last LF is to go before anything is appended */
	char *unusable;  /* why the file is not written; NULL: it may be */
};

struct journal_line {
	uint64_t number;
	int64_t time_s; /* since 1970 */
	uint64_t *drops;
	size_t drop_count;
	const char *text; /* "": it only undoes */
	const char *raw;  /* the whole line, if its check does not hold; then nothing else is set */
};

/* Read the file, if there is one, passing each line to `each`, for whose duration it lasts. False, with a sentence: it
 * cannot be read, is of another version or something else; then it is not written either (`unusable`). */
bool journal_read(struct journal *j, const char *path, void (*each)(void *arg, const struct journal_line *l), void *arg,
		  struct fault *f) MUST_USE;
void journal_clear(struct journal *j);

/* Whether lines can be appended; else it has to be written anew first: there is none, or its end is cut. */
bool journal_goes_on(const struct journal *j) MUST_USE;
/* Append lines (journal_print), durably. False, with a sentence: the file is as it was. */
bool journal_append(struct journal *j, const char *lines, size_t len, struct fault *f) MUST_USE;
/* Undo the last journal_append, if nothing else has been written since. */
bool journal_take_back(struct journal *j, struct fault *f) MUST_USE;
/* Write it anew with these lines alone. False, with a sentence: the file is as it was. */
bool journal_rewrite(struct journal *j, const char *lines, size_t len, struct fault *f) MUST_USE;

/* The line with its LF, at *to, which has *len bytes and grows. */
void journal_print(char **to, size_t *len, const struct journal_line *l);

#endif
