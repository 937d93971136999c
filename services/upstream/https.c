/* Queries over HTTPS: each is a request on a connection that carries many (RFC 8484).
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The id of a query is zero, since answers are matched by request. */
#include "services/upstream/pool.h"

#include <stdio.h>
#include <string.h>

#include "services/query/env.h"
#include "services/query/snapshot.h"
#include "util/base/bytes.h"
#include "util/base/mem.h"
#include "util/conf/options.h"
#include "util/dns/msg.h"
#include "util/net/http2_client.h"

#define DNS_MESSAGE "application/dns-message"

enum {
	PORT_HTTPS = 443,
	ANSWER_MOST = UINT16_MAX,
	WIDTH_UNKNOWN = 32, /* requests at a time until the server has set its limit */
};

/* The authority of the requests (RFC 9110 7.2). */
static char *print_authority(const struct peer *peer)
{
	char text[ADDR_TEXT];
	const char *host = peer->name ? peer->name : addr_print(&peer->at, peer->at.port, text);
	bool is_v6 = strchr(host, ':');

	if (peer->at.port == PORT_HTTPS)
		return mem_textf("%s%s%s", is_v6 ? "[" : "", host, is_v6 ? "]" : "");
	return mem_textf("%s%s%s:%u", is_v6 ? "[" : "", host, is_v6 ? "]" : "", peer->at.port);
}

static const char *agent_of(const struct conf_server *conf)
{
	if (conf->hide_http_user_agent)
		return NULL;
	return *conf->http_user_agent ? conf->http_user_agent : PACKAGE_NAME "/" PACKAGE_VERSION;
}

/* There is no answer, for the reason given. */
static void refuse(struct stream_query *l, const char *why)
{
	peer_refused(l->peer, why, pool_now_us(l->pool));
	stream_query_fails(l, UPSTREAM_SILENT, false);
}

/* Refused unprocessed too often: left to the iterator. */
static void put_off(struct stream_query *l)
{
	peer_refused(l->peer, "it takes no requests", pool_now_us(l->pool));
	stream_query_fails(l, UPSTREAM_SILENT, true);
}

static void on_ended(void *owner, void *of, const struct http2_answer *a)
{
	struct conn *c = owner;
	struct stream_query *l = of;
	char why[64];

	l->framed = NULL;
	c->no_more_queries |= http2_client_is_leaving(c->framed);
	if (a->end == HTTP2_UNDONE) {
		if (!stream_query_again(l))
			put_off(l);
	} else if (a->end == HTTP2_BROKEN) {
		refuse(l, "the request was broken off");
	} else if (a->end == HTTP2_TOO_BIG) {
		refuse(l, "the answer is too long");
	} else if (a->status != 200) {
		snprintf(why, sizeof why, "HTTP status %u", a->status);
		c->answered++;
		refuse(l, why);
	} else if (!a->typed || a->len < MSG_HEAD_LEN) {
		refuse(l, "what came is no " DNS_MESSAGE);
	} else {
		if (a->age_s)
			msg_grow_older(a->body, a->len, a->age_s);
		stream_query_answered(l, a->body, a->len);
	}
}

static void https_begin(struct conn *c)
{
	char *authority = print_authority(c->peer);

	c->framed = http2_client_new(&(struct http2_client_how){
		.authority = authority,
		.path = c->peer->path,
		.type = DNS_MESSAGE,
		.agent = agent_of(pool_conf(c->pool)),
		.answer_most = ANSWER_MOST,
		.ended = on_ended,
		.owner = c,
	});
	mem_free(authority);
}

static void https_end(struct conn *c)
{
	http2_client_free(c->framed);
	c->framed = NULL;
}

static unsigned https_width(const struct conn *c)
{
	return c->framed ? http2_client_width(c->framed) : WIDTH_UNKNOWN;
}

static void https_put(struct conn *c, struct stream_query *l)
{
	struct transmission *s = l->transmission;

	put_u16(s->wire, 0);
	l->framed = http2_client_post(c->framed, s->wire, s->len, l);
	if (UNLIKELY(l->framed && s->leaves != NULL))
		s->leaves(s, c->stream.fd);
	if (l->framed)
		return;
	c->no_more_queries = true;
	if (!stream_query_again(l))
		put_off(l);
}

static void https_fill(struct conn *c)
{
	const uint8_t *at;
	size_t n;

	while ((n = http2_client_write(c->framed, &at))) {
		memcpy(conn_out(c, n), at, n);
		c->out_len += n;
	}
	c->broken |= http2_client_is_over(c->framed);
}

static void https_forget(struct conn *c, struct stream_query *l)
{
	if (!l->framed)
		return;
	http2_client_drop(c->framed, l->framed);
	conn_say_soon(c);
}

static size_t https_take(struct conn *c, const uint8_t *at, size_t len)
{
	if (!http2_client_read(c->framed, at, len, pool_now_us(c->pool)))
		c->broken = true;
	if (http2_client_is_flooded(c->framed))
		peer_refused(c->peer, "it sends far more than its answers need", pool_now_us(c->pool));
	c->no_more_queries |= http2_client_is_leaving(c->framed);
	if (http2_client_has_to_write(c->framed))
		conn_say_soon(c);
	return len;
}

const struct framing framing_https = {
	.alpn = "h2",
	.must_agree = true,
	.begin = https_begin,
	.end = https_end,
	.width = https_width,
	.put = https_put,
	.fill = https_fill,
	.forget = https_forget,
	.take = https_take,
};
