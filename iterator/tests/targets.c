/* Claims about looking up the servers of a zone: which names, which families, and how many at most.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "iterator/targets.h"

#include "iterator/delegation.h"
#include "iterator/tests/fixture.h"
#include "services/forward/forward.h"
#include "services/mesh/private.h"
#include "services/query/budget.h"

static const char in_zone[] = "ns%u.example.com.", outside[] = "ns%u.example.net.";

/* A query for www.example.com at the servers of example.com; `count` names such as `pattern` has. */
static void begin(const char *conf, const char *pattern, unsigned count)
{
	fixture_begin(conf, "www.example.com.", TYPE_A, 0);
	fixture.it.at = delegation_new(fixture.arena, N("example.com."));
	for (unsigned i = 1; i <= count; i++) {
		char name[40];

		snprintf(name, sizeof(name), pattern, i);
		(void)delegation_add_name(fixture.it.at, fixture.arena, N(name));
	}
}

static void add_server(void)
{
	struct target t = { .addr = address("192.0.2.1") };

	assert_true(delegation_add_target(fixture.it.at, fixture.arena, &t));
}

/* How many questions of that type have been begun, by name ("": any); all were to be of this kind. */
static unsigned begun(const char *name, uint16_t type, unsigned kind)
{
	unsigned count = 0;

	mesh_run(fixture.env.mesh);
	for (unsigned i = 0; i < fixture.begun_count; i++) {
		const struct query *q = fixture.begun[i];

		assert_int_equal(q->question.class_, CLASS_IN);
		if (q->question.type == type && (!*name || dname_equals(q->question.name, N(name)))) {
			assert_int_equal(q->kind & (QUERY_CD | QUERY_PARENT_SIDE), kind);
			count++;
		}
	}
	return count;
}

static struct ns *ns(unsigned i)
{
	return &fixture.it.at->names[i];
}

/* Each limit is its own: names for one delegation, names without an address, depth, and what all of a client's query may
 * spend (NXNSAttack). */
static void lookups_are_limited(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		unsigned names;
		int most, budget;
		unsigned depth, without_addr, lookups;
		unsigned want; /* names looked up */
		bool refused;
	} rows[] = {
		{ "all", 5, -1, 20, 0, 0, 0, 5, false },
		{ "one", 5, 1, 20, 0, 0, 0, 1, false },
		{ "none", 5, 0, 20, 0, 0, 0, 0, false },
		{ "more than there are", 5, 9, 20, 0, 0, 0, 5, false },
		{ "many", 20, -1, 20, 0, 0, 0, TARGETS_PER_DELEGATION, false },
		{ "what is left of many", 20, -1, 20, 0, 0, TARGETS_PER_DELEGATION - 2, 2, false },
		{ "deep, but not too deep", 5, -1, 20, TARGETS_DEPTH - 1, 0, 0, 5, false },
		{ "too deep", 5, -1, 20, TARGETS_DEPTH, 0, 0, 0, true },
		{ "names without an address", 5, -1, 20, 0, TARGETS_WITHOUT_ADDR - 1, 0, 5, false },
		{ "one more", 5, -1, 20, 0, TARGETS_WITHOUT_ADDR, 0, 0, false },
		{ "the last of the budget", 5, -1, 1, 0, 0, 0, 5, false },
		{ "nothing is left", 5, -1, 0, 0, 0, 0, 0, true },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		bool twice = rows[i].depth == 0; /* both families */
		unsigned started, tried = 0;

		begin("", outside, rows[i].names);
		fixture.q->depth = (uint8_t)rows[i].depth;
		fixture.q->budget->ns_without_addr = rows[i].budget;
		fixture.it.ns_without_addr = rows[i].without_addr;
		fixture.it.lookups = rows[i].lookups;
		started = targets_ask(&fixture.it, rows[i].most);
		for (unsigned n = 0; n < rows[i].names; n++)
			tried += ns(n)->tried;
		if (started != rows[i].want << twice || tried != rows[i].want || fixture.it.lookups != rows[i].lookups + rows[i].want ||
		    begun("", TYPE_AAAA, QUERY_CD) + begun("", TYPE_A, QUERY_CD) != started || fixture.q->lookup_refused != rows[i].refused)
			fail_msg("%s: %u started for %u names", rows[i].why, started, tried);
		fixture_end();
	}
}

/* The families that are in use; for a query that itself looks for servers one of them, the preferred one. */
static void families_are_those_in_use(void **state)
{
	(void)state;
	static const struct {
		const char *conf;
		unsigned depth, v4, v6;
	} rows[] = {
		{ "", 0, 1, 1 },
		{ "server:\ndo-ip6: no", 0, 1, 0 },
		{ "server:\ndo-ip4: no", 0, 0, 1 },
		{ "", 1, 1, 0 },
		{ "server:\nprefer-ip6: yes", 1, 0, 1 },
		{ "server:\nprefer-ip6: yes\nprefer-ip4: yes", 1, 1, 0 },
		{ "server:\nprefer-ip6: yes\ndo-ip6: no", 1, 1, 0 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		begin(rows[i].conf, outside, 1);
		fixture.q->depth = (uint8_t)rows[i].depth;
		(void)targets_ask(&fixture.it, 1);
		if (begun("ns1.example.net.", TYPE_A, QUERY_CD) != rows[i].v4 ||
		    begun("ns1.example.net.", TYPE_AAAA, QUERY_CD) != rows[i].v6 || (ns(0)->v4 == LOOKUP_ASKED) != rows[i].v4 ||
		    (ns(0)->v6 == LOOKUP_ASKED) != rows[i].v6)
			fail_msg("%s, depth %u: %d %d", rows[i].conf, rows[i].depth, ns(0)->v4, ns(0)->v6);
		fixture_end();
	}
}

/* A lookup that cannot be begun yields nothing: the name counts as one without an address, at the price of one. */
static void what_cannot_be_begun_has_no_address(void **state)
{
	(void)state;
	for (int children = 0; children < 3; children++) {
		begin("", outside, 1);
		fixture.q->budget->children = children;
		fixture.q->budget->ns_without_addr = 7;
		assert_int_equal(targets_ask(&fixture.it, 1), children);
		assert_int_equal(ns(0)->v6, children ? LOOKUP_ASKED : LOOKUP_NONE);
		assert_int_equal(ns(0)->v4, children == 2 ? LOOKUP_ASKED : LOOKUP_NONE);
		assert_int_equal(ns(0)->failed, children == 0);
		assert_int_equal(fixture.it.ns_without_addr, children == 0);
		assert_int_equal(fixture.q->budget->ns_without_addr, 7 - (children == 0));
		fixture_end();
	}
}

/* Servers named inside their zone are looked up while they are the only ones there are, or others of them are wanted. */
static void names_inside_the_zone_wait_for_its_servers(void **state)
{
	(void)state;
	static const struct forward_zone configured;

	enum { KNOWN = 1, CONFIGURED = 2, CAPS = 4, OTHERS = 8 };
	static const struct {
		unsigned how, want;
	} rows[] = { { 0, 2 }, { KNOWN, 0 }, { KNOWN | CONFIGURED, 2 }, { KNOWN | CAPS, 2 }, { KNOWN | OTHERS, 2 } };

	for (size_t i = 0; i < COUNT(rows) * 2; i++) {
		unsigned how = rows[i / 2].how, want = i % 2 ? 2 : rows[i / 2].want;

		begin("", i % 2 ? outside : in_zone, 1);
		if (how & KNOWN)
			add_server();
		fixture.it.at->config = how & CONFIGURED ? &configured : NULL;
		fixture.it.caps.on = how & CAPS;
		fixture.it.wants_others = how & OTHERS;
		assert_int_equal(targets_ask(&fixture.it, -1), want);
		assert_true(ns(0)->tried);
		fixture_end();
	}
}

/* One after the other; then, of those of which one family was asked for, the other. */
static void the_other_family_comes_last(void **state)
{
	(void)state;
	begin("", outside, 3);
	fixture.q->depth = 1;
	for (unsigned i = 1; i <= 3; i++) {
		assert_true(targets_ask_next(&fixture.it));
		assert_int_equal(begun("", TYPE_A, QUERY_CD), i);
	}
	assert_int_equal(begun("", TYPE_AAAA, QUERY_CD), 0);
	for (unsigned i = 1; i <= 3; i++) {
		assert_true(targets_ask_next(&fixture.it));
		assert_int_equal(begun("", TYPE_AAAA, QUERY_CD), i);
		assert_int_equal(ns(i - 1)->v6, LOOKUP_ASKED);
	}
	assert_false(targets_ask_next(&fixture.it));
	assert_int_equal(fixture.it.lookups, 6);
	fixture_end();
	/* within a limit of its own, and not for a name that is wasted or has failed */
	begin("", outside, 2);
	ns(0)->v4 = ns(1)->v4 = LOOKUP_FOUND;
	ns(0)->tried = ns(1)->tried = true;
	fixture.it.lookups = 2 * TARGETS_PER_DELEGATION - 1;
	assert_true(targets_ask_next(&fixture.it));
	assert_false(targets_ask_next(&fixture.it));
	assert_int_equal(begun("", TYPE_AAAA, QUERY_CD), 1);
	fixture_end();
	begin("", in_zone, 2);
	add_server();
	ns(0)->v4 = ns(1)->v4 = LOOKUP_FOUND;
	ns(0)->tried = ns(1)->tried = true;
	assert_false(targets_ask_next(&fixture.it));
	fixture_end();
	/* a name that can be begun for nothing does not end the search */
	begin("", outside, 3);
	fixture.q->budget->children = 0;
	assert_false(targets_ask_next(&fixture.it));
	for (unsigned i = 0; i < 3; i++)
		assert_true(ns(i)->failed);
	fixture_end();
}

/* target-fetch-policy: how many are looked up before they are needed, by depth; not for a zone that gives trouble. */
static void lookups_ahead_follow_the_policy(void **state)
{
	(void)state;
	enum { SENT = 1, WITHOUT = 2, LAST = 4, WAITING = 8 };
	static const struct {
		const char *conf;
		unsigned depth, how, want;
	} rows[] = {
		{ "server:\ntarget-fetch-policy: \"2 1 0\"", 0, 0, 2 },
		{ "server:\ntarget-fetch-policy: \"2 1 0\"", 1, 0, 1 },
		{ "server:\ntarget-fetch-policy: \"2 1 0\"", 2, 0, 0 },
		{ "server:\ntarget-fetch-policy: \"2 1 0\"", 5, 0, 0 },
		{ "server:\ntarget-fetch-policy: \"2 1\"", 5, 0, 1 },
		{ "server:\ntarget-fetch-policy: \"-1\"", 0, 0, 4 },
		{ "server:\ntarget-fetch-policy: \"3\"", 0, SENT, 0 },
		{ "server:\ntarget-fetch-policy: \"3\"", 0, WITHOUT, 0 },
		{ "server:\ntarget-fetch-policy: \"3\"", 0, LAST, 0 },
		{ "server:\ntarget-fetch-policy: \"3\"", 0, WAITING, 0 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		unsigned how = rows[i].how;

		begin(rows[i].conf, outside, 4);
		fixture.q->depth = (uint8_t)rows[i].depth;
		fixture.it.sent = how & SENT ? TARGETS_SENT : TARGETS_SENT - 1;
		fixture.it.ns_without_addr = how & WITHOUT ? 1 : 0;
		fixture.it.at->last_resort = how & LAST;
		if (how & WAITING)
			assert_non_null(mesh_child(fixture.q, N("other.test."), TYPE_MX, CLASS_IN, 0));
		targets_ask_ahead(&fixture.it);
		if (begun("", TYPE_A, QUERY_CD) != rows[i].want)
			fail_msg("row %zu: %u", i, begun("", TYPE_A, QUERY_CD));
		fixture_end();
	}
}

/* Once a server has answered: the others inside the zone, for others than the client that asked, and not the name it asked for. */
static void the_rest_of_the_zone_is_looked_up_afterwards(void **state)
{
	(void)state;
	enum { DEEP = 1, SENT = 2, WITHOUT = 4, LAST = 8, CONFIGURED = 16 };
	static const struct forward_zone configured;
	static const struct {
		const char *conf, *pattern;
		unsigned how, v4, v6;
	} rows[] = {
		{ "server:\ntarget-fetch-policy: \"2 1 0\"", in_zone, 0, 2, 2 },
		{ "server:\ntarget-fetch-policy: \"1 3\"", in_zone, 0, 1, 1 },
		{ "server:\ntarget-fetch-policy: \"0\"", in_zone, 0, 0, 0 },
		{ "server:\ntarget-fetch-policy: \"-1\"", in_zone, 0, 3, 3 },
		{ "server:\ntarget-fetch-policy: \"-1\"\ndo-ip6: no", in_zone, 0, 3, 0 },
		{ "server:\ntarget-fetch-policy: \"-1\"", outside, 0, 0, 0 },
		{ "server:\ntarget-fetch-policy: \"-1\"", in_zone, DEEP, 0, 0 },
		{ "server:\ntarget-fetch-policy: \"-1\"", in_zone, SENT, 0, 0 },
		{ "server:\ntarget-fetch-policy: \"-1\"", in_zone, WITHOUT, 0, 0 },
		{ "server:\ntarget-fetch-policy: \"-1\"", in_zone, LAST, 0, 0 },
		{ "server:\ntarget-fetch-policy: \"-1\"", in_zone, CONFIGURED, 0, 0 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		unsigned how = rows[i].how;

		begin(rows[i].conf, rows[i].pattern, 3);
		(void)delegation_add_name(fixture.it.at, fixture.arena, fixture.q->question.name);
		fixture.q->depth = how & DEEP ? 1 : 0;
		fixture.it.sent = how & SENT ? 2 : 1;
		fixture.it.ns_without_addr = how & WITHOUT ? 1 : 0;
		fixture.it.at->last_resort = how & LAST;
		fixture.it.at->config = how & CONFIGURED ? &configured : NULL;
		targets_ask_after(&fixture.it);
		if (begun("", TYPE_A, QUERY_CD) != rows[i].v4 || begun("", TYPE_AAAA, QUERY_CD) != rows[i].v6)
			fail_msg("row %zu: %u, %u", i, begun("", TYPE_A, QUERY_CD), begun("", TYPE_AAAA, QUERY_CD));
		assert_int_equal(begun("www.example.com.", TYPE_AAAA, QUERY_CD), 0);
		assert_int_equal(mesh_children(fixture.q), 0);
		fixture_end();
	}
}

/* Above the cut, one name after the other, each once, within the same limits. */
static void the_parent_is_asked_name_by_name(void **state)
{
	(void)state;
	for (unsigned names = 1; names <= 3; names++) {
		begin("", in_zone, names);
		for (unsigned i = 1; i <= names; i++) {
			assert_int_equal(targets_ask_parent(&fixture.it), 2);
			assert_int_equal(begun("", TYPE_A, QUERY_PARENT_SIDE), i);
			assert_int_equal(begun("", TYPE_AAAA, QUERY_PARENT_SIDE), i);
			assert_int_equal(ns(i - 1)->parent_v4, LOOKUP_ASKED);
			assert_int_equal(ns(i - 1)->parent_v6, LOOKUP_ASKED);
		}
		assert_int_equal(targets_ask_parent(&fixture.it), 0);
		fixture_end();
	}
	begin("server:\ndo-ip6: no", in_zone, 2);
	fixture.it.lookups = 2 * TARGETS_PER_DELEGATION - 1;
	assert_int_equal(targets_ask_parent(&fixture.it), 1);
	assert_int_equal(begun("", TYPE_AAAA, QUERY_PARENT_SIDE), 0);
	assert_int_equal(targets_ask_parent(&fixture.it), 0);
	fixture_end();
	begin("", in_zone, 2);
	fixture.q->budget->ns_without_addr = 0;
	assert_int_equal(targets_ask_parent(&fixture.it), 0);
	assert_int_equal(begun("", TYPE_A, QUERY_PARENT_SIDE), 0);
	fixture_end();
	begin("", in_zone, 1);
	fixture.q->budget->children = 0;
	assert_int_equal(targets_ask_parent(&fixture.it), 0);
	assert_int_equal(ns(0)->parent_v4, LOOKUP_NONE);
	assert_int_equal(ns(0)->parent_v6, LOOKUP_NONE);
	fixture_end();
	/* a server that is configured as a stub's is nobody else's to tell */
	begin("stub-zone:\nname: ns1.example.com\nstub-addr: 192.0.2.9", in_zone, 1);
	assert_int_equal(targets_ask_parent(&fixture.it), 0);
	fixture_end();
}

/* What a lookup of ns1's A records brings. */
static void arrive(const char *name, uint16_t type, unsigned kind, uint8_t rcode, const char *answer)
{
	struct message *m = made_message(fixture.arena, fixture.now_s, &(struct made){ .name = name, .type = type, .rcode = rcode,
										       .section = { answer } });
	struct query child = { .question = made_question(name, type), .kind = kind, .reply = m };

	targets_arrived(&fixture.it, &child);
}

static void what_a_lookup_brings_is_recorded(void **state)
{
	(void)state;
	enum { NS1_PARENT = 1, KNOWN = 2 };
	static const struct {
		const char *why, *name;
		uint16_t type;
		unsigned how;
		uint8_t rcode;
		const char *answer;
		unsigned targets; /* there are afterwards */
		enum lookup v4, v6, parent_v4;
		unsigned asked, without_addr;
		bool failed;
	} rows[] = {
		{ "an address", "ns1.example.net.", TYPE_A, 0, 0, "ns1.example.net. 60 A 192.0.2.1", 1, LOOKUP_FOUND, LOOKUP_OPEN,
		  LOOKUP_OPEN, 0, 0, false },
		{ "two", "ns1.example.net.", TYPE_A, 0, 0, "ns1.example.net. 60 A 192.0.2.1\nns1.example.net. 60 A 192.0.2.2", 2,
		  LOOKUP_FOUND, LOOKUP_OPEN, LOOKUP_OPEN, 0, 0, false },
		{ "behind an alias", "ns1.example.net.", TYPE_A, 0, 0, "ns1.example.net. 60 CNAME a.test.\na.test. 60 A 192.0.2.1", 1,
		  LOOKUP_FOUND, LOOKUP_OPEN, LOOKUP_OPEN, 0, 0, false },
		{ "of the other family", "ns1.example.net.", TYPE_AAAA, 0, 0, "ns1.example.net. 60 CNAME a.test.\na.test. 60 AAAA 2001:db8::1",
		  1, LOOKUP_OPEN, LOOKUP_FOUND, LOOKUP_OPEN, 0, 0, false },
		{ "one that nobody can have, behind an alias", "ns1.example.net.", TYPE_A, 0, 0,
		  "ns1.example.net. 60 CNAME a.test.\na.test. 60 A 0.0.0.0", 0, LOOKUP_FOUND, LOOKUP_OPEN, LOOKUP_OPEN, 0, 1, false },
		{ "one that is known", "ns1.example.net.", TYPE_A, KNOWN, 0, "ns1.example.net. 60 A 192.0.2.1", 1, LOOKUP_FOUND, LOOKUP_OPEN,
		  LOOKUP_OPEN, 0, 1, false },
		{ "no address: the other family is asked for", "ns1.example.net.", TYPE_A, 0, 0, NULL, 0, LOOKUP_NONE, LOOKUP_ASKED,
		  LOOKUP_OPEN, 1, 0, false },
		{ "a failure", "ns1.example.net.", TYPE_A, 0, RCODE_SERVFAIL, "ns1.example.net. 60 A 192.0.2.1", 0, LOOKUP_NONE, LOOKUP_ASKED,
		  LOOKUP_OPEN, 1, 0, false },
		{ "no such name: there is no other family (RFC 8020)", "ns1.example.net.", TYPE_A, 0, RCODE_NXDOMAIN, NULL, 0, LOOKUP_NONE,
		  LOOKUP_NONE, LOOKUP_OPEN, 0, 1, true },
		{ "no such name, asked for the other family", "ns1.example.net.", TYPE_AAAA, 0, RCODE_NXDOMAIN, NULL, 0, LOOKUP_NONE,
		  LOOKUP_NONE, LOOKUP_OPEN, 0, 1, true },
		{ "an address as the parent has it", "ns1.example.net.", TYPE_A, NS1_PARENT, 0, "ns1.example.net. 60 A 192.0.2.1", 1,
		  LOOKUP_FOUND, LOOKUP_OPEN, LOOKUP_FOUND, 0, 0, false },
		{ "none as the parent has it", "ns1.example.net.", TYPE_A, NS1_PARENT, RCODE_NXDOMAIN, NULL, 0, LOOKUP_OPEN, LOOKUP_OPEN,
		  LOOKUP_NONE, 0, 0, false },
		{ "one that is known, as the parent has it", "ns1.example.net.", TYPE_A, NS1_PARENT | KNOWN, 0,
		  "ns1.example.net. 60 CNAME a.test.\na.test. 60 A 192.0.2.1", 1, LOOKUP_OPEN, LOOKUP_OPEN, LOOKUP_FOUND, 0, 0, false },
		{ "an address of nobody's", "ns9.example.net.", TYPE_A, 0, 0, "ns9.example.net. 60 A 192.0.2.1", 0, LOOKUP_OPEN, LOOKUP_OPEN,
		  LOOKUP_OPEN, 0, 0, false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct ns *n;

		begin("", outside, 1);
		if (rows[i].how & KNOWN)
			add_server();
		n = ns(0);
		arrive(rows[i].name, rows[i].type, rows[i].how & NS1_PARENT ? QUERY_PARENT_SIDE : QUERY_CD, rows[i].rcode, rows[i].answer);
		if (fixture.it.at->target_count != rows[i].targets || n->v4 != rows[i].v4 || n->v6 != rows[i].v6 ||
		    n->parent_v4 != rows[i].parent_v4 || n->parent_v6 != LOOKUP_OPEN || n->failed != rows[i].failed ||
		    fixture.it.ns_without_addr != rows[i].without_addr ||
		    begun("", TYPE_A, QUERY_CD) + begun("", TYPE_AAAA, QUERY_CD) != rows[i].asked)
			fail_msg("%s: %u addresses, %d %d %d, %u without", rows[i].why, fixture.it.at->target_count, n->v4, n->v6,
				 n->parent_v4, fixture.it.ns_without_addr);
		if (rows[i].targets && !(rows[i].how & KNOWN))
			assert_int_equal(fixture.it.at->targets[0].parent_side, (rows[i].how & NS1_PARENT) != 0);
		fixture_end();
	}
}

/* What is behind an alias is a server as the name was given: its port, its TLS name, and who named it. */
static void an_alias_of_a_server_is_the_server(void **state)
{
	(void)state;
	for (unsigned parent = 0; parent < 3; parent++) /* named by it; or it was asked for the address */
		for (unsigned v6 = 0; v6 < 2; v6++) {
			const struct target *t;

			begin("", outside, 1);
			ns(0)->port = 853;
			ns(0)->tls_name = "dns.example";
			ns(0)->http_path = "/dns-query";
			ns(0)->parent_side = parent == 1;
			arrive("ns1.example.net.", v6 ? TYPE_AAAA : TYPE_A, parent == 2 ? QUERY_PARENT_SIDE : QUERY_CD, 0,
			       v6 ? "ns1.example.net. 60 CNAME a.test.\na.test. 60 AAAA 2001:db8::1"
				  : "ns1.example.net. 60 CNAME a.test.\na.test. 60 A 192.0.2.7");
			t = fixture.it.at->targets;
			assert_int_equal(fixture.it.at->target_count, 1);
			assert_int_equal(t->addr.port, 853);
			assert_string_equal(t->tls_name, "dns.example");
			assert_string_equal(t->http_path, "/dns-query");
			assert_int_equal(t->parent_side, parent != 0);
			assert_int_equal(t->addr.family, v6 ? 6 : 4);
			assert_int_equal(t->addr.ip[v6 ? 15 : 3], v6 ? 1 : 7);
			fixture_end();
		}
}

/* A limit that has been reached meanwhile lets nothing more be begun, and the name has no address. */
static void nothing_is_begun_for_a_name_at_the_limit(void **state)
{
	(void)state;
	begin("", outside, 1);
	fixture.it.ns_without_addr = TARGETS_WITHOUT_ADDR;
	arrive("ns1.example.net.", TYPE_A, QUERY_CD, 0, NULL);
	assert_int_equal(begun("", TYPE_AAAA, QUERY_CD), 0);
	assert_int_equal(ns(0)->v6, LOOKUP_OPEN);
	assert_false(ns(0)->failed);
	fixture_end();
	begin("server:\ndo-ip6: no", outside, 1);
	arrive("ns1.example.net.", TYPE_A, QUERY_CD, 0, NULL);
	assert_true(ns(0)->failed);
	fixture_end();
	begin("server:\ndo-ip4: no", outside, 1);
	arrive("ns1.example.net.", TYPE_AAAA, QUERY_CD, 0, NULL);
	assert_true(ns(0)->failed);
	fixture_end();
	/* one that was being looked up in the other family still may have one */
	begin("", outside, 1);
	ns(0)->v6 = LOOKUP_ASKED;
	arrive("ns1.example.net.", TYPE_A, QUERY_CD, RCODE_NXDOMAIN, NULL);
	assert_false(ns(0)->failed);
	assert_int_equal(ns(0)->v6, LOOKUP_ASKED);
	add_server();
	arrive("ns1.example.net.", TYPE_A, QUERY_CD, 0, "ns1.example.net. 60 A 192.0.2.1");
	assert_int_equal(fixture.it.ns_without_addr, 0);
	fixture_end();
	begin("", outside, 1);
	ns(0)->v4 = LOOKUP_ASKED;
	add_server();
	arrive("ns1.example.net.", TYPE_AAAA, QUERY_CD, 0, "ns1.example.net. 60 CNAME a.test.\na.test. 60 AAAA ::");
	assert_int_equal(fixture.it.ns_without_addr, 0);
	fixture_end();
	fixture_begin("", "www.example.com.", TYPE_A, 0);
	arrive("ns1.example.net.", TYPE_A, QUERY_CD, 0, "ns1.example.net. 60 A 192.0.2.1"); /* nobody is asked any more */
	fixture_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lookups_are_limited),
		cmocka_unit_test(families_are_those_in_use),
		cmocka_unit_test(what_cannot_be_begun_has_no_address),
		cmocka_unit_test(names_inside_the_zone_wait_for_its_servers),
		cmocka_unit_test(the_other_family_comes_last),
		cmocka_unit_test(lookups_ahead_follow_the_policy),
		cmocka_unit_test(the_rest_of_the_zone_is_looked_up_afterwards),
		cmocka_unit_test(the_parent_is_asked_name_by_name),
		cmocka_unit_test(what_a_lookup_brings_is_recorded),
		cmocka_unit_test(an_alias_of_a_server_is_the_server),
		cmocka_unit_test(nothing_is_begun_for_a_name_at_the_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
