/* Queries over TCP and TLS: length-prefixed messages, answers matched by id (RFC 7766, 7858).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/upstream/pool.h"

#include <string.h>

#include "services/net/edns_conn.h"
#include "services/query/env.h"
#include "services/stats/stats.h"
#include "services/upstream/unwanted.h"
#include "util/base/bytes.h"
#include "util/dns/msg.h"

enum {
	STRAYS_MOST = 2,     /* unmatched answers before a server is considered broken */
	PIPELINE_MOST = 100, /* queries in flight on one connection */
};

static void nothing(struct conn *c)
{
	(void)c;
}

static unsigned tcp_width(const struct conn *c)
{
	(void)c;
	return PIPELINE_MOST;
}

static void tcp_put(struct conn *c, struct stream_query *l)
{
	const struct transmission *s = l->transmission;
	uint8_t *to = conn_out(c, 2 + s->len);

	put_u16(s->wire, l->id);
	if (UNLIKELY(s->leaves != NULL))
		s->leaves(l->transmission, c->stream.fd);
	put_u16(to, (uint16_t)s->len);
	memcpy(to + 2, s->wire, s->len);
	c->out_len += 2 + s->len;
}

static void tcp_forget(struct conn *c, struct stream_query *l)
{
	(void)l;
	c->given_up++;
}

/* The server says how long the connection may stay idle; 0: it wants no more questions on it (RFC 7828 3.2.2). */
static void heed(struct conn *c, const struct transmission *s, const uint8_t *wire, size_t len)
{
	uint32_t rest_ms;

	if (!s->keepalive || !edns_conn_keepalive(wire, len, &rest_ms))
		return;
	c->rest_ms = rest_ms;
	c->no_more_queries |= !rest_ms;
}

/* While a zone is transferred, a message that answers nothing is one that the zone lacks: all of a
 * transfer have the id of its query (RFC 5936 2.2.1). */
static bool carries_transfer(const struct conn *c)
{
	LIST_EACH (at, &c->queries)
		if (LIST_ITEM(at, struct stream_query, link)->transmission->begun)
			return true;
	return false;
}

/* Process one whole message. False if the connection should not be used any longer. */
static bool take_one(struct conn *c, const uint8_t *wire, size_t len)
{
	struct stream_query *l;

	if (len < MSG_HEAD_LEN)
		return false;
	l = stream_query_find(c, msg_id(wire));
	if (l) {
		heed(c, l->transmission, wire, len);
		stream_query_answered(l, wire, len);
		return true;
	}
	if (c->given_up) { /* a late answer, most likely */
		c->given_up--;
		c->answered++;
		c->told_us = pool_now_us(c->pool);
		return true;
	}
	unwanted_note(c->pool->transport.env);
	if (carries_transfer(c))
		return false;
	return ++c->strays <= STRAYS_MOST;
}

static size_t tcp_take(struct conn *c, const uint8_t *at, size_t len)
{
	size_t done = 0;

	while (!c->broken && !c->dead && len - done >= 2) {
		size_t n = get_u16(at + done);

		if (len - done - 2 < n)
			break;
		c->broken = !take_one(c, at + done + 2, n);
		done += 2 + n;
	}
	return done;
}

#define LENGTHS                                                                                \
	.begin = nothing, .end = nothing, .width = tcp_width, .put = tcp_put, .fill = nothing, \
	.forget = tcp_forget, .take = tcp_take

const struct framing framing_tcp = { LENGTHS };
const struct framing framing_tls = { .alpn = "dot", LENGTHS };
