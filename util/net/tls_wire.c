/* TLS streams: the layer between OpenSSL and the socket.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Records held back are sent together in one call, however many there are; and one call fetches as
 * many as have arrived. (OpenSSL's own read-ahead does that too, but moves its whole buffer down
 * after each record.) */
#include "util/net/tls_private.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>

#include <openssl/bio.h>

#include "util/base/mem.h"
#include "util/net/stream.h"

#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0
#endif

enum { HELD_MOST = 65536, HELD_ROOM = HELD_MOST + 16384 + 1024, FETCH_ROOM = 32768 };

/* In a row: records that bring the caller nothing could go on forever. */
#define FETCHES_MOST 16

struct tls_wire {
	int fd;
	bool holds, refuses;
	uint8_t *held; /* to be sent before anything else; NULL: nothing */
	size_t from, to;
	uint8_t *fetched; /* not yet taken by the library: fetched[taken] to fetched[got];
			     or NULL */
	size_t taken, got;
	unsigned fetches; /* since control last returned to the caller */
};

static BIO_METHOD *method;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* ---- the socket ---- */

static ssize_t send_some(int fd, const void *at, size_t len)
{
	ssize_t n;

	do
		n = send(fd, at, len, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n;
}

bool tls_wire_push(struct tls_wire *w)
{
	while (w->from < w->to) {
		ssize_t n = send_some(w->fd, w->held + w->from, w->to - w->from);

		if (n <= 0)
			return n < 0 && stream_is_not_now(errno);
		w->from += (size_t)n;
	}
	mem_free(w->held);
	w->held = NULL;
	w->from = w->to = 0;
	return true;
}

size_t tls_wire_pending(const struct tls_wire *w)
{
	return w->to - w->from;
}

void tls_wire_hold(struct tls_wire *w)
{
	w->holds = true;
}

bool tls_wire_release(struct tls_wire *w)
{
	w->holds = false;
	return tls_wire_push(w);
}

/* ---- as OpenSSL sees it ---- */

static int on_write(BIO *b, const char *at, int len)
{
	struct tls_wire *w = BIO_get_data(b);
	ssize_t n;

	BIO_clear_retry_flags(b);
	if (!w->holds && w->held && !tls_wire_push(w))
		return -1;
	if (w->holds ? w->to > HELD_MOST : w->held != NULL) {
		BIO_set_retry_write(b);
		errno = EAGAIN;
		return -1;
	}
	if (w->holds) {
		if (!w->held)
			w->held = mem_new(HELD_ROOM);
		n = (ssize_t)MIN((size_t)len, HELD_ROOM - w->to);
		memcpy(w->held + w->to, at, (size_t)n);
		w->to += (size_t)n;
		return (int)n;
	}
	n = send_some(w->fd, at, (size_t)len);
	if (n < 0 && stream_is_not_now(errno))
		BIO_set_retry_write(b);
	return (int)n;
}

/* As recv(2), filling `fetched`. */
static ssize_t fetch(struct tls_wire *w)
{
	ssize_t n;

	if (w->fetches++ >= FETCHES_MOST) {
		errno = EAGAIN;
		return -1;
	}
	if (!w->fetched)
		w->fetched = mem_new(FETCH_ROOM);
	do
		n = recv(w->fd, w->fetched, FETCH_ROOM, 0);
	while (n < 0 && errno == EINTR);
	w->taken = 0;
	w->got = n > 0 ? (size_t)n : 0;
	return n;
}

static int on_read(BIO *b, char *to, int room)
{
	struct tls_wire *w = BIO_get_data(b);
	ssize_t n = 1;

	BIO_clear_retry_flags(b);
	if (w->refuses) {
		errno = EPROTO;
		return -1;
	}
	if (w->taken == w->got)
		n = fetch(w);
	if (n < 0 && stream_is_not_now(errno))
		BIO_set_retry_read(b);
	if (n == 0)
		BIO_set_flags(b, BIO_FLAGS_IN_EOF);
	if (n <= 0)
		return (int)n;
	n = (ssize_t)MIN((size_t)room, w->got - w->taken);
	memcpy(to, w->fetched + w->taken, (size_t)n);
	w->taken += (size_t)n;
	return (int)n;
}

bool tls_wire_has_fetched(const struct tls_wire *w)
{
	return w->taken < w->got;
}

void tls_wire_refuse(struct tls_wire *w)
{
	w->refuses = true;
}

void tls_wire_rest(struct tls_wire *w)
{
	int error = errno;

	w->fetches = 0;
	if (tls_wire_has_fetched(w))
		return;
	mem_free(w->fetched);
	w->fetched = NULL;
	errno = error;
}

static long on_control(BIO *b, int what, long number, void *pointer)
{
	(void)number, (void)pointer;
	if (what == BIO_CTRL_EOF)
		return BIO_test_flags(b, BIO_FLAGS_IN_EOF) != 0;
	return what == BIO_CTRL_FLUSH || what == BIO_CTRL_DUP;
}

static int on_free(BIO *b)
{
	struct tls_wire *w = BIO_get_data(b);

	if (w) {
		mem_free(w->held);
		mem_free(w->fetched);
	}
	mem_free(w);
	return 1;
}

static void make_method(void)
{
	method = BIO_meth_new(BIO_TYPE_DESCRIPTOR | BIO_get_new_index(), "stream");
	PROMISE(method && BIO_meth_set_write(method, on_write) &&
		BIO_meth_set_read(method, on_read) && BIO_meth_set_ctrl(method, on_control) &&
		BIO_meth_set_destroy(method, on_free));
}

struct tls_wire *tls_wire_new(SSL *ssl, int fd)
{
	struct tls_wire *w;
	BIO *b;

	pthread_once(&once, make_method);
	b = BIO_new(method);
	if (!b)
		return NULL;
	w = mem_zero(sizeof *w);
	w->fd = fd;
	BIO_set_data(b, w);
	BIO_set_init(b, 1);
	SSL_set_bio(ssl, b, b);
	return w;
}
