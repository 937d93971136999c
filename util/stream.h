/* A connected socket, plain or encrypted: read and written alike.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_STREAM_H
#define UTIL_STREAM_H

#include <sys/types.h>

#include "util/base.h"

struct tls;

struct stream {
	int fd;
	struct tls *tls; /* NULL: plain */
};

/* As recv(2) and send(2) on a non-blocking socket, without signals. What could not be written is to
 * be given again, with what follows it. */
ssize_t stream_read(struct stream *s, void *to, size_t room);
ssize_t stream_write(struct stream *s, const void *from, size_t len);
/* Hold what is written, each piece a TLS record of its own, and send it as one (util/tls.h). A plain
 * stream holds nothing. */
void stream_hold(struct stream *s);
bool stream_release(struct stream *s) MUST_USE; /* false: broken */
bool stream_push(struct stream *s) MUST_USE;    /* more of what did not go; likewise */
size_t stream_held(const struct stream *s);     /* how much that is */
bool stream_wants_write(const struct stream *s); /* even if the caller has nothing to say */
bool stream_has_more(const struct stream *s);    /* to read, which no watch will tell of */
void stream_close(struct stream *s);             /* harmless when it is not open */

/* The last read or write failed for a reason that passes. */
bool stream_is_not_now(int error) PURE;

#endif
