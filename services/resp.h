/* The part of Redis' protocol (RESP, version 2) that plain commands need: no arrays come back.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Pure functions over bytes. (hiredis does more, and ends the process when a server answers what it
 * was not asked.) */
#ifndef SERVICES_RESP_H
#define SERVICES_RESP_H

#include "util/bytes.h"

enum resp_kind {
	RESP_PART,  /* not whole yet */
	RESP_DONE,  /* a status or a number */
	RESP_VALUE, /* `text` */
	RESP_NONE,  /* there is no such value */
	RESP_ERROR, /* `text` says why */
	RESP_BAD,   /* nothing that could answer a plain command, or more than `most` bytes */
};

struct resp {
	enum resp_kind kind;
	struct slice text; /* in the bytes that were read */
	size_t len;        /* of the whole reply; 0: not whole, or bad */
};

/* The reply that `in` begins with; its value or line may have `most` bytes. */
struct resp resp_read(struct slice in, size_t most);

/* A command of so many words. `w` goes bad where it has no room for it. */
void resp_write(struct writer *w, const struct slice *words, unsigned count);

#endif
