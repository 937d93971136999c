/* Claims about the next server to try.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "iterator/select.h"

#include "services/cache/infra.h"
#include "services/forward.h"
#include "services/query.h"
#include "services/snapshot.h"
#include "services/tests/made.h"
#include "util/hash.h"
#include "util/options.h"
#include "util/random.h"
#include "util/rcu.h"
#include "util/timebase.h"

#define ZONE N("example.com.")

struct world {
	struct arena arena;
	struct snapshot snapshot;
	struct env env;
	struct query query;
	struct timebase time;
	struct random random;
	struct delegation *at;
};

static struct addr address(const char *text)
{
	struct fault f = { 0 };
	struct addr a;

	if (!addr_parse(&a, text, 53, &f))
		fail_msg("%s", f.text);
	return a;
}

static void begin(struct world *w, const char *option)
{
	struct infra_how how = {
		.hosts = 100, .slabs = 1, .host_ttl_s = 900, .min_rtt_ms = 50, .max_rtt_ms = 120000
	};
	struct fault f = { 0 };

	*w = (struct world){ .at = NULL };
	arena_init(&w->arena);
	timebase_play(&w->time, 1000 * US_PER_S);
	random_play(&w->random, 1);
	w->snapshot.conf = conf_new();
	if (option && !conf_set_option(w->snapshot.conf, option, &f))
		fail_msg("%s: %s", option, f.text);
	w->env = (struct env){ .time = &w->time, .random = &w->random, .infra = infra_new(&how) };
	w->query.env = &w->env;
	w->query.snapshot = &w->snapshot;
	w->at = delegation_new(&w->arena, ZONE);
	rcu_turn_begin();
}

static void end(struct world *w)
{
	rcu_turn_end();
	infra_free(w->env.infra);
	conf_free(w->snapshot.conf);
	arena_clear(&w->arena);
	rcu_flush();
}

static struct place *add(struct world *w, const char *text)
{
	struct place p = { .addr = address(text) };

	delegation_add_place(w->at, &w->arena, &p);
	return &w->at->places[w->at->place_count - 1];
}

/* How often each of the first two is drawn in a thousand. */
static void draw(struct world *w, unsigned *first, unsigned *second)
{
	*first = *second = 0;
	for (unsigned i = 0; i < 1000; i++) {
		struct selection s = select_server(w->at, &w->query, TYPE_A, 0);
		*first += s.place == &w->at->places[0];
		*second += s.place == &w->at->places[1];
	}
}

static void who_is_within_the_band_is_drawn(void **state)
{
	(void)state;
	static const struct {
		const char *why, *option;
		uint32_t rtt[2];
		bool drawn[2];
	} rows[] = {
		{ "both fast", NULL, { 60, 300 }, { true, true } },
		{ "at the edge", NULL, { 60, 380 }, { true, true } },
		{ "one slow", NULL, { 60, 900 }, { true, false } },
		{ "one not known yet", NULL, { 60, 0 }, { true, true } },
		{ "both slow", NULL, { 2000, 2100 }, { true, true } },
		{ "those that count as fastest",
		  "fast-server-permil: 1000",
		  { 60, 300 },
		  { true, true } },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct world w;
		unsigned drawn[2];

		begin(&w, rows[i].option);
		add(&w, "192.0.2.1");
		add(&w, "192.0.2.2");
		for (unsigned n = 0; n < 2; n++) {
			if (rows[i].rtt[n])
				infra_set_rtt(w.env.infra, &w.at->places[n].addr, ZONE,
					      rows[i].rtt[n], &w.time);
		}
		draw(&w, &drawn[0], &drawn[1]);
		for (unsigned n = 0; n < 2; n++) {
			if ((drawn[n] > 0) != rows[i].drawn[n])
				fail_msg("%s: server %u drawn %u times", rows[i].why, n, drawn[n]);
		}
		end(&w);
	}
}

static void the_operator_has_the_say_among_forwarders(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		enum forward_strategy strategy;
		uint32_t rtt[2];
		unsigned silences;    /* of the first, lately */
		unsigned least, most; /* how often the first is drawn in a thousand */
	} rows[] = {
		{ "spread", STRATEGY_SPREAD, { 60, 300 }, 0, 400, 600 },
		{ "the fastest, nearly always", STRATEGY_FASTEST, { 60, 300 }, 0, 960, 999 },
		{ "whichever that is", STRATEGY_FASTEST, { 300, 60 }, 0, 1, 40 },
		{ "a race begins with the fastest", STRATEGY_RACE, { 300, 60 }, 0, 1, 40 },
		{ "the first", STRATEGY_ORDERED, { 900, 60 }, 0, 1000, 1000 },
		{ "the first has been silent", STRATEGY_ORDERED, { 60, 60 }, 2, 1, 60 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct forward_zone config = { .strategy = rows[i].strategy, .racers = 2 };
		unsigned first, second;
		struct place *other;
		struct selection s;
		struct world w;

		begin(&w, NULL);
		w.at->forward = true;
		w.at->config = &config;
		add(&w, "192.0.2.1");
		add(&w, "192.0.2.2");
		for (unsigned n = 0; n < 2; n++)
			infra_set_rtt(w.env.infra, &w.at->places[n].addr, ZONE, rows[i].rtt[n],
				      &w.time);
		for (unsigned n = 0; n < rows[i].silences; n++)
			infra_silent(w.env.infra, &w.at->places[0].addr, ZONE, TYPE_A, 400,
				     &w.time);
		draw(&w, &first, &second);
		if (first < rows[i].least || first > rows[i].most)
			fail_msg("%s: %u times", rows[i].why, first);
		s = select_server(w.at, &w.query, TYPE_A, 0);
		assert_int_equal(select_others(w.at, &w.query, TYPE_A, &s, &other, 1), 1);
		assert_ptr_not_equal(other, s.place);
		w.at->places[0].spent = w.at->places[1].spent = true;
		assert_int_equal(select_others(w.at, &w.query, TYPE_A, &s, &other, 1), 0);
		end(&w);
	}
}

static void the_fastest_few_may_be_preferred(void **state)
{
	(void)state;
	struct world w;
	struct fault f;
	unsigned first, second;

	begin(&w, "fast-server-permil: 1000");
	assert_true(conf_set_option(w.snapshot.conf, "fast-server-num: 1", &f));
	add(&w, "192.0.2.1");
	add(&w, "192.0.2.2");
	infra_set_rtt(w.env.infra, &w.at->places[0].addr, ZONE, 100, &w.time);
	infra_set_rtt(w.env.infra, &w.at->places[1].addr, ZONE, 80, &w.time);
	draw(&w, &first, &second);
	assert_int_equal(first, 0);
	assert_int_equal(second, 1000);
	end(&w);
}

static void a_family_may_be_preferred_or_off(void **state)
{
	(void)state;
	static const struct {
		const char *option;
		bool v4, v6;
	} rows[] = {
		{ "do-ip6: yes", true, true },      { "do-ip6: no", true, false },
		{ "do-ip4: no", false, true },      { "prefer-ip4: yes", true, false },
		{ "prefer-ip6: yes", false, true },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct world w;
		unsigned v4, v6;

		begin(&w, rows[i].option);
		add(&w, "192.0.2.1");
		add(&w, "2001:db8::1");
		draw(&w, &v4, &v6);
		if ((v4 > 0) != rows[i].v4 || (v6 > 0) != rows[i].v6)
			fail_msg("%s: %u and %u", rows[i].option, v4, v6);
		end(&w);
	}
}

static void miss(struct world *w, const char *server, unsigned times)
{
	struct addr a = address(server);

	for (unsigned i = 0; i < times; i++)
		infra_silent(w->env.infra, &a, N("elsewhere."), TYPE_A, 376, &w->time);
}

static void answer(struct world *w, const char *server)
{
	struct addr a = address(server);

	w->time.now_us += 10 * US_PER_MS;
	infra_answered(w->env.infra, &a, N("elsewhere."), &(struct infra_heard){ .rtt_ms = 5 }, &w->time);
}

static void a_silent_family_gives_way(void **state)
{
	(void)state;
	static const struct {
		const char *why, *option;
		const char *servers[2];
		bool silent_here[2];
		unsigned silences;  /* of IPv6, elsewhere */
		uint32_t rtt[2];
		bool drawn[2];
	} rows[] = {
		{ "both well", NULL, { "192.0.2.1", "2001:db8::1" }, { false, false }, 0, { 0, 0 }, { true, true } },
		{ "two timeouts elsewhere", NULL, { "192.0.2.1", "2001:db8::1" }, { false, false }, 2, { 0, 0 },
		  { true, true } },
		{ "silent elsewhere", NULL, { "192.0.2.1", "2001:db8::1" }, { false, false }, 3, { 0, 0 },
		  { true, false } },
		{ "however slow the other is", NULL, { "192.0.2.1", "2001:db8::1" }, { false, false }, 3, { 3000, 0 },
		  { true, false } },
		{ "though it is preferred", "prefer-ip6: yes", { "192.0.2.1", "2001:db8::1" }, { false, false }, 3,
		  { 0, 0 }, { true, false } },
		{ "there is no other", NULL, { "2001:db8::2", "2001:db8::1" }, { false, false }, 3, { 0, 0 },
		  { true, true } },
		{ "silent here", NULL, { "192.0.2.1", "2001:db8::1" }, { false, true }, 0, { 0, 0 }, { true, false } },
		{ "the other silent here", NULL, { "192.0.2.1", "2001:db8::1" }, { true, false }, 0, { 0, 0 },
		  { false, true } },
		{ "both silent here", NULL, { "192.0.2.1", "2001:db8::1" }, { true, true }, 0, { 0, 0 },
		  { true, true } },
		{ "silent here, and the other far too slow", NULL, { "192.0.2.1", "2001:db8::1" }, { false, true }, 0,
		  { 3000, 0 }, { false, true } },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct world w;
		unsigned drawn[2];

		begin(&w, rows[i].option);
		for (unsigned n = 0; n < 2; n++) {
			add(&w, rows[i].servers[n]);
			w.at->places[n].silent = rows[i].silent_here[n];
			if (rows[i].rtt[n])
				infra_set_rtt(w.env.infra, &w.at->places[n].addr, ZONE, rows[i].rtt[n], &w.time);
		}
		answer(&w, "2001:db8::99");
		w.time.now_us += US_PER_S;
		miss(&w, "2001:db8::98", rows[i].silences);
		answer(&w, "192.0.2.99");
		draw(&w, &drawn[0], &drawn[1]);
		for (unsigned n = 0; n < 2; n++) {
			if ((drawn[n] > 0) != rows[i].drawn[n])
				fail_msg("%s: server %u drawn %u times", rows[i].why, n, drawn[n]);
		}
		end(&w);
	}
}

static void where_a_family_may_be_silent_one_try_is_enough(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		const char *servers[2];
		bool answered;         /* IPv6, elsewhere */
		unsigned silences;     /* of IPv6, elsewhere, since */
		bool known;            /* the server */
		bool silent, spent;    /* the other address */
		bool want;
	} rows[] = {
		{ "at the start", { "2001:db8::1", "192.0.2.1" }, false, 0, false, false, false, true },
		{ "it has answered", { "2001:db8::1", "192.0.2.1" }, true, 0, false, false, false, false },
		{ "but not the last time", { "2001:db8::1", "192.0.2.1" }, true, 1, false, false, false, true },
		{ "the server is known", { "2001:db8::1", "192.0.2.1" }, true, 1, true, false, false, false },
		{ "there is no other family", { "2001:db8::1", "2001:db8::2" }, true, 1, false, false, false, false },
		{ "that was silent, too", { "2001:db8::1", "192.0.2.1" }, true, 1, false, true, false, false },
		{ "that is of no use", { "2001:db8::1", "192.0.2.1" }, true, 1, false, false, true, false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct selection s = { .tier = TIER_GOOD };
		struct world w;

		begin(&w, NULL);
		for (unsigned n = 0; n < 2; n++)
			add(&w, rows[i].servers[n]);
		w.at->places[1].silent = rows[i].silent;
		w.at->places[1].spent = rows[i].spent;
		if (rows[i].answered)
			answer(&w, "2001:db8::99");
		w.time.now_us += US_PER_S;
		miss(&w, "2001:db8::98", rows[i].silences);
		s.place = &w.at->places[0];
		s.known.known = rows[i].known;
		if (select_may_give_up_early(w.at, &w.query, &s) != rows[i].want)
			fail_msg("%s", rows[i].why);
		end(&w);
	}
}

static void who_proved_unfit_comes_last(void **state)
{
	(void)state;
	enum fault_of { FINE, PARENT, UNSIGNED, RECURSOR, AVOIDED, LAME, SPENT, DOWN };
	static const struct {
		const char *why;
		enum fault_of first, second;
		int want;
		unsigned pending;
	} rows[] = {
		{ "glue of the parent alone", PARENT, FINE, 1, 0 },
		{ "which will do", PARENT, SPENT, 0, 0 },
		{ "even while others are looked for", PARENT, SPENT, 0, 1 },
		{ "no signatures", UNSIGNED, PARENT, 1, 0 },
		{ "a recursor", RECURSOR, UNSIGNED, 1, 0 },
		{ "when there is nobody else", RECURSOR, LAME, 0, 0 },
		{ "but rather wait", RECURSOR, LAME, -1, 1 },
		{ "bogus", AVOIDED, RECURSOR, 1, 0 },
		{ "lame", LAME, AVOIDED, 1, 0 },
		{ "all lame", LAME, LAME, -1, 0 },
		{ "down", DOWN, FINE, 1, 0 },
		{ "all spent", SPENT, SPENT, -1, 0 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const enum fault_of faults[] = { rows[i].first, rows[i].second };
		struct world w;
		struct selection s;

		begin(&w, NULL);
		add(&w, "192.0.2.1");
		add(&w, "192.0.2.2");
		for (unsigned n = 0; n < 2; n++) {
			struct place *p = &w.at->places[n];
			switch (faults[n]) {
			case FINE:
				break;
			case PARENT:
				p->parent_side = true;
				break;
			case UNSIGNED:
				p->no_dnssec = true;
				break;
			case SPENT:
				p->spent = true;
				break;
			case AVOIDED:
				w.query.avoid = &p->addr;
				w.query.avoid_count = 1;
				break;
			case RECURSOR:
				infra_set_lame(w.env.infra, &p->addr, ZONE, LAME_RECURSIVE,
					       &w.time);
				break;
			case LAME:
				infra_set_lame(w.env.infra, &p->addr, ZONE, LAME_ADDRESSES,
					       &w.time);
				break;
			case DOWN:
				infra_set_rtt(w.env.infra, &p->addr, ZONE, 120000, &w.time);
				break;
			}
		}
		s = select_server(w.at, &w.query, TYPE_A, rows[i].pending);
		int got = s.place ? (int)(s.place - w.at->places) : -1;
		if (got != rows[i].want)
			fail_msg("%s: server %d, not %d", rows[i].why, got, rows[i].want);
		end(&w);
	}
}

static void lame_for_addresses_is_not_lame_for_all(void **state)
{
	(void)state;
	struct world w;

	begin(&w, NULL);
	add(&w, "192.0.2.1");
	infra_set_lame(w.env.infra, &w.at->places[0].addr, ZONE, LAME_ADDRESSES, &w.time);
	assert_null(select_server(w.at, &w.query, TYPE_A, 0).place);
	assert_non_null(select_server(w.at, &w.query, TYPE_MX, 0).place);
	end(&w);
}

static void an_address_is_listed_once_and_tried_so_often(void **state)
{
	(void)state;
	struct world w;
	struct place again = { .addr = address("192.0.2.1") };

	begin(&w, NULL);
	add(&w, "192.0.2.1");
	assert_false(delegation_add_place(w.at, &w.arena, &again));
	assert_int_equal(w.at->place_count, 1);
	for (unsigned i = 0; i < 3; i++) {
		struct selection s = select_server(w.at, &w.query, TYPE_A, 0);
		assert_non_null(s.place);
		select_count(s.place, 3);
	}
	assert_null(select_server(w.at, &w.query, TYPE_A, 0).place);
	delegation_refresh(w.at);
	assert_non_null(select_server(w.at, &w.query, TYPE_A, 0).place);
	end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_is_within_the_band_is_drawn),
		cmocka_unit_test(the_operator_has_the_say_among_forwarders),
		cmocka_unit_test(the_fastest_few_may_be_preferred),
		cmocka_unit_test(a_family_may_be_preferred_or_off),
		cmocka_unit_test(a_silent_family_gives_way),
		cmocka_unit_test(where_a_family_may_be_silent_one_try_is_enough),
		cmocka_unit_test(who_proved_unfit_comes_last),
		cmocka_unit_test(lame_for_addresses_is_not_lame_for_all),
		cmocka_unit_test(an_address_is_listed_once_and_tried_so_often),
	};

	hash_start(true);
	rcu_thread_join();
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	rcu_thread_leave();
	return failed;
}
