/* Questions to other servers over TCP: connections that are kept and shared (RFC 7766).
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Sendings to one server go out one behind the other on the same connection and are answered in
 * any order. A connection that dies after it had answered something was perhaps only idle for too
 * long in the server's eyes: its questions are sent once more on a fresh one. */
#include "services/env.h"
#include "services/snapshot.h"
#include "services/stats.h"
#include "services/upstream.h"
#include "services/upstream_source.h"
#include "util/list.h"
#include "util/loop.h"
#include "util/mem.h"
#include "util/options.h"
#include "util/random.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	IN_FIRST = 4096, /* bytes of a connection's first read buffer */
	READS_PER_TURN = 8,
	RESENDS_MOST = 3,    /* of one question, each after another had its answer */
	STRAYS_MOST = 16,    /* answers to nothing before a server is taken for mad */
	PIPELINE_MOST = 100, /* questions under way on one connection */
	DEAF_US = 1000000,   /* a question unanswered so long on a silent connection */
};

struct tcp;

struct conn {
	struct list link; /* tcp->conns */
	struct tcp *tcp;
	struct watch watch;
	struct timer timer; /* idle for too long; or, when dead, to be buried */
	struct addr to;
	struct list letters; /* under way, in the order they were put here */
	unsigned letter_count;
	unsigned number;  /* counts connections */
	unsigned carried; /* questions, all told */
	unsigned answered;
	unsigned strays;
	uint64_t heard_us, idle_us; /* last bytes; since when nothing is under way */
	bool connected, dead, deaf; /* deaf: takes no more questions */
	bool busy;                  /* somebody up the stack is working on it */
	uint8_t *in;
	size_t in_len, in_room;
	uint8_t *out; /* not written yet: out[out_at] to out[out_len] */
	size_t out_at, out_len, out_room;
};

/* A sending on its way. */
struct letter {
	struct list link; /* conn->letters, or tcp->waiting */
	struct sending *sending;
	struct conn *conn; /* NULL: waits for one */
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

static bool set_number(int fd, int level, int option, int value)
{
	return setsockopt(fd, level, option, &value, sizeof(value)) == 0;
}

static bool is_any(const struct addr *a)
{
	static const uint8_t any[sizeof(a->ip)];

	return memcmp(a->ip, any, sizeof(any)) == 0;
}

static bool bind_source(struct tcp *t, int fd, uint8_t family)
{
	struct sockaddr_storage ss;
	struct addr source;
	bool is_drawn;

	if (!sources_address(sources_get(t), t->transport.env->random, family, &source, &is_drawn))
		return false;
	if (is_any(&source))
		return true;
#ifdef IPV6_FREEBIND
	if (is_drawn)
		set_number(fd, IPPROTO_IPV6, IPV6_FREEBIND, 1);
#endif
#if HAVE_DECL_IP_BIND_ADDRESS_NO_PORT
	set_number(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1);
#endif
	return bind(fd, (struct sockaddr *)&ss, addr_to_sockaddr(&source, &ss)) == 0;
}

static void set_options(const struct tcp *t, int fd, uint8_t family)
{
	const struct conf_server *conf = conf_of(t);

	set_number(fd, IPPROTO_TCP, TCP_NODELAY, 1);
	if (conf->outgoing_tcp_mss)
		set_number(fd, IPPROTO_TCP, TCP_MAXSEG, (int)conf->outgoing_tcp_mss);
	if (conf->ip_dscp)
		set_number(fd, family == 6 ? IPPROTO_IPV6 : IPPROTO_IP,
			   family == 6 ? IPV6_TCLASS : IP_TOS, (int)conf->ip_dscp << 2);
}

/* A descriptor that is connecting; -1 when there cannot be one. */
static int start_connecting(struct tcp *t, const struct addr *to)
{
	struct sockaddr_storage ss;
	socklen_t len = addr_to_sockaddr(to, &ss);
	int fd = socket(to->family == 6 ? AF_INET6 : AF_INET,
			SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	set_options(t, fd, to->family);
	if (bind_source(t, fd, to->family) &&
	    (connect(fd, (struct sockaddr *)&ss, len) == 0 || errno == EINPROGRESS))
		return fd;
	close(fd);
	return -1;
}

static struct conn *conn_open(struct tcp *t, const struct addr *to)
{
	int fd = start_connecting(t, to);
	struct conn *c;

	if (fd < 0)
		return NULL;
	c = mem_zero(sizeof(*c));
	c->tcp = t;
	c->to = *to;
	c->number = ++t->opened;
	c->watch = (struct watch){ .fd = fd, .ready = on_ready };
	c->timer.fire = on_timer;
	list_init(&c->letters);
	list_push_back(&t->conns, &c->link);
	t->conn_count++;
	watch_start(t->transport.env->loop, &c->watch, WATCH_READ | WATCH_WRITE);
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
	close(c->watch.fd);
	c->watch.fd = -1;
	t->conn_count--;
	timer_set(t->transport.env->loop, &c->timer, 0);
}

static void conn_free(struct conn *c)
{
	timer_stop(c->tcp->transport.env->loop, &c->timer);
	list_remove(&c->link);
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
		ssize_t n =
			send(c->watch.fd, c->out + c->out_at, c->out_len - c->out_at, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			break;
		if (n < 0)
			return false;
		c->out_at += (size_t)n;
	}
	watch_want(&c->watch, c->out_at < c->out_len ? WATCH_READ | WATCH_WRITE : WATCH_READ);
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
	if (c->connected && !conn_write(c))
		conn_die(c);
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

static bool conn_may_carry(const struct conn *c, const struct letter *l)
{
	return !c->dead && !c->deaf && addr_equals(&c->to, &l->sending->to) &&
	       c->letter_count < PIPELINE_MOST &&
	       c->carried < conf_of(c->tcp)->max_reuse_tcp_queries && is_fresh_enough(c, l);
}

static struct conn *conn_for(struct tcp *t, const struct letter *l)
{
	LIST_EACH (at, &t->conns) {
		struct conn *c = LIST_ITEM(at, struct conn, link);

		if (conn_may_carry(c, l))
			return c;
	}
	return NULL;
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

/* On a connection, in the queue for one, or among those that fail. */
static void letter_place(struct tcp *t, struct letter *l)
{
	struct conn *c = conn_for(t, l);

	list_remove(&l->link);
	l->sending->queued = false;
	if (!c && t->conn_count >= conf_of(t)->outgoing_num_tcp && !make_room(t)) {
		l->sending->queued = true;
		list_push_back(&t->waiting, &l->link);
		return;
	}
	if (!c)
		c = conn_open(t, &l->sending->to);
	if (c) {
		letter_put(l, c);
		return;
	}
	list_push_back(&t->failing, &l->link);
	timer_set(t->transport.env->loop, &t->tell_failing, 0);
}

static void admit_waiting(struct tcp *t)
{
	struct list now;

	list_init(&now);
	list_put_after(t->waiting.prev, &now);
	list_remove(&t->waiting);
	while (!list_is_empty(&now))
		letter_place(t, LIST_ITEM(now.next, struct letter, link));
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

		letter_free(l);
		s->failed(s, UPSTREAM_UNREACHABLE);
	}
}

/*
 * Connections: their end, and what comes over them.
 */

static bool is_worth_resending(const struct letter *l, unsigned answered)
{
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
		if (is_worth_resending(l, c->answered)) {
			l->resends++;
			l->lost_number = t->opened;
			letter_place(t, l);
			continue;
		}
		letter_free(l);
		s->failed(s, UPSTREAM_SILENT);
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

/* After anything happened to it: bury it, close it, or let it rest until it is needed again. */
static void conn_settle(struct conn *c)
{
	struct tcp *t = c->tcp;
	const struct conf_server *conf = conf_of(t);

	if (c->busy)
		return;
	if (!c->dead && !c->letter_count &&
	    (!c->answered || c->deaf || c->carried >= conf->max_reuse_tcp_queries))
		conn_die(c);
	if (c->dead || c->letter_count)
		return; /* conn_die has set the timer that buries it */
	timer_set(t->transport.env->loop, &c->timer, conf->tcp_reuse_timeout * US_PER_MS);
	if (!list_is_empty(&t->waiting))
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
		/* A late answer to a question that was given up, or worse. */
		stat_bump(&c->tcp->transport.env->stats->unwanted_replies, 1);
		return ++c->strays <= STRAYS_MOST;
	}
	s = l->sending;
	letter_leave(l);
	c->answered++;
	/* Whatever it thinks of it: the server will not answer twice. */
	mem_free(l);
	s->slot = NULL;
	if (!s->arrived(s, wire, len))
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
		n = recv(c->watch.fd, c->in + c->in_len, c->in_room - c->in_len, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN || errno == EWOULDBLOCK;
		if (n == 0)
			return false;
		c->heard_us = now_us(c->tcp);
		c->in_len += (size_t)n;
		if (!conn_take_all(c))
			return false;
	}
	return true;
}

static bool conn_established(struct conn *c)
{
	int err = 0;
	socklen_t len = sizeof(err);

	if (getsockopt(c->watch.fd, SOL_SOCKET, SO_ERROR, &err, &len) < 0 || err)
		return false;
	c->connected = true;
	return true;
}

static void on_ready(struct watch *w, unsigned what)
{
	struct conn *c = container_of(w, struct conn, watch);
	bool good = c->connected || conn_established(c);

	c->busy = true;
	if (good && what & WATCH_WRITE)
		good = conn_write(c);
	if (good && what & WATCH_READ)
		good = conn_read(c);
	c->busy = false;
	if (!good)
		conn_die(c);
	conn_settle(c);
}

/*
 * The transport.
 */

static void tcp_send(struct transport *transport, struct sending *s)
{
	struct tcp *t = container_of(transport, struct tcp, transport);
	struct letter *l = mem_zero(sizeof(*l));

	l->sending = s;
	list_init(&l->link);
	s->slot = l;
	letter_place(t, l);
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
	mem_free(l);
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
	mem_free(t);
}

struct transport *upstream_tcp_new(struct env *env)
{
	static const struct transport_ops ops = {
		.name = "tcp",
		.send = tcp_send,
		.cancel = tcp_cancel,
		.free = tcp_free,
	};
	struct tcp *t = mem_zero(sizeof(*t));

	t->transport = (struct transport){ .ops = &ops, .env = env };
	list_init(&t->conns);
	list_init(&t->waiting);
	list_init(&t->failing);
	t->tell_failing.fire = on_failing;
	return &t->transport;
}
