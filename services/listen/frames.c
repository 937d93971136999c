/* DNS over TCP and TLS (RFC 7766 8): length-prefixed messages, answered as they become ready.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/listen/connection.h"

#include <string.h>

#include "services/dnstap/tap.h"

#define MESSAGE_LEAST 12 /* a DNS header; anything shorter is not DNS */

/* ---- answers ---- */

static void gather_flush(struct connection *c)
{
	struct listen_tcp *t = c->home;
	size_t len = t->gathered;

	t->gathered = 0;
	if (len && !c->dead)
		connection_send(c, t->gather, len);
}

/* Room for one more message of any size after those gathered. */
static uint8_t *gather_room(struct connection *c)
{
	struct listen_tcp *t = c->home;

	if (t->gathered + 2 + MESSAGE_MAX > GATHER_ROOM)
		gather_flush(c);
	return t->gather + t->gathered;
}

/* Sends a message on its own; it may overtake the gathered ones. */
static void reply_later(const struct client *client, const uint8_t *bytes, size_t len)
{
	struct connection *c = client->via;
	uint8_t *frame = c->home->late;

	if (!c->dead && len <= MESSAGE_MAX) {
		memcpy(frame + 2, bytes, len);
		len = connection_add_options(c, (unsigned)client->tag, frame + 2, len);
		put_u16(frame, (uint16_t)len);
		if (UNLIKELY(c->home->tap != NULL))
			tap_client_response(c->home->tap, client, frame + 2, len);
		connection_send(c, frame, 2 + len);
	}
	connection_left(c);
}

/* No client may wait for an answer that never comes: the remaining queries are answered, then the
 * stream is closed, so that the client retries elsewhere. */
static void drop_later(const struct client *client)
{
	struct connection *c = client->via;

	c->cut = true;
	connection_left(c);
}

static const struct client_ops tcp_ops = {
	.name = "tcp",
	.stream = true,
	.reply = reply_later,
	.drop = drop_later,
	.waiting = connection_waiting,
};

static const struct client_ops tls_ops = {
	.name = "tls",
	.stream = true,
	.encrypted = true,
	.reply = reply_later,
	.drop = drop_later,
	.waiting = connection_waiting,
};

static const struct client_ops resumed_ops = {
	.name = "tls",
	.stream = true,
	.encrypted = true,
	.resumed = true,
	.reply = reply_later,
	.drop = drop_later,
	.waiting = connection_waiting,
};

/* ---- queries ---- */

static void take_one(struct connection *c, const uint8_t *at, size_t len)
{
	struct listen_tcp *t = c->home;
	uint8_t *to = gather_room(c);
	struct packet p = {
		.in = { .at = at, .len = len },
		.out = writer_over(to + 2, MESSAGE_MAX),
		.client = { .ops = connection_ops(c),
			    .from = c->from,
			    .reached = c->reached,
			    .via = c },
	};
	size_t answer;

	p.client.tag = connection_options_due(c, at, len);
	if (UNLIKELY(t->tap != NULL))
		tap_client_query(t->tap, &p.client, &p.in);
	c->asked++;
	switch (t->take(t->taker, &p)) {
	case DISPOSITION_LATER:
		return;
	case DISPOSITION_DROP:
		c->cut = true;
		break;
	case DISPOSITION_SEND:
		answer = connection_add_options(c, (unsigned)p.client.tag, to + 2,
						writer_len(&p.out));
		put_u16(to, (uint16_t)answer);
		if (UNLIKELY(t->tap != NULL))
			tap_client_response(t->tap, &p.client, to + 2, answer);
		t->gathered += 2 + answer;
		break;
	}
	c->asked--;
}

static size_t digest(struct connection *c, const uint8_t *at, size_t len)
{
	size_t done = 0;

	while (len - done >= 2) {
		size_t message = get_u16(at + done);

		if (message < MESSAGE_LEAST)
			c->cut = true;
		if (c->cut || len - done - 2 < message)
			break;
		if (!connection_may_ask(c)) {
			c->full = true;
			break;
		}
		take_one(c, at + done + 2, message);
		done += 2 + message;
	}
	gather_flush(c);
	c->moved |= done > 0;
	return done;
}

const struct protocol protocol_frames = {
	.digest = digest,
	.plain = &tcp_ops,
	.tls = &tls_ops,
	.resumed = &resumed_ops,
};
