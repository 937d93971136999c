/* HTTP/2 (RFC 9113) server: bytes in, requests out; answers in, bytes out.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/net/http2_server.h"

#include <string.h>

#include <nghttp2/nghttp2.h>

#include "util/base/list.h"
#include "util/base/mem.h"
#include "util/net/http2_abuse.h"

enum {
	HEADERS_MOST = 16384,   /* of a request, unpacked, as counted in RFC 9113 10.5.1 */
	HEADERS_ABSURD = 65536, /* beyond this not even a status is sent */
	HEADER_COST = 32,
	SMALL_ROOM = 256,   /* for the path, inside the stream */
	PIECE_LEAST = 1024, /* bytes of an answer that count as progress */
	SPARES_MOST = 256,
	NV_MOST = 5,
};

struct stream {
	struct list link; /* in a server's streams or borrowing, or a house's spares */
	int32_t id;
	enum http2_method method;
	unsigned refused;
	bool whole, answered, kept;
	uint32_t headers; /* their size so far */
	/* the request */
	uint8_t *path; /* `small`, or counted heap */
	size_t path_len, path_room;
	char type[40];
	size_t type_len;
	uint8_t *body; /* counted heap */
	size_t body_len, body_room;
	struct slice lent; /* the whole body, still in the caller's buffer */
	/* the answer */
	const uint8_t *out;
	size_t out_len, out_done;
	uint8_t *own; /* counted heap, where `out` was copied to */
	size_t own_len;
	char status[4], age[32], length[12];
	uint8_t small[SMALL_ROOM];
};
_Static_assert(sizeof(struct stream) + 256 <= HTTP2_STREAM, "it costs no more than it counts");

struct http2_shared {
	struct http2_limits limits;
	struct http2_ops ops;
	nghttp2_session_callbacks *callbacks;
	nghttp2_option *options;
	nghttp2_mem mem;
	struct list spares;
	unsigned spare_count;
	size_t kept[HTTP2_KEPT_COUNT];
};

struct http2_server {
	struct http2_shared *home;
	void *arg;
	nghttp2_session *session;
	struct list streams;   /* all except those … */
	struct list borrowing; /* whose answers are in the caller's memory */
	struct stream *current, *lender;
	unsigned incomplete, unsent;
	size_t kept[HTTP2_KEPT_COUNT];
	uint64_t progress;
	bool over;
	struct http2_abuse abuse;
};

/* ---- memory ---- */

static void *take_memory(size_t len, void *arg)
{
	(void)arg;
	return mem_new(MAX(len, (size_t)1));
}

static void *take_zeros(size_t count, size_t len, void *arg)
{
	(void)arg;
	return mem_array(MAX(count, (size_t)1), MAX(len, (size_t)1));
}

static void *take_more(void *old, size_t len, void *arg)
{
	(void)arg;
	return mem_grow(old, MAX(len, (size_t)1));
}

static void give_memory(void *p, void *arg)
{
	(void)arg;
	mem_free(p);
}

/* ---- streams ---- */

static void count_kept(struct http2_server *s, enum http2_kept what, size_t more)
{
	s->kept[what] += more;
	s->home->kept[what] += more;
}

static void count_freed(struct http2_server *s, enum http2_kept what, size_t less)
{
	s->kept[what] -= less;
	s->home->kept[what] -= less;
}

/* Whether so much more may be kept, perhaps because others make way. */
static bool may_keep(struct http2_server *s, enum http2_kept what, size_t more)
{
	const struct http2_shared *h = s->home;

	while (h->kept[what] + more > h->limits.kept_most[what])
		if (!h->ops.make_room || !h->ops.make_room(s->arg, what, more))
			return false;
	return true;
}

static struct stream *stream_new(struct http2_server *s, int32_t id)
{
	struct http2_shared *h = s->home;
	struct stream *one;

	if (h->spare_count) {
		one = LIST_ITEM(h->spares.next, struct stream, link);
		list_remove(&one->link);
		h->spare_count--;
	} else {
		one = mem_new(sizeof *one);
	}
	memset(one, 0, offsetof(struct stream, small));
	one->id = id;
	one->path = one->small;
	one->path_room = sizeof one->small;
	list_push_back(&s->streams, &one->link);
	s->incomplete++;
	count_kept(s, HTTP2_RECEIVING, HTTP2_STREAM);
	return one;
}

static void stream_is_whole(struct http2_server *s, struct stream *one)
{
	one->whole = true;
	s->incomplete--;
	count_freed(s, HTTP2_RECEIVING, HTTP2_STREAM);
}

static void path_free(struct http2_server *s, struct stream *one)
{
	if (one->path == one->small)
		return;
	count_freed(s, HTTP2_RECEIVING, one->path_room);
	mem_free(one->path);
	one->path = one->small;
	one->path_len = 0;
}

static void body_free(struct http2_server *s, struct stream *one)
{
	count_freed(s, HTTP2_RECEIVING, one->body_room);
	mem_free(one->body);
	one->body = NULL;
	one->body_len = one->body_room = 0;
}

static void own_free(struct http2_server *s, struct stream *one)
{
	if (!one->kept)
		return;
	count_freed(s, HTTP2_SENDING, one->own_len + HTTP2_STREAM);
	mem_free(one->own);
	one->own = NULL;
	one->own_len = 0;
	one->kept = false;
}

static void stream_free(struct http2_server *s, struct stream *one)
{
	struct http2_shared *h = s->home;

	if (!one->whole)
		stream_is_whole(s, one);
	s->unsent -= one->answered;
	if (s->current == one)
		s->current = NULL;
	if (s->lender == one)
		s->lender = NULL;
	path_free(s, one);
	body_free(s, one);
	own_free(s, one);
	list_remove(&one->link);
	if (h->spare_count < SPARES_MOST) {
		list_push_front(&h->spares, &one->link);
		h->spare_count++;
	} else {
		mem_free(one);
	}
}

static struct stream *stream_find(const struct http2_server *s, int32_t id)
{
	return nghttp2_session_get_stream_user_data(s->session, id);
}

static void end(struct http2_server *s, uint32_t why)
{
	if (!s->over)
		(void)nghttp2_session_terminate_session(s->session, why);
	s->over = true;
}

/* ---- requests ---- */

static int on_begin(nghttp2_session *session, const nghttp2_frame *frame, void *arg)
{
	struct http2_server *s = arg;

	if (frame->headers.cat != NGHTTP2_HCAT_REQUEST)
		return 0;
	s->current = NULL;
	if (!may_keep(s, HTTP2_RECEIVING, HTTP2_STREAM))
		return nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, frame->hd.stream_id,
						 NGHTTP2_REFUSED_STREAM);
	s->current = stream_new(s, frame->hd.stream_id);
	return nghttp2_session_set_stream_user_data(session, frame->hd.stream_id, s->current);
}

static bool is_word(const uint8_t *at, size_t len, const char *word)
{
	return len == strlen(word) && memcmp(at, word, len) == 0;
}

static enum http2_method method_of(const uint8_t *at, size_t len)
{
	static const char *const known[] = { "HEAD",    "PUT",   "DELETE", "CONNECT",
					     "OPTIONS", "TRACE", "PATCH" };

	if (is_word(at, len, "GET"))
		return HTTP2_GET;
	if (is_word(at, len, "POST"))
		return HTTP2_POST;
	for (size_t i = 0; i < COUNT(known); i++)
		if (is_word(at, len, known[i]))
			return HTTP2_OTHER;
	return HTTP2_UNHEARD;
}

static bool may_receive(struct http2_server *s, struct stream *one, size_t more)
{
	if (may_keep(s, HTTP2_RECEIVING, more))
		return true;
	one->refused = 503;
	return false;
}

static void keep_path(struct http2_server *s, struct stream *one, const uint8_t *at, size_t len)
{
	if (len > one->path_room) {
		if (!may_receive(s, one, len))
			return;
		one->path = mem_new(len);
		one->path_room = len;
		count_kept(s, HTTP2_RECEIVING, len);
	}
	memcpy(one->path, at, len);
	one->path_len = len;
}

static void keep_type(struct stream *one, const uint8_t *at, size_t len)
{
	one->type_len = MIN(len, sizeof one->type);
	memcpy(one->type, at, one->type_len);
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
		     size_t name_len, const uint8_t *value, size_t value_len, uint8_t flags,
		     void *arg)
{
	struct http2_server *s = arg;
	struct stream *one = s->current;

	(void)session, (void)flags;
	if (!one || one->id != frame->hd.stream_id || frame->headers.cat != NGHTTP2_HCAT_REQUEST)
		return 0;
	one->headers += (uint32_t)(name_len + value_len + HEADER_COST);
	if (one->headers > HEADERS_ABSURD)
		return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
	if (one->headers > HEADERS_MOST) {
		one->refused = 431;
		return 0;
	}
	if (is_word(name, name_len, ":path"))
		keep_path(s, one, value, value_len);
	else if (is_word(name, name_len, ":method"))
		one->method = method_of(value, value_len);
	else if (is_word(name, name_len, "content-type"))
		keep_type(one, value, value_len);
	return 0;
}

/* The request is to be answered now: all of it is here, or too much. */
static void hand_over(struct http2_server *s, struct stream *one)
{
	struct http2_request r = {
		.stream = one->id,
		.method = one->method,
		.path = one->path,
		.path_len = one->path_len,
		.type = { (const uint8_t *)one->type, one->type_len },
		.body = one->lent.at ? one->lent : (struct slice){ one->body, one->body_len },
		.refused = one->refused,
	};

	if (one->answered)
		return;
	s->progress++;
	s->home->ops.request(s->arg, &r);
}

static void grow_body(struct http2_server *s, struct stream *one, const uint8_t *at, size_t len)
{
	if (one->body_len + len > one->body_room) {
		size_t room = MAX(one->body_len + len, 2 * one->body_room);

		if (!may_receive(s, one, room - one->body_room))
			return;
		count_kept(s, HTTP2_RECEIVING, room - one->body_room);
		one->body = mem_grow(one->body, room);
		one->body_room = room;
	}
	memcpy(one->body + one->body_len, at, len);
	one->body_len += len;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *at,
		   size_t len, void *arg)
{
	struct http2_server *s = arg;
	struct stream *one = nghttp2_session_get_stream_user_data(session, id);

	if (!one || one->answered || one->refused)
		return 0;
	if (one->body_len + one->lent.len + len > s->home->limits.body_most) {
		one->refused = 413;
	} else if (flags & NGHTTP2_FLAG_END_STREAM && one->body_len + one->lent.len == 0) {
		one->lent = (struct slice){ at, len };
		s->lender = one;
		return 0;
	} else {
		if (one->lent.len)
			grow_body(s, one, one->lent.at, one->lent.len);
		one->lent = (struct slice){ 0 };
		s->lender = NULL;
		if (!one->refused)
			grow_body(s, one, at, len);
	}
	if (one->refused)
		hand_over(s, one); /* don't wait for the rest */
	return 0;
}

/* A lent body whose end has not come yet stays in place only during the call: copy it. */
static void take_back_lent(struct http2_server *s)
{
	struct stream *one = s->lender;

	s->lender = NULL;
	if (!one || !one->lent.at)
		return;
	grow_body(s, one, one->lent.at, one->lent.len);
	one->lent = (struct slice){ 0 };
	if (one->refused)
		hand_over(s, one);
}

/* Whoever is working on an answer can stop. */
static void forget_reset(struct http2_server *s, int32_t id)
{
	struct stream *one = stream_find(s, id);

	if (!one || !one->whole || one->answered || !s->home->ops.reset)
		return;
	(void)nghttp2_session_set_stream_user_data(s->session, id, NULL);
	stream_free(s, one);
	s->home->ops.reset(s->arg, id);
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *arg)
{
	struct http2_server *s = arg;
	struct stream *one;

	if (frame->hd.type == NGHTTP2_RST_STREAM)
		forget_reset(s, frame->hd.stream_id);
	if (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA)
		return 0;
	if (!(frame->hd.flags & NGHTTP2_FLAG_END_STREAM))
		return 0;
	one = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
	if (!one || one->whole)
		return 0;
	stream_is_whole(s, one);
	hand_over(s, one);
	if (s->lender == one)
		s->lender = NULL;
	one->lent = (struct slice){ 0 };
	path_free(s, one);
	body_free(s, one);
	return 0;
}

static int on_close(nghttp2_session *session, int32_t id, uint32_t why, void *arg)
{
	struct stream *one = nghttp2_session_get_stream_user_data(session, id);

	(void)why;
	if (one)
		stream_free(arg, one);
	return 0;
}

/* ---- answers ---- */

static ssize_t on_read_answer(nghttp2_session *session, int32_t id, uint8_t *to, size_t room,
			      uint32_t *flags, nghttp2_data_source *source, void *arg)
{
	struct stream *one = source->ptr;
	size_t len = MIN(room, one->out_len - one->out_done);

	(void)session, (void)id, (void)to, (void)arg;
	*flags |= NGHTTP2_DATA_FLAG_NO_COPY;
	if (one->out_done + len == one->out_len)
		*flags |= NGHTTP2_DATA_FLAG_EOF;
	return (ssize_t)len;
}

static int on_send_data(nghttp2_session *session, nghttp2_frame *frame, const uint8_t *head,
			size_t len, nghttp2_data_source *source, void *arg)
{
	struct http2_server *s = arg;
	struct stream *one = source->ptr;
	const uint8_t *const parts[2] = { head, one->out + one->out_done };
	const size_t lens[2] = { HTTP2_FRAME_HEAD, len };

	(void)session, (void)frame;
	if (!s->home->ops.send(s->arg, parts, lens))
		return NGHTTP2_ERR_WOULDBLOCK;
	one->out_done += len;
	if (len >= PIECE_LEAST || one->out_done == one->out_len)
		s->progress++;
	return 0;
}

static ssize_t on_send(nghttp2_session *session, const uint8_t *at, size_t len, int flags,
		       void *arg)
{
	struct http2_server *s = arg;
	const uint8_t *const parts[2] = { at, NULL };
	const size_t lens[2] = { len, 0 };

	(void)session, (void)flags;
	return s->home->ops.send(s->arg, parts, lens) ? (ssize_t)len : NGHTTP2_ERR_WOULDBLOCK;
}

/* Streams we reset cost as much as those the client cancels. */
static int on_sent(nghttp2_session *session, const nghttp2_frame *frame, void *arg)
{
	struct http2_server *s = arg;
	struct stream *one;

	if (frame->hd.type == NGHTTP2_RST_STREAM) {
		uint32_t why = frame->rst_stream.error_code;

		s->abuse.resets += why != NGHTTP2_NO_ERROR && why != NGHTTP2_REFUSED_STREAM;
		s->abuse.idle_frames++;
		return 0;
	}
	if (!(frame->hd.flags & NGHTTP2_FLAG_END_STREAM) ||
	    (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA))
		return 0;
	/* Answered before the request was complete: the rest is not wanted (RFC 9113 8.1). */
	one = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
	if (one && !one->whole)
		(void)nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, one->id,
						NGHTTP2_NO_ERROR);
	return 0;
}

static nghttp2_nv header(const char *name, size_t name_len, const char *value, size_t len,
			 unsigned flags)
{
	return (nghttp2_nv){ .name = (uint8_t *)(uintptr_t)name,
			     .value = (uint8_t *)(uintptr_t)value,
			     .namelen = name_len,
			     .valuelen = len,
			     .flags = (uint8_t)(flags | NGHTTP2_NV_FLAG_NO_COPY_NAME |
						NGHTTP2_NV_FLAG_NO_COPY_VALUE) };
}
#define HEADER(name, value, len, flags) header(name, sizeof(name) - 1, value, len, flags)

/* In decimal, for the hot path; returns the number of digits. */
static size_t digits(char *to, uint32_t n)
{
	char back[10];
	size_t len = 0;

	do
		back[len++] = (char)('0' + n % 10);
	while (n /= 10);
	for (size_t i = 0; i < len; i++)
		to[i] = back[len - 1 - i];
	return len;
}

static size_t head_of(struct stream *one, const struct http2_answer *a, nghttp2_nv nv[NV_MOST])
{
	static const char age[] = "max-age=";
	size_t n = 0;

	digits(one->status, a->status);
	nv[n++] = HEADER(":status", one->status, 3, NGHTTP2_NV_FLAG_NONE);
	if (a->type)
		nv[n++] = HEADER("content-type", a->type, strlen(a->type), NGHTTP2_NV_FLAG_NONE);
	nv[n++] = HEADER("content-length", one->length, digits(one->length, (uint32_t)a->body.len),
			 NGHTTP2_NV_FLAG_NONE);
	if (a->fresh) {
		memcpy(one->age, age, sizeof age - 1);
		nv[n++] = HEADER("cache-control", one->age,
				 sizeof age - 1 + digits(one->age + sizeof age - 1, a->age_s),
				 NGHTTP2_NV_FLAG_NONE);
	}
	if (a->allows)
		nv[n++] = HEADER("allow", "GET, POST", 9, NGHTTP2_NV_FLAG_NONE);
	return n;
}

/* Copy what could not be sent of a borrowed answer. False: the limits do not allow that; it is given up. */
static bool keep_answer(struct http2_server *s, struct stream *one)
{
	size_t left = one->out_len - one->out_done;

	list_remove(&one->link);
	list_push_back(&s->streams, &one->link);
	if (!may_keep(s, HTTP2_SENDING, left + HTTP2_STREAM)) {
		one->out = NULL;
		one->out_len = one->out_done = 0;
		(void)nghttp2_submit_rst_stream(s->session, NGHTTP2_FLAG_NONE, one->id,
						NGHTTP2_ENHANCE_YOUR_CALM);
		return false;
	}
	one->kept = true;
	one->own = left ? mem_copy(one->out + one->out_done, left) : NULL;
	one->own_len = left;
	count_kept(s, HTTP2_SENDING, left + HTTP2_STREAM);
	one->out = one->own;
	one->out_len = left;
	one->out_done = 0;
	return true;
}

void http2_server_answer(struct http2_server *s, int32_t id, const struct http2_answer *a,
			 bool lasting)
{
	struct stream *one = stream_find(s, id);
	nghttp2_data_provider from = { .read_callback = on_read_answer };
	nghttp2_nv nv[NV_MOST];

	if (!one || one->answered)
		return;
	one->answered = true;
	s->unsent++;
	s->abuse.answered++;
	one->out = a->body.at;
	one->out_len = a->body.len;
	from.source.ptr = one;
	list_remove(&one->link);
	list_push_back(&s->borrowing, &one->link);
	(void)nghttp2_submit_response(s->session, id, nv, head_of(one, a, nv),
				      a->body.len ? &from : NULL);
	if (lasting)
		(void)keep_answer(s, one);
}

void http2_server_drop(struct http2_server *s, int32_t id)
{
	if (stream_find(s, id))
		(void)nghttp2_submit_rst_stream(s->session, NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL);
}

void http2_server_goodbye(struct http2_server *s)
{
	end(s, NGHTTP2_NO_ERROR);
}

bool http2_server_flush(struct http2_server *s)
{
	bool gives_up = false;

	if (nghttp2_session_send(s->session) != 0)
		s->over = true;
	while (!list_is_empty(&s->borrowing))
		gives_up |= !keep_answer(s, LIST_ITEM(s->borrowing.next, struct stream, link));
	/* Tell clients which answers were given up, if that can be sent. */
	if (gives_up && !s->over && nghttp2_session_send(s->session) != 0)
		s->over = true;
	return !s->over &&
	       (nghttp2_session_want_read(s->session) || nghttp2_session_want_write(s->session));
}

bool http2_server_take(struct http2_server *s, const uint8_t *at, size_t len, uint64_t now_us)
{
	if (!http2_abuse_take(&s->abuse, at, len, now_us))
		end(s, NGHTTP2_ENHANCE_YOUR_CALM);
	if (s->over)
		return false;
	if (nghttp2_session_mem_recv(s->session, at, len) < 0) {
		end(s, NGHTTP2_ENHANCE_YOUR_CALM);
		return false;
	}
	take_back_lent(s);
	return true;
}

/* ---- creating and freeing ---- */

struct http2_server *http2_server_new(struct http2_shared *h, void *arg)
{
	struct http2_server *s = mem_zero(sizeof *s);
	nghttp2_settings_entry settings[] = {
		{ NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, h->limits.streams },
		{ NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, HEADERS_MOST },
#if NGHTTP2_VERSION_NUM >= 0x013000
		{ NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1 },
#endif
	};

	s->home = h;
	s->arg = arg;
	http2_abuse_init(&s->abuse, HTTP2_CLIENT);
	list_init(&s->streams);
	list_init(&s->borrowing);
	PROMISE(nghttp2_session_server_new3(&s->session, h->callbacks, s, h->options, &h->mem) ==
		0);
	PROMISE(nghttp2_submit_settings(s->session, NGHTTP2_FLAG_NONE, settings, COUNT(settings)) ==
		0);
	return s;
}

void http2_server_free(struct http2_server *s)
{
	if (!s)
		return;
	/* first, since it points into the streams' headers */
	nghttp2_session_del(s->session);
	LIST_EACH_SAFE (at, &s->streams)
		stream_free(s, LIST_ITEM(at, struct stream, link));
	LIST_EACH_SAFE (at, &s->borrowing)
		stream_free(s, LIST_ITEM(at, struct stream, link));
	mem_free(s);
}

static void set_callbacks(nghttp2_session_callbacks *c)
{
	nghttp2_session_callbacks_set_on_begin_headers_callback(c, on_begin);
	nghttp2_session_callbacks_set_on_header_callback(c, on_header);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(c, on_data);
	nghttp2_session_callbacks_set_on_frame_recv_callback(c, on_frame);
	nghttp2_session_callbacks_set_on_stream_close_callback(c, on_close);
	nghttp2_session_callbacks_set_on_frame_send_callback(c, on_sent);
	nghttp2_session_callbacks_set_send_callback(c, on_send);
	nghttp2_session_callbacks_set_send_data_callback(c, on_send_data);
}

struct http2_shared *http2_shared_new(const struct http2_limits *limits, const struct http2_ops *ops)
{
	struct http2_shared *h = mem_zero(sizeof *h);

	h->limits = *limits;
	h->ops = *ops;
	h->mem = (nghttp2_mem){ .malloc = take_memory,
				.free = give_memory,
				.calloc = take_zeros,
				.realloc = take_more };
	list_init(&h->spares);
	PROMISE(nghttp2_session_callbacks_new(&h->callbacks) == 0);
	PROMISE(nghttp2_option_new(&h->options) == 0);
	set_callbacks(h->callbacks);
	nghttp2_option_set_no_closed_streams(h->options, 1);
	nghttp2_option_set_max_outbound_ack(h->options, 100);
	return h;
}

void http2_shared_limit(struct http2_shared *h, const struct http2_limits *limits)
{
	h->limits = *limits;
}

void http2_shared_free(struct http2_shared *h)
{
	if (!h)
		return;
	LIST_EACH_SAFE (at, &h->spares)
		mem_free(LIST_ITEM(at, struct stream, link));
	nghttp2_session_callbacks_del(h->callbacks);
	nghttp2_option_del(h->options);
	mem_free(h);
}

size_t http2_shared_kept(const struct http2_shared *h, enum http2_kept what)
{
	return h->kept[what];
}

size_t http2_server_kept(const struct http2_server *s, enum http2_kept what)
{
	return s->kept[what];
}

unsigned http2_server_receiving(const struct http2_server *s)
{
	return s->incomplete + http2_abuse_in_frame(&s->abuse);
}

unsigned http2_server_sending(const struct http2_server *s)
{
	return s->unsent;
}

uint64_t http2_server_progress(const struct http2_server *s)
{
	return s->progress;
}
