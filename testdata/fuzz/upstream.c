/* Any bytes from a server, at any time: only a match is handed on, everybody is told at most once.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The input is a list of steps: a byte that says what happens, a 16-bit length, and so many bytes.
 */
#include "services/upstream/upstream.h"

#include "services/cache/infra.h"
#include "services/query/env.h"
#include "services/query/snapshot.h"
#include "services/stats/stats.h"
#include "util/base/arena.h"
#include "util/base/hash.h"
#include "util/base/loop.h"
#include "util/base/mem.h"
#include "util/base/random.h"
#include "util/base/rcu.h"
#include "util/conf/options.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum happening {
	COMES,         /* the bytes, as the answer */
	COMES_FITTING, /* the same, with our question written over theirs */
	TIME_PASSES,   /* `length` milliseconds */
	STRAYS,
	FAILS,
	ASKED, /* once more, the question of the first byte */
	CANCELLED,
	HAPPENINGS
};

enum { ASKS_MOST = 32 };

static struct {
	struct conf *conf;
	struct stats stats;
	struct infra *infra;
	struct snapshot snapshot;
} fixture;

struct fake {
	struct transport transport;
	struct transmission *under_way;
};

static struct {
	struct loop *loop;
	struct env env;
	struct random random;
	struct upstream *upstream;
	struct fake udp, tcp;
	struct arena arena;
	struct upstream_ask *asks[ASKS_MOST];
	unsigned told[ASKS_MOST], count;
	const uint8_t *last; /* what came in last, while it is being validated */
	size_t last_len;
} world;

static const uint8_t name[] = "\3www\7example", zone[] = "\7example";

static void fake_send(struct transport *t, struct transmission *s)
{
	struct fake *f = container_of(t, struct fake, transport);

	PROMISE(!f->under_way); /* there is one question only */
	f->under_way = s;
}

static void fake_cancel(struct transport *t, struct transmission *s)
{
	struct fake *f = container_of(t, struct fake, transport);

	PROMISE(f->under_way == s);
	f->under_way = NULL;
}

static const struct transport_ops ops = { .name = "fake", .send = fake_send, .cancel = fake_cancel };

/* What was handed on as an answer must have come in just now, and speak of our question. */
static void check_answer(const struct message *m)
{
	const uint8_t *at = world.last;

	PROMISE(at && world.last_len >= MSG_HEAD_LEN);
	PROMISE((at[2] & 0xf8) == 0x80);
	PROMISE(dname_equals(m->q.name, name) && m->q.type == 1 && m->q.class_ == 1);
	if (get_u16(at + 4) == 0) {
		PROMISE((at[3] & 15) == RCODE_FORMERR || (at[3] & 15) == RCODE_NOTIMP);
		return;
	}
	PROMISE(get_u16(at + 4) == 1 && world.last_len >= MSG_HEAD_LEN + sizeof(name) + 4);
	for (size_t i = 0; i < sizeof(name); i++)
		PROMISE(ascii_lower[at[MSG_HEAD_LEN + i]] == name[i]);
	PROMISE(get_u32(at + MSG_HEAD_LEN + sizeof(name)) == 0x10001);
}

static void done(void *owner, const struct upstream_reply *reply)
{
	unsigned *told = owner;

	PROMISE(++*told == 1);
	world.asks[told - world.told] = NULL;
	PROMISE((reply->end == UPSTREAM_ANSWERED) == (reply->message != NULL));
	if (reply->message)
		check_answer(reply->message);
}

static void ask(uint8_t how)
{
	struct upstream_question q = { .q = { name, sizeof(name), 1, 1 },
				       .zone = zone,
				       .transport = how & 1 ? TRANSPORT_TCP : TRANSPORT_UDP,
				       .caps = how & 2,
				       .dnssec = how & 4 };

	if (world.count == ASKS_MOST)
		return;
	q.server = (struct addr){ .ip = { 192, 0, 2, 1 }, .port = 53, .family = 4 };
	world.asks[world.count] =
		upstream_ask(world.upstream, &q, &world.arena, done, &world.told[world.count]);
	world.count++;
}

static void cancel_one(size_t which)
{
	if (!world.count)
		return;
	which %= world.count;
	if (world.asks[which])
		upstream_cancel(world.asks[which]);
	world.asks[which] = NULL;
}

static struct fake *fake_waiting(void)
{
	return world.udp.under_way ? &world.udp : world.tcp.under_way ? &world.tcp : NULL;
}

static void comes(const uint8_t *at, size_t len, bool fitting)
{
	struct fake *f = fake_waiting();
	struct transmission *s;
	uint8_t *copy;
	bool over;

	if (!f)
		return;
	s = f->under_way;
	copy = mem_copy(at, len); /* exactly as long as it is, for the sanitizer's sake */
	if (fitting && len >= MSG_HEAD_LEN + sizeof(name) + 4) {
		copy[2] = (uint8_t)((copy[2] & 7) | 0x80);
		put_u16(copy + 4, 1);
		memcpy(copy + MSG_HEAD_LEN, s->wire + MSG_HEAD_LEN, sizeof(name) + 4);
	}
	world.last = copy;
	world.last_len = len;
	f->under_way = NULL; /* whatever becomes of it, it is not to be cancelled */
	over = s->arrived(s, copy, len);
	if (!over) {
		PROMISE(!fake_waiting());
		f->under_way = s;
	}
	world.last = NULL;
	mem_free(copy);
}

static void strays(void)
{
	struct fake *f = fake_waiting();
	struct transmission *s = f ? f->under_way : NULL;

	if (!s)
		return;
	f->under_way = NULL;
	if (!s->strayed(s))
		f->under_way = s;
}

static void fails(size_t how)
{
	struct fake *f = fake_waiting();
	struct transmission *s = f ? f->under_way : NULL;

	if (!s)
		return;
	f->under_way = NULL;
	s->failed(s, how & 1 ? UPSTREAM_SILENT : UPSTREAM_UNREACHABLE);
}

static void happen(enum happening h, const uint8_t *at, size_t len, uint8_t how)
{
	switch (h) {
	case COMES:
	case COMES_FITTING:
		comes(at, len, h == COMES_FITTING);
		return;
	case TIME_PASSES:
		loop_play(world.loop, len * US_PER_MS);
		return;
	case STRAYS:
		strays();
		return;
	case FAILS:
		fails(len);
		return;
	case ASKED:
		ask(how);
		return;
	case CANCELLED:
	case HAPPENINGS:
		cancel_one(len);
		return;
	}
}

static void fixture_open(void)
{
	struct infra_how how = { 1000, 1, 900, 50, 120000, false, INFRA_RTO_UNKNOWN_MS };

	if (fixture.conf)
		return;
	rcu_thread_join();
	hash_start(true);
	fixture.conf = conf_new();
	fixture.infra = infra_new(&how);
	fixture.snapshot = (struct snapshot){ .conf = fixture.conf, .pins = 1 };
}

static void world_begin(void)
{
	memset(&world, 0, sizeof(world));
	world.loop = loop_new_played();
	random_play(&world.random, 1);
	world.env = (struct env){ .loop = world.loop,
				  .time = loop_time(world.loop),
				  .stats = &fixture.stats,
				  .random = &world.random,
				  .snapshot = &fixture.snapshot,
				  .infra = fixture.infra };
	world.udp.transport = world.tcp.transport = (struct transport){ &ops, &world.env };
	world.upstream = upstream_new(&world.env, &world.udp.transport, &world.tcp.transport);
	arena_init(&world.arena);
	infra_flush(fixture.infra, NULL);
}

static void world_end(void)
{
	upstream_free(world.upstream);
	PROMISE(!fake_waiting());
	arena_clear(&world.arena);
	loop_free(world.loop);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct reader r = reader_over(data, len);
	uint8_t how = read_u8(&r);

	fixture_open();
	rcu_turn_begin();
	world_begin();
	ask(how);
	while (reader_left(&r)) {
		enum happening h = read_u8(&r) % HAPPENINGS;
		size_t n = read_u16(&r);
		bool has_bytes = h == COMES || h == COMES_FITTING;
		size_t here = has_bytes ? MIN(n, reader_left(&r)) : 0;
		const uint8_t *at = read_bytes(&r, here);

		if (at)
			happen(h, at, has_bytes ? here : n, how);
	}
	world_end();
	rcu_turn_end();
	return 0;
}
