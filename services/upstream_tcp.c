/* Questions to other servers over TCP and TLS: connections that are kept and shared (RFC 7766,
 * 7858). SPDX-License-Identifier: BSD-3-Clause
 *
 * Sendings to one server go out one behind the other on the same connection and are answered in
 * any order; where one connection has much to carry, another is opened beside it. A connection that
 * dies after it had answered something was perhaps only idle for too long in the server's eyes: its
 * questions are sent once more on a fresh one. Over TLS the first handshake with a server is waited
 * for before others begin, so that these can resume its session. */
#include "services/env.h"
#include "services/snapshot.h"
#include "services/stats.h"
#include "services/upstream.h"
#include "services/upstream_dial.h"
#include "services/upstream_peer.h"
#include "util/fault.h"
#include "util/list.h"
#include "util/loop.h"
#include "util/mem.h"
#include "util/options.h"
#include "util/random.h"
#include "util/stream.h"
#include "util/tls.h"

#include <errno.h>
#include <string.h>

enum {
	IN_FIRST = 16384, /* bytes of a connection's first read buffer: a record of TLS */
	READS_PER_TURN = 8,
	RESENDS_MOST = 3,      /* of one question, each after another had its answer */
	STRAYS_MOST = 16,      /* answers to nothing before a server is taken for mad */
	PIPELINE_MOST = 100,   /* questions under way on one connection */
	PIPELINE_MUCH = 32,    /* so many that another connection would be of use */
	TURNED_AWAY_MOST = 16, /* of those that wait for a connection, before it is let be */
	DEAF_US = 1000000,     /* a question unanswered so long on a silent connection */
};

struct tcp;

struct conn {
	struct list link; /* tcp->conns */
	struct tcp *tcp;
	struct stream stream;
	struct watch watch;
	struct timer timer; /* idle for too long; or, when dead, to be buried */
	struct timer next;  /* write what was put together in this turn; read what lies there */
	struct addr to;
	struct peer *peer;               /* over TLS; or NULL */
	const struct tls_client *client; /* by whose rules, over TLS */
	struct list letters;             /* under way, in the order they were put here */
	unsigned letter_count;
	unsigned number;  /* counts connections */
	unsigned carried; /* questions, all told */
	unsigned answered;
	unsigned strays, given_up; /* given_up: questions whose answers nobody waits for any more */
	uint64_t heard_us, idle_us; /* last bytes; since when nothing is under way */
	bool connected;             /* as far as TCP goes */
	bool open;                  /* questions can go out */
	bool dead, untrusted;
	bool deaf; /* takes no more questions */
	bool busy; /* somebody up the stack is working on it */
	uint8_t *in;
	size_t in_len, in_room;
	uint8_t *out; /* not written yet: out[out_at] to out[out_len] */
	size_t out_at, out_len, out_room;
};

/* A sending on its way. */
struct letter {
	struct list link; /* conn->letters, or tcp->waiting */
	struct tcp *tcp;
	struct sending *sending;
	struct conn *conn;     /* NULL: waits for one */
	struct peer *peer;     /* over TLS; or NULL */
	enum upstream_end why; /* it is among those that fail */
	uint16_t id;
	uint64_t put_us;
	unsigned answered_before; /* by its connection, when it was put there */
	unsigned resends;
	unsigned lost_number; /* resent: not over connections up to this one */
};

struct tcp {
	struct transport transport;
	struct sources *sources;
	const struct snapshot *sources_of;
	uint64_t sources_number;
	struct peers *peers;
	struct list conns;
	unsigned conn_count; /* those that live */
	unsigned opened;     /* all that ever were */
	struct list waiting; /* letters, until there is a connection for them */
	struct list failing; /* letters that could not leave; told in the next turn */
	struct timer tell_failing;
};

static const struct conf_server *conf_of(const struct tcp *t)
{
	return &t->transport.env->snapshot->conf->server;
}

static uint64_t now_us(const struct tcp *t)
{
	return t->transport.env->time->now_us;
}

static const struct sources *sources_get(struct tcp *t)
{
	const struct snapshot *s = t->transport.env->snapshot;

	if (t->sources_of != s || t->sources_number != s->number) {
		sources_free(t->sources);
		t->sources = sources_new(s->conf, false);
		t->sources_of = s;
		t->sources_number = s->number;
	}
	return t->sources;
}

/*
 * Connections: opening.
 */

static void on_ready(struct watch *w, unsigned what);
static void on_timer(struct timer *t);

static void on_next(struct timer *t);

static struct tls_client *client_of(const struct tcp *t, const struct peer *peer)
{
	return peer ? t->transport.env->snapshot->tls_client : NULL;
}

static bool conn_encrypt(struct conn *c)
{
	struct tls_client *client = client_of(c->tcp, c->peer);
	struct fault f = { 0 };
	struct tls_call call = {
		.fd = c->stream.fd,
		.place = c->peer->place,
		.name = c->peer->name,
		.alpn = "dot",
	};

	c->client = client;
	if (client)
		c->stream.tls = tls_connect(client, &call, &f);
	if (c->stream.tls)
		return true;
	peer_failed(c->peer, f.set ? f.text : "there is no TLS here", true, now_us(c->tcp));
	return false;
}

/* NULL when there is no way there; over TLS, `peer` may then be held. */
static struct conn *conn_open(struct tcp *t, const struct addr *to, struct peer *peer)
{
	struct env *env = t->transport.env;
	int fd = upstream_dial(conf_of(t), sources_get(t), env->random, to);
	struct conn *c;

	if (fd < 0)
		return NULL;
	c = mem_zero(sizeof(*c));
	c->tcp = t;
	c->to = *to;
	c->peer = peer;
	c->stream.fd = fd;
	if (peer && !conn_encrypt(c)) {
		stream_close(&c->stream);
		mem_free(c);
		return NULL;
	}
	c->number = ++t->opened;
	c->watch = (struct watch){ .fd = fd, .ready = on_ready };
	c->timer.fire = on_timer;
	c->next.fire = on_next;
	if (peer) {
		peer->refs++;
		peer->connections++;
	}
	list_init(&c->letters);
	list_push_back(&t->conns, &c->link);
	t->conn_count++;
	watch_start(env->loop, &c->watch, WATCH_READ | WATCH_WRITE);
	return c;
}

/* Off the wire and out of the count; what it still carries is seen to by conn_bury. */
static void conn_die(struct conn *c)
{
	struct tcp *t = c->tcp;

	if (c->dead)
		return;
	c->dead = true;
	watch_stop(&c->watch);
	timer_stop(t->transport.env->loop, &c->next);
	stream_close(&c->stream);
	t->conn_count--;
	if (c->peer)
		c->peer->connections--;
	timer_set(t->transport.env->loop, &c->timer, 0);
}

static void conn_free(struct conn *c)
{
	timer_stop(c->tcp->transport.env->loop, &c->timer);
	list_remove(&c->link);
	peer_drop(c->peer);
	mem_free(c->in);
	mem_free(c->out);
	mem_free(c);
}

/*
 * Letters.
 */

static void letter_free(struct letter *l)
{
	list_remove(&l->link);
	peer_drop(l->peer);
	mem_free(l);
}

static void letter_leave(struct letter *l)
{
	struct conn *c = l->conn;

	list_remove(&l->link);
	l->conn = NULL;
	if (--c->letter_count == 0)
		c->idle_us = now_us(c->tcp);
}

static struct letter *letter_find(const struct conn *c, uint16_t id)
{
	LIST_EACH (at, &c->letters) {
		struct letter *l = LIST_ITEM(at, struct letter, link);

		if (l->id == id)
			return l;
	}
	return NULL;
}

static uint16_t free_id(const struct conn *c)
{
	uint16_t id;

	do
		id = random_u16(c->tcp->transport.env->random);
	while (letter_find(c, id));
	return id;
}

static void out_put(struct conn *c, const struct sending *s)
{
	size_t need = 2 + s->len;

	if (c->out_at == c->out_len)
		c->out_at = c->out_len = 0;
	if (c->out_room - c->out_len < need) {
		c->out_room = c->out_len + MAX(need, (size_t)512);
		c->out = mem_grow(c->out, c->out_room);
	}
	put_u16(c->out + c->out_len, (uint16_t)s->len);
	memcpy(c->out + c->out_len + 2, s->wire, s->len);
	c->out_len += need;
}

/* Write what can be written. False when the connection is lost. */
static bool conn_write(struct conn *c)
{
	while (c->out_at < c->out_len) {
		ssize_t n = stream_write(&c->stream, c->out + c->out_at, c->out_len - c->out_at);

		if (n < 0 && stream_is_not_now(errno))
			break;
		if (n < 0)
			return false;
		c->out_at += (size_t)n;
	}
	return true;
}

static void letter_put(struct letter *l, struct conn *c)
{
	struct tcp *t = c->tcp;

	timer_stop(t->transport.env->loop, &c->timer);
	list_remove(&l->link);
	list_push_back(&c->letters, &l->link);
	c->letter_count++;
	c->carried++;
	l->conn = c;
	l->id = free_id(c);
	l->put_us = now_us(t);
	l->answered_before = c->answered;
	l->sending->queued = false;
	put_u16(l->sending->wire, l->id);
	out_put(c, l->sending);
	if (l->peer)
		l->peer->questions++;
	/* what else is put there in this turn goes with it */
	if (c->open && !timer_is_set(&c->next))
		timer_set(t->transport.env->loop, &c->next, 0);
}

/*
 * Which connection.
 */

/* After a loss: a connection made since; after another one, its own, in case the server answers
 * only once on each. */
static bool is_fresh_enough(const struct conn *c, const struct letter *l)
{
	return l->resends > 1 ? !c->carried : c->number > l->lost_number;
}

/* Questions that it may carry, all told. */
static unsigned carries_most(const struct conn *c)
{
	unsigned most = conf_of(c->tcp)->max_reuse_tcp_queries;

	return c->peer ? MIN(most, peer_carries(c->peer, now_us(c->tcp))) : most;
}

static bool conn_may_carry(const struct conn *c, const struct letter *l)
{
	return c->letter_count < PIPELINE_MOST && c->carried < carries_most(c) &&
	       is_fresh_enough(c, l);
}

/* The connections to where a letter is to go. */
struct choice {
	struct conn *best; /* the one with the least to carry, open ones first; or NULL */
	bool opening;      /* there is one that is not open yet, or has no session to be resumed */
};

/* Tickets come with the first answer. */
static bool is_opening(const struct conn *c)
{
	return !c->open || (c->peer && c->peer->answers == 0 && c->letter_count);
}

static bool is_better(const struct conn *c, const struct conn *than)
{
	if (!than || c->open != than->open)
		return !than || c->open;
	return c->letter_count < than->letter_count;
}

static struct choice choose(const struct tcp *t, const struct letter *l)
{
	const struct tls_client *client = client_of(t, l->peer);
	struct choice choice = { 0 };

	LIST_EACH (at, &t->conns) {
		struct conn *c = LIST_ITEM(at, struct conn, link);

		if (c->dead || c->deaf || c->peer != l->peer || c->client != client ||
		    !addr_equals(&c->to, &l->sending->to))
			continue;
		choice.opening |= is_opening(c);
		if (conn_may_carry(c, l) && is_better(c, choice.best))
			choice.best = c;
	}
	return choice;
}

/* Close the connection that nobody has needed for the longest time. */
static bool make_room(struct tcp *t)
{
	struct conn *oldest = NULL;

	LIST_EACH (at, &t->conns) {
		struct conn *c = LIST_ITEM(at, struct conn, link);

		if (!c->dead && !c->letter_count && !c->busy &&
		    (!oldest || c->idle_us < oldest->idle_us))
			oldest = c;
	}
	if (oldest)
		conn_die(oldest);
	return oldest;
}

static bool is_full(const struct tcp *t)
{
	return t->conn_count >= conf_of(t)->outgoing_num_tcp;
}

static void letter_fail(struct letter *l, enum upstream_end why)
{
	struct tcp *t = l->tcp;

	l->why = why;
	list_push_back(&t->failing, &l->link);
	timer_set(t->transport.env->loop, &t->tell_failing, 0);
}

static void letter_wait(struct letter *l)
{
	l->sending->queued = true;
	list_push_back(&l->tcp->waiting, &l->link);
}

/* On a connection, in the queue for one (then false), or among those that fail. */
static bool letter_place(struct letter *l)
{
	struct tcp *t = l->tcp;
	struct choice choice;
	struct conn *c;

	list_remove(&l->link);
	l->sending->queued = false;
	if (l->peer && peer_is_held(l->peer, now_us(t))) {
		letter_fail(l, UPSTREAM_UNTRUSTED);
		return true;
	}
	choice = choose(t, l);
	c = choice.best;
	if (c && c->letter_count >= PIPELINE_MUCH && !choice.opening && !is_full(t))
		(void)conn_open(t, &l->sending->to, l->peer); /* for those that follow */
	if (!c && ((l->peer && choice.opening) || (is_full(t) && !make_room(t)))) {
		letter_wait(l);
		return false;
	}
	if (!c)
		c = conn_open(t, &l->sending->to, l->peer);
	if (c)
		letter_put(l, c);
	else
		letter_fail(l, l->peer && peer_is_held(l->peer, now_us(t)) ? UPSTREAM_UNTRUSTED
									   : UPSTREAM_UNREACHABLE);
	return true;
}

/* There may be room now. Those who wait for the same thing are not all tried in vain. */
static void admit_waiting(struct tcp *t)
{
	struct list now;
	unsigned in_vain = 0;

	if (list_is_empty(&t->waiting))
		return;
	list_init(&now);
	list_put_after(t->waiting.prev, &now);
	list_remove(&t->waiting);
	while (!list_is_empty(&now) && in_vain < TURNED_AWAY_MOST)
		in_vain += !letter_place(LIST_ITEM(now.next, struct letter, link));
	while (!list_is_empty(&now)) {
		struct list *last = now.prev;

		list_remove(last);
		list_put_after(&t->waiting, last);
	}
}

static void on_failing(struct timer *timer)
{
	struct tcp *t = container_of(timer, struct tcp, tell_failing);
	struct list now;

	list_init(&now);
	list_put_after(t->failing.prev, &now);
	list_remove(&t->failing);
	while (!list_is_empty(&now)) {
		struct letter *l = LIST_ITEM(now.next, struct letter, link);
		struct sending *s = l->sending;
		enum upstream_end why = l->why;

		letter_free(l);
		s->slot = NULL;
		s->failed(s, why);
	}
}

/*
 * Connections: their end, and what comes over them.
 */

static bool is_worth_resending(const struct letter *l, const struct conn *c)
{
	unsigned answered = c->answered;

	if (c->untrusted)
		return false;
	if (c->open && c->peer && c->peer->answers)
		return l->resends < RESENDS_MOST; /* whom we know, and who is only moody */
	if (answered > l->answered_before)
		return l->resends < RESENDS_MOST; /* it gets on, if only step by step */
	return answered && !l->resends;
}

/* See to what a dead connection carried, and free it. */
static void conn_bury(struct conn *c)
{
	struct tcp *t = c->tcp;

	c->busy = true;
	while (!list_is_empty(&c->letters)) {
		struct letter *l = LIST_ITEM(c->letters.next, struct letter, link);
		struct sending *s = l->sending;

		letter_leave(l);
		if (!s->begun && is_worth_resending(l, c)) {
			l->resends++;
			l->lost_number = t->opened;
			letter_place(l);
			continue;
		}
		letter_free(l);
		s->slot = NULL;
		s->moody = c->peer && c->open;
		s->failed(s, c->untrusted ? UPSTREAM_UNTRUSTED : UPSTREAM_SILENT);
	}
	conn_free(c);
	admit_waiting(t);
}

static void on_timer(struct timer *timer)
{
	struct conn *c = container_of(timer, struct conn, timer);

	if (!c->dead)
		conn_die(c);
	conn_bury(c);
}

/* What can happen next. */
static void conn_watch(struct conn *c)
{
	bool says = c->out_at < c->out_len && c->open;

	watch_want(&c->watch, WATCH_READ | (!c->connected || says || stream_wants_write(&c->stream)
						    ? (unsigned)WATCH_WRITE
						    : 0u));
	if (stream_has_more(&c->stream))
		timer_set(c->tcp->transport.env->loop, &c->next, 0);
}

/* Whether there is nothing more to hope for from it: it carried questions and answered none, or may
 * not carry any more. */
static bool conn_is_spent(const struct conn *c)
{
	return (c->carried && !c->answered) || c->deaf || c->carried >= carries_most(c);
}

/* After anything happened to it: bury it, close it, or let it rest until it is needed again. */
static void conn_settle(struct conn *c)
{
	struct tcp *t = c->tcp;

	if (c->busy)
		return;
	if (!c->dead && !c->letter_count && conn_is_spent(c))
		conn_die(c);
	if (!c->dead)
		conn_watch(c);
	if (!c->dead && !c->letter_count) /* conn_die has set the timer that buries it */
		timer_set(t->transport.env->loop, &c->timer,
			  conf_of(t)->tcp_reuse_timeout * US_PER_MS);
	admit_waiting(t);
}

/* One whole message. False when the connection should not be used any longer. */
static bool conn_take(struct conn *c, const uint8_t *wire, size_t len)
{
	struct letter *l;
	struct sending *s;

	if (len < MSG_HEAD_LEN)
		return false;
	l = letter_find(c, msg_id(wire));
	if (!l) {
		if (c->given_up) { /* a late answer, most likely */
			c->given_up--;
			c->answered++;
			return true;
		}
		stat_bump(&c->tcp->transport.env->stats->unwanted_replies, 1);
		return ++c->strays <= STRAYS_MOST;
	}
	s = l->sending;
	s->begun = s->many;
	if (s->many && !s->arrived(s, wire, len))
		return true;
	letter_leave(l);
	c->answered++;
	if (l->peer)
		peer_answered(l->peer, now_us(c->tcp) - l->put_us);
	/* Whatever it thinks of it: the server will not answer twice. */
	letter_free(l);
	s->slot = NULL;
	if (!s->many && !s->arrived(s, wire, len))
		s->failed(s, UPSTREAM_SILENT);
	return true;
}

static bool conn_take_all(struct conn *c)
{
	size_t at = 0;
	bool good = true;

	while (good && !c->dead && c->in_len - at >= 2) {
		size_t len = get_u16(c->in + at);

		if (c->in_len - at - 2 < len)
			break;
		good = conn_take(c, c->in + at + 2, len);
		at += 2 + len;
	}
	memmove(c->in, c->in + at, c->in_len - at);
	c->in_len -= at;
	return good;
}

/* Room for the whole message whose beginning is there. */
static void in_grow(struct conn *c)
{
	size_t need = IN_FIRST;

	if (c->in_len >= 2)
		need = MAX(need, 2 + (size_t)get_u16(c->in));
	if (c->in_room < need) {
		c->in = mem_grow(c->in, need);
		c->in_room = need;
	}
}

/* False when the connection is lost or not worth keeping. */
static bool conn_read(struct conn *c)
{
	for (unsigned i = 0; i < READS_PER_TURN && !c->dead; i++) {
		ssize_t n;

		in_grow(c);
		n = stream_read(&c->stream, c->in + c->in_len, c->in_room - c->in_len);
		if (n < 0)
			return stream_is_not_now(errno);
		if (n == 0)
			return false;
		c->heard_us = now_us(c->tcp);
		c->in_len += (size_t)n;
		if (!conn_take_all(c))
			return false;
	}
	return true;
}

/* On with TCP's beginning, and TLS's. False when it comes to nothing. */
static bool conn_begin(struct conn *c)
{
	if (!c->connected && !upstream_is_through(c->watch.fd))
		return false;
	c->connected = true;
	if (c->stream.tls && tls_shake(c->stream.tls) < 0)
		return stream_is_not_now(errno);
	c->open = true;
	if (c->peer)
		peer_shaken(c->peer, tls_is_resumed(c->stream.tls));
	return true;
}

/* Why nothing came of it. */
static void note_failure(struct conn *c)
{
	int error = errno;

	if (!c->peer)
		return;
	if (c->open) {
		if (c->letter_count)
			peer_lost(c->peer, c->answered, now_us(c->tcp));
		return;
	}
	c->untrusted = tls_is_untrusted(c->stream.tls);
	peer_failed(c->peer, c->connected ? tls_why(c->stream.tls) : strerror(error), c->untrusted,
		    now_us(c->tcp));
}

static void conn_go_on(struct conn *c, unsigned what)
{
	bool good = c->open || conn_begin(c);

	c->busy = true;
	if (good && c->open) {
		/* who takes no more may still have said something before */
		bool takes = !(what & WATCH_WRITE) || conn_write(c);

		if (!takes || what & WATCH_READ)
			good = conn_read(c);
		good = good && takes;
	}
	c->busy = false;
	if (!good && !c->dead)
		note_failure(c);
	if (!good)
		conn_die(c);
	conn_settle(c);
}

static void on_ready(struct watch *w, unsigned what)
{
	struct conn *c = container_of(w, struct conn, watch);

	/* whoever had to write before it could read goes on reading */
	if (stream_wants_write(&c->stream))
		what |= WATCH_READ;
	conn_go_on(c, what | WATCH_WRITE);
}

static void on_next(struct timer *timer)
{
	struct conn *c = container_of(timer, struct conn, next);

	conn_go_on(c, WATCH_WRITE | (stream_has_more(&c->stream) ? (unsigned)WATCH_READ : 0u));
}

/*
 * The transport.
 */

static void tcp_send(struct transport *transport, struct sending *s)
{
	struct tcp *t = container_of(transport, struct tcp, transport);
	struct letter *l = mem_zero(sizeof(*l));

	l->tcp = t;
	l->sending = s;
	if (s->tls)
		l->peer = peers_get(t->peers, &s->to, s->tls_name);
	list_init(&l->link);
	s->slot = l;
	letter_place(l);
}

static void tcp_cancel(struct transport *transport, struct sending *s)
{
	struct letter *l = s->slot;
	struct conn *c;

	(void)transport;
	if (!l)
		return;
	c = l->conn;
	if (!c) {
		letter_free(l);
		return;
	}
	/* Nothing was heard since it was asked: whoever was there may be gone. */
	if (c->heard_us <= l->put_us && now_us(c->tcp) - l->put_us >= DEAF_US)
		c->deaf = true;
	letter_leave(l);
	letter_free(l);
	c->given_up++;
	conn_settle(c);
}

static void letters_free(struct list *letters)
{
	while (!list_is_empty(letters))
		letter_free(LIST_ITEM(letters->next, struct letter, link));
}

static void tcp_free(struct transport *transport)
{
	struct tcp *t = container_of(transport, struct tcp, transport);

	timer_stop(transport->env->loop, &t->tell_failing);
	letters_free(&t->waiting);
	letters_free(&t->failing);
	while (!list_is_empty(&t->conns)) {
		struct conn *c = LIST_ITEM(t->conns.next, struct conn, link);

		conn_die(c);
		letters_free(&c->letters);
		conn_free(c);
	}
	sources_free(t->sources);
	peers_free(t->peers);
	mem_free(t);
}

static void tcp_each(const struct transport *transport,
		     void (*fn)(const struct peer *peer, void *arg), void *arg)
{
	peers_each(container_of(transport, struct tcp, transport)->peers, fn, arg);
}

struct transport *upstream_tcp_new(struct env *env)
{
	static const struct transport_ops ops = {
		.name = "tcp",
		.send = tcp_send,
		.cancel = tcp_cancel,
		.free = tcp_free,
		.each_peer = tcp_each,
	};
	struct tcp *t = mem_zero(sizeof(*t));

	t->transport = (struct transport){ .ops = &ops, .env = env };
	t->peers = peers_new();
	list_init(&t->conns);
	list_init(&t->waiting);
	list_init(&t->failing);
	t->tell_failing.fire = on_failing;
	return &t->transport;
}
