/* HTTP/2 (RFC 9113) server: bytes in, requests out; answers in, bytes out.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * No socket and no clock: the caller passes in the bytes it reads and sends those it is given. A
 * client that costs too much is told so (ENHANCE_YOUR_CALM) and cut off: too many resets, too many
 * frames that request nothing (settings, pings, window updates, continuations), endless headers. */
#ifndef UTIL_NET_HTTP2_SERVER_H
#define UTIL_NET_HTTP2_SERVER_H

#include "util/base/bytes.h"

#define HTTP2_PREFACE     "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" /* every client begins with it */
#define HTTP2_PREFACE_LEN 24

enum http2_method { HTTP2_NO_METHOD, HTTP2_GET, HTTP2_POST, HTTP2_OTHER, HTTP2_UNHEARD };

/* A complete request. Good until the callback returns; the callback may overwrite `path`. */
struct http2_request {
	int32_t stream;
	enum http2_method method; /* OTHER: another known one; UNHEARD: unknown */
	uint8_t *path;            /* including the query */
	size_t path_len;
	struct slice type; /* content-type; empty: none was sent */
	struct slice body;
	unsigned refused; /* the status it must be answered with, being too large; or 0 */
};

struct http2_answer {
	unsigned status;
	const char *type; /* content-type, a static string; NULL: there is no body */
	struct slice body;
	bool fresh;     /* may be cached … */
	uint32_t age_s; /* for this long (cache-control: max-age) */
	bool allows;    /* add "allow: GET, POST" */
};

/* Bytes kept: of incomplete requests; of answers that cannot be sent yet. Each of them counts for its stream,
 * too: HTTP2_STREAM bytes, here and in nghttp2. */
#define HTTP2_STREAM 800
enum http2_kept { HTTP2_RECEIVING, HTTP2_SENDING, HTTP2_KEPT_COUNT };

struct http2_ops {
	void (*request)(void *arg, struct http2_request *r);
	/* The client cancelled a complete, unanswered request: it can no longer be answered. May be
	 * NULL. */
	void (*reset)(void *arg, int32_t stream);
	/* Send these bytes, all of them. False: not now; they will be passed again. */
	bool (*send)(void *arg, const uint8_t *const parts[2], const size_t lens[2]);
	/* `more` bytes would be too many: free another server, which keeps much. False: none that should
	 * make way for this one. May be NULL. */
	bool (*make_room)(void *arg, enum http2_kept what, size_t more);
};

struct http2_limits {
	uint32_t streams;      /* requests at once on one connection */
	size_t body_most;      /* of a request */
	size_t kept_most[HTTP2_KEPT_COUNT]; /* over all connections */
};

/* What one thread's connections share. */
struct http2_shared;
struct http2_shared *http2_shared_new(const struct http2_limits *limits,
				    const struct http2_ops *ops) MUST_USE;
void http2_shared_limit(struct http2_shared *h, const struct http2_limits *limits);
void http2_shared_free(struct http2_shared *h); /* after its servers; NULL is fine */
size_t http2_shared_kept(const struct http2_shared *h, enum http2_kept what);

/* One connection, before its client has sent anything. */
struct http2_server;
struct http2_server *http2_server_new(struct http2_shared *h, void *arg) MUST_USE;
void http2_server_free(struct http2_server *s);

/* Take in bytes received, beginning with the preface; calls ops.request from in here. False: the
 * connection is over; call http2_server_flush to send what is still to be said, then close it. */
bool http2_server_take(struct http2_server *s, const uint8_t *at, size_t len, uint64_t now_us);

/* Answer a request, once; does nothing if the client has cancelled it. With `lasting` the body is
 * copied; otherwise it must stay valid until the next flush has returned. */
void http2_server_answer(struct http2_server *s, int32_t stream, const struct http2_answer *a,
			 bool lasting);
/* Reset a request that will not be answered. */
void http2_server_drop(struct http2_server *s, int32_t stream);
/* End the connection with GOAWAY: from now on it is over, as above. */
void http2_server_goodbye(struct http2_server *s);

/* Send what can be sent. Not from inside a callback. False: the connection is over, as above. */
bool http2_server_flush(struct http2_server *s);

/* Requests begun but incomplete; answers not yet completely sent. */
unsigned http2_server_receiving(const struct http2_server *s);
unsigned http2_server_sending(const struct http2_server *s);
size_t http2_server_kept(const struct http2_server *s, enum http2_kept what);
/* Complete requests and sent pieces of answers so far: shows whether the client makes progress. */
uint64_t http2_server_progress(const struct http2_server *s);

#endif
