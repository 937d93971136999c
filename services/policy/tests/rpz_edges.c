/* Claims about policy zones where rules meet: addresses within others, servers of several names, what is told of them.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/policy/tests/rpz_world.h"

#include "services/history/decision.h"
#include "services/query/query.h"

static const char *const none[ZONES] = { NULL };

static const struct met *meet(struct met *to, const struct met *next, const char *wanted, const char *name, const char *addr)
{
	*to = (struct met){ .next = next, .wanted = arena_copy(&world.arena, N(wanted), dname_len(N(wanted))) };
	if (name)
		to->name = arena_copy(&world.arena, N(name), dname_len(N(name)));
	else
		assert_true(addr_parse(&to->addr, addr, 53, NULL));
	return to;
}

struct row {
	const char *why;
	struct made made;
	const char *want;
	bool embeds;
};

static void check(const struct row *rows, size_t count, const struct met *met)
{
	for (size_t i = 0; i < count; i++) {
		bool decided;
		const char *got;

		world.embeds = rows[i].embeds;
		got = apply(&rows[i].made, FLAG_AA, met, &decided);
		if (strcmp(got, rows[i].want) != 0)
			fail_msg("%s: '%s', not '%s'", rows[i].why, got, rows[i].want);
	}
}

/* An IPv6 address in dns64-prefix has the rules for the IPv4 address in it: these deny no more than that. */
static void an_address_within_another_has_its_rules(void **state)
{
	(void)state;
	static const char *const rules[ZONES] = {
		"32.9.2.0.192.rpz-ip CNAME .\n32.8.2.0.192.rpz-ip CNAME rpz-passthru.\n32.7.2.0.192.rpz-ip A 192.0.2.77\n"
		"32.6.2.0.192.rpz-ip CNAME other.example.\n32.5.2.0.192.rpz-ip CNAME tolocal.\n32.4.2.0.192.rpz-ip CNAME rpz-drop.\n"
		"32.3.2.0.192.rpz-ip TXT a\n32.11.2.0.192.rpz-ip AAAA 2001:db8::9\n32.11.2.0.192.rpz-ip A 192.0.2.99\n"
		"128.20a.c000.zz.ff9b.64.rpz-ip CNAME rpz-passthru.\n32.10.2.0.192.rpz-ip CNAME .\n"
		"96.zz.ff9b.64.rpz-ip CNAME *.\n128.1.zz.db8.2001.rpz-ip CNAME .\n128.2.zz.db8.2001.rpz-ip CNAME rpz-drop.\n"
		"tolocal CNAME local.\nlocal A 192.0.2.55\nlocal TXT a\ntogone CNAME gone.\ngone CNAME .\n32.2.2.0.192.rpz-ip CNAME togone.",
	};
	static const struct row rows[] = {
		{ "a rule of its own", { "www.", TYPE_AAAA, 0, { "www. 60 AAAA 2001:db8::1" } }, "3 blocked", false },
		{ "another", { "www.", TYPE_AAAA, 0, { "www. 60 AAAA 2001:db8::2" } }, "drop", false },
		{ "none", { "www.", TYPE_AAAA, 0, { "www. 60 AAAA 2001:db8::3" } }, "nothing", false },
		{ "within, denied", { "www.", TYPE_AAAA, 0, { "www. 60 AAAA 64:ff9b::192.0.2.9" } }, "0 blocked", false },
		{ "within, dropped", { "www.", TYPE_AAAA, 0, { "www. 60 AAAA 64:ff9b::192.0.2.4" } }, "0 blocked", false },
		{ "within, let through", { "www.", TYPE_AAAA, 0, { "www. 60 AAAA 64:ff9b::192.0.2.8" } }, "as is", false },
		{ "within, another", { "www.", TYPE_AAAA, 0, { "www. 60 AAAA 64:ff9b::192.0.2.7" } },
		  "0 blocked; www. 160 IN AAAA 64:ff9b::c000:24d", false },
		{ "within, no address", { "www.", TYPE_AAAA, 0, { "www. 60 AAAA 64:ff9b::192.0.2.3" } }, "0 blocked", false },
		{ "within, another name", { "www.", TYPE_AAAA, 0, { "www. 60 AAAA 64:ff9b::192.0.2.6" } },
		  "follow other.example. nat64; www. 60", false },
		{ "within, an alias to what is local", { "www.", TYPE_AAAA, 0, { "www. 60 AAAA 64:ff9b::192.0.2.5" } },
		  "0 blocked; www. 160 IN CNAME tolocal.; tolocal. 160 IN CNAME local.; local. 160 IN AAAA 64:ff9b::c000:237", false },
		{ "within, an alias to what is gone", { "www.", TYPE_AAAA, 0, { "www. 60 AAAA 64:ff9b::192.0.2.2" } },
		  "0 blocked; www. 160 IN CNAME togone.; togone. 160 IN CNAME gone.", false },
		{ "within, with addresses of both families", { "www.", TYPE_AAAA, 0, { "www. 60 AAAA 64:ff9b::192.0.2.11" } },
		  "0 blocked; www. 160 IN AAAA 2001:db8::9", false },
		{ "the longer netblock of both", { "www.", TYPE_AAAA, 0, { "www. 60 AAAA 64:ff9b::192.0.2.1" } }, "0 blocked", false },
		{ "of equal ones its own", { "www.", TYPE_AAAA, 0, { "www. 60 AAAA 64:ff9b::192.0.2.10" } }, "as is", false },
		{ "of two addresses one within", { "www.", TYPE_AAAA, 0, { "www. 60 AAAA 2001:db8::3\nwww. 60 AAAA 64:ff9b::192.0.2.8" } },
		  "as is", false },
		{ "a denied address", { "www.", TYPE_A, 0, { "www. 60 A 192.0.2.9" } }, "3 blocked", false },
		{ "to be embedded, denied", { "www.", TYPE_A, 0, { "www. 60 A 192.0.2.9" } }, "0 blocked", true },
		{ "to be embedded, dropped", { "www.", TYPE_A, 0, { "www. 60 A 192.0.2.4" } }, "0 blocked", true },
		{ "another name", { "www.", TYPE_A, 0, { "www. 60 A 192.0.2.6" } }, "follow other.example.; www. 60", false },
		{ "to be embedded, another", { "www.", TYPE_A, 0, { "www. 60 A 192.0.2.7" } }, "0 blocked; www. 160 IN A 192.0.2.77", true },
	};

	static const struct row alone[] = {
		{ "the only rule", { "www.", TYPE_AAAA, 0, { "www. 60 AAAA 64:ff9b::192.0.2.9" } }, "0 blocked", false },
		{ "the second address", { "www.", TYPE_AAAA, 0, { "www. 60 AAAA 64:ff9b::192.0.2.8\nwww. 60 AAAA 64:ff9b::192.0.2.9" } },
		  "0 blocked", false },
	};

	begin("", rules, none);
	check(rows, COUNT(rows), NULL);
	end();
	begin("", (const char *const[ZONES]){ "32.9.2.0.192.rpz-ip CNAME ." }, none);
	check(alone, COUNT(alone), NULL);
	end();
}

/* What aliases in the answer lead to. */
static void an_alias_leads_to_rules(void **state)
{
	(void)state;
#define L63 "lllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllll"
	static const char *const rules[ZONES] = { "slow CNAME rpz-tcp-only.\ntolocal CNAME local.\nlocal A 192.0.2.55\n*.walled CNAME *.garden." };
	static const struct row rows[] = {
		{ "what is for TCP", { "www.", TYPE_A, 0, { "www. 60 CNAME slow.\nslow. 60 A 192.0.2.9" } }, "0 tc", false },
		{ "through a rule to another", { "www.", TYPE_A, 0, { "www. 60 CNAME tolocal.\ntolocal. 60 A 192.0.2.9" } },
		  "0 aa blocked; www. 160 IN CNAME tolocal.; tolocal. 160 IN CNAME local.; local. 160 IN A 192.0.2.55", false },
		{ "too long a name, of any type",
		  { "www.", TYPE_ANY, 0, { "www. 60 CNAME " L63 "." L63 "." L63 ".llllllllllllllllllllllllllllllllllllllllllllllllllllll.walled." } },
		  "6 aa blocked", false },
	};
	static const char *const servers[ZONES] = { "ns.x.rpz-nsdname CNAME .", "ns.bad.rpz-nsdname CNAME *.\nns.data.rpz-nsdname A 192.0.2.99" };
	static const struct row second[] = {
		{ "a server of the second zone", { "www.", TYPE_A, 0, { "www. 60 CNAME b.\nb. 60 A 192.0.2.9" } }, "0 aa blocked", false },
	}, behind[] = {
		{ "a server of the second alias", { "www.", TYPE_A, 0, { "www. 60 CNAME b.\nb. 60 CNAME c.\nc. 60 A 192.0.2.9" } },
		  "0 aa blocked; www. 160 IN CNAME b.; b. 160 IN A 192.0.2.99", false },
	};
	struct met met;

	begin("", rules, none);
	check(rows, COUNT(rows), NULL);
	end();
	begin("", servers, none);
	check(second, COUNT(second), meet(&met, NULL, "www.", "ns.bad.", NULL));
	check(behind, COUNT(behind), meet(&met, NULL, "b.", "ns.data.", NULL));
	end();
}

/* Of servers asked for one name the rule that comes first decides, whoever was met first; of those of several names, those of
 * the first. */
static void the_first_servers_decide(void **state)
{
	(void)state;
	static const char *const rules[ZONES] = {
		"ns.bad.rpz-nsdname CNAME .\nns.good.rpz-nsdname CNAME rpz-passthru.\n24.0.6.0.192.rpz-nsip CNAME .\n"
		"32.1.6.0.192.rpz-nsip CNAME rpz-passthru.\nns.alias.rpz-nsdname CNAME garden.",
	};
	static const struct {
		const char *why, *wanted[2], *server[2]; /* the second was met before the first */
		struct made made;
		const char *want;
	} rows[] = {
		{ "two names", { "www.", "www." }, { "ns.bad.", "ns.good." }, { "www.", TYPE_A, 0, { "www. 60 A 192.0.2.1" } }, "3 aa blocked" },
		{ "the other way round", { "www.", "www." }, { "ns.good.", "ns.bad." }, { "www.", TYPE_A, 0, { "www. 60 A 192.0.2.1" } },
		  "3 aa blocked" },
		{ "two addresses", { "www.", "www." }, { "192.0.6.1", "192.0.6.2" }, { "www.", TYPE_A, 0, { "www. 60 A 192.0.2.1" } }, "as is" },
		{ "the other way round", { "www.", "www." }, { "192.0.6.2", "192.0.6.1" }, { "www.", TYPE_A, 0, { "www. 60 A 192.0.2.1" } },
		  "as is" },
		{ "an address alone", { "www.", "www." }, { "192.0.6.2", "192.0.6.2" }, { "www.", TYPE_A, 0, { "www. 60 A 192.0.2.1" } },
		  "3 aa blocked" },
		{ "the first name's, good", { "b.", "www." }, { "ns.bad.", "ns.good." }, { "www.", TYPE_A, 0, { "www. 60 A 192.0.2.1" } },
		  "as is" },
		{ "the first name's, bad", { "b.", "www." }, { "ns.good.", "ns.bad." }, { "www.", TYPE_A, 0, { "www. 60 A 192.0.2.1" } },
		  "3 aa blocked" },
		{ "along an alias, good", { "b.", "www." }, { "ns.bad.", "ns.good." },
		  { "www.", TYPE_A, 0, { "www. 60 CNAME b.\nb. 60 A 192.0.2.1" } }, "as is" },
		{ "along an alias, bad", { "b.", "www." }, { "ns.good.", "ns.bad." },
		  { "www.", TYPE_A, 0, { "www. 60 CNAME b.\nb. 60 A 192.0.2.1" } }, "3 aa blocked" },
		{ "its target's", { "b.", "b." }, { "ns.bad.", "ns.bad." }, { "www.", TYPE_A, 0, { "www. 60 CNAME b.\nb. 60 A 192.0.2.1" } },
		  "3 aa blocked; www. 160 IN CNAME b." },
		{ "a name's that is not there", { "c.", "c." }, { "ns.bad.", "ns.bad." },
		  { "www.", TYPE_A, 0, { "www. 60 CNAME b.\nb. 60 A 192.0.2.1" } }, "3 aa blocked" },
		{ "an alias that was asked for", { "www.", "www." }, { "ns.bad.", "ns.bad." }, { "www.", TYPE_CNAME, 0, { "www. 60 CNAME b." } },
		  "3 aa blocked" },
		{ "to another name", { "www.", "www." }, { "ns.alias.", "ns.alias." }, { "www.", TYPE_A, 0, { "www. 60 A 192.0.2.1" } },
		  "follow garden.; www. 60" },
		{ "where it leads", { "garden.", "garden." }, { "ns.alias.", "ns.alias." },
		  { "garden.", TYPE_A, 0, { "garden. 60 A 192.0.2.1" } }, "as is" },
		{ "what leads there", { "b.", "b." }, { "ns.alias.", "ns.alias." },
		  { "garden.", TYPE_A, 0, { "garden. 60 CNAME b.\nb. 60 A 192.0.2.1" } }, "as is" },
	};

	begin("", rules, none);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct met met[2];
		const struct met *list = NULL;
		bool decided;
		const char *got;

		for (unsigned n = 2; n--;) {
			const char *server = rows[i].server[n];
			bool is_name = server[0] == 'n';

			list = meet(&met[n], list, rows[i].wanted[n], is_name ? server : NULL, is_name ? NULL : server);
		}
		got = apply(&rows[i].made, 0, list, &decided);
		if (strcmp(got, rows[i].want) != 0)
			fail_msg("%s: '%s', not '%s'", rows[i].why, got, rows[i].want);
	}
	end();
}

/* A netblock's rule may send everything to one address therein. */
static void where_a_rule_leads_it_lets_through(void **state)
{
	(void)state;
	static const char *const rules[ZONES] = { "24.0.2.0.192.rpz-ip CNAME other.example." };
	static const struct row rows[] = {
		{ "another", { "www.", TYPE_A, 0, { "www. 60 A 192.0.2.6" } }, "follow other.example.; www. 60", false },
		{ "itself", { "other.example.", TYPE_A, 0, { "other.example. 60 A 192.0.2.6" } }, "as is", false },
		{ "what is an alias of it", { "other.example.", TYPE_A, 0, { "other.example. 60 CNAME b.\nb. 60 A 192.0.2.6" } }, "as is", false },
		{ "an alias to it", { "www.", TYPE_A, 0, { "www. 60 CNAME other.example.\nother.example. 60 A 192.0.2.6" } }, "as is", false },
	};

	begin("", rules, none);
	check(rows, COUNT(rows), NULL);
	end();
}

/* A zone with tags is for clients that have one of them. */
static void a_zone_is_for_who_has_its_tag(void **state)
{
	(void)state;
	static const struct {
		const char *options, *more, *want;
	} rows[] = {
		{ "define-tag: \"red green\"\n access-control-tag: 10.0.0.0/8 \"red\"", "", "3 aa ra" },
		{ "define-tag: \"red green\"\n access-control-tag: 10.0.0.0/8 \"red\"", " tags: \"red\"", "3 aa ra" },
		{ "define-tag: \"red green\"\n access-control-tag: 10.0.0.0/8 \"red\"", " tags: \"red green\"", "3 aa ra" },
		{ "define-tag: \"red green\"\n access-control-tag: 10.0.0.0/8 \"red\"", " tags: \"green\"", "pass" },
		{ "define-tag: \"red green\"\n access-control-tag: 10.0.0.0/8 \"red green\"", " tags: \"green\"", "3 aa ra" },
		{ "define-tag: \"red green\"", " tags: \"red\"", "pass" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		begin(rows[i].options, (const char *const[ZONES]){ "x CNAME ." }, (const char *const[ZONES]){ rows[i].more });
		assert_string_equal(ask("x.", TYPE_A), rows[i].want);
		end();
	}
}

static char logged[300];
static unsigned logged_count;

static void keep(const char *line, void *arg)
{
	(void)arg;
	snprintf(logged, sizeof(logged), "%s", line);
	logged_count++;
}

/* What a rule did is counted, logged where the operator wants that, and told to who asks why. */
static void what_a_rule_did_is_told(void **state)
{
	(void)state;
	static const char *const rules[ZONES] = {
		"gone CNAME .\nempty CNAME *.\nkept CNAME rpz-passthru.\ndropped CNAME rpz-drop.\nslow CNAME rpz-tcp-only.\nlocal A 192.0.2.1\n"
		"moved CNAME target.example.\n",
		"gone2 CNAME .",
	};
	static const struct {
		const char *name;
		enum decision_how how;
		const char *what, *line;
		enum rpz_action counted;
	} rows[] = {
		{ "gone.", DECIDED_BLOCKED, "rpz p0. nxdomain by gone.", "[list] gone. rpz-nxdomain", RPZ_nxdomain },
		{ "empty.", DECIDED_BLOCKED, "rpz p0. nodata by empty.", "[list] empty. rpz-nodata", RPZ_nodata },
		{ "kept.", DECIDED_NOT, "rpz p0. passthru by kept.", "[list] kept. rpz-passthru", RPZ_passthru },
		{ "dropped.", DECIDED_BLOCKED, "rpz p0. drop by dropped.", "[list] dropped. rpz-drop", RPZ_drop },
		{ "slow.", DECIDED_HERE, "rpz p0. tcp-only by slow.", "[list] slow. rpz-tcp-only", RPZ_tcp_only },
		{ "local.", DECIDED_HERE, "rpz p0. local-data by local.", "[list] local. rpz-local-data", RPZ_data },
		{ "moved.", DECIDED_HERE, "rpz p0. local-data by moved.", "[list] moved. rpz-local-data", RPZ_data },
		{ "gone2.", DECIDED_NOT, "rpz p1. disabled by gone2.", NULL, RPZ_disabled },
	};

	begin("", rules, (const char *const[ZONES]){ " rpz-log: yes\n rpz-log-name: list", " rpz-action-override: disabled" });
	log_capture(keep, NULL);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct decision decision;
		uint64_t before = atomic_load(&world.stats.rpz[rows[i].counted]);

		decision_clear(&decision);
		world.decision = &decision;
		logged_count = 0;
		(void)ask(rows[i].name, TYPE_A);
		assert_int_equal(decision.how, rows[i].how);
		assert_string_equal(decision.what, rows[i].what);
		assert_int_equal(logged_count, rows[i].line != NULL);
		if (rows[i].line && !strstr(logged, rows[i].line))
			fail_msg("'%s', not '%s'", logged, rows[i].line);
		assert_int_equal(atomic_load(&world.stats.rpz[rows[i].counted]), before + 1);
	}
	log_capture(NULL, NULL);
	end();
}

/* What merely stands beside an answer is looked at without a word. */
static void what_is_withheld_is_not_told(void **state)
{
	(void)state;
	static const struct made made = { "gone.", TYPE_A, 0, { "gone. 60 A 192.0.2.2" } };
	struct policy_client client;
	struct decision decision;

	begin("", (const char *const[ZONES]){ "gone CNAME ." }, (const char *const[ZONES]){ " rpz-log: yes" });
	log_capture(keep, NULL);
	decision_clear(&decision);
	world.decision = &decision;
	logged_count = 0;
	client = who();
	assert_true(rpz_apply_withhold(world.snapshot->policy, &client, made_message(&world.arena, NOW, &made)));
	assert_int_equal(logged_count, 0);
	assert_string_equal(decision.what, "");
	assert_int_equal(atomic_load(&world.stats.rpz[RPZ_nxdomain]), 0);
	log_capture(NULL, NULL);
	end();
}

/* rpz-signal-nxdomain-ra, and the SOA record of the zone. */
static void the_zone_shows_itself_as_configured(void **state)
{
	(void)state;
	static const char *const rules[ZONES] = { "gone CNAME .\nempty CNAME *.\n32.9.2.0.192.rpz-ip CNAME .\n32.8.2.0.192.rpz-ip CNAME *.\nx A 192.0.2.1",
						  "16.0.0.0.10.rpz-client-ip A 192.0.2.5" };
	static const char *const signals[ZONES] = { " rpz-signal-nxdomain-ra: yes" };
	static const struct row rows[] = {
		{ "denied", { "www.", TYPE_A, 0, { "www. 60 A 192.0.2.9" } }, "3 blocked no-ra", false },
		{ "emptied", { "www.", TYPE_A, 0, { "www. 60 A 192.0.2.8" } }, "0 blocked", false },
	};

	begin("minimal-responses: no", rules, signals);
	assert_string_equal(ask("gone.", TYPE_A), "3 aa");
	assert_int_equal(world.ede, 15); /* Blocked (RFC 8914 4.16) */
	assert_string_equal(ask("empty.", TYPE_A), "0 aa ra");
	assert_string_equal(ask("x.", TYPE_A), "0 aa ra; x. 60 IN A 192.0.2.1");
	assert_string_equal(ask("y.", TYPE_A), "0 aa ra; y. 60 IN A 192.0.2.5 /; p1. 60 IN SOA a. b. 1 2 3 4 5");
	check(rows, COUNT(rows), NULL);
	end();
	begin("minimal-responses: yes", rules, none);
	assert_string_equal(ask("gone.", TYPE_A), "3 aa ra");
	assert_string_equal(ask("y.", TYPE_A), "0 aa ra; y. 60 IN A 192.0.2.5");
	end();
}

/* Thirty-two RRsets of a rule are enough for anybody; an alias that has expired is not valid for ages; a chain ends. */
static void what_is_too_much_is_bounded(void **state)
{
	(void)state;
	static const struct made plain = { "www.", TYPE_ANY, 0, { "www. 60 CNAME many." } },
				 aliased = { "www.", TYPE_A, 0, { "www. 60 CNAME b.\nb. 60 A 192.0.2.6" } };
	char many[2000], chain[1000];
	struct policy_client client;
	struct policy_outcome j = { .end = OUTCOME_AS_IS };
	struct message *m;
	size_t len = (size_t)snprintf(many, sizeof(many), "32.6.2.0.192.rpz-ip CNAME other.example.\n"), at = 0;
	bool decided;

	for (unsigned i = 0; i < 34; i++)
		len += (size_t)snprintf(many + len, sizeof(many) - len, "many TYPE%u \\# 1 00\n", 65280 + i);
	begin("", (const char *const[ZONES]){ many }, none);
	client = who();
	m = made_message(&world.arena, NOW, &plain);
	assert_true(rpz_apply_aliases(world.snapshot->policy, &client, m, NOW, &world.arena, &j));
	assert_int_equal(j.m->count[SECTION_ANSWER], 1 + 32);
	m = made_message(&world.arena, NOW, &aliased);
	((struct rrset *)(uintptr_t)m->sets[0])->expires_s = NOW - 5;
	assert_true(rpz_apply_rest(world.snapshot->policy, &client, m, NOW, &world.arena, &j));
	assert_int_equal(j.end, OUTCOME_FOLLOW);
	assert_int_equal(j.aliases.sets[0]->expires_s, 0);
	for (unsigned i = 0; i < ALIAS_PREFIX_MOST + 1; i++)
		at += (size_t)snprintf(chain + at, sizeof(chain) - at, "n%u. 60 CNAME n%u.\n", i, i + 1);
	snprintf(chain + at, sizeof(chain) - at, "n%u. 60 A 192.0.2.6", ALIAS_PREFIX_MOST + 1);
	assert_string_equal(apply(&(struct made){ "n0.", TYPE_A, 0, { chain } }, 0, NULL, &decided), "2 blocked");
	end();
}

/* Rules are for the Internet's class. */
static void other_classes_have_no_rules(void **state)
{
	(void)state;
	static const struct made made = { "www.", TYPE_A, 0, { "www. 60 CNAME gone.\ngone. 60 A 192.0.2.9" } };
	struct policy_client client;
	struct policy_outcome j = { .end = OUTCOME_AS_IS };
	struct message *m;

	begin("", (const char *const[ZONES]){ "gone CNAME .\n32.9.2.0.192.rpz-ip CNAME ." }, none);
	client = who();
	m = made_message(&world.arena, NOW, &made);
	assert_true(rpz_apply_aliases(world.snapshot->policy, &client, m, NOW, &world.arena, &j));
	m->q.class_ = CLASS_CH;
	assert_false(rpz_apply_aliases(world.snapshot->policy, &client, m, NOW, &world.arena, &j));
	assert_false(rpz_apply_rest(world.snapshot->policy, &client, m, NOW, &world.arena, &j));
	end();
}

/* A query whose answer some client may get is not stopped, on the way along aliases nor for its servers. */
static void a_query_some_are_let_through_for_is_spared(void **state)
{
	(void)state;
	static const struct {
		const char *why, *rules[ZONES], *more[ZONES], *server, *target;
		bool stops, spared;
		const char *asked; /* NULL: www. */
	} rows[] = {
		{ "where a rule for all names leads the one asked for", { "*.x CNAME *.garden." }, { NULL }, NULL, "a.x.", false, true,
		  "a.x.garden." },
		{ "where it does not", { "*.x CNAME *.garden." }, { NULL }, NULL, "a.x.", true, false, "a.garden." },
		{ "no policy zone", { NULL }, { NULL }, NULL, "x.", false, false, NULL },
		{ "no rule", { "x CNAME ." }, { NULL }, NULL, "y.", false, false, NULL },
		{ "a rule", { "x CNAME ." }, { NULL }, NULL, "x.", true, false, NULL },
		{ "let through", { "x CNAME rpz-passthru." }, { NULL }, NULL, "x.", false, true, NULL },
		{ "let through for some", { "x CNAME rpz-passthru." }, { " tags: \"red\"" }, NULL, "x.", false, true, NULL },
		{ "by another zone", { "y CNAME .", "x CNAME rpz-passthru." }, { NULL }, NULL, "x.", false, true, NULL },
		{ "where its own rule leads", { "*.x CNAME a.x." }, { NULL }, NULL, "a.x.", false, true, NULL },
		{ "where the name asked for leads", { "x CNAME www." }, { NULL }, NULL, "x.", false, true, NULL },
		{ "by a server", { "x CNAME .\nns.good.rpz-nsdname CNAME rpz-passthru." }, { NULL }, "ns.good.", "x.", false, true, NULL },
		{ "by a server's alias", { "x CNAME .\nns.good.rpz-nsdname CNAME www." }, { NULL }, "ns.good.", "x.", false, true, NULL },
		{ "not by a server", { "x CNAME .\nns.good.rpz-nsdname CNAME ." }, { NULL }, "ns.good.", "x.", true, false, NULL },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		static struct env env;
		struct query q;
		bool stops;

		begin("define-tag: \"red green\"", rows[i].rules, rows[i].more);
		q = (struct query){ .snapshot = world.snapshot, .env = &env, .question = made_question(rows[i].asked ? rows[i].asked : "www.", TYPE_A) };
		q.question.name = arena_copy(&world.arena, q.question.name, q.question.name_len);
		arena_init(&q.arena);
		if (rows[i].server)
			rpz_match_meet(&q, q.question.name, N(rows[i].server), NULL);
		stops = rpz_match_stops_at(&q, N(rows[i].target));
		if (stops != rows[i].stops || q.stopped != stops || q.spared != rows[i].spared)
			fail_msg("%s: %d %d", rows[i].why, stops, q.spared);
		if (!rows[i].rules[0])
			assert_false(rpz_match_hides(&q, N("x.")));
		/* and no more once it has been spared */
		if (q.spared)
			assert_false(rpz_match_stops(&q) || rpz_match_stops_at(&q, N("x.")));
		arena_clear(&q.arena);
		end();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_address_within_another_has_its_rules),
		cmocka_unit_test(an_alias_leads_to_rules),
		cmocka_unit_test(the_first_servers_decide),
		cmocka_unit_test(where_a_rule_leads_it_lets_through),
		cmocka_unit_test(a_zone_is_for_who_has_its_tag),
		cmocka_unit_test(what_a_rule_did_is_told),
		cmocka_unit_test(what_is_withheld_is_not_told),
		cmocka_unit_test(the_zone_shows_itself_as_configured),
		cmocka_unit_test(what_is_too_much_is_bounded),
		cmocka_unit_test(other_classes_have_no_rules),
		cmocka_unit_test(a_query_some_are_let_through_for_is_spared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
