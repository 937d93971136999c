/* HTTP/2 client: requests over one connection, by nghttp2.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/net/http2_client.h"

#include <nghttp2/nghttp2.h>
#include <string.h>
#include <strings.h>

#include "util/base/list.h"
#include "util/base/mem.h"
#include "util/net/http2_abuse.h"

enum {
	HEADERS_MOST = 16384, /* bytes of headers in one answer */
	LENGTH_TEXT = 24,
	BODY_FIRST = 1024,
	WIDTH_MOST = 100, /* even if the server allows more */
	ACKS_MOST = 100,  /* pending acknowledgements of settings and pings */
};

struct http2_client {
	nghttp2_session *session;
	char *authority, *path, *type, *agent;
	size_t answer_most;
	void (*ended)(void *owner, void *of, const struct http2_answer *a);
	void *owner;
	struct list requests;
	bool leaving, broken, flooded;
	struct http2_abuse abuse;
};

struct http2_request {
	struct list link; /* client->requests */
	void *of;         /* NULL: dropped */
	int32_t stream;
	unsigned status;
	uint32_t age_s;
	bool typed, too_big;
	size_t headers_len; /* so far */
	uint8_t *body;      /* of the answer */
	size_t body_len, body_room;
	size_t sent, len;
	uint8_t question[]; /* the body to post */
};

static void request_free(struct http2_request *r)
{
	list_remove(&r->link);
	mem_free(r->body);
	mem_free(r);
}

/* ---- receiving ---- */

/* "application/dns-message", possibly with parameters. */
static bool is_type(const char *type, const uint8_t *value, size_t len)
{
	size_t n = strlen(type);

	return len >= n && strncasecmp((const char *)value, type, n) == 0 &&
	       (len == n || value[n] == ';' || value[n] == ' ');
}

static unsigned read_status(const uint8_t *value, size_t len)
{
	unsigned status = 0;

	if (len != 3)
		return 0;
	for (size_t i = 0; i < 3; i++) {
		if (value[i] < '0' || value[i] > '9')
			return 0;
		status = status * 10 + (unsigned)(value[i] - '0');
	}
	return status;
}

/* What is no number counts as none; one too large, as the largest (RFC 9111 1.2.2). */
static uint32_t read_age(const uint8_t *value, size_t len)
{
	uint64_t age_s = 0;

	for (size_t i = 0; i < len; i++) {
		if (value[i] < '0' || value[i] > '9')
			return 0;
		age_s = MIN(age_s * 10 + (uint64_t)(value[i] - '0'), (uint64_t)INT32_MAX);
	}
	return (uint32_t)age_s;
}

/* Whether a content-length exceeds `most`. */
static bool is_longer(const uint8_t *value, size_t len, size_t most)
{
	size_t n = 0;

	for (size_t i = 0; i < len && n <= most; i++)
		n = n * 10 + (size_t)(value[i] - '0');
	return n > most;
}

/* The answer would be too large. */
static void cut_off(nghttp2_session *session, struct http2_request *r)
{
	r->too_big = true;
	nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, r->stream, NGHTTP2_CANCEL);
}

static bool is_named(const char *name, const uint8_t *at, size_t len)
{
	return len == strlen(name) && memcmp(at, name, len) == 0;
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
		     size_t name_len, const uint8_t *value, size_t value_len, uint8_t flags,
		     void *client)
{
	const struct http2_client *c = client;
	struct http2_request *r =
		nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);

	(void)flags;
	if (!r)
		return 0;
	r->headers_len += name_len + value_len + 32;
	if (r->headers_len > HEADERS_MOST)
		return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
	if (is_named(":status", name, name_len))
		r->status = read_status(value, value_len);
	else if (is_named("content-type", name, name_len))
		r->typed = is_type(c->type, value, value_len);
	else if (is_named("age", name, name_len))
		r->age_s = read_age(value, value_len);
	else if (is_named("content-length", name, name_len) && !r->too_big &&
		 is_longer(value, value_len, c->answer_most))
		cut_off(session, r);
	return 0;
}

/* An informational response is followed by the final one. */
static int on_begin_headers(nghttp2_session *session, const nghttp2_frame *frame, void *client)
{
	struct http2_request *r =
		nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);

	(void)client;
	if (r && r->status < 200) {
		r->typed = false;
		r->age_s = 0;
	}
	return 0;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t stream, const uint8_t *at,
		   size_t len, void *client)
{
	const struct http2_client *c = client;
	struct http2_request *r = nghttp2_session_get_stream_user_data(session, stream);

	(void)flags;
	if (!r || r->too_big)
		return 0;
	if (len > c->answer_most - r->body_len) {
		cut_off(session, r);
		return 0;
	}
	if (r->body_room - r->body_len < len) {
		r->body_room = MIN(c->answer_most, MAX(r->body_len + len,
						       MAX((size_t)BODY_FIRST, 2 * r->body_room)));
		r->body = mem_grow(r->body, r->body_room);
	}
	memcpy(r->body + r->body_len, at, len);
	r->body_len += len;
	return 0;
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *client)
{
	struct http2_client *c = client;

	(void)session;
	if (frame->hd.type == NGHTTP2_GOAWAY)
		c->leaving = true;
	return 0;
}

static int on_close(nghttp2_session *session, int32_t stream, uint32_t error, void *client)
{
	struct http2_client *c = client;
	struct http2_request *r = nghttp2_session_get_stream_user_data(session, stream);
	struct http2_answer a;
	void *of;

	if (!r)
		return 0;
	a = (struct http2_answer){
		.end = r->too_big                        ? HTTP2_TOO_BIG
		       : error == NGHTTP2_NO_ERROR       ? HTTP2_WHOLE
		       : error == NGHTTP2_REFUSED_STREAM ? HTTP2_UNDONE
		       : c->leaving && !r->sent          ? HTTP2_UNDONE /* never sent */
							 : HTTP2_BROKEN,
		.status = r->status,
		.typed = r->typed,
		.body = r->body,
		.len = r->body_len,
		.age_s = r->age_s,
	};
	of = r->of;
	c->abuse.answered += a.end == HTTP2_WHOLE;
	list_remove(&r->link);
	nghttp2_session_set_stream_user_data(session, stream, NULL);
	if (of)
		c->ended(c->owner, of, &a);
	request_free(r);
	return 0;
}

/* ---- sending ---- */

static ssize_t read_question(nghttp2_session *session, int32_t stream, uint8_t *to, size_t room,
			     uint32_t *flags, nghttp2_data_source *source, void *client)
{
	struct http2_request *r = nghttp2_session_get_stream_user_data(session, stream);
	size_t n;

	(void)source, (void)client;
	if (!r)
		return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
	n = MIN(room, r->len - r->sent);
	memcpy(to, r->question + r->sent, n);
	r->sent += n;
	if (r->sent == r->len)
		*flags |= NGHTTP2_DATA_FLAG_EOF;
	return (ssize_t)n;
}

static nghttp2_nv header(const char *name, const char *value)
{
	return (nghttp2_nv){ .name = (uint8_t *)(uintptr_t)name,
			     .value = (uint8_t *)(uintptr_t)value,
			     .namelen = strlen(name),
			     .valuelen = strlen(value),
			     .flags = NGHTTP2_NV_FLAG_NONE };
}

/* In decimal, NUL-terminated. */
static const char *print_length(size_t n, char to[LENGTH_TEXT])
{
	char *at = to + LENGTH_TEXT - 1;

	*at = '\0';
	do
		*--at = (char)('0' + n % 10);
	while (n /= 10);
	return at;
}

struct http2_request *http2_client_post(struct http2_client *c, const void *body, size_t len,
					void *of)
{
	char length[LENGTH_TEXT];
	nghttp2_nv headers[] = {
		header(":method", "POST"),
		header(":scheme", "https"),
		header(":authority", c->authority),
		header(":path", c->path),
		header("accept", c->type),
		header("content-type", c->type),
		header("content-length", print_length(len, length)),
		header("user-agent", c->agent ? c->agent : ""),
	};
	nghttp2_data_provider provider = { .read_callback = read_question };
	struct http2_request *r;

	if (c->leaving || http2_client_is_over(c))
		return NULL;
	r = mem_zero(sizeof(*r) + len);
	r->of = of;
	r->len = len;
	memcpy(r->question, body, len);
	list_init(&r->link);
	r->stream = nghttp2_submit_request(c->session, NULL, headers,
					   COUNT(headers) - (c->agent ? 0 : 1), &provider, r);
	if (r->stream < 0) { /* stream IDs are used up, and are never reused */
		c->leaving = true;
		request_free(r);
		return NULL;
	}
	list_push_back(&c->requests, &r->link);
	return r;
}

void http2_client_drop(struct http2_client *c, struct http2_request *r)
{
	r->of = NULL;
	nghttp2_submit_rst_stream(c->session, NGHTTP2_FLAG_NONE, r->stream, NGHTTP2_CANCEL);
}

/* ---- the connection ---- */

static nghttp2_session *session_new(struct http2_client *c)
{
	nghttp2_session_callbacks *calls = NULL;
	nghttp2_option *option = NULL;
	nghttp2_session *session = NULL;

	PROMISE(nghttp2_session_callbacks_new(&calls) == 0 && nghttp2_option_new(&option) == 0);
	nghttp2_session_callbacks_set_on_begin_headers_callback(calls, on_begin_headers);
	nghttp2_session_callbacks_set_on_header_callback(calls, on_header);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(calls, on_data);
	nghttp2_session_callbacks_set_on_frame_recv_callback(calls, on_frame);
	nghttp2_session_callbacks_set_on_stream_close_callback(calls, on_close);
	nghttp2_option_set_max_outbound_ack(option, ACKS_MOST);
	nghttp2_option_set_no_closed_streams(option, 1);
	PROMISE(nghttp2_session_client_new2(&session, calls, c, option) == 0);
	nghttp2_option_del(option);
	nghttp2_session_callbacks_del(calls);
	return session;
}

struct http2_client *http2_client_new(const struct http2_client_how *how)
{
	static const nghttp2_settings_entry settings[] = {
		{ NGHTTP2_SETTINGS_ENABLE_PUSH, 0 },
		{ NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, HEADERS_MOST },
	};
	struct http2_client *c = mem_zero(sizeof(*c));

	c->authority = mem_text(how->authority);
	c->path = mem_text(how->path);
	c->type = mem_text(how->type);
	c->agent = how->agent ? mem_text(how->agent) : NULL;
	c->answer_most = how->answer_most;
	c->ended = how->ended;
	c->owner = how->owner;
	list_init(&c->requests);
	http2_abuse_init(&c->abuse, HTTP2_SERVER);
	c->session = session_new(c);
	PROMISE(nghttp2_submit_settings(c->session, NGHTTP2_FLAG_NONE, settings, COUNT(settings)) ==
		0);
	return c;
}

void http2_client_free(struct http2_client *c)
{
	if (!c)
		return;
	nghttp2_session_del(c->session);
	while (!list_is_empty(&c->requests))
		request_free(LIST_ITEM(c->requests.next, struct http2_request, link));
	mem_free(c->authority);
	mem_free(c->path);
	mem_free(c->type);
	mem_free(c->agent);
	mem_free(c);
}

bool http2_client_read(struct http2_client *c, const uint8_t *at, size_t len, uint64_t now_us)
{
	ssize_t n;

	if (!http2_abuse_take(&c->abuse, at, len, now_us)) {
		c->flooded = c->broken = true;
		return false;
	}
	n = nghttp2_session_mem_recv(c->session, at, len);
	c->broken |= n < 0 || (size_t)n != len || !nghttp2_session_want_read(c->session);
	return !c->broken;
}

size_t http2_client_write(struct http2_client *c, const uint8_t **at)
{
	ssize_t n = nghttp2_session_mem_send(c->session, at);

	c->broken |= n < 0;
	return n > 0 ? (size_t)n : 0;
}

bool http2_client_has_to_write(const struct http2_client *c)
{
	return nghttp2_session_want_write(c->session);
}

unsigned http2_client_width(const struct http2_client *c)
{
	uint32_t most = nghttp2_session_get_remote_settings(
		c->session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);

	return MAX(MIN(most, (uint32_t)WIDTH_MOST), 1u);
}

bool http2_client_is_over(const struct http2_client *c)
{
	return c->broken ||
	       (!nghttp2_session_want_read(c->session) && !nghttp2_session_want_write(c->session));
}

bool http2_client_is_flooded(const struct http2_client *c)
{
	return c->flooded;
}

bool http2_client_is_leaving(const struct http2_client *c)
{
	return c->leaving;
}
