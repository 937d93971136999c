/* HTTP/2 (RFC 9113), the side that asks: many small requests over one connection.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Bytes in, bytes out: it knows no socket, no time and no DNS. Every request is a POST of a small
 * body to the same path. What the server can make us keep is bounded: so many requests, answers of
 * so many bytes, headers that are counted and thrown away. */
#ifndef UTIL_HTTP2_CLIENT_H
#define UTIL_HTTP2_CLIENT_H

#include "util/base.h"

struct http2_client;
struct http2_request;

enum http2_end {
	HTTP2_WHOLE,   /* status, type and body are there */
	HTTP2_UNDONE,  /* the server has not worked on it: it may be asked elsewhere */
	HTTP2_TOO_BIG, /* the answer was cut off where it grew too long */
	HTTP2_BROKEN,  /* the server broke it off, or it was no HTTP */
};

struct http2_answer {
	enum http2_end end;
	unsigned status;
	bool typed; /* of the type that was asked for */
	const uint8_t *body;
	size_t len;
};

struct http2_client_how {
	const char *authority, *path;
	const char *type;  /* of request and answer: "application/dns-message" */
	const char *agent; /* User-Agent; NULL: none */
	size_t answer_most;
	/* What became of a request; `of` as given with it. Called from within http2_client_read
	 * and _write only; it may post and drop other requests. */
	void (*ended)(void *owner, void *of, const struct http2_answer *a);
	void *owner;
};

/* The texts are copied. */
struct http2_client *http2_client_new(const struct http2_client_how *how) MUST_USE;
void http2_client_free(struct http2_client *c); /* nobody is told; NULL is fine */

/* The body is copied. NULL when no more will be taken over this connection. */
struct http2_request *http2_client_post(struct http2_client *c, const void *body, size_t len,
					void *of) MUST_USE;
/* Nobody waits for it any more: `ended` will not be called. */
void http2_client_drop(struct http2_client *c, struct http2_request *r);

/* Bytes that came. False when the connection is of no use any more; then only free it. */
bool http2_client_read(struct http2_client *c, const uint8_t *at, size_t len) MUST_USE;
/* The next bytes to be written, good until the next call of anything here; 0: none now. */
size_t http2_client_write(struct http2_client *c, const uint8_t **at);
bool http2_client_has_to_write(const struct http2_client *c);

/* How many requests the server answers at a time. */
unsigned http2_client_width(const struct http2_client *c);
/* Neither side has any more to say. */
bool http2_client_is_over(const struct http2_client *c);
/* It takes no more requests; those under way it may still answer. */
bool http2_client_is_leaving(const struct http2_client *c);

#endif
