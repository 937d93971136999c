/* A worker without sockets: its queries and answers go to lists, and its clock is set by hand.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/replay/world.h"

#include <string.h>

#include "daemon/process/forget.h"
#include "daemon/worker/frontend.h"
#include "daemon/worker/modules.h"
#include "daemon/worker/worker.h"
#include "services/net/edns_conn.h"
#include "services/policy/policy.h"
#include "services/query/snapshot.h"
#include "util/base/bytes.h"
#include "util/base/loop.h"
#include "util/base/mem.h"
#include "util/base/rcu.h"
#include "util/conf/options.h"
#include "util/dns/msg.h"

/* ---- the upstream side ---- */

static void wire_send(struct transport *t, struct transmission *s)
{
	struct played_wire *wire = container_of(t, struct played_wire, transport);
	struct outstanding *o = mem_zero(sizeof(*o));

	put_u16(s->wire, 0);
	o->transmission = s;
	o->tcp = wire->tcp;
	s->slot = o;
	list_push_front(&wire->world->outstanding, &o->link);
	if (wire->world->sent)
		wire->world->sent(wire->world->arg, o);
}

static void forget(struct outstanding *o)
{
	o->transmission->slot = NULL;
	list_remove(&o->link);
	mem_free(o);
}

static void wire_cancel(struct transport *t, struct transmission *s)
{
	(void)t;
	if (s->slot)
		forget(s->slot);
}

static void wire_free(struct transport *t)
{
	(void)t;
}

static const struct transport_ops wire_ops = {
	.name = "played",
	.patient = true,
	.send = wire_send,
	.cancel = wire_cancel,
	.free = wire_free,
};

/* ---- the client side ---- */

static void client_reply(const struct client *c, const uint8_t *bytes, size_t len)
{
	struct world *w = c->via;
	struct client_answer *a = mem_zero(sizeof(*a));
	struct edns_conn told = { .options = c->ops->stream && w->keeps_alive ? EDNS_CONN_KEEPALIVE : 0,
				  .keepalive_ms = w->snapshot->conf->server.edns_tcp_keepalive_timeout };
	uint8_t *copy = mem_new(len + EDNS_CONN_KEEPALIVE_LEN);

	memcpy(copy, bytes, len);
	a->to = c->from;
	a->tcp = c->ops->stream;
	a->wire = (struct slice){ copy, edns_conn_add(copy, len, len + EDNS_CONN_KEEPALIVE_LEN, &told) };
	list_push_back(&w->answers, &a->link);
}

static void client_drop(const struct client *c)
{
	(void)c;
}

static const struct client_ops udp_client = {
	.name = "played", .stream = false, .reply = client_reply, .drop = client_drop,
};
static const struct client_ops tcp_client = {
	.name = "played", .stream = true, .reply = client_reply, .drop = client_drop,
};

void client_answer_free(struct client_answer *a)
{
	list_remove(&a->link);
	mem_free((void *)(uintptr_t)a->wire.at);
	mem_free(a);
}

/* ---- the world ---- */

static void empty_caches(void *caches)
{
	(void)caches_empty(caches);
}

static void forget_some(void *caches, struct forget *what)
{
	(void)forget_now(caches, what);
}

bool world_begin(struct world *w, struct conf *conf, uint64_t start_s, struct fault *f)
{
	struct worker_how how = { 0 };

	list_init(&w->outstanding);
	list_init(&w->answers);
	w->udp = (struct played_wire){ .transport.ops = &wire_ops, .world = w };
	w->tcp = (struct played_wire){ .transport.ops = &wire_ops, .world = w, .tcp = true };
	w->worker = NULL;
	w->keeps_alive = false;
	w->snapshot = modules_snapshot(conf, f);
	if (!w->snapshot)
		return false;
	random_play(&w->random, 1);
	blocklists_start(w->snapshot->policy->lists, NULL, conf, NULL, false);
	w->loop = loop_new_played();
	loop_time(w->loop)->steady = w->steady;
	timebase_play(loop_time(w->loop), start_s * US_PER_S);
	caches_init(&w->caches, w->snapshot->conf);
	how.snapshot = w->snapshot;
	how.caches = &w->caches;
	how.loop = w->loop;
	how.random = &w->random;
	how.udp = &w->udp.transport;
	how.tcp = &w->tcp.transport;
	rcu_turn_begin();
	w->worker = worker_new(&how, f);
	rcu_turn_end();
	if (w->worker) {
		w->worker->env.purge = empty_caches;
		w->worker->env.forget = forget_some;
		w->worker->env.purge_arg = &w->caches;
		loop_play(w->loop, 0);
		return true;
	}
	world_end(w);
	return false;
}

void world_end(struct world *w)
{
	w->sent = NULL;
	rcu_turn_begin();
	worker_free(w->worker);
	rcu_turn_end();
	LIST_EACH_SAFE(at, &w->answers)
		client_answer_free(LIST_ITEM(at, struct client_answer, link));
	LIST_EACH_SAFE(at, &w->outstanding)
		forget(LIST_ITEM(at, struct outstanding, link));
	snapshot_unpin(w->snapshot);
	rcu_flush();
	caches_clear(&w->caches);
	loop_free(w->loop);
	rcu_flush();
}

/* Run everything that was posted or is due now. */
static void run_posted(struct world *w)
{
	loop_play(w->loop, 0);
}

void world_ask(struct world *w, const struct addr *from, bool tcp, struct slice message)
{
	static uint8_t in[MSG_MAX], out[MSG_MAX];
	struct packet p = {
		.in = { in, MIN(message.len, sizeof(in)) },
		.out = writer_over(out, sizeof(out)),
		.client = { .ops = tcp ? &tcp_client : &udp_client, .from = *from, .via = w },
	};
	enum disposition v;

	memcpy(in, message.at, p.in.len);
	if (tcp && w->snapshot->conf->server.edns_tcp_keepalive && edns_conn_asked(in, p.in.len) & EDNS_CONN_KEEPALIVE)
		w->keeps_alive = true;
	rcu_turn_begin();
	v = frontend_take(w->worker, &p);
	rcu_turn_end();
	if (v == DISPOSITION_SEND)
		client_reply(&p.client, p.out.start, writer_len(&p.out));
	run_posted(w);
}

void world_deliver(struct world *w, struct outstanding *o, const struct slice *answers,
		   size_t count)
{
	struct transmission *s = o->transmission;
	bool over = false;

	forget(o);
	rcu_turn_begin();
	for (size_t i = 0; i < count && !over; i++) {
		over = s->arrived(s, answers[i].at, answers[i].len);
		if (!over && !s->many)
			break;
	}
	/* nothing more will come: an answer that was not accepted counts as silence */
	if (!over)
		s->failed(s, UPSTREAM_SILENT);
	rcu_turn_end();
	run_posted(w);
}

void world_fail(struct world *w, struct outstanding *o)
{
	struct transmission *s = o->transmission;

	forget(o);
	rcu_turn_begin();
	s->failed(s, UPSTREAM_SILENT);
	rcu_turn_end();
	run_posted(w);
}

bool world_stray(struct world *w, struct outstanding *o)
{
	bool over;

	rcu_turn_begin();
	over = o->transmission->strayed(o->transmission);
	if (over) { /* what is sent instead is another one, though maybe of the same sender */
		list_remove(&o->link);
		mem_free(o);
	}
	rcu_turn_end();
	run_posted(w);
	return over;
}

void world_pass(struct world *w, uint64_t us)
{
	struct timebase *t = loop_time(w->loop);

	/* advance first, so that every timer that is due sees the new time */
	timebase_play(t, t->now_us + us);
	run_posted(w);
}

uint64_t world_next_timer(struct world *w)
{
	return loop_next_due(w->loop);
}
