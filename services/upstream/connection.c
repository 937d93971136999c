/* One connection to a server: opening, carrying queries, idling, closing.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/upstream/pool.h"

#include <errno.h>
#include <string.h>

#include "services/net/dial.h"
#include "services/net/source.h"
#include "services/query/env.h"
#include "services/query/snapshot.h"
#include "services/stats/stats.h"
#include "util/base/fault.h"
#include "util/base/mem.h"
#include "util/base/random.h"
#include "util/conf/options.h"
#include "util/net/tls.h"

enum {
	IN_FIRST = 16384, /* bytes of a connection's initial read buffer: one TLS record */
	READS_PER_TURN = 8,
	REUSE_USUAL = 200, /* max-reuse-tcp-queries if not configured */
	REUSE_TLS = 10,    /* factor on that over TLS: a handshake costs what 15 queries do */
	UNANSWERED_US = 1000000, /* unanswered that long on a connection without any answers */
};

static struct loop *loop_of(const struct conn *c)
{
	return c->pool->transport.env->loop;
}

/*
 * Opening.
 */

static void on_ready(struct watch *w, unsigned what);
static void on_timer(struct timer *t);
static void on_next(struct timer *t);

static const struct sources *sources_get(struct pool *p)
{
	const struct snapshot *s = p->transport.env->snapshot;

	if (p->sources_of != s || p->sources_number != s->number) {
		sources_free(p->sources);
		p->sources = sources_new(s->conf, false);
		p->sources_of = s;
		p->sources_number = s->number;
	}
	return p->sources;
}

static bool conn_encrypt(struct conn *c)
{
	struct tls_client *client = pool_client(c->pool, c->peer);
	struct fault f = { 0 };
	struct tls_call call = {
		.fd = c->stream.fd,
		.place = c->peer->place,
		.name = c->peer->name,
		.alpn = c->framing->alpn,
	};

	c->client = client;
	if (client)
		c->stream.tls = tls_connect(client, &call, &f);
	if (c->stream.tls)
		return true;
	peer_failed(c->peer, f.set ? f.text : "there is no TLS here", true, pool_now_us(c->pool));
	return false;
}

struct conn *conn_open(struct pool *p, const struct transmission *s, struct peer *peer)
{
	struct env *env = p->transport.env;
	int fd = dial_begin(pool_conf(p), sources_get(p), env->random, &s->to);
	struct conn *c;

	if (fd < 0)
		return NULL;
	c = mem_zero(sizeof(*c));
	c->pool = p;
	c->framing = p->framings[s->transport];
	c->to = s->to;
	c->peer = peer;
	c->stream.fd = fd;
	c->rest_ms = UINT32_MAX;
	if (peer && !conn_encrypt(c)) {
		stream_close(&c->stream);
		mem_free(c);
		return NULL;
	}
	pool_is_patient(c, s);
	c->number = ++p->opened;
	c->watch = (struct watch){ .fd = fd, .ready = on_ready };
	c->timer.fire = on_timer;
	c->next.fire = on_next;
	if (peer) {
		peer->refs++;
		peer->connections++;
	}
	list_init(&c->queries);
	list_push_back(&p->conns, &c->link);
	p->conn_count++;
	watch_start(env->loop, &c->watch, WATCH_READ | WATCH_WRITE);
	return c;
}

/* Total number of queries it may carry. */
static unsigned carries_most(const struct conn *c)
{
	unsigned most = pool_conf(c->pool)->max_reuse_tcp_queries;

	if (c->peer && most == REUSE_USUAL)
		most *= REUSE_TLS;
	return c->peer ? MIN(most, peer_carries(c->peer, pool_now_us(c->pool))) : most;
}

/* Closed and no longer counted; freed later. */
void conn_die(struct conn *c)
{
	if (c->dead)
		return;
	c->dead = true;
	watch_stop(&c->watch);
	timer_stop(loop_of(c), &c->next);
	stream_close(&c->stream);
	c->pool->conn_count--;
	if (c->peer) {
		c->peer->connections--;
		if (c->answered >= carries_most(c))
			peer_fulfilled(c->peer);
	}
	timer_set(loop_of(c), &c->timer, 0);
}

void conn_free(struct conn *c)
{
	timer_stop(loop_of(c), &c->timer);
	list_remove(&c->link);
	c->framing->end(c);
	peer_drop(c->peer);
	mem_free(c->in);
	mem_free(c->out);
	mem_free(c);
}

/*
 * Carrying queries.
 */

static uint16_t free_id(const struct conn *c)
{
	uint16_t id;

	do
		id = random_u16(c->pool->transport.env->random);
	while (stream_query_find(c, id));
	return id;
}

uint8_t *conn_out(struct conn *c, size_t room)
{
	if (c->out_at == c->out_len)
		c->out_at = c->out_len = 0;
	if (c->out_room - c->out_len < room) {
		c->out_room = c->out_len + MAX(room, MAX((size_t)512, c->out_len));
		c->out = mem_grow(c->out, c->out_room);
	}
	return c->out + c->out_len;
}

void conn_say_soon(struct conn *c)
{
	if (!timer_is_set(&c->next))
		timer_set(loop_of(c), &c->next, 0);
}

void conn_carry(struct conn *c, struct stream_query *l)
{
	struct stream_query **chain;

	timer_stop(loop_of(c), &c->timer);
	list_remove(&l->link);
	list_push_back(&c->queries, &l->link);
	c->stream_query_count++;
	c->carried++;
	l->conn = c;
	l->id = free_id(c);
	l->put_us = pool_now_us(c->pool);
	l->answered_before = c->answered;
	l->transmission->queued = false;
	chain = &c->by_id[l->id % ID_CHAINS];
	l->id_next = *chain;
	*chain = l;
	if (l->peer)
		l->peer->questions++;
	if (!c->open)
		return; /* written once it is open */
	c->framing->put(c, l);
	conn_say_soon(c);
}

void conn_drop(struct conn *c, struct stream_query *l)
{
	struct stream_query **at = &c->by_id[l->id % ID_CHAINS];

	while (*at != l)
		at = &(*at)->id_next;
	*at = l->id_next;
	list_remove(&l->link);
	l->conn = NULL;
	l->framed = NULL;
	if (--c->stream_query_count == 0)
		c->idle_us = pool_now_us(c->pool);
}

void conn_give_up(struct conn *c, struct stream_query *l)
{
	uint64_t now_us = pool_now_us(c->pool);

	/* No answer at all since the query was sent: the server may be gone. */
	if (c->told_us <= l->put_us && now_us - l->put_us >= UNANSWERED_US)
		c->no_more_queries = true;
	if (c->open && !c->dead)
		c->framing->forget(c, l);
	conn_drop(c, l);
}

bool conn_may_carry(const struct conn *c)
{
	return c->stream_query_count < c->framing->width(c) && c->carried < carries_most(c);
}

/*
 * Closing.
 */

/* Deal with the queries that a dead connection carried, and free it. */
static void conn_bury(struct conn *c)
{
	struct pool *p = c->pool;

	c->busy = true;
	while (!list_is_empty(&c->queries))
		stream_query_lost(LIST_ITEM(c->queries.next, struct stream_query, link), c);
	conn_free(c);
	pool_admit(p);
}

static void on_timer(struct timer *timer)
{
	struct conn *c = container_of(timer, struct conn, timer);

	if (!c->dead)
		conn_die(c);
	conn_bury(c);
}

/* Whether it is of no further use: it carried queries but answered none, or may carry no more. */
static bool conn_is_spent(const struct conn *c)
{
	return (c->carried && !c->answered) || c->no_more_queries || c->carried >= carries_most(c);
}

/* Whether another one to the same server is idle as well. They were opened while there was much to ask; one is kept, and over
 * TLS all, for opening one costs more. */
static bool conn_is_spare(const struct conn *c)
{
	if (c->peer)
		return false;
	LIST_EACH (at, &c->pool->conns) {
		const struct conn *other = LIST_ITEM(at, struct conn, link);

		if (other != c && other->open && !other->dead && !other->peer && !other->stream_query_count &&
		    !conn_is_spent(other) && addr_equals(&other->to, &c->to))
			return true;
	}
	return false;
}

/* Watch for the events that can come next. */
static void conn_watch(struct conn *c)
{
	bool says = c->out_at < c->out_len && c->open;

	watch_want(&c->watch, WATCH_READ | (!c->connected || says || stream_wants_write(&c->stream)
						    ? (unsigned)WATCH_WRITE
						    : 0u));
	if (stream_has_more(&c->stream))
		timer_set(loop_of(c), &c->next, 0);
}

void conn_after_event(struct conn *c)
{
	struct pool *p = c->pool;

	if (c->busy)
		return;
	if (!c->dead && !c->stream_query_count && (conn_is_spent(c) || conn_is_spare(c)))
		conn_die(c);
	if (!c->dead)
		conn_watch(c);
	if (!c->dead && !c->stream_query_count) /* the timer that buries it is set */
		timer_set(loop_of(c), &c->timer,
			  MIN(pool_conf(p)->tcp_reuse_timeout, c->rest_ms - c->rest_ms / 8) *
				  US_PER_MS); /* close before the server does */
	pool_admit(p);
}

/*
 * Reading and writing.
 */

/* Write what can be written. False if the connection is lost. */
static bool conn_write(struct conn *c)
{
	c->framing->fill(c);
	while (c->out_at < c->out_len) {
		ssize_t n = stream_write(&c->stream, c->out + c->out_at, c->out_len - c->out_at);

		if (n < 0 && stream_is_not_now(errno))
			break;
		if (n < 0)
			return false;
		c->out_at += (size_t)n;
	}
	return !c->broken;
}

/* Process the bytes received; false if they are invalid. */
static bool conn_take(struct conn *c)
{
	size_t done = c->framing->take(c, c->in, c->in_len);

	if (done && done < c->in_len)
		memmove(c->in, c->in + done, c->in_len - done);
	c->in_len -= done;
	return !c->broken;
}

/* Make room for the whole of a message that has been received in part. */
static void in_grow(struct conn *c)
{
	size_t need = IN_FIRST;

	if (c->in_len == c->in_room)
		need = MAX(need, 2 + (size_t)UINT16_MAX);
	if (c->in_room < need) {
		c->in = mem_grow(c->in, need);
		c->in_room = need;
	}
}

/* False if the connection is lost or not worth keeping. */
static bool conn_read(struct conn *c)
{
	for (unsigned i = 0; i < READS_PER_TURN && !c->dead; i++) {
		ssize_t n;
		size_t room;

		in_grow(c);
		room = c->in_room - c->in_len;
		n = stream_read(&c->stream, c->in + c->in_len, room);
		if (n < 0)
			return stream_is_not_now(errno);
		if (n == 0)
			return false;
		c->in_len += (size_t)n;
		if (!conn_take(c))
			return false;
		if ((size_t)n < room && !stream_has_more(&c->stream))
			break; /* nothing more to read; otherwise the watch reports it */
	}
	return true;
}

static bool has_agreed(struct conn *c)
{
	char agreed[16];

	if (!c->framing->must_agree ||
	    strcmp(tls_alpn(c->stream.tls, agreed), c->framing->alpn) == 0)
		return true;
	c->trouble = "it does not speak HTTP/2";
	return false;
}

/* Continue the TCP and TLS handshakes. False if they failed. */
static bool conn_begin(struct conn *c)
{
	if (!c->connected && !dial_is_through(c->watch.fd))
		return false;
	c->connected = true;
	if (c->stream.tls && tls_shake(c->stream.tls) < 0)
		return stream_is_not_now(errno);
	if (c->stream.tls && !has_agreed(c))
		return false;
	c->open = true;
	if (c->peer)
		peer_shaken(c->peer, tls_is_resumed(c->stream.tls));
	c->framing->begin(c);
	LIST_EACH (at, &c->queries)
		c->framing->put(c, LIST_ITEM(at, struct stream_query, link));
	return true;
}

/* Record why it could not be opened. */
static void note_failure(struct conn *c)
{
	int error = errno;

	if (!c->peer)
		return;
	if (c->open) {
		if (c->stream_query_count)
			peer_lost(c->peer, c->answered, pool_now_us(c->pool));
		return;
	}
	c->untrusted = tls_is_untrusted(c->stream.tls);
	peer_failed(c->peer,
		    c->trouble     ? c->trouble
		    : c->connected ? tls_why(c->stream.tls)
				   : strerror(error),
		    c->untrusted, pool_now_us(c->pool));
}

static void conn_go_on(struct conn *c, unsigned what)
{
	bool good = c->open || conn_begin(c);

	c->busy = true;
	if (good && c->open) {
		/* a server that accepts no more data may still have answered before */
		bool takes = !(what & WATCH_WRITE) || conn_write(c);

		if (!takes || what & WATCH_READ)
			good = conn_read(c);
		good = good && takes;
		if (good && what & WATCH_READ && c->stream_query_count)
			dial_acknowledge(c->stream.fd);
	}
	c->busy = false;
	if (!good && !c->dead)
		note_failure(c);
	if (!good)
		conn_die(c);
	conn_after_event(c);
}

static void on_ready(struct watch *w, unsigned what)
{
	struct conn *c = container_of(w, struct conn, watch);

	/* a write that TLS needed before reading is done: continue reading */
	if (stream_wants_write(&c->stream))
		what |= WATCH_READ;
	conn_go_on(c, what | WATCH_WRITE);
}

static void on_next(struct timer *timer)
{
	struct conn *c = container_of(timer, struct conn, next);

	conn_go_on(c, WATCH_WRITE | (stream_has_more(&c->stream) ? (unsigned)WATCH_READ : 0u));
}
