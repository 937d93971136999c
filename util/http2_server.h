/* HTTP/2 (RFC 9113) on the side that is asked: bytes in, requests out; answers in, bytes out.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * No socket and no clock: whoever reads bytes hands them in, whoever can send takes them. A client
 * that costs more than it asks is told so and is over: too many resets, too many frames that ask
 * nothing (settings, pings, windows, continuations), header blocks without end. */
#ifndef UTIL_HTTP2_SERVER_H
#define UTIL_HTTP2_SERVER_H

#include "util/bytes.h"

#define HTTP2_PREFACE     "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" /* what every client says first */
#define HTTP2_PREFACE_LEN 24

enum http2_method { HTTP2_NO_METHOD, HTTP2_GET, HTTP2_POST, HTTP2_OTHER, HTTP2_UNHEARD };

/* A whole request. Good until the callback returns, which may overwrite `path`. */
struct http2_request {
	int32_t stream;
	enum http2_method method; /* OTHER: one of RFC 9110; UNHEARD: none of them */
	uint8_t *path;            /* with its query */
	size_t path_len;
	struct slice type; /* content-type; empty where there is none */
	struct slice body;
	unsigned refused; /* too much of something: the status it must be answered with; or 0 */
};

struct http2_answer {
	unsigned status;
	const char *type; /* content-type, of static life; NULL: there is no body */
	struct slice body;
	bool fresh;     /* may be kept by others */
	uint32_t age_s; /* for so long (cache-control: max-age) */
	bool allows;    /* tell which methods are: GET, POST */
};

struct http2_ops {
	void (*request)(void *arg, struct http2_request *r);
	/* The client does not want it any more: no answer is taken to a request that was whole and had none
	 * yet. NULL: nobody wants to know. */
	void (*reset)(void *arg, int32_t stream);
	/* Take these bytes, to be sent. False: not now, they will be given again. */
	bool (*send)(void *arg, const uint8_t *const parts[2], const size_t lens[2]);
};

struct http2_limits {
	uint32_t streams;      /* requests at once on one connection */
	size_t body_most;      /* of a request */
	size_t receiving_most; /* bytes of requests that are not whole, of all connections */
	size_t sending_most;   /* bytes of answers that cannot be sent now, likewise */
};

/* What the connections of a thread share. */
struct http2_house;
struct http2_house *http2_house_new(const struct http2_limits *limits,
				    const struct http2_ops *ops) MUST_USE;
void http2_house_limit(struct http2_house *h, const struct http2_limits *limits);
void http2_house_free(struct http2_house *h); /* after its servers; NULL is fine */
size_t http2_house_receiving(const struct http2_house *h);
size_t http2_house_sending(const struct http2_house *h);

/* One connection, whose client has not said anything yet. */
struct http2_server;
struct http2_server *http2_server_new(struct http2_house *h, void *arg) MUST_USE;
void http2_server_free(struct http2_server *s);

/* Bytes came, the preface first. Requests are handed over from in here. False: it is over; what is
 * still to be said is sent by http2_server_flush, then the connection is to be closed. */
bool http2_server_take(struct http2_server *s, const uint8_t *at, size_t len, uint64_t now_us);

/* Answer a request, once; one whose client does not want it any more is forgotten. With `lasting`
 * the body is copied; else it must stay until the next flush has returned. */
void http2_server_answer(struct http2_server *s, int32_t stream, const struct http2_answer *a,
			 bool lasting);
/* There will be no answer. */
void http2_server_drop(struct http2_server *s, int32_t stream);
/* Say that no more requests are taken. */
void http2_server_goodbye(struct http2_server *s);

/* Send what can be. Not from inside a callback. False: it is over, as above. */
bool http2_server_flush(struct http2_server *s);

/* Requests that have begun and are not whole; answers that wait for the client's permission. */
unsigned http2_server_receiving(const struct http2_server *s);
unsigned http2_server_sending(const struct http2_server *s);
/* Whole requests and sent pieces of answers so far: what a client's patience is measured by. */
uint64_t http2_server_progress(const struct http2_server *s);

#endif
