/* A connected socket, plain or TLS, read and written the same way.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/net/stream.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "util/net/tls.h"

#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0
#endif

ssize_t stream_read(struct stream *s, void *to, size_t room)
{
	ssize_t n;

	if (s->tls)
		return tls_read(s->tls, to, room);
	do
		n = recv(s->fd, to, room, 0);
	while (n < 0 && errno == EINTR);
	return n;
}

ssize_t stream_write(struct stream *s, const void *from, size_t len)
{
	ssize_t n;

	if (s->tls)
		return tls_write(s->tls, from, len);
	do
		n = send(s->fd, from, len, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n;
}

void stream_hold(struct stream *s)
{
	if (s->tls)
		tls_hold(s->tls);
}

bool stream_release(struct stream *s)
{
	return !s->tls || tls_release(s->tls);
}

bool stream_push(struct stream *s)
{
	return !s->tls || tls_push(s->tls);
}

size_t stream_pending(const struct stream *s)
{
	return s->tls ? tls_pending(s->tls) : 0;
}

bool stream_wants_write(const struct stream *s)
{
	return s->tls && tls_wants_write(s->tls);
}

bool stream_has_more(const struct stream *s)
{
	return s->tls && tls_has_more(s->tls);
}

static short what_is_up(const struct stream *s, short events)
{
	struct pollfd p = { .fd = s->fd, .events = events };

	return poll(&p, 1, 0) > 0 ? p.revents : 0;
}

bool stream_has_arrived(const struct stream *s)
{
	return what_is_up(s, POLLIN) & POLLIN;
}

/* A client that only says that it will send no more is still there. */
bool stream_is_gone(const struct stream *s)
{
	return what_is_up(s, 0) & (POLLERR | POLLHUP);
}

void stream_close(struct stream *s)
{
	if (s->tls)
		tls_free(s->tls);
	if (s->fd >= 0)
		close(s->fd);
	*s = (struct stream){ .fd = -1 };
}

