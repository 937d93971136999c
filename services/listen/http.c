/* The https-port: DNS over HTTPS (RFC 8484), over HTTP/2 only.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A client that starts with HTTP/1 is told that it is not supported; any other opening closes the
 * connection. */
#include "services/listen/connection.h"

#include <string.h>

#include "services/dnstap/tap.h"
#include "services/listen/doh.h"
#include "util/base/mem.h"
#include "util/base/timebase.h"
#include "util/net/http2_server.h"

#define OLD_HEAD_MOST 8192 /* bytes of an HTTP/1 request to wait for */

#define TOO_OLD "DNS over HTTPS is served over HTTP/2 here.\n"
static const char too_old[] = "HTTP/1.1 505 HTTP Version Not Supported\r\n"
			      "Content-Type: text/plain\r\n"
			      "Content-Length: 43\r\n"
			      "Connection: close\r\n"
			      "\r\n" TOO_OLD;
_Static_assert(sizeof TOO_OLD - 1 == 43, "as Content-Length says");

/* ---- output ---- */

static void frames_flush(struct connection *c)
{
	struct listen_tcp *t = c->home;
	size_t len = t->framed;

	t->framed = 0;
	if (len && !c->dead)
		connection_send(c, t->frames, len);
}

static bool send_parts(void *arg, const uint8_t *const parts[2], const size_t lens[2])
{
	struct connection *c = arg;
	struct listen_tcp *t = c->home;

	if (t->framed + lens[0] + lens[1] > FRAMES_ROOM)
		frames_flush(c);
	if (c->dead || queue_len(&c->out) >= UNTAKEN_MOST || lens[0] + lens[1] > FRAMES_ROOM)
		return false;
	memcpy(t->frames + t->framed, parts[0], lens[0]);
	if (lens[1])
		memcpy(t->frames + t->framed + lens[0], parts[1], lens[1]);
	t->framed += lens[0] + lens[1];
	/* One TLS record per answer: some clients (dnsperf) do not read a second one along with
	 * it. */
	if (lens[1] && c->stream.tls)
		frames_flush(c);
	return true;
}

/* Send whatever HTTP/2 has pending. The session is not freed meanwhile: see end(). */
static void speak(struct connection *c)
{
	uint64_t before;

	if (!c->http || c->dead)
		return;
	before = http2_server_progress(c->http);
	c->speaking = true;
	connection_hold(c);
	if (!http2_server_flush(c->http))
		c->cut = true;
	frames_flush(c);
	connection_release(c);
	c->speaking = false;
	c->moved |= http2_server_progress(c->http) != before;
	if (c->dead)
		c->protocol->end(c);
}

static void end(struct connection *c)
{
	if (c->speaking || c->digesting)
		return;
	http2_server_free(c->http);
	c->http = NULL;
}

static void goodbye(struct connection *c)
{
	if (c->http)
		http2_server_goodbye(c->http);
	speak(c);
}

/* ---- room for what is kept ---- */

static size_t received(const struct connection *c)
{
	return c->http && !c->dead ? http2_server_kept(c->http, HTTP2_RECEIVING) : 0;
}

static size_t unsent(const struct connection *c)
{
	return c->http && !c->dead ? http2_server_kept(c->http, HTTP2_SENDING) : 0;
}

static bool make_room(void *arg, enum http2_kept what, size_t more)
{
	return connection_makes_way(arg, what == HTTP2_SENDING ? unsent : received, more);
}

/* ---- answers ---- */

static void answer(struct connection *c, int32_t stream, const uint8_t *bytes, size_t len,
		   bool lasting)
{
	http2_server_answer(c->http, stream,
			    &(struct http2_answer){ .status = DOH_GOOD,
						    .type = DOH_TYPE,
						    .body = { bytes, len },
						    .fresh = true,
						    .age_s = doh_fresh_s(bytes, len) },
			    lasting);
}

static void refuse(struct connection *c, int32_t stream, unsigned status)
{
	http2_server_answer(
		c->http, stream,
		&(struct http2_answer){ .status = status, .allows = status == DOH_NOT_SO }, true);
}

/* Packs the stream and the options due in its answer into one integer. */
static uint64_t tag_of(int32_t stream, unsigned due)
{
	return (uint64_t)due << 32 | (uint32_t)stream;
}

static void reply_later(const struct client *client, const uint8_t *bytes, size_t len)
{
	struct connection *c = client->via;
	uint8_t *own = c->home->late;

	if (!c->dead && c->http && len <= MESSAGE_MAX) {
		memcpy(own, bytes, len);
		len = connection_add_options(c, (unsigned)(client->tag >> 32), own, len);
		if (UNLIKELY(c->home->tap != NULL))
			tap_client_response(c->home->tap, client, own, len);
		answer(c, (int32_t)(uint32_t)client->tag, own, len, c->digesting);
		if (!c->digesting)
			speak(c);
	}
	connection_left(c);
}

static void drop_later(const struct client *client)
{
	struct connection *c = client->via;

	if (!c->dead && c->http) {
		http2_server_drop(c->http, (int32_t)(uint32_t)client->tag);
		if (!c->digesting)
			speak(c);
	}
	connection_left(c);
}

static const struct client_ops clear_ops = {
	.name = "http",
	.stream = true,
	.https = true,
	.reply = reply_later,
	.drop = drop_later,
	.waiting = connection_waiting,
};

static const struct client_ops https_ops = {
	.name = "https",
	.stream = true,
	.encrypted = true,
	.https = true,
	.reply = reply_later,
	.drop = drop_later,
	.waiting = connection_waiting,
};

static const struct client_ops resumed_ops = {
	.name = "https",
	.stream = true,
	.encrypted = true,
	.https = true,
	.resumed = true,
	.reply = reply_later,
	.drop = drop_later,
	.waiting = connection_waiting,
};

/* ---- queries ---- */

static void ask(struct connection *c, int32_t stream, const struct slice *question)
{
	struct listen_tcp *t = c->home;
	bool is_crowded = t->gathered + MESSAGE_MAX > GATHER_ROOM;
	uint8_t *to = is_crowded ? mem_new(MESSAGE_MAX) : t->gather + t->gathered;
	struct packet p = {
		.in = *question,
		.out = writer_over(to, MESSAGE_MAX),
		.client = { .ops = connection_ops(c),
			    .from = c->from,
			    .reached = c->reached,
			    .via = c },
	};
	unsigned due = connection_options_due(c, question->at, question->len);
	size_t len;

	p.client.tag = tag_of(stream, due);
	if (UNLIKELY(t->tap != NULL))
		tap_client_query(t->tap, &p.client, &p.in);
	c->asked++;
	switch (t->take(t->taker, &p)) {
	case DISPOSITION_LATER:
		c->asked++;
		break;
	case DISPOSITION_DROP:
		http2_server_drop(c->http, stream);
		break;
	case DISPOSITION_SEND:
		len = connection_add_options(c, due, to, writer_len(&p.out));
		if (UNLIKELY(t->tap != NULL))
			tap_client_response(t->tap, &p.client, to, len);
		answer(c, stream, to, len, is_crowded);
		t->gathered += is_crowded ? 0 : len;
		break;
	}
	c->asked--;
	if (is_crowded)
		mem_free(to);
}

static void on_request(void *arg, struct http2_request *r)
{
	struct connection *c = arg;
	struct listen_tcp *t = c->home;
	struct slice question;
	unsigned status = doh_question(r, t->endpoint, t->endpoint_len, &question);

	if (status == DOH_GOOD)
		ask(c, r->stream, &question);
	else
		refuse(c, r->stream, status);
}

static bool asked_at(const struct client *client, const void *arg)
{
	const int32_t *stream = arg;

	return (int32_t)(uint32_t)client->tag == *stream;
}

static void on_reset(void *arg, int32_t stream)
{
	struct connection *c = arg;
	struct listen_tcp *t = c->home;

	if (t->leave)
		t->leave(t->taker, &c->waiting, asked_at, &stream);
}

static size_t digest_http2(struct connection *c, const uint8_t *at, size_t len)
{
	uint64_t before = http2_server_progress(c->http);

	if (!http2_server_take(c->http, at, len, loop_time(c->home->loop)->now_us))
		c->cut = true;
	c->moved |= http2_server_progress(c->http) != before;
	speak(c);
	c->home->gathered = 0;
	return len;
}

/* ---- start of a connection ---- */

static bool is_token(uint8_t b)
{
	return (b >= 'A' && b <= 'Z') || (b >= 'a' && b <= 'z') || b == '-';
}

/* "GET /" or any other method, checked by the bytes received so far. */
static bool looks_like_http(const uint8_t *at, size_t len)
{
	size_t n = 0;

	while (n < len && n < 16 && is_token(at[n]))
		n++;
	return n && (n == len || at[n] == ' ');
}

static bool is_whole_head(const uint8_t *at, size_t len)
{
	for (size_t i = 3; i < len; i++)
		if (memcmp(at + i - 3, "\r\n\r\n", 4) == 0)
			return true;
	return false;
}

static size_t turn_away(struct connection *c, const uint8_t *at, size_t len)
{
	if (looks_like_http(at, len) && len < OLD_HEAD_MOST && !is_whole_head(at, len))
		return 0;
	if (looks_like_http(at, len))
		connection_send(c, (const uint8_t *)too_old, sizeof too_old - 1);
	c->cut = true;
	return len;
}

static size_t digest(struct connection *c, const uint8_t *at, size_t len)
{
	size_t known = MIN(len, (size_t)HTTP2_PREFACE_LEN), done = len;

	if (c->http)
		done = digest_http2(c, at, len);
	else if (memcmp(at, HTTP2_PREFACE, known) != 0)
		done = turn_away(c, at, len);
	else if (known < HTTP2_PREFACE_LEN)
		done = 0;
	else {
		c->http = http2_server_new(c->home->http, c);
		done = digest_http2(c, at, len);
	}
	return done;
}

static enum waits_for waits_for(const struct connection *c)
{
	if (c->http && http2_server_sending(c->http))
		return FOR_CLIENT;
	return c->http && http2_server_receiving(c->http) ? FOR_REST : FOR_NOTHING;
}

const struct protocol protocol_http = {
	.digest = digest,
	.more = speak,
	.waits_for = waits_for,
	.goodbye = goodbye,
	.end = end,
	.plain = &clear_ops,
	.tls = &https_ops,
	.resumed = &resumed_ops,
	.https = true,
};

/* ---- what a thread's connections share ---- */

static const struct http2_ops ops = {
	.request = on_request,
	.reset = on_reset,
	.send = send_parts,
	.make_room = make_room,
};

static struct http2_limits http_limits(const struct listen_tcp_limits *l)
{
	return (struct http2_limits){ .streams = l->http_streams,
				      .body_most = MESSAGE_MAX,
				      .kept_most = { [HTTP2_RECEIVING] = l->http_query_bytes,
						     [HTTP2_SENDING] = l->http_answer_bytes } };
}

struct http2_shared *listen_http_new(const struct listen_tcp_limits *limits)
{
	struct http2_limits http = http_limits(limits);

	return http2_shared_new(&http, &ops);
}

void listen_http_limit(struct http2_shared *h, const struct listen_tcp_limits *limits)
{
	struct http2_limits http = http_limits(limits);

	http2_shared_limit(h, &http);
}

void listen_http_free(struct http2_shared *h)
{
	http2_shared_free(h);
}

size_t listen_tcp_http_receiving(const struct listen_tcp *t)
{
	return http2_shared_kept(t->http, HTTP2_RECEIVING);
}

size_t listen_tcp_http_sending(const struct listen_tcp *t)
{
	return http2_shared_kept(t->http, HTTP2_SENDING);
}
