/* Reads one request of a control client, from pieces of any size.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 *	request = "UBCT1" SP line LF
 *
 * The line has at most 1024 bytes including LF, before which a CR is ignored; end of stream also ends
 * it. */
#ifndef DAEMON_CONTROL_REQUEST_H
#define DAEMON_CONTROL_REQUEST_H

#include "util/base/base.h"

#define CONTROL_HEAD 6
#define CONTROL_LINE 1024

enum control_request_state {
	CONTROL_WANTS_HEAD, /* its six bytes are incomplete */
	CONTROL_WANTS_LINE,
	CONTROL_HAS_LINE, /* complete: `line` is a C string without leading blanks */
	CONTROL_NONSENSE, /* another protocol, control bytes, too long: close silently */
};

struct control_request { /* begins zeroed */
	enum control_request_state state;
	char head[CONTROL_HEAD];
	char line[CONTROL_LINE];
	size_t len;         /* collected so far of the current part */
	bool other_version; /* the head names another version of this protocol */
};

/* Read up to `len` bytes; returns how many belong to head and line. */
size_t control_request_feed(struct control_request *r, const char *at, size_t len);
void control_request_end(struct control_request *r); /* the stream has ended */

/* The first word of `*at`, NUL-terminated in place, or NULL; advances `*at` past it and the blanks
 * that follow. */
char *control_word(char **at);

#endif
