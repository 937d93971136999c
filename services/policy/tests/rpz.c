/* Claims about policy zones carried out: on questions, on answers, and on queries in flight that several clients share.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/policy/tests/rpz_world.h"

#include "services/cache/msg.h"
#include "services/query/query.h"

#define L63 "lllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllll"

static const struct client_ops over_tcp = { .name = "tcp", .stream = true };

static const char *const rules[ZONES] = {
	"gone CNAME .\nempty CNAME *.\nkept CNAME rpz-passthru.\ndropped CNAME rpz-drop.\nslow CNAME rpz-tcp-only.\n"
	"local A 192.0.2.1\nlocal TXT a\n*.walled CNAME *.garden.\nmoved CNAME target.example.\nchain CNAME moved.\ntokept CNAME kept.\n"
	"tolocal CNAME local.\none CNAME two.\ntwo CNAME one.\nloop CNAME one.\n*.self CNAME to.self.\n"
	"32.9.2.0.192.rpz-ip CNAME .\n32.8.2.0.192.rpz-ip CNAME rpz-passthru.\n32.7.2.0.192.rpz-ip A 192.0.2.77\n"
	"32.6.2.0.192.rpz-ip CNAME other.example.\n32.5.2.0.192.rpz-ip CNAME rpz-tcp-only.\n32.4.2.0.192.rpz-ip CNAME rpz-drop.\n"
	"24.0.3.0.192.rpz-ip CNAME *.\n32.1.3.0.192.rpz-ip CNAME .\n"
	"ns.bad.rpz-nsdname CNAME .\nns.good.rpz-nsdname CNAME rpz-passthru.\nns.data.rpz-nsdname A 192.0.2.99\n32.66.2.0.192.rpz-nsip CNAME *.",
	NULL,
};
static const char *const none[ZONES] = { NULL };

static void a_question_is_answered_as_its_rule_says(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		uint16_t type;
		bool stream;
		const char *want;
	} rows[] = {
		{ "free.", TYPE_A, false, "pass" },
		{ "gone.", TYPE_A, false, "3 aa ra" },
		{ "empty.", TYPE_A, false, "0 aa ra" },
		{ "kept.", TYPE_A, false, "let through" },
		{ "dropped.", TYPE_A, false, "drop" },
		{ "slow.", TYPE_A, false, "0 aa tc ra" },
		{ "slow.", TYPE_A, true, "pass" },
		{ "gone.", TYPE_A, true, "3 aa ra" },
		{ "moved.", TYPE_A, true, "follow 1 target.example." },
		{ "local.", TYPE_A, false, "0 aa ra; local. 60 IN A 192.0.2.1" },
		{ "local.", TYPE_AAAA, false, "0 aa ra" },
		{ "local.", TYPE_ANY, false, "0 aa ra; local. 60 IN A 192.0.2.1; local. 60 IN TXT \"a\"" },
		{ "moved.", TYPE_A, false, "follow 1 target.example." },
		{ "moved.", TYPE_CNAME, false, "0 aa ra; moved. 60 IN CNAME target.example." },
		{ "moved.", TYPE_ANY, false, "0 aa ra; moved. 60 IN CNAME target.example." },
		{ "chain.", TYPE_A, false, "follow 2 target.example." },
		{ "tokept.", TYPE_A, false, "follow 1 kept. passed" },
		{ "tolocal.", TYPE_A, false, "0 aa ra; tolocal. 60 IN CNAME local.; local. 60 IN A 192.0.2.1" },
		{ "one.", TYPE_A, false, "follow 1 two. passed" }, /* which leads to the name asked for */
		{ "loop.", TYPE_A, false, "2 ra" },
		{ "a.walled.", TYPE_A, false, "follow 1 a.walled.garden." },
		{ L63 "." L63 "." L63 ".llllllllllllllllllllllllllllllllllllllllllllllllllllll.walled.", TYPE_A, false, "6 ra" },
		{ L63 "." L63 "." L63 ".llllllllllllllllllllllllllllllllllllllllllllllllllllll.walled.", TYPE_CNAME, false, "6 ra" },
		{ "to.self.", TYPE_A, false, "let through" },
		{ "from.self.", TYPE_A, false, "follow 1 to.self. passed" },
	};

	begin("", rules, none);
	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *got;

		world.client.ops = rows[i].stream ? &over_tcp : &over_udp;
		got = ask(rows[i].name, rows[i].type);
		if (strcmp(got, rows[i].want) != 0)
			fail_msg("%s %u: '%s', not '%s'", rows[i].name, rows[i].type, got, rows[i].want);
	}
	end();
}

static void an_answer_is_changed_as_its_rule_says(void **state)
{
	(void)state;
#define NSDNAME(text) { .wanted = (const uint8_t *)"\3www", .name = (const uint8_t *)text }
	static const struct met bad = NSDNAME("\2ns\3bad"), good = NSDNAME("\2ns\4good"), data = NSDNAME("\2ns\4data"),
				address = { .wanted = (const uint8_t *)"\3www", .addr = { .family = 4, .ip = { 192, 0, 2, 66 } } },
				both = { .next = &bad, .wanted = (const uint8_t *)"\3www", .addr = { .family = 4, .ip = { 192, 0, 2, 66 } } },
				behind = { .wanted = (const uint8_t *)"\1b", .name = (const uint8_t *)"\2ns\3bad" };
	static const struct {
		const char *why;
		struct made made;
		uint16_t flags;
		const struct met *met;
		const char *want;
	} rows[] = {
		{ "nothing", { "www.", TYPE_A, 0, { "www. 60 A 192.0.2.2" } }, FLAG_AA, NULL, "nothing" },
		{ "an address that is gone", { "www.", TYPE_A, 0, { "www. 60 A 192.0.2.9" } }, FLAG_AA, NULL, "3 blocked" },
		{ "one among others", { "www.", TYPE_A, 0, { "www. 60 A 192.0.2.2\nwww. 60 A 192.0.2.9" } }, 0, NULL, "3 blocked" },
		{ "let through", { "www.", TYPE_A, 0, { "www. 60 A 192.0.2.8" } }, FLAG_AA, NULL, "as is" },
		{ "another in its place", { "www.", TYPE_A, 0, { "www. 60 A 192.0.2.7" } }, FLAG_AA, NULL,
		  "0 blocked; www. 160 IN A 192.0.2.77" },
		{ "another name", { "www.", TYPE_A, 0, { "www. 60 A 192.0.2.6" } }, FLAG_AA, NULL, "follow other.example.; www. 60" },
		{ "over TCP", { "www.", TYPE_A, 0, { "www. 60 A 192.0.2.5" } }, FLAG_AA, NULL, "0 tc" },
		{ "nothing at all", { "www.", TYPE_A, 0, { "www. 60 A 192.0.2.4" } }, FLAG_AA, NULL, "drop" },
		{ "the longest netblock", { "www.", TYPE_A, 0, { "www. 60 A 192.0.3.2\nwww. 60 A 192.0.3.1" } }, 0, NULL, "3 blocked" },
		{ "behind an alias", { "www.", TYPE_A, 0, { "www. 60 CNAME b.\nb. 60 A 192.0.2.7" } }, 0, NULL,
		  "0 blocked; www. 160 IN CNAME b.; b. 160 IN A 192.0.2.77" },
		{ "behind an alias, another name", { "www.", TYPE_A, 0, { "www. 60 CNAME b.\nb. 60 A 192.0.2.6" } }, 0, NULL,
		  "follow other.example.; www. 60; b. 60" },
		{ "an alias to what is gone", { "www.", TYPE_A, 0, { "www. 60 CNAME gone.\ngone. 60 A 192.0.2.2" } }, 0, NULL,
		  "3 aa blocked; www. 160 IN CNAME gone. /; p0. 160 IN SOA a. b. 1 2 3 4 5" },
		{ "an alias to what is let through", { "www.", TYPE_A, 0, { "www. 60 CNAME kept.\nkept. 60 A 192.0.2.9" } }, 0, NULL, "as is" },
		{ "an alias to what is local", { "www.", TYPE_A, 0, { "www. 60 CNAME local.\nlocal. 60 A 192.0.2.2" } }, FLAG_AA, NULL,
		  "0 aa blocked; www. 160 IN CNAME local.; local. 160 IN A 192.0.2.1 /; p0. 160 IN SOA a. b. 1 2 3 4 5" },
		{ "an alias to another", { "www.", TYPE_A, 0, { "www. 60 CNAME moved.\nmoved. 60 A 192.0.2.2" } }, 0, NULL,
		  "follow target.example.; www. 60; moved. 60" },
		{ "an alias to one that is let through", { "www.", TYPE_A, 0, { "www. 60 CNAME tokept.\ntokept. 60 A 192.0.2.2" } }, 0, NULL,
		  "follow kept. passed; www. 60; tokept. 60" },
		{ "an alias to too long a name", { "www.", TYPE_A, 0, { "www. 60 CNAME " L63 "." L63 "." L63 ".llllllllllllllllllllllllllllllllllllllllllllllllllllll.walled." } }, 0, NULL,
		  "6 aa blocked" },
		{ "an alias in a circle", { "www.", TYPE_A, 0, { "www. 60 CNAME one.\none. 60 A 192.0.2.2" } }, 0, NULL, "2 aa blocked" },
		{ "an alias that was asked for", { "www.", TYPE_CNAME, 0, { "www. 60 CNAME gone." } }, 0, NULL, "nothing" },
		{ "an alias of nobody's", { "www.", TYPE_A, 0, { "b. 60 CNAME gone.\nwww. 60 A 192.0.2.2" } }, 0, NULL, "nothing" },
		{ "all there is, with an alias", { "www.", TYPE_ANY, 0, { "www. 60 CNAME moved." } }, 0, NULL,
		  "0 aa blocked; www. 160 IN CNAME moved.; moved. 160 IN CNAME target.example. /; p0. 160 IN SOA a. b. 1 2 3 4 5" },
		{ "all there is, with an address", { "www.", TYPE_ANY, 0, { "www. 60 TXT a\nwww. 60 A 192.0.2.9" } }, 0, NULL, "3 blocked" },
		{ "all there is, with another address", { "www.", TYPE_ANY, 0, { "www. 60 TXT a\nwww. 60 A 192.0.2.7" } }, 0, NULL,
		  "0 blocked; www. 160 IN TXT \"a\"; www. 160 IN A 192.0.2.77" },
		{ "a server's name", { "www.", TYPE_A, 0, { "www. 60 A 192.0.2.2" } }, 0, &bad,
		  "3 aa blocked /; p0. 160 IN SOA a. b. 1 2 3 4 5" },
		{ "a server's name, let through", { "www.", TYPE_A, 0, { "www. 60 A 192.0.2.2" } }, 0, &good, "as is" },
		{ "a server's name, data", { "www.", TYPE_A, 0, { "www. 60 A 192.0.2.2" } }, 0, &data,
		  "0 aa blocked; www. 160 IN A 192.0.2.99 /; p0. 160 IN SOA a. b. 1 2 3 4 5" },
		{ "an address in the answer before them", { "www.", TYPE_A, 0, { "www. 60 A 192.0.2.8" } }, 0, &bad, "as is" },
		{ "a server's address", { "www.", TYPE_A, 0, { "www. 60 A 192.0.2.2" } }, 0, &address,
		  "0 aa blocked /; p0. 160 IN SOA a. b. 1 2 3 4 5" },
		{ "its name before its address", { "www.", TYPE_A, 0, { "www. 60 A 192.0.2.2" } }, 0, &both,
		  "3 aa blocked /; p0. 160 IN SOA a. b. 1 2 3 4 5" },
		{ "the server of an alias's target", { "www.", TYPE_A, 0, { "www. 60 CNAME b.\nb. 60 A 192.0.2.2" } }, 0, &behind,
		  "3 aa blocked; www. 160 IN CNAME b. /; p0. 160 IN SOA a. b. 1 2 3 4 5" },
		{ "the server of the first name", { "www.", TYPE_A, 0, { "www. 60 CNAME gone.\ngone. 60 A 192.0.2.2" } }, 0, &good, "as is" },
	};

	begin("minimal-responses: no", rules, none);
	for (size_t i = 0; i < COUNT(rows); i++) {
		bool decided;
		const char *got = apply(&rows[i].made, rows[i].flags, rows[i].met, &decided);

		if (strcmp(got, rows[i].want) != 0)
			fail_msg("%s: '%s', not '%s'", rows[i].why, got, rows[i].want);
	}
	end();
}

/* rpz-action-override, and which zone decides: the first with a rule that is carried out. */
static void zones_are_consulted_in_their_order(void **state)
{
	(void)state;
	static const struct {
		const char *why, *rules[ZONES], *more[ZONES], *want;
		bool spared; /* what local data answers with an alias */
	} rows[] = {
		{ "the first", { "x CNAME .", "x CNAME rpz-drop." }, { NULL }, "3 aa ra", false },
		{ "one without a rule", { "y CNAME .", "x CNAME rpz-drop." }, { NULL }, "drop", false },
		{ "one that lets through", { "x CNAME rpz-passthru.", "x CNAME ." }, { NULL }, "let through", true },
		{ "one that only reports", { "x CNAME .", "x CNAME rpz-drop." }, { " rpz-action-override: disabled" }, "drop", false },
		{ "one that only reports, and then one that lets through", { "x CNAME .", "x CNAME rpz-passthru." },
		  { " rpz-action-override: disabled" }, "let through", true },
		{ "one for others", { "x CNAME .", "x CNAME rpz-passthru." }, { " tags: \"red\"" }, "let through", true },
		{ "one overridden to let through", { "x CNAME .", "x CNAME rpz-drop." }, { " rpz-action-override: passthru" },
		  "let through", true },
		{ "to deny", { "x CNAME rpz-passthru." }, { " rpz-action-override: nxdomain" }, "3 aa ra", false },
		{ "to say nothing", { "x CNAME rpz-passthru." }, { " rpz-action-override: nodata" }, "0 aa ra", false },
		{ "to drop", { "x A 192.0.2.1" }, { " rpz-action-override: drop" }, "drop", false },
		{ "to lead elsewhere", { "x A 192.0.2.1" },
		  { " rpz-action-override: cname\n rpz-cname-override: there.example" }, "follow 1 there.example.", false },
		{ "the client before the name", { "x CNAME rpz-passthru.\n8.0.0.0.10.rpz-client-ip CNAME ." }, { NULL }, "3 aa ra", false },
		{ "a client that is let through", { "x CNAME .\n8.0.0.0.10.rpz-client-ip CNAME rpz-passthru." }, { NULL }, "let through", true },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct policy_client client;
		struct question q = made_question("x.", TYPE_A);
		const char *got;

		begin("define-tag: \"red green\"", rows[i].rules, rows[i].more);
		client = who();
		got = ask("x.", TYPE_A);
		if (strcmp(got, rows[i].want) != 0)
			fail_msg("%s: '%s', not '%s'", rows[i].why, got, rows[i].want);
		assert_int_equal(rpz_apply_spare(world.snapshot->policy, &client, &q), rows[i].spared);
		q.class_ = CLASS_CH;
		assert_false(rpz_apply_spare(world.snapshot->policy, &client, &q));
		end();
	}
}

/* What stands beside an answer is withheld where it would be changed if it were asked for; nothing of that is counted. */
static void what_would_be_changed_is_withheld(void **state)
{
	(void)state;
	static const struct {
		struct made made;
		bool want;
	} rows[] = {
		{ { "free.", TYPE_A, 0, { "free. 60 A 192.0.2.2" } }, false }, { { "gone.", TYPE_A, 0, { "gone. 60 A 192.0.2.2" } }, true },
		{ { "kept.", TYPE_A, 0, { "kept. 60 A 192.0.2.2" } }, false }, { { "free.", TYPE_A, 0, { "free. 60 A 192.0.2.9" } }, true },
		{ { "free.", TYPE_A, 0, { "free. 60 A 192.0.2.8" } }, false },
	};

	begin("", rules, none);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct policy_client client = who();

		assert_int_equal(rpz_apply_withhold(world.snapshot->policy, &client, made_message(&world.arena, NOW, &rows[i].made)), rows[i].want);
	}
	for (unsigned i = 0; i < RPZ_ACTION_COUNT; i++)
		assert_int_equal(atomic_load(&world.stats.rpz[i]), 0);
	/* what is carried out is counted, an alias as the record it is */
	(void)ask("gone.", TYPE_A);
	(void)ask("moved.", TYPE_A);
	(void)ask("kept.", TYPE_A);
	assert_int_equal(atomic_load(&world.stats.rpz[RPZ_nxdomain]), 1);
	assert_int_equal(atomic_load(&world.stats.rpz[RPZ_data]), 1);
	assert_int_equal(atomic_load(&world.stats.rpz[RPZ_passthru]), 1);
	end();
}

/* A query of one client, whose answer others may get as well. */
static struct query in_flight(const char *name)
{
	static struct env env;
	struct query q = { .snapshot = world.snapshot, .env = &env, .question = made_question(name, TYPE_A) };

	q.question.name = arena_copy(&world.arena, q.question.name, q.question.name_len);
	arena_init(&q.arena);
	return q;
}

/* A query in flight is stopped only where all would be told the same: not by a zone for some clients, nor where one may be let
 * through, nor before one that only reports or asks for TCP. */
static void a_query_is_stopped_for_all_or_for_nobody(void **state)
{
	(void)state;
	static const struct {
		const char *why, *rules[ZONES], *more[ZONES], *target;
		unsigned depth;
		bool passed;
		bool want;
	} rows[] = {
		{ "no rule", { "x CNAME ." }, { NULL }, "y.", 0, false, false },
		{ "a rule", { "x CNAME ." }, { NULL }, "x.", 0, false, true },
		{ "a rule with data", { "x A 192.0.2.1" }, { NULL }, "x.", 0, false, true },
		{ "a rule of the second zone", { "y CNAME .", "x CNAME ." }, { NULL }, "x.", 0, false, true },
		{ "a rule beside a zone that is not loaded", { "y CNAME .", "x CNAME ." }, { "rpz:\n name: later\n primary: 192.0.2.9\n" }, "x.",
		  0, false, true },
		{ "not for a client", { "x CNAME ." }, { NULL }, "x.", 1, false, false },
		{ "let through before", { "x CNAME ." }, { NULL }, "x.", 0, true, false },
		{ "let through", { "x CNAME rpz-passthru." }, { NULL }, "x.", 0, false, false },
		{ "let through by the first", { "x CNAME rpz-passthru.", "x CNAME ." }, { NULL }, "x.", 0, false, false },
		{ "for some", { "x CNAME ." }, { " tags: \"red\"" }, "x.", 0, false, false },
		{ "for some, and then for all", { "x CNAME .", "x CNAME ." }, { " tags: \"red\"" }, "x.", 0, false, false },
		{ "let through for some, and then for all", { "x CNAME rpz-passthru.", "x CNAME ." }, { " tags: \"red\"" }, "x.", 0, false, false },
		{ "only over TCP", { "x CNAME rpz-tcp-only." }, { NULL }, "x.", 0, false, false },
		{ "only over TCP, and then for all", { "x CNAME rpz-tcp-only.", "x CNAME ." }, { NULL }, "x.", 0, false, true },
		{ "only reported", { "x CNAME ." }, { " rpz-action-override: disabled" }, "x.", 0, false, false },
		{ "only reported, and then for all", { "x CNAME .", "x CNAME ." }, { " rpz-action-override: disabled" }, "x.", 0, false, true },
		{ "where its own rule leads", { "x CNAME x." }, { NULL }, "x.", 0, false, false },
		{ "where the name asked for leads", { "x CNAME www." }, { NULL }, "x.", 0, false, false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct query q;
		bool stops;

		begin("define-tag: \"red green\"", rows[i].rules, rows[i].more);
		q = in_flight("www.");
		q.depth = (uint8_t)rows[i].depth;
		q.kind = rows[i].passed ? QUERY_RPZ_PASSED : 0;
		stops = rpz_match_stops_at(&q, N(rows[i].target));
		if (stops != rows[i].want || q.stopped != stops || q.no_message != stops)
			fail_msg("%s: %u", rows[i].why, stops);
		/* a chain of trust does not pass it, whoever asks */
		assert_int_equal(rpz_match_hides(&q, N(rows[i].target)),
				 rows[i].want || rows[i].depth || rows[i].passed);
		assert_false(rpz_match_stops(&q)); /* no servers were met */
		arena_clear(&q.arena);
		end();
	}
}

/* A cached answer may be given as it is unless it begins with an alias, or rules are about addresses. */
static void which_cached_answers_are_looked_at_again(void **state)
{
	(void)state;
	static const struct {
		struct made made;
		bool want; /* where there is no rule for addresses */
	} rows[] = {
		{ { "www.example.", TYPE_A, 0, { "www.example. 60 A 192.0.2.2" } }, false },
		{ { "www.example.", TYPE_A, 0, { NULL, "example. 60 SOA a. b. 1 2 3 4 5" } }, false },
		{ { "www.example.", TYPE_A, 0, { "www.example. 60 CNAME a.\na. 60 A 192.0.2.2" } }, true },
		{ { "www.example.", TYPE_DNAME, 0, { "www.example. 60 DNAME a." } }, true },
		{ { "www.d.example.", TYPE_A, 0, { "d.example. 60 DNAME e.\nwww.d.example. 60 CNAME www.e." } }, true },
		{ { "www.example.", TYPE_A, 0, { NULL } }, false },
		{ { L63 "." L63 "." L63 ".llllllllllllllllllllllllllllllllllllllllllllllllllllll.x.", TYPE_A, 0, { "x. 60 A 192.0.2.2" } }, false },
		{ { "www.example.", TYPE_A, 0, { "other.test. 60 A 192.0.2.2" } }, true }, /* which cannot be told at a glance */
	};

	for (size_t i = 0; i < 2 * COUNT(rows); i++) {
		const struct made *made = &rows[i / 2].made;
		struct question q = made_question(made->name, made->type);
		struct msgcache *c = msgcache_new(1 << 20, 1);
		const struct stored *s;

		begin("", (const char *const[ZONES]){ i % 2 ? "32.9.2.0.192.rpz-ip CNAME ." : "gone CNAME ." }, none);
		msgcache_store(c, made_message(&world.arena, NOW, made), &(struct msg_keep){ .now_s = NOW, .ttl_s = 60 });
		s = msgcache_find(c, &q, msgcache_hash(&q), 0, true);
		assert_non_null(s);
		if (rpz_match_doubt(world.snapshot->zones, s) != (rows[i / 2].want || i % 2))
			fail_msg("row %zu", i);
		msgcache_free(c);
		end();
	}
}

/* Nor is one of 256 records. */
static void a_large_answer_may_begin_with_an_alias(void **state)
{
	struct question q = made_question("www.example.", TYPE_A);
	struct msgcache *c = msgcache_new(1 << 20, 1);
	const struct stored *s;
	struct message *m;

	(void)state;
	begin("", (const char *const[ZONES]){ "gone CNAME ." }, none);
	m = made_message(&world.arena, NOW, &(struct made){ "www.example.", TYPE_A, 0, { "www.example. 60 CNAME a." } });
	m->sets[m->count[SECTION_ANSWER]++] = made_addresses(&world.arena, NOW, "a.", 255);
	msgcache_store(c, m, &(struct msg_keep){ .now_s = NOW, .ttl_s = 60 });
	s = msgcache_find(c, &q, msgcache_hash(&q), 0, true);
	assert_non_null(s);
	assert_true(rpz_match_doubt(world.snapshot->zones, s));
	msgcache_free(c);
	end();
}

/* Servers are noted where a rule may be about them, each once for each name it is asked for; what was met for a query is met
 * for the one that depends on it. */
static void servers_are_noted_once(void **state)
{
	(void)state;
	struct query q, parent;
	struct addr bad, fine;
	unsigned count = 0;

	assert_true(addr_parse(&bad, "192.0.2.66", 53, NULL));
	assert_true(addr_parse(&fine, "192.0.2.67", 53, NULL));
	begin("", rules, none);
	q = in_flight("www.");
	parent = in_flight("b.");
	assert_true(rpz_match_by_servers(&q));
	rpz_match_meet(&q, N("www."), N("ns.fine."), NULL);
	rpz_match_meet(&q, N("www."), NULL, &fine);
	assert_null(q.met);
	assert_false(q.no_message);
	for (unsigned twice = 0; twice < 2; twice++) {
		rpz_match_meet(&q, N("www."), N("ns.bad."), NULL);
		rpz_match_meet(&q, N("www."), N("ns.good."), NULL);
		rpz_match_meet(&q, N("www."), NULL, &bad);
		rpz_match_meet(&q, N("b."), N("ns.bad."), NULL);
		rpz_match_meet(&q, N("b."), NULL, &bad);
	}
	assert_true(q.no_message);
	for (const struct met *m = q.met; m; m = m->next)
		count++;
	assert_int_equal(count, 5);
	rpz_match_inherit(&parent, &q);
	for (const struct met *m = parent.met; m; m = m->next) {
		count--;
		assert_true((m->name != NULL) != (m->addr.family == 4));
	}
	assert_int_equal(count, 0);
	arena_clear(&q.arena);
	arena_clear(&parent.arena);
	end();
}

/* They stop a query if nobody may be let through: by another server's rule, or by an address in the answer. */
static void servers_stop_a_query_that_nobody_is_let_through(void **state)
{
	(void)state;
	static const struct {
		const char *why, *rules[ZONES], *more[ZONES];
		bool want;
	} rows[] = {
		{ "a name", { "ns.bad.rpz-nsdname CNAME ." }, { NULL }, true },
		{ "an address", { "32.66.2.0.192.rpz-nsip CNAME *." }, { NULL }, true },
		{ "none of these", { "ns.other.rpz-nsdname CNAME ." }, { NULL }, false },
		{ "a name that is let through", { "ns.bad.rpz-nsdname CNAME rpz-passthru.\n32.66.2.0.192.rpz-nsip CNAME *." }, { NULL }, false },
		{ "where an address may be let through", { "ns.bad.rpz-nsdname CNAME .\n32.1.1.1.1.rpz-ip CNAME rpz-passthru." }, { NULL }, false },
		{ "where an address may be denied as well", { "ns.bad.rpz-nsdname CNAME .\n32.1.1.1.1.rpz-ip CNAME ." }, { NULL }, true },
		{ "an override that lets nobody through", { "ns.bad.rpz-nsdname CNAME .\n32.1.1.1.1.rpz-ip CNAME rpz-passthru." },
		  { " rpz-action-override: nxdomain" }, true },
		{ "an override that lets through", { "ns.bad.rpz-nsdname CNAME .\n32.1.1.1.1.rpz-ip CNAME ." },
		  { " rpz-action-override: passthru" }, false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct query q;
		struct addr a;

		assert_true(addr_parse(&a, "192.0.2.66", 53, NULL));
		begin("", rows[i].rules, rows[i].more);
		q = in_flight("www.");
		rpz_match_meet(&q, N("www."), N("ns.bad."), NULL);
		rpz_match_meet(&q, N("www."), NULL, &a);
		assert_int_equal(rpz_match_by_servers(&q), true);
		if (rpz_match_stops(&q) != rows[i].want || q.stopped != rows[i].want)
			fail_msg("%s", rows[i].why);
		arena_clear(&q.arena);
		end();
	}
	begin("", (const char *const[ZONES]){ "gone CNAME ." }, none);
	assert_false(rpz_match_zones_name_servers(world.snapshot->zones));
	end();
	begin("", (const char *const[ZONES]){ "32.66.2.0.192.rpz-nsip CNAME ." }, none);
	assert_true(rpz_match_zones_name_servers(world.snapshot->zones));
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_question_is_answered_as_its_rule_says),
		cmocka_unit_test(an_answer_is_changed_as_its_rule_says),
		cmocka_unit_test(zones_are_consulted_in_their_order),
		cmocka_unit_test(what_would_be_changed_is_withheld),
		cmocka_unit_test(a_query_is_stopped_for_all_or_for_nobody),
		cmocka_unit_test(which_cached_answers_are_looked_at_again),
		cmocka_unit_test(a_large_answer_may_begin_with_an_alias),
		cmocka_unit_test(servers_are_noted_once),
		cmocka_unit_test(servers_stop_a_query_that_nobody_is_let_through),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
