/* Connections to servers, kept and shared: which one carries what (RFC 7766, 7858, 8484).
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Queries to one server are pipelined on the same connection and answered in any order; if a
 * connection has much to carry, another is opened beside it. A connection that fails after it had
 * answered something may merely have been idle too long for the server: its queries are sent once
 * more on a fresh one. Over TLS the first handshake with a server must finish before others begin,
 * so that these can resume its session. */
#include "services/upstream/pool.h"

#include "services/net/source.h"
#include "services/query/budget.h"
#include "services/query/env.h"
#include "services/query/snapshot.h"
#include "services/stats/stats.h"
#include "util/base/mem.h"
#include "util/conf/options.h"

enum {
	RESENDS_MOST = 3,      /* of one query, each after another query was answered … */
	RESENDS_KNOWN = 6,     /* … to a forwarder that resets connections, but answers: chance may hit one query often */
	AGAIN_MOST = 8,        /* retries if the server did not process the query */
	PIPELINE_MUCH = 32,    /* queries in flight that make another connection worthwhile … */
	PIPELINE_UNKNOWN = 4,  /* … to a server that has not answered on this one: it may take them one by one … */
	PIPELINE_US = 500000,  /* … and that make the last of them wait this long, at the pace of its answers */
	TURNED_AWAY_MOST = 16, /* of those waiting for a connection, before stopping */
	PATIENCE_MS = 500,     /* without an answer, where others need the place … */
	PATIENCE_ROUNDS = 2,   /* … of a server that has never answered over TCP: a handshake, and the question … */
	PATIENCE_LEAST_MS = 50, /* … and where one is waited for that has */
	CROWDED_US = 25000,    /* between looks for such a place */
	OTHERS_FIRST = 4,      /* every how many times those come first who are not favoured */
};

const struct conf_server *pool_conf(const struct pool *p)
{
	return &p->transport.env->snapshot->conf->server;
}

uint64_t pool_now_us(const struct pool *p)
{
	return p->transport.env->time->now_us;
}

struct tls_client *pool_client(const struct pool *p, const struct peer *peer)
{
	return peer ? p->transport.env->snapshot->tls_client : NULL;
}

/*
 * Choosing a connection.
 */

/* After a loss: a connection opened since; after a second one, an unused connection, in case the
 * server answers only once on each. */
static bool is_fresh_enough(const struct conn *c, const struct stream_query *l)
{
	return l->resends > 1 ? !c->carried : c->number > l->lost_number;
}

/* The connections to a query's destination. */
struct choice {
	struct conn *best; /* the least loaded, open ones first; or NULL */
	bool opening;      /* one is not open yet, or has no session to resume */
};

/* Session tickets come with the first answer. */
static bool is_opening(const struct conn *c)
{
	return !c->open || (c->peer && c->peer->answers == 0 && c->stream_query_count);
}

static bool is_better(const struct conn *c, const struct conn *than)
{
	if (!than || c->open != than->open)
		return !than || c->open;
	return c->stream_query_count < than->stream_query_count;
}

static struct choice choose(const struct pool *p, const struct stream_query *l)
{
	const struct tls_client *client = pool_client(p, l->peer);
	struct choice choice = { 0 };

	LIST_EACH (at, &p->conns) {
		struct conn *c = LIST_ITEM(at, struct conn, link);

		if (c->dead || c->no_more_queries || c->peer != l->peer || c->client != client ||
		    !addr_equals(&c->to, &l->transmission->to))
			continue;
		choice.opening |= is_opening(c);
		if (conn_may_carry(c) && is_fresh_enough(c, l) && is_better(c, choice.best))
			choice.best = c;
	}
	return choice;
}

/* For how long no answer has come though there are questions; 0 where that says nothing: a transfer, and
 * the few servers we are configured to ask over TLS. */
static uint64_t silent_us(const struct conn *c)
{
	const struct stream_query *first = LIST_ITEM(c->queries.next, struct stream_query, link);

	if (c->peer || first->transmission->many)
		return 0;
	return pool_now_us(c->pool) - MAX(c->told_us, first->put_us);
}

/*
 * Where there are too few: who must wait, and who makes way.
 */

static uint64_t *proof_of(struct pool *p, const struct addr *server, uint64_t *hash)
{
	*hash = addr_hash(server);
	return &p->proof[*hash % POOL_PROOFS];
}

static bool is_proven(struct pool *p, const struct addr *server)
{
	uint64_t hash, *at = proof_of(p, server, &hash);

	return *at == hash;
}

static void prove(struct conn *c, bool answers)
{
	uint64_t hash, *at = proof_of(c->pool, &c->to, &hash);

	if (answers)
		*at = hash;
	else if (*at == hash)
		*at = 0;
	c->proven = answers;
}

/* Those to servers that have answered over TCP before, and those the operator wants: to say nothing costs an
 * attacker's servers nothing, but here an answer each time. */
static bool is_favoured(const struct stream_query *l)
{
	return l->peer || l->transmission->many || is_proven(l->pool, &l->transmission->to);
}

/* How long a server that has never answered over TCP takes to do so. */
static uint32_t answer_ms(const struct transmission *s)
{
	return s->rtt_ms ? MIN(PATIENCE_ROUNDS * s->rtt_ms, (uint32_t)PATIENCE_MS)
			 : (uint32_t)PATIENCE_MS;
}

void pool_is_patient(struct conn *c, const struct transmission *s)
{
	c->proven = is_proven(c->pool, &c->to);
	c->patience_ms = c->proven ? (uint32_t)PATIENCE_MS : answer_ms(s);
}

static bool is_slower(const struct conn *c, uint32_t than_ms)
{
	return !c->dead && !c->proven && c->stream_query_count && c->patience_ms > than_ms;
}

/* For how long servers that have never answered may be silent if the query needs a place. Those that are slower,
 * or pretend to be, keep half of the places from it. */
static uint32_t patience_with_unproven(const struct pool *p, const struct stream_query *l)
{
	uint32_t own_ms = answer_ms(l->transmission);
	unsigned slower = 0;

	if (is_favoured(l))
		return PATIENCE_LEAST_MS;
	LIST_EACH (at, &p->conns)
		slower += is_slower(LIST_ITEM(at, struct conn, link), own_ms);
	return 2 * slower > p->conn_count ? own_ms : (uint32_t)PATIENCE_MS;
}

/* Close the connection that has been idle longest, or else the one to the server that has been silent
 * longest, if that is too long: or ten silent servers would deny TCP to all others. */
static bool make_room(struct pool *p, const struct stream_query *l)
{
	uint32_t unproven_ms = patience_with_unproven(p, l);
	struct conn *idle = NULL, *silent = NULL;
	uint64_t most_us = 0;

	LIST_EACH (at, &p->conns) {
		struct conn *c = LIST_ITEM(at, struct conn, link);
		uint32_t patience_ms = c->proven ? c->patience_ms : MIN(c->patience_ms, unproven_ms);

		if (c->dead || c->busy)
			continue;
		if (!c->stream_query_count && (!idle || c->idle_us < idle->idle_us))
			idle = c;
		if (c->stream_query_count && silent_us(c) >= MAX(most_us, patience_ms * US_PER_MS)) {
			silent = c;
			most_us = silent_us(c);
		}
	}
	if (!idle && silent) {
		prove(silent, false);
		idle = silent;
	}
	if (idle)
		conn_die(idle);
	return idle;
}

static bool is_full(const struct pool *p)
{
	uint32_t most = p->transport.env->servers_most;

	return p->conn_count >= pool_conf(p)->outgoing_num_tcp || (most && p->conn_count >= most);
}

/*
 * Queries on streams.
 */

void stream_query_free(struct stream_query *l)
{
	list_remove(&l->link);
	peer_drop(l->peer);
	mem_free(l);
}

struct stream_query *stream_query_find(const struct conn *c, uint16_t id)
{
	struct stream_query *l = c->by_id[id % ID_CHAINS];

	while (l && l->id != id)
		l = l->id_next;
	return l;
}

static void stream_query_wait(struct stream_query *l)
{
	struct pool *p = l->pool;

	l->transmission->queued = true;
	list_push_back(is_favoured(l) ? &p->favoured : &p->waiting, &l->link);
	if (is_full(p) && !timer_is_set(&p->crowded))
		timer_set(p->transport.env->loop, &p->crowded, CROWDED_US);
}

/* How many queries in flight make another connection worthwhile. Servers over TLS are the few that we are configured
 * to ask; they answer side by side. */
static unsigned pipeline_of(const struct conn *c)
{
	if (c->peer)
		return PIPELINE_MUCH;
	if (!c->answered)
		return PIPELINE_UNKNOWN;
	return (unsigned)MIN(1 + PIPELINE_US / (c->pace_us + 1), PIPELINE_MUCH);
}

static void take_along_from(struct conn *c, struct list *waiting)
{
	LIST_EACH_SAFE (at, waiting) {
		struct stream_query *l = LIST_ITEM(at, struct stream_query, link);

		if (l->peer == c->peer && addr_equals(&c->to, &l->transmission->to) &&
		    is_fresh_enough(c, l) && conn_may_carry(c))
			conn_carry(c, l);
	}
}

/* What waits for a connection to where this one leads need not wait any more. */
static void take_along(struct conn *c)
{
	take_along_from(c, &c->pool->favoured);
	take_along_from(c, &c->pool->waiting);
}

/* Whether the question has had its connections to this server, to no avail. */
static bool has_had_enough(const struct stream_query *l)
{
	const struct transmission *s = l->transmission;

	return s->budget && !budget_may_connect(s->budget, addr_hash(&s->to));
}

static struct conn *open_for(struct stream_query *l)
{
	struct transmission *s = l->transmission;
	struct conn *c = conn_open(l->pool, s, l->peer);

	if (c && s->budget)
		budget_connects(s->budget, addr_hash(&s->to));
	return c;
}

/* It was we who did not send it, which says nothing about the server. Where others are being asked the same server, one
 * may be answered yet. */
static void stream_query_is_withheld(struct stream_query *l)
{
	l->transmission->queued = true;
	stream_query_fails(l, UPSTREAM_SILENT, l->peer);
}

/* Put on a connection, in the queue for one (returns false), or on the failing list. */
static bool stream_query_place(struct stream_query *l)
{
	struct pool *p = l->pool;
	struct choice choice;
	struct conn *c, *made = NULL;

	list_remove(&l->link);
	l->transmission->queued = false;
	if (l->peer && peer_is_held(l->peer, pool_now_us(p))) {
		stream_query_fails(l, UPSTREAM_UNTRUSTED, false);
		return true;
	}
	choice = choose(p, l);
	c = choice.best;
	if (c && c->stream_query_count >= PIPELINE_MUCH && !choice.opening && !is_full(p))
		(void)conn_open(p, l->transmission, l->peer); /* for those that follow */
	else if (c && c->stream_query_count >= pipeline_of(c) && !is_full(p) && !has_had_enough(l))
		c = NULL;
	if (!c && !(l->peer && choice.opening) && has_had_enough(l)) {
		stream_query_is_withheld(l);
		return true;
	}
	if (!c && ((l->peer && choice.opening) || (is_full(p) && !make_room(p, l)))) {
		stream_query_wait(l);
		return false;
	}
	if (!c)
		c = made = open_for(l);
	if (!c)
		c = choice.best;
	if (c)
		conn_carry(c, l);
	else
		stream_query_fails(l,
			     l->peer && peer_is_held(l->peer, pool_now_us(p))
				     ? UPSTREAM_UNTRUSTED
				     : UPSTREAM_UNREACHABLE,
			     false);
	if (made)
		take_along(made);
	return true;
}

static void put_back(struct list *waiting, struct list *now)
{
	while (!list_is_empty(now)) {
		struct list *last = now->prev;

		list_remove(last);
		list_put_after(waiting, last);
	}
}

/* Stop early: not all that wait for the same thing are tried for nothing. */
static void admit_from(struct list *waiting, bool last_first)
{
	struct list now, refused;
	unsigned tries = 0;

	if (list_is_empty(waiting))
		return;
	list_take_all(&now, waiting);
	list_init(&refused);
	while (!list_is_empty(&now) && tries < TURNED_AWAY_MOST) {
		struct stream_query *l = LIST_ITEM(last_first ? now.prev : now.next, struct stream_query, link);

		if (stream_query_place(l))
			continue;
		tries++;
		if (!last_first)
			continue;
		list_remove(&l->link);
		list_push_front(&refused, &l->link);
	}
	put_back(waiting, &refused);
	put_back(waiting, &now);
}

void pool_admit(struct pool *p)
{
	bool others_first = ++p->admissions % OTHERS_FIRST == 0;

	admit_from(others_first ? &p->waiting : &p->favoured, false);
	admit_from(others_first ? &p->favoured : &p->waiting, false);
}

/* The places of silent servers go to what came last: what has waited long has little time left, and those
 * who deny others TCP fill the queue, too. */
static void on_crowded(struct timer *timer)
{
	struct pool *p = container_of(timer, struct pool, crowded);

	admit_from(&p->favoured, true);
	admit_from(&p->waiting, true);
	if (!list_is_empty(&p->favoured) || !list_is_empty(&p->waiting))
		timer_set(p->transport.env->loop, &p->crowded, CROWDED_US);
}

void stream_query_fails(struct stream_query *l, enum upstream_end why, bool retryable)
{
	struct pool *p = l->pool;

	if (l->conn)
		conn_drop(l->conn, l);
	l->why = why;
	l->retryable = retryable;
	list_push_back(&p->failing, &l->link);
	timer_set(p->transport.env->loop, &p->tell_failing, 0);
}

static void on_failing(struct timer *timer)
{
	struct pool *p = container_of(timer, struct pool, tell_failing);
	struct list now;

	list_take_all(&now, &p->failing);
	while (!list_is_empty(&now)) {
		struct stream_query *l = LIST_ITEM(now.next, struct stream_query, link);
		struct transmission *s = l->transmission;
		enum upstream_end why = l->why;

		s->retryable = l->retryable;
		stream_query_free(l);
		s->slot = NULL;
		s->failed(s, why);
	}
}

/* How long it takes the server from one answer to the next one, where there is something to answer. */
static void note_pace(struct conn *c, const struct stream_query *l)
{
	uint64_t now_us = pool_now_us(c->pool), took_us = now_us - MAX(c->told_us, l->put_us);

	c->pace_us = c->answered ? (3 * c->pace_us + took_us) / 4 : took_us;
	c->answered++;
	c->told_us = now_us;
}

void stream_query_answered(struct stream_query *l, const uint8_t *wire, size_t len)
{
	struct transmission *s = l->transmission;
	struct conn *c = l->conn;

	s->begun = s->many;
	if (s->many && !s->arrived(s, wire, len))
		return;
	conn_drop(c, l);
	note_pace(c, l);
	if (l->peer)
		peer_answered(l->peer, c->told_us - l->put_us);
	else if (!c->proven)
		prove(c, true);
	/* Whatever the asker makes of it, the server will not answer twice. */
	stream_query_free(l);
	s->slot = NULL;
	if (!s->many && !s->arrived(s, wire, len))
		s->failed(s, UPSTREAM_SILENT);
}

bool stream_query_again(struct stream_query *l)
{
	if (l->agains++ == AGAIN_MOST)
		return false;
	conn_drop(l->conn, l);
	stream_query_place(l);
	return true;
}

/* Send again, but not over a connection that exists now. */
static void resend(struct stream_query *l)
{
	l->resends++;
	l->lost_number = l->pool->opened;
	stream_query_place(l);
}

static bool is_worth_resending(const struct stream_query *l, const struct conn *c)
{
	unsigned answered = c->answered;

	if (c->untrusted || l->transmission->begun)
		return false;
	if (c->open && c->peer && c->peer->answers)
		return l->resends < RESENDS_KNOWN; /* a known server that is only unreliable */
	if (answered > l->answered_before)
		return l->resends < RESENDS_MOST; /* it makes progress, if only step by step */
	return answered && !l->resends;
}

void stream_query_lost(struct stream_query *l, struct conn *c)
{
	struct transmission *s = l->transmission;

	conn_drop(c, l);
	if (is_worth_resending(l, c)) {
		resend(l);
		return;
	}
	stream_query_free(l);
	s->slot = NULL;
	s->retryable = c->peer && c->open && !c->broken;
	s->failed(s, c->untrusted ? UPSTREAM_UNTRUSTED : UPSTREAM_SILENT);
}

/*
 * The transport.
 */

static void pool_send(struct transport *transport, struct transmission *s)
{
	struct pool *p = container_of(transport, struct pool, transport);
	struct stream_query *l = mem_zero(sizeof(*l));

	l->pool = p;
	l->transmission = s;
	if (transport_is_private(s->transport))
		l->peer = peers_get(p->peers, &s->to, s->tls_name, s->http_path);
	list_init(&l->link);
	s->slot = l;
	stream_query_place(l);
}

static void pool_cancel(struct transport *transport, struct transmission *s)
{
	struct stream_query *l = s->slot;
	struct conn *c;

	(void)transport;
	if (!l)
		return;
	c = l->conn;
	if (c)
		conn_give_up(c, l);
	stream_query_free(l);
	if (c)
		conn_after_event(c);
}

static void stream_queries_free(struct list *queries)
{
	while (!list_is_empty(queries))
		stream_query_free(LIST_ITEM(queries->next, struct stream_query, link));
}

static void pool_free(struct transport *transport)
{
	struct pool *p = container_of(transport, struct pool, transport);

	timer_stop(transport->env->loop, &p->tell_failing);
	timer_stop(transport->env->loop, &p->crowded);
	stream_queries_free(&p->favoured);
	stream_queries_free(&p->waiting);
	stream_queries_free(&p->failing);
	while (!list_is_empty(&p->conns)) {
		struct conn *c = LIST_ITEM(p->conns.next, struct conn, link);

		conn_die(c);
		stream_queries_free(&c->queries);
		conn_free(c);
	}
	sources_free(p->sources);
	peers_free(p->peers);
	mem_free(p);
}

static void pool_each(const struct transport *transport,
		      void (*fn)(const struct peer *peer, void *arg), void *arg)
{
	peers_each(container_of(transport, struct pool, transport)->peers, fn, arg);
}

static uint64_t pool_heard_us(const struct transmission *s)
{
	const struct stream_query *l = s->slot;

	return l && l->conn ? l->conn->told_us : 0;
}

struct transport *pool_new(struct env *env, const struct framing *const *framings)
{
	static const struct transport_ops ops = {
		.name = "pool",
		.send = pool_send,
		.cancel = pool_cancel,
		.free = pool_free,
		.heard_us = pool_heard_us,
		.each_peer = pool_each,
	};
	struct pool *p = mem_zero(sizeof(*p));

	p->transport = (struct transport){ .ops = &ops, .env = env };
	p->framings = framings;
	p->peers = peers_new();
	list_init(&p->conns);
	list_init(&p->favoured);
	list_init(&p->waiting);
	list_init(&p->failing);
	p->tell_failing.fire = on_failing;
	p->crowded.fire = on_crowded;
	return &p->transport;
}
