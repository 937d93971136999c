/* Claims about dns64, cachedb and subnetcache: which events each state takes, and that any other ends the query.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * EVENT_ASK and EVENT_ANSWER come with the control only: never to a module that waits. */
#include "services/cache/rrset.h"
#include "services/cache/subnet_index.h"
#include "services/cachedb/cachedb.h"
#include "services/dns64/dns64.h"
#include "services/forward/subnets.h"
#include "services/mesh/subnet_group.h"
#include "services/mesh/tests/fixture.h"
#include "util/names/trie.h"

/* A state of a module: the configuration and question that lead to it, and what it takes there. */
static const struct row {
	const char *why;
	const struct module *module;
	const char *options;
	uint16_t type;
	bool waits;
	enum event_kind begins; /* to wait: with this event */
	bool moved;             /* the client has: it is answered all the same */
	unsigned taken;         /* bits by enum event_kind; with these alone the client gets its answer */
} rows[] = {
	{ "dns64, passing on", &dns64_module, "server:\n", TYPE_AAAA, false, EVENT_ASK, false,
	  1u << EVENT_ASK | 1u << EVENT_ANSWER },
	{ "dns64, waiting for the A records first", &dns64_module, "server:\ndns64-synthall: yes\n", TYPE_AAAA, true,
	  EVENT_ASK, false, WAKE_CHILD },
	{ "dns64, waiting for the A records after all", &dns64_module, "server:\n", TYPE_AAAA, true, EVENT_ANSWER, false,
	  WAKE_CHILD },
	{ "cachedb, passing on", &cachedb_module, "cachedb:\nbackend: testframe\n", TYPE_A, false, EVENT_ASK, false,
	  1u << EVENT_ASK | 1u << EVENT_ANSWER },
	{ "cachedb, waiting for the store", &cachedb_module, "cachedb:\nbackend: testframe\n", TYPE_A, true, EVENT_ASK, false,
	  WAKE_TURN },
	{ "subnetcache, passing on", &subnetcache_module, "server:\n", TYPE_A, false, EVENT_ASK, false,
	  1u << EVENT_ASK | 1u << EVENT_ANSWER },
	{ "subnetcache, a group", &subnetcache_module,
	  "server:\nmodule-config: \"subnetcache iterator\"\nsend-client-subnet: 192.0.2.0/24\n", TYPE_A, true,
	  EVENT_ANSWER, true, WAKE_TURN },
};

/* ---- the module under test, and an event put in its way ---- */

static struct {
	const struct row *row;
	enum event_kind event; /* EVENT_KINDS: none */
	bool done;
	bool stood; /* it has waited */
} way;

static enum step operate(struct query *q, void *state, const struct event *ev)
{
	const struct module *m = way.row->module;
	static struct message reply;
	static struct query child = { .reply = &reply };
	enum step step;

	if (!way.done && way.event != EVENT_KINDS && q->depth == 0 && !q->subnet && ev->kind == way.row->begins) {
		way.done = true;
		if (!way.row->waits)
			return m->operate(q, state, &(struct event){ .kind = way.event, .child = &child });
		mesh_wake(q, &(struct event){ .kind = way.event }); /* next, if it waits now */
	}
	step = m->operate(q, state, ev);
	way.stood |= step == STEP_WAIT;
	return step;
}

/* The module below: it stops what is for a subnet, as the iterator does. */
static enum step below_operate(struct query *q, void *state, const struct event *ev)
{
	(void)state;
	(void)ev;
	q->ecs.need = q->kind & QUERY_ROUTED && !q->subnet && way.row->waits ? ECS_REQUIRED : ECS_UNUSED;
	answer_with(q, RCODE_NOERROR);
	return STEP_UP;
}

static struct subnets *rules;

static void begin(const struct row *row, enum event_kind event)
{
	static struct module under;
	static const struct module below = { .name = "below", .state_size = 1, .operate = below_operate };
	static const struct module *const chain[] = { &under, &below, NULL };
	struct fault f = { 0 };

	world_begin(row->options);
	mesh_free(world.mesh);
	way = (__typeof__(way)){ .row = row, .event = event };
	under = *row->module;
	under.operate = operate;
	if (!subnets_read(&rules, world.snapshot.conf, &f))
		fail_msg("%s", f.text);
	world.snapshot.subnets = rules;
	world.snapshot.dns64_ignored = trie_new();
	world.env.subnet_index = subnet_index_new(1 << 20, 1);
	world.env.rrsets = rrsetcache_new(1 << 20, 1);
	world.env.mesh = world.mesh = mesh_new(&world.env, chain);
	if (under.init)
		assert_true(under.init(&world.env, &f));
}

static void end(void)
{
	static const struct module *const chain[] = { &finder, NULL };

	mesh_free(world.mesh);
	if (way.row->module->deinit)
		way.row->module->deinit(&world.env);
	world.env.mesh = world.mesh = mesh_new(&world.env, chain);
	subnet_index_free(world.env.subnet_index);
	rrsetcache_free(world.env.rrsets);
	subnets_free(rules);
	trie_free(world.snapshot.dns64_ignored, NULL);
	world_end();
}

static void ask_as(uint16_t type)
{
	struct client c = { .ops = &datagram, .from = { .family = 4, .ip = { 192, 0, 2, 7 } }, .tag = 7 };
	struct client_subnet where = { .shown = subnet_of(&c.from, 24) };
	struct request r = { .id = 7, .flags = FLAG_RD, .where = rules ? &where : NULL };

	r.q = question_of("n.example");
	r.q.type = type;
	mesh_ask(world.mesh, &r, &c, NULL);
	loop_play(world.loop, 9 * US_PER_S);
}

/* ---- claims ---- */

static void with_the_events_it_takes_a_query_goes_on(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		begin(&rows[i], EVENT_KINDS);
		ask_as(rows[i].type);
		if (world.heard_count != 1 || world.heard[0].dropped ||
		    msg_rcode(world.heard[0].wire) != RCODE_NOERROR)
			fail_msg("%s: no answer", rows[i].why);
		if (rows[i].waits && !way.stood)
			fail_msg("%s: it did not wait", rows[i].why);
		assert_int_equal(count(&world.stats.count[STAT_queries_stuck]), 0);
		assert_true((rows[i].taken & WAKE_ANY & ~rows[i].module->wakes) == 0);
		end();
	}
}

static void any_other_event_ends_the_query(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		for (unsigned e = 0; e < EVENT_KINDS; e++) {
			bool with_control = e == EVENT_ASK || e == EVENT_ANSWER;

			if (rows[i].taken & 1u << e || (rows[i].waits && with_control))
				continue;
			begin(&rows[i], (enum event_kind)e);
			ask_as(rows[i].type);
			if (!way.done || world.heard_count != 1 || world.heard[0].dropped ||
			    msg_rcode(world.heard[0].wire) != (rows[i].moved ? RCODE_NOERROR : RCODE_SERVFAIL) ||
			    count(&world.stats.count[STAT_queries_stuck]) != 1)
				fail_msg("%s: event %u: %u replies, %u counted", rows[i].why, e, world.heard_count,
					 (unsigned)count(&world.stats.count[STAT_queries_stuck]));
			end();
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(with_the_events_it_takes_a_query_goes_on),
		cmocka_unit_test(any_other_event_ends_the_query),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
