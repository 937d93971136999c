/* Claims about the next server to try.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "iterator/tests/select_fixture.h"

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
				infra_set_rtt(w.env.infra, &w.at->targets[n].addr, ZONE,
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
		{ "who is far slower has a try, too", STRATEGY_FASTEST, { 900, 60 }, 0, 1, 40 },
		{ "a race begins with the fastest", STRATEGY_RACE, { 300, 60 }, 0, 1, 40 },
		{ "the first", STRATEGY_ORDERED, { 900, 60 }, 0, 1000, 1000 },
		{ "the first has been silent", STRATEGY_ORDERED, { 60, 60 }, 2, 1, 60 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct forward_zone config = { .strategy = rows[i].strategy, .racers = 2 };
		unsigned first, second;
		struct target *other;
		struct selection s;
		struct world w;

		begin(&w, NULL);
		w.at->forward = true;
		w.at->config = &config;
		add(&w, "192.0.2.1");
		add(&w, "192.0.2.2");
		for (unsigned n = 0; n < 2; n++)
			infra_set_rtt(w.env.infra, &w.at->targets[n].addr, ZONE, rows[i].rtt[n],
				      &w.time);
		for (unsigned n = 0; n < rows[i].silences; n++)
			infra_silent(w.env.infra, &w.at->targets[0].addr, ZONE, TYPE_A, 400,
				     &w.time);
		draw(&w, &first, &second);
		if (first < rows[i].least || first > rows[i].most)
			fail_msg("%s: %u times", rows[i].why, first);
		s = select_server(w.at, &w.query, TYPE_A, 0);
		assert_int_equal(select_others(w.at, &w.query, TYPE_A, &s, &other, 1), 1);
		assert_ptr_not_equal(other, s.target);
		w.at->targets[0].spent = w.at->targets[1].spent = true;
		assert_int_equal(select_others(w.at, &w.query, TYPE_A, &s, &other, 1), 0);
		end(&w);
	}
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
			w.at->targets[n].silent = rows[i].silent_here[n];
			if (rows[i].rtt[n])
				infra_set_rtt(w.env.infra, &w.at->targets[n].addr, ZONE, rows[i].rtt[n], &w.time);
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

static void one_try_is_enough_where_there_is_another_server(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		const char *servers[2];
		bool answered;         /* IPv6, elsewhere */
		unsigned silences;     /* of IPv6, elsewhere, since */
		bool known;            /* the server */
		bool silent, spent;    /* the other address */
		bool want;             /* of servers that the operator names */
	} rows[] = {
		{ "whichever stands first", { "192.0.2.1", "2001:db8::1" }, false, 0, false, false, false, true },
		{ "at the start", { "2001:db8::1", "192.0.2.1" }, false, 0, false, false, false, true },
		{ "it has answered", { "2001:db8::1", "192.0.2.1" }, true, 0, false, false, false, false },
		{ "but not the last time", { "2001:db8::1", "192.0.2.1" }, true, 1, false, false, false, true },
		{ "the server is known", { "2001:db8::1", "192.0.2.1" }, true, 1, true, false, false, false },
		{ "there is no other family", { "2001:db8::1", "2001:db8::2" }, true, 1, false, false, false, false },
		{ "that was silent, too", { "2001:db8::1", "192.0.2.1" }, true, 1, false, true, false, false },
		{ "that is of no use", { "2001:db8::1", "192.0.2.1" }, true, 1, false, false, true, false },
	};

	for (size_t i = 0; i < 2 * COUNT(rows); i++) {
		const struct forward_zone config = { .strategy = STRATEGY_SPREAD };
		bool is_named = i >= COUNT(rows), want;
		size_t row = i % COUNT(rows);
		struct selection s = { .tier = TIER_GOOD };
		struct world w;

		begin(&w, NULL);
		for (unsigned n = 0; n < 2; n++)
			add(&w, rows[row].servers[n]);
		w.at->config = is_named ? &config : NULL;
		w.at->targets[1].silent = rows[row].silent;
		w.at->targets[1].tries = rows[row].silent;
		w.at->targets[1].spent = rows[row].spent;
		s.target = &w.at->targets[rows[row].servers[0][0] == '1'];
		if (rows[row].answered)
			answer(&w, "2001:db8::99");
		w.time.now_us += US_PER_S;
		miss(&w, "2001:db8::98", rows[row].silences);
		s.known.known = rows[row].known;
		/* of others, where there is another one at all */
		want = is_named ? rows[row].want : !rows[row].silent && !rows[row].spent;
		if (select_may_give_up_early(w.at, &w.query, TYPE_A, &s) != want)
			fail_msg("%s%s", is_named ? "named, " : "", rows[row].why);
		end(&w);
	}
}

/* Nor is one that has just been silent twice, a family that is off, or one that may not be asked. */
static void a_bad_server_is_no_reason_to_give_up_early(void **state)
{
	(void)state;
	static const struct {
		const char *why, *other, *option;
		unsigned silences;
		uint8_t tries;
		bool want;
	} rows[] = {
		{ "another", "192.0.2.2", NULL, 0, 0, true },
		{ "silent once", "192.0.2.2", NULL, 1, 0, true },
		{ "silent twice", "192.0.2.2", NULL, 2, 0, false },
		{ "tried as often", "192.0.2.2", NULL, 0, 1, true },
		{ "tried more often", "192.0.2.2", NULL, 0, 2, false },
		{ "of the other family", "2001:db8::2", NULL, 0, 0, true },
		{ "of a family that is off", "2001:db8::2", "do-ip6: no", 0, 0, false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct selection s = { .tier = TIER_GOOD };
		struct target *out[1];
		struct world w;

		begin(&w, rows[i].option);
		add(&w, "192.0.2.1")->tries = 1;
		add(&w, rows[i].other)->tries = rows[i].tries;
		s.target = &w.at->targets[0];
		for (unsigned n = 0; n < rows[i].silences; n++)
			infra_silent(w.env.infra, &w.at->targets[1].addr, ZONE, TYPE_A, 400, &w.time);
		if (select_may_give_up_early(w.at, &w.query, TYPE_A, &s) != rows[i].want)
			fail_msg("%s", rows[i].why);
		assert_int_equal(select_others(w.at, &w.query, TYPE_A, &s, out, 1), !rows[i].option);
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
			struct target *p = &w.at->targets[n];
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
		int got = s.target ? (int)(s.target - w.at->targets) : -1;
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
	infra_set_lame(w.env.infra, &w.at->targets[0].addr, ZONE, LAME_ADDRESSES, &w.time);
	assert_null(select_server(w.at, &w.query, TYPE_A, 0).target);
	assert_non_null(select_server(w.at, &w.query, TYPE_MX, 0).target);
	end(&w);
}

static void an_address_is_listed_once_and_tried_so_often(void **state)
{
	(void)state;
	struct world w;
	struct target again = { .addr = address("192.0.2.1") };

	begin(&w, NULL);
	add(&w, "192.0.2.1");
	assert_false(delegation_add_target(w.at, &w.arena, &again));
	assert_int_equal(w.at->target_count, 1);
	for (unsigned i = 0; i < 3; i++) {
		struct selection s = select_server(w.at, &w.query, TYPE_A, 0);
		assert_non_null(s.target);
		select_count(s.target, 3);
	}
	assert_null(select_server(w.at, &w.query, TYPE_A, 0).target);
	delegation_refresh(w.at);
	assert_non_null(select_server(w.at, &w.query, TYPE_A, 0).target);
	end(&w);
}

static void who_must_not_be_asked_is_not(void **state)
{
	(void)state;
	static const struct {
		const char *why, *server, *forbidden;
		bool through_nat64, want;
	} rows[] = {
		{ "not listed", "192.0.2.1", "198.51.100.0/24", false, true },
		{ "listed", "192.0.2.1", "192.0.2.0/24", false, false },
		{ "IPv6", "2001:db8::1", "2001:db8::/32", false, false },
		{ "the server is, not where it is reached", "192.0.2.1", "192.0.2.0/24", true, false },
		{ "where it is reached is", "192.0.2.1", "64:ff9b::/96", true, true },
		{ "neither is", "192.0.2.1", "198.51.100.0/24", true, true },
		{ "the server is, whose address is one behind NAT64", "64:ff9b::192.0.2.1", "192.0.2.0/24", true, false },
		{ "the server is not, whose address is one behind NAT64", "64:ff9b::192.0.2.1", "::/0", true, true },
		{ "it has no other address", "2001:db8::1", "0.0.0.0/8", true, true },
		{ "though others have", "2001:db8::1", "64:ff9b::/96", true, true },
		{ "it is behind somebody else's NAT64", "64:ff9b::192.0.2.1", "192.0.2.0/24", false, false },
		{ "another is behind it", "64:ff9b::192.0.2.1", "198.51.100.0/24", false, true },
		{ "it is behind 6to4", "2002:c000:201::1", "192.0.2.0/24", false, false },
		{ "it is this host", "::1", "0.0.0.0/8", false, true },
	};
	static char listed[] = "";

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct netblock block;
		struct selection s;
		struct fault f;
		struct world w;

		begin(&w, rows[i].through_nat64 ? "do-nat64: yes" : NULL);
		if (rows[i].through_nat64)
			assert_true(conf_set_option(w.snapshot.conf, "do-ip4: no", &f));
		assert_true(netblock_parse(&block, rows[i].forbidden, NULL));
		w.snapshot.do_not_query = netset_new();
		netset_put(w.snapshot.do_not_query, &block, listed);
		add(&w, rows[i].server);
		s = select_server(w.at, &w.query, TYPE_A, 0);
		if (!!s.target != rows[i].want)
			fail_msg("%s", rows[i].why);
		assert_int_equal(w.at->targets[0].ip4,
				 rows[i].through_nat64 && strstr(rows[i].server, "192.0.2.1") ? 0xc0000201 : 0);
		assert_int_equal(w.at->targets[0].addr.family, rows[i].through_nat64 || strchr(rows[i].server, ':') ? 6 : 4);
		netset_free(w.snapshot.do_not_query);
		w.snapshot.do_not_query = NULL;
		assert_non_null(select_server(w.at, &w.query, TYPE_A, 0).target);
		end(&w);
	}
}

static void a_server_is_as_good_as_is_known(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		bool forward, parent_side, no_dnssec, avoided;
		unsigned lame, pending;
		int want; /* tier, or -1 */
	} rows[] = {
		{ "nothing", false, false, false, false, 0, 1, TIER_GOOD },
		{ "glue", false, true, false, false, 0, 1, TIER_PARENT },
		{ "no signatures", false, true, true, false, 0, 0, TIER_NO_DNSSEC },
		{ "waiting for others", false, true, true, false, 0, 1, -1 },
		{ "no signatures for somebody else", false, false, false, false, LAME_DNSSEC, 0, TIER_NO_DNSSEC },
		{ "recursive", false, false, true, false, LAME_RECURSIVE, 0, TIER_RECURSOR },
		{ "as it should be", true, false, false, false, LAME_RECURSIVE, 0, TIER_GOOD },
		{ "lame", false, false, false, false, LAME_ADDRESSES, 0, -1 },
		{ "for others", false, false, false, false, LAME_OTHER, 0, TIER_GOOD },
		{ "a forwarder is not lame", true, false, false, false, LAME_ADDRESSES, 0, TIER_GOOD },
		{ "bogus", true, true, true, true, LAME_RECURSIVE, 0, TIER_AVOIDED },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct addr avoided[2] = { address("192.0.2.9"), address("192.0.2.1") };
		struct selection s;
		struct world w;

		begin(&w, NULL);
		w.at->forward = rows[i].forward;
		add(&w, "192.0.2.1");
		w.at->targets[0].parent_side = rows[i].parent_side;
		w.at->targets[0].no_dnssec = rows[i].no_dnssec;
		w.query.avoid = avoided;
		w.query.avoid_count = 1 + rows[i].avoided;
		if (rows[i].lame)
			infra_set_lame(w.env.infra, &w.at->targets[0].addr, ZONE, rows[i].lame, &w.time);
		s = select_server(w.at, &w.query, TYPE_A, rows[i].pending);
		if ((s.target ? (int)s.tier : -1) != rows[i].want)
			fail_msg("%s: %d", rows[i].why, s.target ? (int)s.tier : -1);
		end(&w);
	}
}

static void the_best_tier_is_drawn_from(void **state)
{
	(void)state;
	for (unsigned best = 0; best < 3; best++) {
		struct world w;

		begin(&w, NULL);
		add(&w, "192.0.2.1");
		add(&w, "192.0.2.2");
		add(&w, "192.0.2.3");
		for (unsigned i = 0; i < 3; i++)
			w.at->targets[i].parent_side = i != best;
		for (unsigned i = 0; i < 20; i++)
			assert_ptr_equal(select_server(w.at, &w.query, TYPE_A, 0).target, &w.at->targets[best]);
		end(&w);
	}
}

static void who_is_down_is_asked_when_it_is_time_to_probe(void **state)
{
	struct infra_view view;
	struct world w;

	(void)state;
	begin(&w, NULL);
	add(&w, "192.0.2.1");
	do {
		w.time.now_us += 20 * US_PER_S;
		infra_silent(w.env.infra, &w.at->targets[0].addr, ZONE, TYPE_TXT, 10000, &w.time);
		infra_look(w.env.infra, &w.at->targets[0].addr, ZONE, &w.time, &view);
	} while (!view.down);
	assert_non_null(select_server(w.at, &w.query, TYPE_A, 0).target);
	infra_probed(w.env.infra, &w.at->targets[0].addr, ZONE, &w.time);
	infra_look(w.env.infra, &w.at->targets[0].addr, ZONE, &w.time, &view);
	assert_true(view.down);
	w.time.now_us = view.probe_at_us - 1;
	assert_null(select_server(w.at, &w.query, TYPE_A, 0).target);
	w.time.now_us = view.probe_at_us;
	assert_non_null(select_server(w.at, &w.query, TYPE_A, 0).target);
	end(&w);
}

static void servers_within_400_ms_are_chosen_by_chance(void **state)
{
	(void)state;
	static const struct {
		const char *why, *option;
		uint32_t rtt[2]; /* 0: not known; it is given five quarters of it */
		bool want;       /* the second is drawn */
	} rows[] = {
		{ "within", NULL, { 60, 380 }, true },
		{ "beyond", NULL, { 60, 381 }, false },
		{ "not known, within", "unknown-server-time-limit: 475", { 60, 0 }, true },
		{ "not known, beyond", "unknown-server-time-limit: 476", { 60, 0 }, false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		unsigned first, second;
		struct world w;

		begin(&w, rows[i].option);
		add(&w, "192.0.2.1");
		add(&w, "192.0.2.2");
		for (unsigned n = 0; n < 2; n++)
			if (rows[i].rtt[n])
				infra_set_rtt(w.env.infra, &w.at->targets[n].addr, ZONE, rows[i].rtt[n], &w.time);
		draw(&w, &first, &second);
		assert_true(first > 0);
		if ((second > 0) != rows[i].want)
			fail_msg("%s: %u", rows[i].why, second);
		end(&w);
	}
}

/* How fast somebody is who is not asked has no say in who is fast enough. */
static void the_band_begins_with_the_fastest_of_the_fit(void **state)
{
	static const uint32_t rtts[] = { 1000, 2000, 60 };
	unsigned first, second;
	struct world w;

	(void)state;
	begin(&w, NULL);
	for (unsigned n = 0; n < COUNT(rtts); n++) {
		char text[16];

		snprintf(text, sizeof(text), "192.0.2.%u", n + 1);
		infra_set_rtt(w.env.infra, &add(&w, text)->addr, ZONE, rtts[n], &w.time);
	}
	w.at->targets[2].parent_side = true;
	draw(&w, &first, &second);
	assert_int_equal(first, 1000);
	assert_int_equal(second, 0);
	end(&w);
}

/* With as many addresses as there may be, each of them is drawn, and nothing behind them. */
static void a_delegation_may_be_full(void **state)
{
	unsigned drawn[DELEGATION_TARGETS] = { 0 };
	struct world w;

	(void)state;
	begin(&w, NULL);
	for (unsigned n = 0; n < DELEGATION_TARGETS; n++) {
		char text[16];

		snprintf(text, sizeof(text), "192.0.2.%u", n + 1);
		add(&w, text);
	}
	assert_int_equal(w.at->target_count, DELEGATION_TARGETS);
	for (unsigned n = 0; n < 50 * DELEGATION_TARGETS; n++) {
		struct selection s = select_server(w.at, &w.query, TYPE_A, 0);

		assert_in_range(s.target - w.at->targets, 0, DELEGATION_TARGETS - 1);
		drawn[s.target - w.at->targets]++;
	}
	for (unsigned n = 0; n < DELEGATION_TARGETS; n++)
		assert_true(drawn[n] > 0);
	end(&w);
}

/* The lowest RTT at or above `from` that makes the RTO of the second server that much longer than the first's. */
static void set_apart(struct world *w, uint32_t apart_ms)
{
	struct infra_view first, second;

	infra_look(w->env.infra, &w->at->targets[0].addr, ZONE, &w->time, &first);
	for (uint32_t rtt_ms = 60; rtt_ms < 1000; rtt_ms++) {
		infra_set_rtt(w->env.infra, &w->at->targets[1].addr, ZONE, rtt_ms, &w->time);
		infra_look(w->env.infra, &w->at->targets[1].addr, ZONE, &w->time, &second);
		if (second.rto_ms == first.rto_ms + apart_ms)
			return;
	}
	fail_msg("no RTT is %u ms apart", apart_ms);
}

/* Within 40 ms it makes no difference; beyond, the slower one is asked once in sixteen times, and beyond 400 ms never. */
static void the_slower_is_asked_now_and_then(void **state)
{
	(void)state;
	static const struct {
		uint32_t apart_ms;
		bool config;
		unsigned least, most; /* how often the second is drawn in a thousand */
	} rows[] = {
		{ 40, false, 440, 560 }, { 41, false, 40, 90 }, { 400, false, 40, 90 }, { 401, false, 0, 0 },
		{ 41, true, 440, 560 },  { 400, true, 440, 560 }, { 401, true, 0, 0 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		static const struct forward_zone config = { .strategy = STRATEGY_SPREAD };
		unsigned first, second;
		struct world w;

		begin(&w, NULL);
		add(&w, "192.0.2.1");
		add(&w, "192.0.2.2");
		w.at->config = rows[i].config ? &config : NULL;
		infra_set_rtt(w.env.infra, &w.at->targets[0].addr, ZONE, 60, &w.time);
		set_apart(&w, rows[i].apart_ms);
		draw(&w, &first, &second);
		if (second < rows[i].least || second > rows[i].most || first + second != 1000)
			fail_msg("%u ms: %u %u", rows[i].apart_ms, first, second);
		/* who has been tried lets others have their turn, but not where the operator names them */
		w.at->targets[0].tries = 1;
		draw(&w, &first, &second);
		assert_int_equal(first > 0, rows[i].config || rows[i].apart_ms > 40);
		w.at->targets[0].tries = 0;
		w.at->targets[1].tries = 1;
		draw(&w, &first, &second);
		assert_int_equal(second > 0, rows[i].config && rows[i].apart_ms <= 400);
		end(&w);
	}
}

/* Others of the same tier, the fastest first, each once, and none that may not be asked. */
static void others_come_fastest_first(void **state)
{
	(void)state;
	static const struct {
		uint32_t rtt[4];
		unsigned spent, most, count;
		unsigned order[3]; /* last bytes of the addresses */
	} rows[] = {
		{ { 60, 100, 200, 300 }, 0, 3, 3, { 2, 3, 4 } }, { { 60, 300, 200, 100 }, 0, 3, 3, { 4, 3, 2 } },
		{ { 60, 200, 300, 100 }, 0, 2, 2, { 4, 2 } },    { { 60, 300, 100, 200 }, 0, 9, 3, { 3, 4, 2 } },
		{ { 60, 100, 200, 300 }, 2, 3, 2, { 3, 4 } },    { { 60, 100, 200, 300 }, 4, 3, 2, { 2, 3 } },
		{ { 60, 100, 200, 300 }, 0, 0, 0, { 0 } },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct target *out[DELEGATION_TARGETS];
		struct selection first = { .tier = TIER_GOOD };
		unsigned count;
		struct world w;

		begin(&w, NULL);
		for (unsigned n = 0; n < 4; n++) {
			char text[20];

			snprintf(text, sizeof(text), "192.0.2.%u", n + 1);
			add(&w, text)->spent = rows[i].spent == n + 1;
			infra_set_rtt(w.env.infra, &w.at->targets[n].addr, ZONE, rows[i].rtt[n], &w.time);
		}
		first.target = &w.at->targets[0];
		count = select_others(w.at, &w.query, TYPE_A, &first, out, rows[i].most);
		if (count != rows[i].count)
			fail_msg("row %zu: %u", i, count);
		for (unsigned n = 0; n < count; n++)
			assert_int_equal(out[n]->addr.ip[3], rows[i].order[n]);
		end(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_is_within_the_band_is_drawn),
		cmocka_unit_test(the_operator_has_the_say_among_forwarders),
		cmocka_unit_test(a_family_may_be_preferred_or_off),
		cmocka_unit_test(a_silent_family_gives_way),
		cmocka_unit_test(one_try_is_enough_where_there_is_another_server),
		cmocka_unit_test(a_bad_server_is_no_reason_to_give_up_early),
		cmocka_unit_test(who_must_not_be_asked_is_not),
		cmocka_unit_test(a_server_is_as_good_as_is_known),
		cmocka_unit_test(the_best_tier_is_drawn_from),
		cmocka_unit_test(who_is_down_is_asked_when_it_is_time_to_probe),
		cmocka_unit_test(servers_within_400_ms_are_chosen_by_chance),
		cmocka_unit_test(the_band_begins_with_the_fastest_of_the_fit),
		cmocka_unit_test(a_delegation_may_be_full),
		cmocka_unit_test(who_proved_unfit_comes_last),
		cmocka_unit_test(lame_for_addresses_is_not_lame_for_all),
		cmocka_unit_test(an_address_is_listed_once_and_tried_so_often),
		cmocka_unit_test(the_slower_is_asked_now_and_then),
		cmocka_unit_test(others_come_fastest_first),
	};

	hash_start(true);
	rcu_thread_join();
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	rcu_thread_leave();
	return failed;
}
