/* A connected socket, plain or TLS, read and written the same way.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_NET_STREAM_H
#define UTIL_NET_STREAM_H

#include <errno.h>
#include <sys/types.h>

#include "util/base/base.h"

struct tls;

struct stream {
	int fd;
	struct tls *tls; /* NULL: plain */
};

/* As recv(2) and send(2) on a non-blocking socket, without SIGPIPE. Bytes that were not written
 * must be passed again, along with what follows them. */
ssize_t stream_read(struct stream *s, void *to, size_t room);
ssize_t stream_write(struct stream *s, const void *from, size_t len);
/* Hold back what is written, each piece a TLS record of its own, and release it all at once
 * (util/net/tls.h). A plain stream holds nothing back. */
void stream_hold(struct stream *s);
bool stream_release(struct stream *s) MUST_USE; /* false: broken */
bool stream_push(struct stream *s) MUST_USE;    /* send more of it; likewise */
size_t stream_pending(const struct stream *s);     /* bytes still held */
bool stream_wants_write(const struct stream *s); /* even if the caller has nothing to write */
bool stream_has_more(const struct stream *s);    /* to read, which no watch will signal */
bool stream_has_arrived(const struct stream *s); /* bytes or the end have come and were not read yet */
bool stream_is_gone(const struct stream *s);     /* nobody is there any more, though it was not read */
void stream_close(struct stream *s);             /* harmless when it is not open */

/* Whether the errno of a failed read or write just means "try again later". */
static inline bool stream_is_not_now(int error)
{
	return error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
}

#endif
