/* The part of the Redis protocol (RESP, version 2) that simple commands need: no array replies.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Pure functions over bytes. (hiredis does more, and aborts the process when a server sends an
 * unsolicited reply.) */
#ifndef SERVICES_CACHEDB_RESP_H
#define SERVICES_CACHEDB_RESP_H

#include "util/base/bytes.h"

enum resp_kind {
	RESP_PART,  /* incomplete: more bytes are needed */
	RESP_DONE,  /* a status or a number */
	RESP_VALUE, /* `text` */
	RESP_NONE,  /* null: there is no such value */
	RESP_ERROR, /* `text` says why */
	RESP_BAD,   /* not a reply to a simple command, or longer than `most` bytes */
};

struct resp {
	enum resp_kind kind;
	struct slice text; /* points into the bytes read */
	size_t len;        /* of the whole reply in bytes; 0: incomplete or bad */
};

/* The reply at the start of `in`; its value or line may be up to `most` bytes long. */
struct resp resp_read(struct slice in, size_t most);

/* Write a command of `count` words. `w` goes bad when it has no room. */
void resp_write(struct writer *w, const struct slice *words, unsigned count);

#endif
