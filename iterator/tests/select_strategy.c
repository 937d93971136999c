/* Claims about strategies: the fastest first, families in turn, forwarders.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "iterator/tests/select_fixture.h"

static void so_many_of_the_fastest_are_preferred(void **state)
{
	(void)state;
	static const struct {
		const char *num, *permil;
		uint32_t rtt[4];
		bool drawn[4];
	} rows[] = {
		{ "fast-server-num: 1", "fast-server-permil: 1000", { 100, 80, 90, 70 }, { false, false, false, true } },
		{ "fast-server-num: 2", "fast-server-permil: 1000", { 100, 80, 90, 70 }, { false, true, false, true } },
		{ "fast-server-num: 3", "fast-server-permil: 1000", { 100, 80, 90, 70 }, { false, true, true, true } },
		{ "fast-server-num: 4", "fast-server-permil: 1000", { 100, 80, 90, 70 }, { true, true, true, true } },
		{ "fast-server-num: 9", "fast-server-permil: 1000", { 100, 80, 90, 70 }, { true, true, true, true } },
		{ "fast-server-num: 1", "fast-server-permil: 1000", { 80, 100, 90, 80 }, { true, false, false, true } },
		{ "fast-server-num: 2", "fast-server-permil: 1000", { 80, 100, 90, 80 }, { true, false, false, true } },
		{ "fast-server-num: 3", "fast-server-permil: 1000", { 80, 100, 90, 80 }, { true, false, true, true } },
		{ "fast-server-num: 3", "fast-server-permil: 1000", { 70, 80, 80, 80 }, { true, true, true, true } },
		{ "fast-server-num: 9", "fast-server-permil: 1000", { 70, 70, 70, 70 }, { true, true, true, true } },
		{ "fast-server-num: 1", "fast-server-permil: 0", { 100, 80, 90, 70 }, { true, true, true, true } },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		unsigned drawn[4] = { 0 };
		struct fault f;
		struct world w;

		begin(&w, rows[i].permil);
		assert_true(conf_set_option(w.snapshot.conf, rows[i].num, &f));
		for (unsigned n = 0; n < 4; n++) {
			char text[16];

			snprintf(text, sizeof(text), "192.0.2.%u", n + 1);
			infra_set_rtt(w.env.infra, &add(&w, text)->addr, ZONE, rows[i].rtt[n], &w.time);
		}
		for (unsigned n = 0; n < 200; n++)
			drawn[select_server(w.at, &w.query, TYPE_A, 0).target - w.at->targets]++;
		for (unsigned n = 0; n < 4; n++)
			if ((drawn[n] > 0) != rows[i].drawn[n])
				fail_msg("%s, row %zu: server %u %u times", rows[i].num, i, n, drawn[n]);
		end(&w);
	}
}

static void the_fastest_are_preferred_as_often_as_is_wished(void **state)
{
	unsigned first, second;
	struct fault f;
	struct world w;

	(void)state;
	begin(&w, "fast-server-permil: 500");
	assert_true(conf_set_option(w.snapshot.conf, "fast-server-num: 1", &f));
	infra_set_rtt(w.env.infra, &add(&w, "192.0.2.1")->addr, ZONE, 70, &w.time);
	infra_set_rtt(w.env.infra, &add(&w, "192.0.2.2")->addr, ZONE, 80, &w.time);
	draw(&w, &first, &second);
	assert_in_range(first, 680, 820);
	end(&w);
}

/* With a thousand of a thousand, that is always. */
static void only_the_fastest_if_so_wished(void **state)
{
	struct fault f;
	struct world w;

	(void)state;
	begin(&w, "fast-server-permil: 1000");
	assert_true(conf_set_option(w.snapshot.conf, "fast-server-num: 1", &f));
	infra_set_rtt(w.env.infra, &add(&w, "192.0.2.1")->addr, ZONE, 70, &w.time);
	infra_set_rtt(w.env.infra, &add(&w, "192.0.2.2")->addr, ZONE, 80, &w.time);
	for (unsigned i = 0; i < 20000; i++)
		assert_ptr_equal(select_server(w.at, &w.query, TYPE_A, 0).target,
				 &w.at->targets[0]);
	end(&w);
}

/* Which forwarder is asked is not also a matter of its family. */
static void a_strategy_knows_no_family(void **state)
{
	static const enum forward_strategy strategies[] = { STRATEGY_FASTEST, STRATEGY_RACE };

	(void)state;
	for (size_t i = 0; i < COUNT(strategies); i++) {
		const struct forward_zone config = { .strategy = strategies[i], .racers = 2 };
		unsigned v4, v6;
		struct world w;

		begin(&w, "prefer-ip4: yes");
		w.at->forward = true;
		w.at->config = &config;
		infra_set_rtt(w.env.infra, &add(&w, "192.0.2.1")->addr, ZONE, 60, &w.time);
		infra_set_rtt(w.env.infra, &add(&w, "2001:db8::1")->addr, ZONE, 60, &w.time);
		draw(&w, &v4, &v6);
		assert_in_range(v6, 400, 600);
		end(&w);
	}
}

/* Who is no longer in the list has no say in which family is silent. */
static void only_the_listed_count(void **state)
{
	unsigned v4, v6;
	struct world w;

	(void)state;
	begin(&w, NULL);
	add(&w, "192.0.2.1");
	add(&w, "2001:db8::1");
	add(&w, "2001:db8::2")->silent = true;
	w.at->target_count--;
	draw(&w, &v4, &v6);
	assert_true(v4 && v6);
	assert_int_equal(v4 + v6, 1000);
	end(&w);
}

/* Nor is it asked through NAT64. */
static void only_the_listed_are_mapped(void **state)
{
	struct world w;

	(void)state;
	begin(&w, "do-nat64: yes");
	add(&w, "192.0.2.1");
	add(&w, "192.0.2.2");
	w.at->target_count--;
	assert_int_equal(select_server(w.at, &w.query, TYPE_A, 0).target->addr.family, 6);
	assert_int_equal(w.at->targets[1].addr.family, 4);
	end(&w);
}

/* Nor how fast whoever is passed over for another reason would be. */
static void the_fastest_are_chosen_among_those_that_are_left(void **state)
{
	unsigned first, second;
	struct fault f;
	struct world w;

	(void)state;
	begin(&w, "fast-server-permil: 1000");
	assert_true(conf_set_option(w.snapshot.conf, "fast-server-num: 1", &f));
	infra_set_rtt(w.env.infra, &add(&w, "192.0.2.1")->addr, ZONE, 80, &w.time);
	infra_set_rtt(w.env.infra, &add(&w, "192.0.2.2")->addr, ZONE, 100, &w.time);
	infra_set_rtt(w.env.infra, &add(&w, "192.0.2.3")->addr, ZONE, 60, &w.time);
	w.at->targets[2].parent_side = true;
	draw(&w, &first, &second);
	assert_int_equal(first, 1000);
	assert_int_equal(second, 0);
	end(&w);
}

static void families_take_turns(void **state)
{
	(void)state;
	static const struct {
		const char *why, *option, *more;
		uint8_t tries[4];      /* two of IPv4, two of IPv6 */
		bool silent[4];
		bool drawn[4];
	} rows[] = {
		{ "the preferred one", "prefer-ip6: yes", NULL, { 0 }, { false }, { false, false, true, true } },
		{ "the other one", "prefer-ip4: yes", NULL, { 0 }, { false }, { true, true, false, false } },
		{ "both are", "prefer-ip4: yes", "prefer-ip6: yes", { 0 }, { false }, { true, true, true, true } },
		{ "until it has been tried", "prefer-ip6: yes", NULL, { 0, 0, 1, 1 }, { false }, { true, true, false, false } },
		{ "one address of it has not", "prefer-ip6: yes", NULL, { 0, 0, 1, 0 }, { false }, { false, false, false, true } },
		{ "all have been", "prefer-ip6: yes", NULL, { 1, 1, 1, 1 }, { false }, { false, false, true, true } },
		{ "one more often", "prefer-ip6: yes", NULL, { 1, 1, 2, 1 }, { false }, { false, false, false, true } },
		{ "silent more often", NULL, NULL, { 0 }, { true, false, true, true }, { true, true, false, false } },
		{ "silent more often, one of the others not tried", NULL, NULL, { 1, 0, 1, 1 }, { true, false, true, true },
		  { false, true, false, false } },
		{ "silent less often", NULL, NULL, { 0 }, { true, true, true, false }, { false, false, true, true } },
		{ "as often", NULL, NULL, { 0 }, { false, true, true, false }, { true, true, true, true } },
		{ "only the one", NULL, NULL, { 0 }, { true, false, false, false }, { false, false, true, true } },
	};
	static const char *const servers[] = { "192.0.2.1", "192.0.2.2", "2001:db8::1", "2001:db8::2" };

	for (size_t i = 0; i < COUNT(rows); i++) {
		unsigned drawn[4] = { 0 };
		struct fault f;
		struct world w;

		begin(&w, rows[i].option);
		if (rows[i].more)
			assert_true(conf_set_option(w.snapshot.conf, rows[i].more, &f));
		for (unsigned n = 0; n < 4; n++) {
			struct target *p = add(&w, servers[n]);

			p->tries = rows[i].tries[n];
			p->silent = rows[i].silent[n];
		}
		for (unsigned n = 0; n < 200; n++)
			drawn[select_server(w.at, &w.query, TYPE_A, 0).target - w.at->targets]++;
		for (unsigned n = 0; n < 4; n++)
			if ((drawn[n] > 0) != rows[i].drawn[n])
				fail_msg("%s: server %u %u times", rows[i].why, n, drawn[n]);
		end(&w);
	}
}

static void a_forwarder_is_shaky_after_two_silences(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		uint16_t types[2];
		bool shaky;
	} rows[] = {
		{ "one", { TYPE_A }, false },
		{ "two", { TYPE_A, TYPE_A }, true },
		{ "for different types", { TYPE_A, TYPE_AAAA }, true },
		{ "for yet others", { TYPE_TXT, TYPE_AAAA }, true },
		{ "for these", { TYPE_TXT, TYPE_A }, true },
		{ "for one other", { TYPE_TXT }, false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct forward_zone config = { .strategy = STRATEGY_ORDERED };
		unsigned first, second;
		struct world w;

		begin(&w, NULL);
		w.at->forward = true;
		w.at->config = &config;
		add(&w, "192.0.2.1");
		add(&w, "192.0.2.2");
		for (unsigned n = 0; n < 2; n++)
			infra_set_rtt(w.env.infra, &w.at->targets[n].addr, ZONE, 60, &w.time);
		for (unsigned n = 0; n < 2 && rows[i].types[n]; n++)
			infra_silent(w.env.infra, &w.at->targets[0].addr, ZONE, rows[i].types[n], 400, &w.time);
		draw(&w, &first, &second);
		if (rows[i].shaky ? first > 60 : first != 1000)
			fail_msg("%s: %u", rows[i].why, first);
		end(&w);
	}
}

/* Whom a race begins with, besides the one drawn. */
static void others_come_fastest_first(void **state)
{
	static const uint32_t rtts[] = { 300, 100, 400, 200, 100 };
	struct target *out[6] = { NULL };
	struct selection s;
	struct world w;

	(void)state;
	begin(&w, NULL);
	for (unsigned n = 0; n < 6; n++) {
		char text[16];
		struct target *p;

		snprintf(text, sizeof(text), "192.0.2.%u", n + 1);
		p = add(&w, text);
		if (n < 5)
			infra_set_rtt(w.env.infra, &p->addr, ZONE, rtts[n], &w.time);
		p->parent_side = n == 5;
	}
	w.at->targets[4].spent = true;
	s = (struct selection){ .target = &w.at->targets[3], .tier = TIER_GOOD };
	assert_int_equal(select_others(w.at, &w.query, TYPE_A, &s, out, 6), 3);
	assert_ptr_equal(out[0], &w.at->targets[1]);
	assert_ptr_equal(out[1], &w.at->targets[0]);
	assert_ptr_equal(out[2], &w.at->targets[2]);
	out[1] = NULL;
	assert_int_equal(select_others(w.at, &w.query, TYPE_A, &s, out, 1), 1);
	assert_ptr_equal(out[0], &w.at->targets[1]);
	assert_null(out[1]);
	s.tier = TIER_PARENT;
	assert_int_equal(select_others(w.at, &w.query, TYPE_A, &s, out, 6), 1);
	assert_ptr_equal(out[0], &w.at->targets[5]);
	end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(so_many_of_the_fastest_are_preferred),
		cmocka_unit_test(the_fastest_are_preferred_as_often_as_is_wished),
		cmocka_unit_test(only_the_fastest_if_so_wished),
		cmocka_unit_test(a_strategy_knows_no_family),
		cmocka_unit_test(only_the_listed_count),
		cmocka_unit_test(only_the_listed_are_mapped),
		cmocka_unit_test(the_fastest_are_chosen_among_those_that_are_left),
		cmocka_unit_test(families_take_turns),
		cmocka_unit_test(a_forwarder_is_shaky_after_two_silences),
		cmocka_unit_test(others_come_fastest_first),
	};

	hash_start(true);
	rcu_thread_join();
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	rcu_thread_leave();
	return failed;
}
