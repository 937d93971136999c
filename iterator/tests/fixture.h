/* One resolution, with caches, a mesh and a clock of its own, for tests of the iterator's parts.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The query waits in a module that does nothing, and so does whatever is begun for it. */
#ifndef ITERATOR_TESTS_FIXTURE_H
#define ITERATOR_TESTS_FIXTURE_H

#include "iterator/iter.h"
#include "services/cache/infra.h"
#include "services/cache/msg.h"
#include "services/cache/rrset.h"
#include "services/mesh/cache_rules.h"
#include "services/mesh/mesh.h"
#include "services/query/snapshot.h"
#include "services/stats/stats.h"
#include "services/tests/conf.h"
#include "services/tests/made.h"
#include "util/base/loop.h"
#include "util/base/random.h"
#include "util/base/rcu.h"
#include "util/base/timebase.h"

enum { FIXTURE_BEGUN = 64 };

static struct fixture {
	struct loop *loop;
	struct snapshot *snapshot;
	struct stats stats;
	struct random random;
	struct env env;
	struct query *q;
	struct arena *arena; /* the query's */
	struct iter it;
	uint32_t now_s;
	const struct query *begun[FIXTURE_BEGUN]; /* for it, or beside it; the first of them */
	unsigned begun_count;
	struct event woken; /* what the query was told last */
	unsigned woken_count;
} fixture;

static inline enum step sleeper_operate(struct query *q, void *state, const struct event *ev)
{
	(void)state;
	if (!fixture.q) {
		fixture.q = q;
	} else if (q == fixture.q) {
		fixture.woken = *ev;
		fixture.woken_count++;
	} else if (ev->kind == EVENT_ASK && fixture.begun_count < FIXTURE_BEGUN) {
		fixture.begun[fixture.begun_count++] = q;
	}
	return STEP_WAIT;
}

static inline void nobody_waits(void *arg, const struct message *reply)
{
	(void)arg;
	(void)reply;
}

static const struct module sleeper = {
	.name = "sleeper", .state_size = 1, .wakes = WAKE_ANY, .operate = sleeper_operate
};

/* A query for `name` of that kind, and its resolution at the servers of no zone yet. */
static inline void fixture_begin(const char *conf, const char *name, uint16_t type, unsigned kind)
{
	static const struct module *const chain[] = { &sleeper, NULL };
	struct infra_how how = {
		.hosts = 100, .slabs = 1, .host_ttl_s = 900, .min_rtt_ms = 50, .max_rtt_ms = 120000
	};
	struct question asked = made_question(name, type);
	struct fault f = { 0 };

	fixture = (struct fixture){ .loop = loop_new_played() };
	fixture.snapshot = snapshot_new(conf_from(conf), &f);
	if (!fixture.snapshot)
		fail_msg("%s", f.text);
	random_play(&fixture.random, 1);
	fixture.env = (struct env){ .loop = fixture.loop,
				  .time = loop_time(fixture.loop),
				  .stats = &fixture.stats,
				  .random = &fixture.random,
				  .snapshot = fixture.snapshot,
				  .infra = infra_new(&how),
				  .rrsets = rrsetcache_new(1 << 20, 1),
				  .messages = msgcache_new(1 << 20, 1) };
	fixture.env.mesh = mesh_new(&fixture.env, chain);
	rcu_thread_join();
	rcu_turn_begin();
	mesh_resolve(fixture.env.mesh, &asked, kind, nobody_waits, NULL);
	fixture.arena = &fixture.q->arena;
	fixture.now_s = fixture.env.time->now_s;
	fixture.it = (struct iter){ .q = fixture.q,
				  .arena = fixture.arena,
				  .conf = &fixture.snapshot->conf->server,
				  .want = fixture.q->question,
				  .shown = fixture.q->question };
}

static inline void fixture_end(void)
{
	mesh_free(fixture.env.mesh);
	rcu_turn_end();
	msgcache_free(fixture.env.messages);
	rrsetcache_free(fixture.env.rrsets);
	infra_free(fixture.env.infra);
	snapshot_unpin(fixture.snapshot);
	loop_free(fixture.loop);
	rcu_flush();
	rcu_thread_leave();
}

static inline struct addr address(const char *text)
{
	struct fault f = { 0 };
	struct addr a;

	if (!addr_parse(&a, text, 53, &f))
		fail_msg("%s", f.text);
	return a;
}

/* The sets of the text are in the cache, as they would be with these flags. */
static inline void fixture_knows(const char *text, uint8_t flags)
{
	const struct rrset *sets[MADE_SETS];
	unsigned count = made_sets(fixture.arena, fixture.now_s, text, sets);

	for (unsigned i = 0; i < count; i++) {
		struct rrset *set = (struct rrset *)(uintptr_t)sets[i];

		set->flags |= flags;
		(void)rrsetcache_put(fixture.env.rrsets, set, fixture.now_s, fixture.arena);
	}
}

/* So is the message. */
static inline void fixture_recalls(const struct made *how)
{
	struct message *m = made_message(fixture.arena, fixture.now_s, how);
	struct msg_keep keep = { .now_s = fixture.now_s };

	(void)store_message(fixture.env.messages, fixture.snapshot->conf, m, &keep);
}

#endif
