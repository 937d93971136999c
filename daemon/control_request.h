/* What a client of the control channel sends: collecting one request from pieces of any size.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 *	request = "UBCT1" SP line LF
 *
 * The line is at most 1024 bytes with its LF; the end of the stream ends it as well. */
#ifndef DAEMON_CONTROL_REQUEST_H
#define DAEMON_CONTROL_REQUEST_H

#include "util/base.h"

#define CONTROL_HEAD 6
#define CONTROL_LINE 1024

enum control_request_state {
	CONTROL_WANTS_HEAD, /* the six bytes in front */
	CONTROL_WANTS_LINE,
	CONTROL_HAS_LINE, /* whole: `line` is a C string without blanks in front */
	CONTROL_NONSENSE, /* another protocol, control letters, too long: close without a word */
};

struct control_request { /* begins zeroed */
	enum control_request_state state;
	char head[CONTROL_HEAD];
	char line[CONTROL_LINE];
	size_t len;         /* of what is being collected */
	bool other_version; /* the head is of another version of this protocol */
};

/* Take up to `len` bytes; returns how many belonged to head and line. */
size_t control_request_feed(struct control_request *r, const char *at, size_t len);
void control_request_end(struct control_request *r); /* the stream has ended */

/* The first word of `*at`, which moves behind it and the blanks that follow; NULL at the end. Cuts
 * the text by writing a NUL. */
char *control_word(char **at);

#endif
