/* Messages with a length before them, as they come over TCP and TLS.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Replaced: the connection, which is in any state, and what answers: it writes any answer that has room, or none. */
#include "prove.h"

#include "services/listen/frames.c"

static const uint8_t *received;
static size_t received_len;

static enum disposition any_answer(void *taker, struct packet *p)
{
	size_t n = any_up_to(MESSAGE_MAX);

	(void)taker;
	CLAIM("a message has a header", p->in.len >= MESSAGE_LEAST && p->in.len <= MESSAGE_MAX);
	CLAIM("a message is within what has come", WITHIN(received + 2, p->in.at, received + received_len) && p->in.len <= received_len - AT(p->in.at));
	CLAIM("an answer has room", AT(p->out.at) + MESSAGE_MAX <= GATHER_ROOM && AT(p->out.end) - AT(p->out.at) == MESSAGE_MAX);
	p->out.at += n;
	return any_int();
}

bool connection_may_ask(const struct connection *c)
{
	(void)c;
	return any_bool();
}

unsigned connection_options_due(struct connection *c, const uint8_t *question, size_t len)
{
	(void)question, (void)len;
	c->has_asked = true;
	c->kept = any_bool();
	return any_uint32_t();
}

size_t connection_add_options(const struct connection *c, unsigned due, uint8_t *wire, size_t len)
{
	size_t n = any_up_to(MESSAGE_MAX);

	(void)c, (void)due, (void)wire;
	ASSUME(n >= len);
	return n;
}

void connection_send(struct connection *c, const uint8_t *from, size_t len)
{
	CLAIM("what is sent was gathered", from == c->home->gather && len <= GATHER_ROOM);
}

const struct client_ops *connection_ops(const struct connection *c)
{
	return c->protocol->plain;
}

void prove_digest(void)
{
	struct listen_tcp t;
	struct connection c;
	size_t done;

	received_len = any_up_to(BYTES);
	received = any_bytes(received_len);
	t.gather = any_bytes(GATHER_ROOM);
	t.take = any_answer;
	t.tap = NULL;
	t.gathered = 0;
	c.home = &t;
	c.protocol = &protocol_frames;
	done = digest(&c, received, received_len);
	CLAIM("no more is taken than has come", done <= received_len);
	CLAIM("all that was gathered is sent", t.gathered == 0);
	REACHED("two messages", done > 2 + MESSAGE_MAX);
	REACHED("a part of one", done == 0 && !c.cut && received_len > 100);
}
