/* A wire for tests of upstream questions: it keeps what is sent until the test says what becomes of
 * it.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SERVICES_UPSTREAM_TESTS_FIXTURE_H
#define SERVICES_UPSTREAM_TESTS_FIXTURE_H

#include "services/cache/infra.h"
#include "services/query/env.h"
#include "services/query/snapshot.h"
#include "services/stats/stats.h"
#include "services/tests/conf.h"
#include "services/upstream/upstream.h"
#include "util/base/arena.h"
#include "util/base/fault.h"
#include "util/base/hash.h"
#include "util/base/loop.h"
#include "util/base/random.h"
#include "util/base/rcu.h"
#include "util/dns/rr.h"

enum { SENT_MOST = 64, TOLD_MOST = 16 };

struct fake {
	struct transport transport;
	struct transmission *sent[SENT_MOST];
	unsigned count, cancelled;
	uint64_t heard_us; /* the server has answered others then */
};

static struct world {
	struct loop *loop;
	struct env env;
	struct snapshot snapshot;
	struct stats stats;
	struct random random;
	struct upstream *upstream;
	struct fake udp, tcp;
	struct arena arena;
	struct upstream_reply told[TOLD_MOST];
	unsigned told_count;
	struct upstream_question again; /* asked anew out of the first telling, if it has a name */
} world;

static inline void fake_send(struct transport *t, struct transmission *s)
{
	struct fake *f = container_of(t, struct fake, transport);

	assert_true(f->count < SENT_MOST);
	put_u16(s->wire, (uint16_t)(0x4000 + f->count));
	f->sent[f->count++] = s;
}

static inline void fake_cancel(struct transport *t, struct transmission *s)
{
	struct fake *f = container_of(t, struct fake, transport);
	bool found = false;

	for (unsigned i = 0; i < SENT_MOST; i++)
		found |= f->sent[i] == s;
	assert_true(found);
	f->cancelled++;
}

static inline uint64_t fake_heard_us(const struct transmission *s)
{
	(void)s;
	return world.tcp.heard_us;
}

static const UNUSED struct transport_ops hasty = { "fake", false, fake_send, fake_cancel, NULL, fake_heard_us, NULL };
static const UNUSED struct transport_ops patient = { "played", true, fake_send, fake_cancel, NULL, NULL, NULL };

static inline void world_begin_with(const char *conf_text, const struct transport_ops *ops)
{
	struct infra_how infra = { 1000, 1, 900, 50, 120000, false, INFRA_RTO_UNKNOWN_MS };

	world = (struct world){ .loop = loop_new_played() };
	world.snapshot.conf = conf_from(conf_text);
	world.snapshot.pins = 1;
	random_play(&world.random, 7);
	world.env = (struct env){ .loop = world.loop,
				  .time = loop_time(world.loop),
				  .stats = &world.stats,
				  .random = &world.random,
				  .snapshot = &world.snapshot,
				  .infra = infra_new(&infra) };
	world.udp.transport = world.tcp.transport = (struct transport){ ops, &world.env };
	world.upstream = upstream_new(&world.env, &world.udp.transport, &world.tcp.transport);
	arena_init(&world.arena);
	rcu_thread_join();
	rcu_turn_begin();
}

static inline void world_begin(const char *conf_text)
{
	world_begin_with(conf_text, &hasty);
}

static inline void world_end(void)
{
	upstream_free(world.upstream);
	rcu_turn_end();
	infra_free(world.env.infra);
	conf_free(world.snapshot.conf);
	arena_clear(&world.arena);
	loop_free(world.loop);
	rcu_flush();
	rcu_thread_leave();
}

static const uint8_t zone[] = "\7example";
static const uint8_t www[] = "\3www\7example";

static inline struct upstream_question question(void)
{
	struct upstream_question q = { .q = { www, sizeof(www), TYPE_A, CLASS_IN }, .zone = zone };

	addr_parse(&q.server, "192.0.2.1", 53, NULL);
	return q;
}

static inline void done(void *owner, const struct upstream_reply *reply)
{
	(void)owner;
	assert_true(world.told_count < TOLD_MOST);
	world.told[world.told_count++] = *reply;
	if (world.again.q.name) {
		struct upstream_question q = world.again;
		struct upstream_ask *a;

		world.again.q.name = NULL;
		a = upstream_ask(world.upstream, &q, &world.arena, done, NULL);
		assert_non_null(a);
	}
}

static inline struct upstream_ask *ask(const struct upstream_question *q)
{
	return upstream_ask(world.upstream, q, &world.arena, done, NULL);
}

static inline struct upstream_ask *ask_plainly(void)
{
	struct upstream_question q = question();

	return ask(&q);
}

struct bytes {
	uint8_t at[512];
	size_t len;
};

/* The question that was sent last, as its answer: flags, one address record, OPT if `opt`. */
static inline struct bytes echo_of(const struct fake *f, uint16_t flags, bool has_address,
				   bool has_opt, uint8_t ext_rcode)
{
	static const uint8_t address[] = { 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 9 };
	const struct transmission *s = f->sent[f->count - 1];
	struct bytes b;
	struct writer w = writer_over(b.at, sizeof(b.at));
	struct edns opt = { .present = true, .udp_size = 1232, .ext_rcode = ext_rcode };
	size_t name_len = dname_measure(s->wire + MSG_HEAD_LEN, s->wire + s->len);

	write_u16(&w, msg_id(s->wire));
	write_u16(&w, (uint16_t)(FLAG_QR | flags));
	write_u16(&w, 1);
	write_u16(&w, has_address);
	write_u16(&w, 0);
	write_u16(&w, has_opt);
	write_bytes(&w, s->wire + MSG_HEAD_LEN, name_len + 4);
	if (has_address)
		write_bytes(&w, address, sizeof(address));
	if (has_opt)
		edns_write(&w, &opt);
	assert_false(w.bad);
	b.len = writer_len(&w);
	return b;
}

static inline bool deliver(const struct fake *f, const struct bytes *b)
{
	struct transmission *s = f->sent[f->count - 1];

	return s->arrived(s, b->at, b->len);
}

static inline bool answer(const struct fake *f)
{
	struct bytes b = echo_of(f, FLAG_AA, true, true, 0);

	return deliver(f, &b);
}

static inline struct infra_view view(void)
{
	struct upstream_question q = question();
	struct infra_view v;

	infra_look(world.env.infra, &q.server, zone, world.env.time, &v);
	return v;
}

#endif
