/* One query to one server: the tries, the transports, and what is learnt from them.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Equal queries to a server share one exchange; each asker has a struct upstream_ask in its own
 * arena. An exchange makes one try after another, each with a struct transmission of its own. */
#include "services/upstream/upstream.h"

#include "services/cache/infra.h"
#include "services/dnstap/tap.h"
#include "services/query/budget.h"
#include "services/query/env.h"
#include "services/query/snapshot.h"
#include "services/stats/stats.h"
#include "services/upstream/question.h"
#include "services/upstream/unwanted.h"
#include "services/upstream/wire.h"
#include "util/base/arena.h"
#include "util/base/hash.h"
#include "util/base/list.h"
#include "util/base/loop.h"
#include "util/base/mem.h"
#include "util/conf/options.h"

#include <string.h>
#include <sys/socket.h>

enum {
	BUCKETS = 1024,
	UDP_TRIES = 2,       /* per request to one server; then another gets its chance */
	STRAYS_MOST = 3,     /* near misses over UDP before switching to TCP */
	STRAYS_LAST = 16,    /* where TCP is not to be had: before another port and id are tried, if any */
	WAIT_MOST_MS = 5000, /* no client would wait longer, whatever the backoff says */
	WAIT_LEAST_MS = 10,
	WAIT_IN_TURN_MS = 10000, /* for a server that answers one after another, at most */
	TLS_ROUNDS = 3, /* round trips until a new connection's first answer */
	TLS_WAIT_LEAST_MS = 1200,
};

#ifndef MESSAGE_LARGE
#define MESSAGE_LARGE 4096 /* bytes: what is made of such a message can be freed before its query is */
#endif

/* One message as sent. */
struct attempt {
	struct transmission transmission;
	struct exchange *exchange;
	uint8_t *wire; /* UPSTREAM_WIRE_MAX bytes after the exchange */
};

struct exchange {
	struct upstream *upstream;
	uint64_t hash;
	struct exchange *bucket_next;
	struct list asks;             /* struct upstream_ask */
	struct upstream_question ask; /* its pointers point into this struct */
	struct netblock subnet;       /* ask.subnet, if that is not NULL */
	enum transport_kind way;             /* currently used */
	bool with_edns;
	bool edns_refused; /* over UDP; TCP is to confirm it */
	bool fell_back;    /* without EDNS now; to be remembered if that works */
	bool capped;       /* the name's case is random in this try */
	bool refused;      /* the transport failed at once: connection refused or broken off */
	bool over;         /* the askers are being told the result */
	bool came_back;    /* over UDP for the last time, since TCP, where it had turned to, was not to be had */
	uint8_t tries, strays;
	uint32_t wait_ms; /* of this try */
	uint64_t sent_us;
	uint64_t left_ns;           /* wall clock, while a tap is attached (services/dnstap/tap.h) */
	struct addr from;           /* likewise */
	struct timer timer;         /* for this try; or for a failure found at once */
	struct attempt attempts[2]; /* a new one begins while the transport still holds the old one */
	unsigned current;           /* index of the attempt being sent, if `under_way` */
	unsigned sends;             /* so far */
	bool under_way;
	uint8_t more[]; /* names, texts and wire data, each as long as needed */
};

struct upstream_ask {
	struct list link;          /* exchange->asks */
	struct exchange *exchange; /* NULL once told or cancelled */
	struct arena *arena;
	void (*done)(void *owner, const struct upstream_reply *reply);
	void *owner;
};

struct upstream {
	struct env *env;
	struct transport *ways[TRANSPORTS];
	bool are_played;
	struct exchange *buckets[BUCKETS];
};

static struct transport *(*const makers[])(struct env *env) = {
#define TRANSPORT(id, private, port, make, ...) make,
#include "services/net/transport.def"
#undef TRANSPORT
};

static const struct conf_server *conf_of(const struct upstream *u)
{
	return &u->env->snapshot->conf->server;
}

struct upstream *upstream_new(struct env *env, struct transport *udp, struct transport *streams)
{
	struct upstream *u = mem_zero(sizeof(*u));

	u->env = env;
	u->are_played = udp != NULL;
	for (unsigned i = 0; i < TRANSPORTS; i++) {
		if (u->are_played)
			u->ways[i] = i == TRANSPORT_UDP ? udp : streams;
		else
			u->ways[i] =
				i && makers[i] == makers[i - 1] ? u->ways[i - 1] : makers[i](env);
		u->ways[i]->env = env;
	}
	return u;
}

struct transport *upstream_way(struct upstream *u, enum transport_kind transport)
{
	return u->ways[transport];
}

/* Carriers that share a transport are adjacent. */
static bool is_first_of(const struct upstream *u, unsigned i)
{
	return i == 0 || u->ways[i] != u->ways[i - 1];
}

void upstream_each_peer(const struct upstream *u, void (*fn)(const struct peer *peer, void *arg),
			void *arg)
{
	for (unsigned i = 0; i < TRANSPORTS; i++)
		if (is_first_of(u, i) && u->ways[i]->ops->each_peer)
			u->ways[i]->ops->each_peer(u->ways[i], fn, arg);
}

/*
 * The table of exchanges.
 */

static struct exchange *exchange_find(struct upstream *u, const struct upstream_question *q,
				      uint64_t hash)
{
	for (struct exchange *x = u->buckets[hash % BUCKETS]; x; x = x->bucket_next)
		if (x->hash == hash && upstream_question_equals(&x->ask, q))
			return x;
	return NULL;
}

static void table_remove(struct exchange *x)
{
	struct exchange **at = &x->upstream->buckets[x->hash % BUCKETS];

	while (*at != x)
		at = &(*at)->bucket_next;
	*at = x->bucket_next;
}

static void on_timer(struct timer *t);

static const void *lay(uint8_t **at, const void *bytes, size_t len)
{
	const void *copy = memcpy(*at, bytes, len);

	*at += len;
	return copy;
}

static struct exchange *exchange_new(struct upstream *u, const struct upstream_question *q,
				     uint64_t hash)
{
	size_t zone_len = dname_len(q->zone);
	size_t tls_len = q->tls_name ? strlen(q->tls_name) + 1 : 0;
	size_t path_len = q->http_path ? strlen(q->http_path) + 1 : 0;
	struct exchange *x = mem_new(sizeof(*x) + q->q.name_len + zone_len + tls_len + path_len +
				     COUNT(x->attempts) * UPSTREAM_WIRE_MAX);
	uint8_t *more = x->more;

	memset(x, 0, sizeof(*x));
	x->upstream = u;
	x->hash = hash;
	list_init(&x->asks);
	x->ask = *q;
	x->ask.known = NULL;
	x->ask.budget = q->budget ? budget_pin(q->budget) : NULL;
	x->ask.q.name = lay(&more, q->q.name, q->q.name_len);
	x->ask.zone = lay(&more, q->zone, zone_len);
	if (tls_len)
		x->ask.tls_name = lay(&more, q->tls_name, tls_len);
	if (path_len)
		x->ask.http_path = lay(&more, q->http_path, path_len);
	if (UNLIKELY(q->subnet != NULL)) {
		x->subnet = *q->subnet;
		x->ask.subnet = &x->subnet;
	}
	x->timer.fire = on_timer;
	for (unsigned i = 0; i < COUNT(x->attempts); i++, more += UPSTREAM_WIRE_MAX)
		x->attempts[i] = (struct attempt){ .exchange = x, .wire = more };
	x->bucket_next = u->buckets[hash % BUCKETS];
	u->buckets[hash % BUCKETS] = x;
	return x;
}

/* When this returns, nothing is under way any more. */
static void exchange_stop(struct exchange *x)
{
	struct upstream *u = x->upstream;

	timer_stop(u->env->loop, &x->timer);
	if (!x->under_way)
		return;
	x->under_way = false;
	u->ways[x->way]->ops->cancel(u->ways[x->way], &x->attempts[x->current].transmission);
}

static void exchange_clear(struct exchange *x)
{
	if (x->ask.budget)
		budget_drop(x->ask.budget);
	mem_free(x);
}

static void exchange_free(struct exchange *x)
{
	exchange_stop(x);
	table_remove(x);
	exchange_clear(x);
}

/*
 * Telling the askers.
 */

static void clear_own_arena(void *arena)
{
	arena_clear(arena);
}

/* Parses it into the arena, or, if it is large, into one of its own that ends with that. */
static bool parse(struct upstream_reply *reply, const uint8_t *wire, size_t len, struct arena *a,
		  uint32_t now_s)
{
	reply->message = arena_new(a, struct message);
	reply->own_arena = NULL;
	if (len <= MESSAGE_LARGE)
		return msg_parse(wire, len, a, now_s, reply->message);
	reply->own_arena = arena_new(a, struct arena);
	arena_on_clear(a, clear_own_arena, reply->own_arena);
	if (msg_parse(wire, len, reply->own_arena, now_s, reply->message))
		return true;
	arena_clear(reply->own_arena);
	return false;
}

/* Give `reply` to every asker; `message`, if there is one, was parsed for the first of them. A
 * callback may ask again, or cancel another request of the same exchange. */
static void exchange_end(struct exchange *x, struct upstream_reply *reply, const uint8_t *wire,
			 size_t len)
{
	uint32_t now_s = x->upstream->env->time->now_s;
	bool is_first = true;

	exchange_stop(x);
	table_remove(x);
	x->over = true;
	reply->server = x->ask.server;
	reply->sends = x->sends;
	reply->over_tcp = x->way != TRANSPORT_UDP || x->came_back;
	reply->had_edns = x->with_edns;
	reply->refused = x->refused && !reply->message;
	if (x->ask.budget && x->way != TRANSPORT_UDP && reply->message)
		budget_answered(x->ask.budget, addr_hash(&x->ask.server));
	while (!list_is_empty(&x->asks)) {
		struct upstream_ask *a = LIST_ITEM(x->asks.next, struct upstream_ask, link);

		list_remove(&a->link);
		a->exchange = NULL;
		if (reply->message && !is_first) {
			PROMISE(parse(reply, wire, len, a->arena, now_s));
			reply->message->q = x->ask.q;
		}
		if (reply->message)
			reply->message->q.name =
				arena_copy(a->arena, x->ask.q.name, x->ask.q.name_len);
		is_first = false;
		a->done(a->owner, reply);
	}
	exchange_clear(x);
}

static void exchange_fail(struct exchange *x, enum upstream_end end)
{
	struct upstream_reply reply = { .end = end };

	exchange_end(x, &reply, NULL, 0);
}

/*
 * Tries.
 */

static bool on_arrived(struct transmission *s, const uint8_t *wire, size_t len);
static bool on_strayed(struct transmission *s);
static void on_failed(struct transmission *s, enum upstream_end why);

static bool may_use(const struct upstream *u, enum transport_kind way)
{
	const struct conf_server *conf = conf_of(u);

	if (way != TRANSPORT_UDP)
		return conf->do_tcp && conf->outgoing_num_tcp > 0;
	return (conf->do_udp || conf->udp_upstream_without_downstream) && !conf->tcp_upstream;
}

static bool is_patient(const struct exchange *x)
{
	return x->upstream->ways[x->way]->ops->patient;
}

/* Set the time limit of this try. A server that is down gets one try, to see whether it is back. */
static void set_wait(struct exchange *x, const struct infra_view *known)
{
	struct upstream *u = x->upstream;
	const struct env *e = u->env;
	struct infra_view view;
	uint32_t wait;

	if (known)
		view = *known;
	else
		infra_look(e->infra, &x->ask.server, x->ask.zone, e->time, &view);
	x->attempts[x->current].transmission.rtt_ms = view.rtt_ms;
	if (x->way == TRANSPORT_TCP) {
		x->wait_ms = conf_of(u)->tcp_auth_query_timeout;
		return;
	}
	wait = view.rto_ms;
	if (x->ask.wait_ms)
		wait = x->ask.wait_ms << (x->tries - 1);
	x->wait_ms = MAX(MIN(wait, (uint32_t)WAIT_MOST_MS), (uint32_t)WAIT_LEAST_MS);
	/* a handshake takes its round trips, and yet another server should get its chance while the
	 * client still waits */
	if (transport_is_private(x->way))
		x->wait_ms = MIN(MAX(TLS_ROUNDS * wait, (uint32_t)TLS_WAIT_LEAST_MS),
				 (uint32_t)conf_of(u)->tcp_auth_query_timeout);
	if (view.down) {
		x->tries = UDP_TRIES;
		infra_probed(e->infra, &x->ask.server, x->ask.zone, e->time);
	}
	if (x->ask.once)
		x->tries = UDP_TRIES;
}

/*
 * For taps.
 */

static struct exchange *exchange_of(struct transmission *s)
{
	return container_of(s, struct attempt, transmission)->exchange;
}

static struct tap_asking asking_of(const struct exchange *x)
{
	static const enum tap_protocol protocols[] = {
#define TRANSPORT(id, private, port, make, stat, tap, words) tap,
#include "services/net/transport.def"
#undef TRANSPORT
	};

	return (struct tap_asking){ .forwarder = x->ask.recurse,
				    .protocol = protocols[x->way],
				    .from = &x->from,
				    .server = &x->ask.server,
				    .zone = x->ask.zone,
				    .asked_ns = x->left_ns };
}

static void on_leaves(struct transmission *s, int fd)
{
	struct exchange *x = exchange_of(s);
	struct tap *tap = x->upstream->env->tap;
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);
	struct tap_asking asking;

	if (!tap)
		return;
	if (getsockname(fd, (struct sockaddr *)&ss, &len) != 0 ||
	    !addr_from_sockaddr(&x->from, (struct sockaddr *)&ss, len))
		x->from = (struct addr){ .family = 0 };
	x->left_ns = tap_now_ns();
	asking = asking_of(x);
	tap_server_query(tap, &asking, &(struct slice){ s->wire, s->len });
}

static void tell_answer(const struct exchange *x, const uint8_t *wire, size_t len)
{
	struct tap_asking asking = asking_of(x);

	tap_server_response(x->upstream->env->tap, &asking, &(struct slice){ wire, len });
}

/* `known`: what was just looked up about the server, or NULL. */
static void exchange_send(struct exchange *x, const struct infra_view *known)
{
	struct upstream *u = x->upstream;
	struct transport *t = u->ways[x->way];
	struct upstream_form form;
	struct attempt *c;

	PROMISE(!x->under_way);
	x->current ^= 1;
	c = &x->attempts[x->current];
	x->tries++;
	x->sends++;
	x->capped = x->ask.caps && x->way == TRANSPORT_UDP;
	form = (struct upstream_form){ x->way, x->with_edns, x->capped };
	c->transmission = (struct transmission){ .to = x->ask.server,
				       .transport = x->way,
				       .tls_name = x->ask.tls_name,
				       .http_path = x->ask.http_path,
				       .budget = x->ask.budget,
				       .keepalive = upstream_asks_keepalive(&x->ask, &form),
				       .wire = c->wire,
				       .len = upstream_write(u->env, &x->ask, &form, c->wire),
				       .leaves = u->env->tap ? on_leaves : NULL,
				       .arrived = on_arrived,
				       .strayed = on_strayed,
				       .failed = on_failed };
	x->sent_us = u->env->time->now_us;
	x->under_way = true;
	set_wait(x, known);
	if (!t->ops->patient)
		timer_set(u->env->loop, &x->timer, x->wait_ms * US_PER_MS);
	stat_bump(x->way == TRANSPORT_UDP ? &u->env->stats->udp_out : &u->env->stats->tcp_out, 1);
	t->ops->send(t, &c->transmission);
}

/* Start over with the other transport, or with the same one used differently. */
static void exchange_turn_to(struct exchange *x, enum transport_kind way)
{
	exchange_stop(x);
	x->way = way;
	x->tries = 0;
	x->strays = 0;
	exchange_send(x, NULL);
}

/* Over TCP because of what came over UDP, and not because TCP is what is used. */
static bool is_second_way(const struct exchange *x)
{
	return x->way == TRANSPORT_TCP && x->ask.transport == TRANSPORT_UDP && may_use(x->upstream, TRANSPORT_UDP);
}

static void note_silence(struct exchange *x)
{
	struct env *e = x->upstream->env;

	/* Failure of TCP after a truncated answer says nothing about a server that did answer. */
	if (is_second_way(x))
		return;
	if (x->attempts[x->current].transmission.queued)
		return; /* it was we who were too busy to send */
	infra_silent(e->infra, &x->ask.server, x->ask.zone, x->ask.q.type, x->wait_ms, e->time);
}

/* The server refused EDNS over UDP and does not answer over TCP: then do without EDNS. */
static bool turn_to_plain(struct exchange *x)
{
	if (!x->edns_refused || x->way != TRANSPORT_TCP)
		return false;
	x->edns_refused = false;
	x->refused = false;
	x->with_edns = false;
	exchange_turn_to(x, TRANSPORT_UDP);
	return true;
}

/* The server was to be asked over TCP because of what came over UDP, but cannot be: then once more over UDP, with another
 * port and id. Somebody may guess them, or answers may be cut for a moment only (response rate limiting), but there
 * is no other way. */
static bool turn_back(struct exchange *x)
{
	if (!is_second_way(x) || x->came_back)
		return false;
	x->came_back = true;
	x->refused = false;
	exchange_turn_to(x, TRANSPORT_UDP);
	return true;
}

static void exchange_give_up(struct exchange *x, enum upstream_end end)
{
	if (!turn_to_plain(x) && !turn_back(x))
		exchange_fail(x, end);
}

static bool may_turn_to_tcp(const struct exchange *x)
{
	return x->way == TRANSPORT_UDP && !x->came_back && may_use(x->upstream, TRANSPORT_TCP);
}

/* Nobody waits for its answer any more (upstream_leave), nor has begun to again. */
static bool is_left(const struct exchange *x)
{
	return list_is_empty(&x->asks) && !x->over;
}

/* The server is busy with others' questions on the connection that this one is on: it was not silent. Sets the time
 * anew. */
static bool is_being_served(struct exchange *x)
{
	const struct transport *t = x->upstream->ways[x->way];
	const struct transmission *s = &x->attempts[x->current].transmission;
	uint64_t now_us = x->upstream->env->time->now_us, heard_us, until_us;

	if (x->way != TRANSPORT_TCP || !t->ops->heard_us || (heard_us = t->ops->heard_us(s)) <= x->sent_us)
		return false;
	until_us = MIN(heard_us + x->wait_ms * US_PER_MS, x->sent_us + WAIT_IN_TURN_MS * US_PER_MS);
	if (until_us <= now_us)
		return false;
	timer_set(x->upstream->env->loop, &x->timer, until_us - now_us);
	return true;
}

/* A try has timed out, or the exchange failed from the start. */
static void on_timer(struct timer *t)
{
	struct exchange *x = container_of(t, struct exchange, timer);

	if (UNLIKELY(is_left(x))) {
		note_silence(x);
		exchange_free(x);
		return;
	}
	if (!x->under_way) {
		exchange_fail(x, UPSTREAM_UNREACHABLE);
		return;
	}
	if (is_being_served(x))
		return;
	note_silence(x);
	if (x->strays && may_turn_to_tcp(x)) {
		exchange_turn_to(x, TRANSPORT_TCP);
	} else if (x->way == TRANSPORT_UDP && x->tries < UDP_TRIES && !x->came_back) {
		exchange_stop(x);
		exchange_send(x, NULL);
	} else {
		exchange_give_up(x, UPSTREAM_SILENT);
	}
}

static void on_failed(struct transmission *s, enum upstream_end why)
{
	struct exchange *x = exchange_of(s);
	struct env *e = x->upstream->env;

	x->under_way = false;
	if (UNLIKELY(is_left(x))) {
		if (why == UPSTREAM_SILENT)
			note_silence(x);
		exchange_free(x);
		return;
	}
	x->refused = !is_patient(x) && !s->retryable;
	if (why == UPSTREAM_UNREACHABLE && !is_patient(x))
		infra_unsendable(e->infra, e->time);
	else if (why == UPSTREAM_SILENT)
		note_silence(x);
	exchange_give_up(x, why);
}

/*
 * Responses.
 */

/* A message that is no response. True if no more are waited for. */
static bool note_stray(struct exchange *x)
{
	struct upstream *u = x->upstream;

	unwanted_note(u->env);
	if (UNLIKELY(is_left(x)))
		return false;
	x->strays++; /* to STRAYS_LAST at most */
	if (is_patient(x) || x->way != TRANSPORT_UDP) {
		/* Nothing else can come: nobody is between us and the server. */
		x->under_way = false;
		x->refused = !is_patient(x);
		exchange_give_up(x, UPSTREAM_SILENT);
		return true;
	}
	if (x->strays < (may_turn_to_tcp(x) ? STRAYS_MOST : STRAYS_LAST))
		return false;
	/* Somebody is guessing; TCP cannot be guessed. */
	x->under_way = false;
	if (may_turn_to_tcp(x))
		exchange_turn_to(x, TRANSPORT_TCP);
	else
		exchange_fail(x, UPSTREAM_SILENT);
	return true;
}

static bool on_strayed(struct transmission *s)
{
	return note_stray(exchange_of(s));
}

/* Over UDP the refusal may be forged to make us do without signatures: if we want those, the server
 * must confirm it over TCP. It may do so honestly: a zone with a DS RRset need not be one we
 * validate, and the validator will decide what a plain answer is worth. */
static void turn_from_refusal(struct exchange *x)
{
	if (x->ask.insists && may_turn_to_tcp(x)) {
		x->edns_refused = true;
		exchange_turn_to(x, TRANSPORT_TCP);
		return;
	}
	x->with_edns = false;
	/* not remembered: signatures are requested anew, and a client subnet may have been what was refused (RFC 7871 7.1.1) */
	x->fell_back = !x->ask.insists && !x->ask.subnet;
	exchange_turn_to(x, x->way);
}

static enum stat_transport transport_of(const struct exchange *x)
{
	static const enum stat_transport counted[] = {
#define TRANSPORT(id, private, port, make, stat, ...) stat,
#include "services/net/transport.def"
#undef TRANSPORT
	};

	return counted[x->way];
}

static uint32_t rtt_of(const struct exchange *x)
{
	uint64_t passed_us = x->upstream->env->time->now_us - x->sent_us;

	return (uint32_t)MIN(passed_us / US_PER_MS, (uint64_t)UINT32_MAX);
}

static uint32_t note_answer(struct exchange *x, const struct message *m)
{
	struct env *e = x->upstream->env;
	struct infra_heard heard = { .rtt_ms = rtt_of(x), .edns = EDNS_UNTRIED };

	stats_asked(e->stats, transport_of(x), e->time->now_us - x->sent_us);
	/* One forged refusal must not cost a zone its signatures: remember it only after a good
	 * plain answer. */
	if (m->rcode == RCODE_NOERROR || m->rcode == RCODE_NXDOMAIN) {
		if (x->fell_back)
			heard.edns = EDNS_FAILS;
		else if (x->with_edns)
			heard.edns = EDNS_WORKS;
	}
	if (!is_second_way(x))
		infra_answered(e->infra, &x->ask.server, x->ask.zone, &heard, e->time);
	else if (heard.edns != EDNS_UNTRIED)
		infra_set_edns(e->infra, &x->ask.server, x->ask.zone, heard.edns, e->time);
	return heard.rtt_ms;
}

/* Over UDP, a truncated answer of a server that can be asked over TCP is only a hint (RFC 7766
 * 5). */
static bool is_cut(const struct exchange *x, const uint8_t *wire)
{
	return msg_flags(wire) & FLAG_TC && may_turn_to_tcp(x);
}

/* It has answered, whatever is in it. */
static void note_alive(struct exchange *x)
{
	struct env *e = x->upstream->env;
	struct infra_heard heard = { .rtt_ms = rtt_of(x), .edns = EDNS_UNTRIED };

	infra_answered(e->infra, &x->ask.server, x->ask.zone, &heard, e->time);
}

static bool on_arrived(struct transmission *s, const uint8_t *wire, size_t len)
{
	struct exchange *x = exchange_of(s);
	struct upstream_reply reply = { .end = UPSTREAM_ANSWERED };
	enum upstream_echo echo =
		upstream_check_echo(x->attempts[x->current].wire, x->capped, wire, len);

	if (UNLIKELY(x->upstream->env->tap != NULL))
		tell_answer(x, wire, len);
	if (echo == ECHO_NONE)
		return note_stray(x);
	if (UNLIKELY(is_left(x))) {
		x->under_way = false;
		note_alive(x);
		exchange_free(x);
		return true;
	}
	if (echo == ECHO_MANGLED) {
		x->under_way = false;
		exchange_fail(x, UPSTREAM_MANGLED);
		return true;
	}
	if (is_cut(x, wire)) {
		x->under_way = false;
		note_alive(x);
		exchange_turn_to(x, TRANSPORT_TCP);
		return true;
	}
	if (!parse(&reply, wire, len, LIST_ITEM(x->asks.next, struct upstream_ask, link)->arena,
		   x->upstream->env->time->now_s))
		return note_stray(x);
	x->under_way = false;
	if (x->with_edns && upstream_refuses_edns(reply.message)) {
		turn_from_refusal(x);
		return true;
	}
	reply.message->q = x->ask.q;
	reply.rtt_ms = note_answer(x, reply.message);
	exchange_end(x, &reply, wire, len);
	return true;
}

/*
 * Starting a request.
 */

static void exchange_begin(struct exchange *x, const struct infra_view *known)
{
	struct upstream *u = x->upstream;
	const struct env *e = u->env;
	struct infra_view view;

	/* A query that must be private is never sent in cleartext, even if there is no other
	 * way. */
	x->way = x->ask.transport;
	if (!transport_is_private(x->way) && conf_of(u)->tls_upstream)
		x->way = TRANSPORT_TLS;
	else if (x->way == TRANSPORT_UDP && !may_use(u, TRANSPORT_UDP))
		x->way = TRANSPORT_TCP;
	if (!may_use(u, x->way)) {
		timer_set(e->loop, &x->timer, 0);
		return;
	}
	if (!known) {
		infra_look(e->infra, &x->ask.server, x->ask.zone, e->time, &view);
		known = &view;
	}
	x->with_edns = x->ask.insists || known->edns != EDNS_FAILS;
	exchange_send(x, known);
}

struct upstream_ask *upstream_ask(struct upstream *u, const struct upstream_question *question,
				  struct arena *arena,
				  void (*done)(void *owner, const struct upstream_reply *reply),
				  void *owner)
{
	uint64_t hash = upstream_question_hash(question);
	struct exchange *x = exchange_find(u, question, hash);
	bool is_new = !x;
	struct upstream_ask *a = arena_new(arena, struct upstream_ask);

	if (is_new)
		x = exchange_new(u, question, hash);
	*a = (struct upstream_ask){ .exchange = x, .arena = arena, .done = done, .owner = owner };
	list_push_back(&x->asks, &a->link);
	if (is_new)
		exchange_begin(x, question->known);
	return a;
}

void upstream_cancel(struct upstream_ask *a)
{
	struct exchange *x = a->exchange;

	if (!x)
		return;
	a->exchange = NULL;
	list_remove(&a->link);
	if (list_is_empty(&x->asks) && !x->over)
		exchange_free(x);
}

void upstream_leave(struct upstream_ask *a)
{
	struct exchange *x = a->exchange;

	if (!x || x->over || !x->under_way || x->way != TRANSPORT_UDP || is_patient(x) || a->link.next != a->link.prev) {
		upstream_cancel(a);
		return;
	}
	a->exchange = NULL;
	list_remove(&a->link);
	x->tries = UDP_TRIES;
}

void upstream_free(struct upstream *u)
{
	if (!u)
		return;
	for (unsigned i = 0; i < BUCKETS; i++) {
		while (u->buckets[i]) {
			struct exchange *x = u->buckets[i];

			LIST_EACH_SAFE (at, &x->asks) {
				LIST_ITEM(at, struct upstream_ask, link)->exchange = NULL;
				list_remove(at);
			}
			exchange_free(x);
		}
	}
	for (unsigned i = TRANSPORTS; i-- && !u->are_played;)
		if (is_first_of(u, i))
			u->ways[i]->ops->free(u->ways[i]);
	mem_free(u);
}
