/* Claims about what is fetched before anybody asks.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/mesh/habits.h"

#include "services/cache/infra.h"
#include "services/mesh/tests/fixture.h"

#define POPULAR "server: prefetch: yes\n"
#define TTL_S   100 /* of every answer (fixture.h) */

static void pass(uint64_t seconds)
{
	loop_play(world.loop, seconds * US_PER_S);
}

static uint64_t fetched(void)
{
	return count(&world.stats.count[STAT_prefetch]);
}

/* A lookup by a client. */
static void look_up(const char *name)
{
	ask_for(name, 1);
	assert_int_equal(world.heard_count, 1);
	world.heard_count = 0;
}

static void look_up_others(unsigned many)
{
	char name[32];

	for (unsigned i = 0; i < many; i++) {
		snprintf(name, sizeof(name), "nother%u.example", i);
		look_up(name);
	}
}

/* As the front end does when it has answered from the cache. */
static void hit(const char *name)
{
	const struct stored *s = find(name);

	assert_true(s && stored_is_fresh(s, world.env.time->now_s));
	if (!stored_was_asked(s))
		mesh_note_hit(world.mesh, s, 0);
}

static void hit_often(const char *name, unsigned times)
{
	while (times--)
		hit(name);
}

static void what_was_asked_for_in_two_lifetimes_is_fetched_before_it_expires(void **state)
{
	(void)state;
	static const struct {
		const char *why, *conf;
		uint32_t ttl_s;
		unsigned first, second; /* hits in each lifetime */
		unsigned between_s;     /* it is not in the cache */
		unsigned want;
	} rows[] = {
		{ "in both", POPULAR, TTL_S, 1, 1, 1, 1 },
		{ "in the first only", POPULAR, TTL_S, 1, 0, 1, 0 },
		{ "in the second only, a thousand times", POPULAR, TTL_S, 0, 1000, 1, 0 },
		{ "a thousand times in the first", POPULAR, TTL_S, 1000, 0, 1, 0 },
		{ "after two lifetimes without a question", POPULAR, TTL_S, 1, 1, 2 * TTL_S + 10, 1 },
		{ "after three of them", POPULAR, TTL_S, 1, 1, 3 * TTL_S + 10, 0 },
		{ "of ten seconds", POPULAR, 10, 1, 1, 1, 1 },
		{ "of nine", POPULAR, 9, 1, 1, 1, 0 },
		{ "switched off", POPULAR "prefetch-popular: no\n", TTL_S, 1, 1, 1, 0 },
		{ "with all prefetching", "", TTL_S, 1, 1, 1, 0 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		world_begin(rows[i].conf);
		world.ttl_s = rows[i].ttl_s;
		look_up("n.example");
		hit_often("n.example", rows[i].first);
		pass(rows[i].ttl_s + rows[i].between_s - 1);
		look_up("n.example");
		hit_often("n.example", rows[i].second);
		pass(rows[i].ttl_s - 4);
		assert_int_equal(fetched(), 0);
		pass(3);
		if (fetched() != rows[i].want)
			fail_msg("%s: fetched %u times", rows[i].why, (unsigned)fetched());
		pass(2);
		if (stored_is_fresh(find("n.example"), world.env.time->now_s) != (rows[i].want > 0))
			fail_msg("%s: when it would have expired", rows[i].why);
		world_end();
	}
}

static void nobody_asks_and_it_is_fetched_no_more(void **state)
{
	(void)state;

	world_begin(POPULAR);
	look_up_others(100);
	for (unsigned lifetime = 0; lifetime < 2; lifetime++) {
		look_up("n.example");
		hit("n.example");
		pass(lifetime ? TTL_S - 1 : TTL_S + 1);
	}
	assert_int_equal(fetched(), 1);
	pass(10 * TTL_S);
	assert_int_equal(fetched(), 1);
	world_end();
}

/* `count` names, each so far asked for in two lifetimes. */
static void make_popular(unsigned count)
{
	char name[32];

	for (unsigned lifetime = 0; lifetime < 2; lifetime++) {
		for (unsigned i = 0; i < count; i++) {
			snprintf(name, sizeof(name), "n%u.example", i);
			look_up(name);
			hit(name);
		}
		if (!lifetime)
			pass(TTL_S + 1);
	}
}

static void fetches_that_nobody_asks_for_are_a_tenth_of_what_clients_looked_up(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		unsigned others, want;
	} rows[] = {
		/* twice for each of a hundred names, and one at the start */
		{ "their own lookups", 0, 21 },
		{ "and others", 100, 31 },
		{ "no more than may be saved up", 1000, HABIT_SAVED_MOST },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		world_begin(POPULAR);
		look_up_others(rows[i].others);
		make_popular(100);
		pass(TTL_S);
		if (fetched() != rows[i].want)
			fail_msg("%s: fetched %u", rows[i].why, (unsigned)fetched());
		world_end();
	}
}

static void what_turned_out_well_costs_nothing(void **state)
{
	(void)state;

	world_begin(POPULAR);
	make_popular(1);
	for (unsigned lifetime = 1; lifetime < 20; lifetime++) {
		pass(TTL_S - 2);
		assert_int_equal(fetched(), lifetime);
		hit("n0.example");
	}
	world_end();
}

static void many_that_are_due_take_turns(void **state)
{
	(void)state;

	world_begin(POPULAR);
	look_up_others(500);
	make_popular(40);
	pass(TTL_S - 3);
	assert_int_equal(fetched(), 0);
	pass(1);
	assert_int_equal(fetched(), 16);
	loop_play(world.loop, 100000);
	assert_int_equal(fetched(), 32);
	loop_play(world.loop, 100000);
	assert_int_equal(fetched(), 40);
	world_end();
}

static void a_new_configuration_begins_anew(void **state)
{
	(void)state;

	world_begin(POPULAR);
	make_popular(1);
	mesh_begin_again(world.mesh, false);
	pass(TTL_S);
	assert_int_equal(fetched(), 0);
	world_end();
}

static void nothing_can_be_sent_for(unsigned seconds)
{
	for (unsigned i = 0; i < 2 * seconds; i++) {
		infra_unsendable(world.env.infra, world.env.time);
		loop_play(world.loop, US_PER_S / 2);
	}
}

static void some_server_answers(void)
{
	struct addr server = { .family = 4, .ip = { 192, 0, 2, 53 } };

	infra_answered(world.env.infra, &server, name_of("example"), &(struct infra_heard){ .rtt_ms = 20 },
		       world.env.time);
}

static void what_was_due_in_an_outage_is_fetched_when_that_ends(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		unsigned outage_s; /* from half of its lifetime on */
		bool asked; /* by a client, as soon as the network is back */
		unsigned want;
	} rows[] = {
		{ "over before it is due", 40, false, 1 },
		{ "longer than it lives", 300, false, 1 },
		{ "as long as it is kept for", 3600, false, 1 },
		{ "longer", 3900, false, 0 },
		{ "a client was there first", 300, true, 0 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		world_begin(POPULAR);
		world.env.infra = infra_new(&(struct infra_how){
			.hosts = 100, .slabs = 1, .host_ttl_s = 900, .min_rtt_ms = 50, .max_rtt_ms = 120000 });
		make_popular(1);
		pass(TTL_S / 2);
		nothing_can_be_sent_for(rows[i].outage_s);
		assert_true(infra_network_is_down(world.env.infra, world.env.time));
		assert_int_equal(fetched(), 0);
		some_server_answers();
		if (rows[i].asked)
			look_up("n0.example");
		pass(10);
		if (fetched() != rows[i].want)
			fail_msg("%s: fetched %u times", rows[i].why, (unsigned)fetched());
		infra_free(world.env.infra);
		world_end();
	}
}

static void many_that_are_due_late_keep_out_nobody(void **state)
{
	(void)state;
	char name[32];

	world_begin(POPULAR);
	for (unsigned lifetime = 0; lifetime < 2; lifetime++) {
		world.ttl_s = lifetime ? 86400 : 10;
		for (unsigned i = 0; i < HABIT_NOTED_MOST; i++) {
			snprintf(name, sizeof(name), "nlate%u.example", i);
			look_up(name);
			hit(name);
		}
		pass(11);
	}
	world.ttl_s = TTL_S;
	make_popular(2);
	pass(TTL_S);
	assert_int_equal(fetched(), 2);
	world_end();
}

static void a_newer_answer_is_not_fetched_for_an_older_one(void **state)
{
	(void)state;
	struct question q;

	world_begin(POPULAR);
	make_popular(1);
	pass(TTL_S / 2);
	q = question_of("n0.example");
	mesh_refresh(world.mesh, &q, 0, NULL);
	assert_int_equal(fetched(), 1);
	pass(TTL_S / 2);
	assert_int_equal(fetched(), 1);
	world_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_asked_for_in_two_lifetimes_is_fetched_before_it_expires),
		cmocka_unit_test(nobody_asks_and_it_is_fetched_no_more),
		cmocka_unit_test(fetches_that_nobody_asks_for_are_a_tenth_of_what_clients_looked_up),
		cmocka_unit_test(what_turned_out_well_costs_nothing),
		cmocka_unit_test(many_that_are_due_take_turns),
		cmocka_unit_test(a_new_configuration_begins_anew),
		cmocka_unit_test(what_was_due_in_an_outage_is_fetched_when_that_ends),
		cmocka_unit_test(many_that_are_due_late_keep_out_nobody),
		cmocka_unit_test(a_newer_answer_is_not_fetched_for_an_older_one),
	};

	hash_start(true);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
