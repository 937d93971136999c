/* HTTP/2 (RFC 9113) client: many small requests over one connection.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Bytes in, bytes out: it knows nothing of sockets or DNS, and time is handed in. Every request is a POST of a small
 * body to the same path. What a server can make us store is bounded: the number of requests and the
 * size of answers are limited, and headers are counted but not kept. So is what it can make us read (util/net/http2_abuse.h): a server that
 * sends far more than its answers need is one whose connection is no longer usable. */
#ifndef UTIL_NET_HTTP2_CLIENT_H
#define UTIL_NET_HTTP2_CLIENT_H

#include "util/base/base.h"

struct http2_client;
struct http2_request;

enum http2_end {
	HTTP2_WHOLE,   /* status, type and body have arrived */
	HTTP2_UNDONE,  /* the server did not process it: it may be sent elsewhere */
	HTTP2_TOO_BIG, /* the answer was longer than answer_most and was cut off */
	HTTP2_BROKEN,  /* the server broke it off, or violated HTTP/2 */
};

struct http2_answer {
	enum http2_end end;
	unsigned status;
	bool typed; /* content-type is the one asked for */
	uint8_t *body; /* may be changed */
	size_t len;
	uint32_t age_s; /* for so long a cache on the way has had it (RFC 9111 5.1) */
};

struct http2_client_how {
	const char *authority, *path;
	const char *type;  /* of request and answer: "application/dns-message" */
	const char *agent; /* User-Agent; NULL: none */
	size_t answer_most;
	/* Told the outcome of a request; `of` as passed to post. Called only from within
	 * http2_client_read and _write; it may post and drop other requests. `a` and its body are
	 * good until it returns. */
	void (*ended)(void *owner, void *of, const struct http2_answer *a);
	void *owner;
};

/* The texts are copied. */
struct http2_client *http2_client_new(const struct http2_client_how *how) MUST_USE;
void http2_client_free(struct http2_client *c); /* calls no `ended`; NULL is fine */

/* The body is copied. NULL when this connection takes no more requests. */
struct http2_request *http2_client_post(struct http2_client *c, const void *body, size_t len,
					void *of) MUST_USE;
/* Cancel a request: its `ended` will not be called. */
void http2_client_drop(struct http2_client *c, struct http2_request *r);

/* Take in bytes received now. False when the connection is no longer usable; then only free it. */
bool http2_client_read(struct http2_client *c, const uint8_t *at, size_t len, uint64_t now_us) MUST_USE;
/* Whether it is so since the server has sent far more than its answers need. */
bool http2_client_is_flooded(const struct http2_client *c);
/* The next bytes to write, good until the next call of any function here. How many; 0: none now. */
size_t http2_client_write(struct http2_client *c, const uint8_t **at);
bool http2_client_has_to_write(const struct http2_client *c);

/* How many requests the server takes at a time. */
unsigned http2_client_width(const struct http2_client *c);
/* Neither side has anything more to say. */
bool http2_client_is_over(const struct http2_client *c);
/* The server takes no more requests; it may still answer those in flight. */
bool http2_client_is_leaving(const struct http2_client *c);

#endif
