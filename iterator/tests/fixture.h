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
#include "util/base/random.h"
#include "util/base/rcu.h"
#include "util/base/timebase.h"

static struct house {
	struct loop *loop;
	struct snapshot *snapshot;
	struct stats stats;
	struct random random;
	struct env env;
	struct query *q;
	struct arena *arena; /* the query's */
	struct iter it;
	uint32_t now_s;
} house;

static inline enum step sleeper_operate(struct query *q, void *state, const struct event *ev)
{
	(void)state;
	(void)ev;
	if (!house.q)
		house.q = q;
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
static inline void house_begin(const char *conf, const char *name, uint16_t type, unsigned kind)
{
	static const struct module *const chain[] = { &sleeper, NULL };
	struct infra_how how = {
		.hosts = 100, .slabs = 1, .host_ttl_s = 900, .min_rtt_ms = 50, .max_rtt_ms = 120000
	};
	struct question asked = made_question(name, type);
	struct fault f = { 0 };

	house = (struct house){ .loop = loop_new_played() };
	house.snapshot = snapshot_new(conf_from(conf), &f);
	if (!house.snapshot)
		fail_msg("%s", f.text);
	random_play(&house.random, 1);
	house.env = (struct env){ .loop = house.loop,
				  .time = loop_time(house.loop),
				  .stats = &house.stats,
				  .random = &house.random,
				  .snapshot = house.snapshot,
				  .infra = infra_new(&how),
				  .rrsets = rrsetcache_new(1 << 20, 1),
				  .messages = msgcache_new(1 << 20, 1) };
	house.env.mesh = mesh_new(&house.env, chain);
	rcu_thread_join();
	rcu_turn_begin();
	mesh_resolve(house.env.mesh, &asked, kind, nobody_waits, NULL);
	house.arena = &house.q->arena;
	house.now_s = house.env.time->now_s;
	house.it = (struct iter){ .q = house.q,
				  .arena = house.arena,
				  .conf = &house.snapshot->conf->server,
				  .want = house.q->question,
				  .shown = house.q->question };
}

static inline void house_end(void)
{
	mesh_free(house.env.mesh);
	rcu_turn_end();
	msgcache_free(house.env.messages);
	rrsetcache_free(house.env.rrsets);
	infra_free(house.env.infra);
	snapshot_unpin(house.snapshot);
	loop_free(house.loop);
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
static inline void house_knows(const char *text, uint8_t flags)
{
	const struct rrset *sets[MADE_SETS];
	unsigned count = made_sets(house.arena, house.now_s, text, sets);

	for (unsigned i = 0; i < count; i++) {
		struct rrset *set = (struct rrset *)(uintptr_t)sets[i];

		set->flags |= flags;
		(void)rrsetcache_put(house.env.rrsets, set, house.now_s, house.arena);
	}
}

/* So is the message. */
static inline void house_recalls(const struct made *how)
{
	struct message *m = made_message(house.arena, house.now_s, how);
	struct msg_keep keep = { .now_s = house.now_s };

	(void)store_message(house.env.messages, house.snapshot->conf, m, &keep);
}

#endif
