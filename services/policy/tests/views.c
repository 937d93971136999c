/* Claims about views: their forwards, what they prove, their scopes, their local data.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/policy/views.h"

#include "services/forward/forward.h"
#include "services/local/zones.h"
#include "services/tests/conf.h"
#include "util/base/fault.h"
#include "util/base/hash.h"
#include "util/base/rcu.h"
#include "util/names/trie.h"

#define FORWARD(name, view, server) "forward-zone:\n name: \"" name "\"\n" view server
#define VIEW(name, more)            "view:\n name: " name "\n" more

struct made {
	struct conf *conf;
	struct views *views;
	struct forwards *server;
};

static struct made make(const char *text)
{
	struct made m = { .conf = conf_from(text) };
	struct fault f = { 0 };

	m.views = views_new(m.conf, &f);
	m.server = forwards_new(m.conf, &f);
	if (!m.views || !m.server)
		fail_msg("%s", f.text);
	return m;
}

static void unmake(struct made *m)
{
	views_free(m->views);
	forwards_free(m->server);
	conf_free(m->conf);
}

static unsigned last_byte(const struct forward_zone *z)
{
	return !z ? 0 : z->server_count ? z->servers[0].addr.ip[3] : 99;
}

static void the_nearer_zone_counts(void **state)
{
	(void)state;
	static const char text[] = VIEW("a", "") VIEW("b", "") VIEW("c", "") FORWARD(
		".", "", " forward-addr: 192.0.2.1\n") FORWARD("corp.example", "",
							       " forward-addr: 192.0.2.2\n")
		FORWARD(".", " forward-view: a\n", " forward-addr: 192.0.2.3\n") FORWARD(
			"x.corp.example", " forward-view: a\n forward-view: b\n",
			" forward-addr: 192.0.2.4\n")
			FORWARD("corp.example", " forward-view: b\n",
				"") "stub-zone:\n"
				    " name: stub.example\n stub-addr: 192.0.2.5\n stub-view: a\n";
	static const struct {
		const char *why, *view, *name;
		unsigned server;
	} rows[] = {
		{ "nobody's view", NULL, "www.example", 1 },
		{ "nobody's view, a nearer zone", NULL, "www.corp.example", 2 },
		{ "another's zone is not there", NULL, "www.x.corp.example", 2 },
		{ "nor is another's stub", NULL, "www.stub.example", 1 },
		{ "of the same name the view's", "a", "www.example", 3 },
		{ "the server's is nearer", "a", "www.corp.example", 2 },
		{ "the view's is nearer", "a", "www.x.corp.example", 4 },
		{ "a stub of the view", "a", "www.stub.example", 5 },
		{ "one for two views", "b", "x.corp.example", 4 },
		{ "without servers it ends forwarding", "b", "www.corp.example", 0 },
		{ "above that the server's", "b", "www.example", 1 },
		{ "a view without any", "c", "www.corp.example", 2 },
	};
	struct made m = make(text);

	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct view *v = rows[i].view ? views_find(m.views, rows[i].view) : NULL;
		unsigned got = last_byte(views_forward(v, m.server, N(rows[i].name)));

		if (got != rows[i].server)
			fail_msg("%s: %u", rows[i].why, got);
	}
	unmake(&m);
}

/* Where only one of the two has a zone for a name, it is that. */
static void a_zone_of_either_side_counts_alone(void **state)
{
	(void)state;
	struct made m = make(VIEW("a", "") FORWARD("own.example", " forward-view: a\n", " forward-addr: 192.0.2.1\n")
			     FORWARD("all.example", "", " forward-addr: 192.0.2.2\n"));
	const struct view *v = views_find(m.views, "a");

	assert_int_equal(last_byte(views_forward(v, m.server, N("x.own.example"))), 1);
	assert_int_equal(last_byte(views_forward(v, m.server, N("x.all.example"))), 2);
	assert_int_equal(last_byte(views_forward(v, m.server, N("x.example"))), 0);
	assert_int_equal(last_byte(views_forward(NULL, m.server, N("x.own.example"))), 0);
	unmake(&m);
}

static void a_scope_is_kept_for_its_name(void **state)
{
	(void)state;
	static const struct {
		const char *why, *text;
		const char *name;
		bool scoped;
	} rows[] = {
		{ "local data alone", VIEW("plain", " local-data: \"x. A 192.0.2.1\"\n"), "plain",
		  false },
		{ "as the server does", VIEW("plain", " view-dnssec: yes\n"), "plain", false },
		{ "less is proven", VIEW("loose", " view-dnssec: permissive\n"), "loose", true },
		{ "nothing is proven", VIEW("none", " view-dnssec: no\n"), "none", true },
		{ "a domain of its own", VIEW("some", " view-domain-insecure: example\n"), "some",
		  true },
		{ "forwarders of its own",
		  VIEW("ways", "")
			  FORWARD(".", " forward-view: ways\n", " forward-addr: 192.0.2.1\n"),
		  "ways", true },
	};
	unsigned seen[COUNT(rows)];

	for (size_t turn = 0; turn < 2; turn++) {
		for (size_t i = 0; i < COUNT(rows); i++) {
			struct made m = make(rows[i].text);
			unsigned scope = views_find(m.views, rows[i].name)->scope;

			if ((scope != 0) != rows[i].scoped)
				fail_msg("%s: scope %u", rows[i].why, scope);
			assert_int_equal(views_highest_scope(m.views), scope);
			for (size_t j = 0; turn == 0 && scope && j < i; j++)
				if (seen[j] == scope)
					fail_msg("%s: the scope of another view", rows[i].why);
			if (turn && seen[i] != scope)
				fail_msg("%s: %u after a reload, not %u", rows[i].why, scope,
					 seen[i]);
			seen[i] = scope;
			unmake(&m);
		}
	}
}

static void scopes_are_limited_to_255(void **state)
{
	(void)state;
	struct fault f = { 0 };
	struct views *v = NULL;
	unsigned made = 0;
	char want[120];

	do {
		char text[80];
		struct conf *conf;

		snprintf(text, sizeof(text), VIEW("many%u", " view-dnssec: no\n"), made);
		conf = conf_from(text);
		v = views_new(conf, &f);
		views_free(v);
		conf_free(conf);
	} while (v && ++made <= VIEWS_SCOPED);
	assert_true(made > 200 && made <= VIEWS_SCOPED);
	snprintf(want, sizeof(want), "view many%u: there have been more than 255 views with ways of their own since the start", made);
	assert_string_equal(f.text, want);
}

/* Of a name that is both, exactly: for priming and listing. */
static void the_views_own_zone_of_a_name_counts(void **state)
{
	(void)state;
	static const char text[] = VIEW("a", "") VIEW("b", "") FORWARD("x.example", "", " forward-addr: 192.0.2.1\n")
		FORWARD("x.example", " forward-view: a\n", " forward-addr: 192.0.2.2\n")
		"stub-zone:\n name: s.example\n stub-addr: 192.0.2.3\nstub-zone:\n name: s.example\n stub-addr: 192.0.2.4\n stub-view: a\n"
		"stub-zone:\n name: t.s.example\n stub-addr: 192.0.2.5\n";
	static const struct {
		const char *view, *name;
		unsigned exact, stub;
	} rows[] = {
		{ NULL, "x.example", 1, 0 },       { "a", "x.example", 2, 0 },   { "b", "x.example", 1, 0 }, { "a", "www.x.example", 0, 0 },
		{ NULL, "s.example", 3, 3 },       { "a", "s.example", 4, 4 },   { "b", "s.example", 3, 3 }, { "a", "www.s.example", 0, 4 },
		{ "a", "www.t.s.example", 0, 5 }, { "a", "t.s.example", 5, 5 },
	};
	struct made m = make(text);

	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct view *v = rows[i].view ? views_find(m.views, rows[i].view) : NULL;
		unsigned exact = last_byte(views_forward_exact(v, m.server, N(rows[i].name)));
		unsigned none = last_byte(views_forward(v, m.server, N("other.test")));
		unsigned stub = last_byte(views_stub(v, m.server, N(rows[i].name)));

		if (exact != rows[i].exact || stub != rows[i].stub || none)
			fail_msg("row %zu: %u %u", i, exact, stub);
	}
	assert_null(views_find(m.views, "c"));
	unmake(&m);
}

/* What a view's clients are told without proof: what the server lists, what the view lists, and what either forwards somewhere
 * although nobody says how it is proven. A view that differs in nothing has the server's. */
static void a_view_lists_what_is_not_proven(void **state)
{
	(void)state;
#define ANCHORED "server:\n trust-anchor-file: \"/k\"\n domain-insecure: all.example\n"
	static const struct {
		const char *why, *text;
		bool differs;
		const char *insecure[4], *secure[4];
	} rows[] = {
		{ "no difference", "server:\n domain-insecure: all.example\n" VIEW("a", ""), false, { NULL }, { NULL } },
		{ "a domain", "server:\n domain-insecure: all.example\n" VIEW("a", " view-domain-insecure: own.example\n"), true,
		  { "own.example", "www.own.example", "all.example" }, { "example", "other.example", "168.192.in-addr.arpa" } },
		{ "zones of a local network", "server:\n insecure-lan-zones: yes\n" VIEW("a", " view-domain-insecure: own.example\n"), true,
		  { "own.example", "168.192.in-addr.arpa" }, { "all.example" } },
		{ "forwards of its own and of all", VIEW("a", "") FORWARD("own.test", " forward-view: a\n", " forward-addr: 192.0.2.1\n")
		  FORWARD("all.test", "", " forward-addr: 192.0.2.1\n") VIEW("b", "")
		  FORWARD("b.test", " forward-view: b\n", " forward-addr: 192.0.2.1\n"), true, { "own.test", "all.test" }, { "b.test", "test" } },
		{ "forwards of all alone", VIEW("a", "") FORWARD("all.test", "", " forward-addr: 192.0.2.1\n"), false, { NULL }, { NULL } },
		{ "forwards, where anchors are configured", ANCHORED VIEW("a", "")
		  FORWARD("own.test", " forward-view: a\n", " forward-addr: 192.0.2.1\n"), false, { NULL }, { NULL } },
		{ "the same, and a domain", ANCHORED VIEW("a", " view-domain-insecure: own.example\n")
		  FORWARD("own.test", " forward-view: a\n", " forward-addr: 192.0.2.1\n"), true, { "own.example", "all.example" },
		  { "own.test" } },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct made m = make(rows[i].text);
		const struct view *v = views_find(m.views, "a");

		if ((v->insecure != NULL) != rows[i].differs)
			fail_msg("%s: %d", rows[i].why, v->insecure != NULL);
		for (unsigned n = 0; n < 4 && rows[i].insecure[n]; n++)
			if (!trie_find_closest(v->insecure, N(rows[i].insecure[n])))
				fail_msg("%s: %s is to be proven", rows[i].why, rows[i].insecure[n]);
		for (unsigned n = 0; n < 4 && rows[i].secure[n]; n++)
			if (trie_find_closest(v->insecure, N(rows[i].secure[n])))
				fail_msg("%s: %s is not to be proven", rows[i].why, rows[i].secure[n]);
		unmake(&m);
	}
}

static void count_tables(const struct forwards *t, void *arg)
{
	assert_non_null(t);
	++*(unsigned *)arg;
}

/* What a view has of its own, and by what it is found. */
static void a_view_has_what_is_configured(void **state)
{
	(void)state;
	struct made m = make(VIEW("ways", "") VIEW("plain", "") VIEW("no", " view-dnssec: no\n view-first: yes\n") VIEW("perm", " view-dnssec: permissive\n")
			     FORWARD(".", " forward-view: ways\n", " forward-addr: 192.0.2.1\n")
			     VIEW("data", " local-data: \"x. A 192.0.2.1\"\n") VIEW("zone", " local-zone: x. static\n")
			     VIEW("ptr", " local-data-ptr: \"192.0.2.1 x.\"\n"));
	static const struct {
		const char *name;
		bool first, nothing, permissive, forwards, zones;
	} rows[] = {
		{ "plain", false, false, false, false, false }, { "no", true, true, false, false, false },
		{ "perm", false, false, true, false, false },   { "ways", false, false, false, true, false },
		{ "data", false, false, false, false, true },   { "zone", false, false, false, false, true },
		{ "ptr", false, false, false, false, true },
	};
	unsigned tables = 0, highest = 0;

	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct view *v = views_find(m.views, rows[i].name);
		bool scoped = rows[i].nothing || rows[i].permissive || rows[i].forwards;

		assert_string_equal(v->name, rows[i].name);
		assert_int_equal(v->first, rows[i].first);
		assert_int_equal(v->proves_nothing, rows[i].nothing);
		assert_int_equal(v->permissive, rows[i].permissive);
		assert_int_equal(v->forwards != NULL, rows[i].forwards);
		assert_int_equal(RCU_READ(v->zones) != NULL, rows[i].zones);
		assert_int_equal(v->scope != 0, scoped);
		if (scoped)
			assert_ptr_equal(views_of_scope(m.views, v->scope), v);
		highest = MAX(highest, v->scope);
	}
	assert_int_equal(views_highest_scope(m.views), highest);
	assert_null(views_of_scope(m.views, (uint8_t)(highest + 1)));
	views_each_forwards(m.views, count_tables, &tables);
	assert_int_equal(tables, 1);
	assert_false(views_have_address_rules(m.views));
	unmake(&m);
	m = make(VIEW("plain", "") VIEW("checks", " response-ip: 192.0.2.0/24 deny\n") VIEW("c", ""));
	assert_true(views_have_address_rules(m.views));
	unmake(&m);
}

/* What cannot be says which view, or the line of it. */
static void what_cannot_be_is_refused(void **state)
{
	(void)state;
	static const struct {
		const char *text, *want;
	} rows[] = {
		{ VIEW("a", " response-ip: 192.0.2.0/24 redirect\n response-ip-data: 192.0.2.0/24 \"A 192.0.2.1\"\n"), NULL },
		{ VIEW("a", " response-ip-data: 192.0.2.0/24 \"A 192.0.2.1\"\n"), "no response-ip says redirect for the netblock" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct conf *conf = conf_from(rows[i].text);
		struct fault f = { 0 };
		struct views *v = views_new(conf, &f);

		assert_int_equal(v == NULL, rows[i].want != NULL);
		if (rows[i].want && !strstr(f.text, rows[i].want))
			fail_msg("'%s', not '%s'", f.text, rows[i].want);
		views_free(v);
		conf_free(conf);
	}
}

static bool has_zone(struct localzones *z, const char *name)
{
	struct question q = { .name = N(name), .type = 1, .class_ = 1 };
	struct localzone_match match;

	q.name_len = (uint16_t)dname_len(q.name);
	return z && localzones_find(z, &q, NULL, &match);
}

/* Data of a view may be added later, and stay across a reload that does not say otherwise. */
static void local_data_is_carried_over(void **state)
{
	struct made old = make(VIEW("empty", "") VIEW("first", " view-first: yes\n") VIEW("data", " local-zone: old.corp static\n")
			       VIEW("gone", " local-zone: gone.corp static\n"));
	struct made new = make(VIEW("other", " local-zone: other.corp static\n") VIEW("data", " local-zone: new.corp static\n")
			       VIEW("empty", " local-zone: kept.corp static\n"));
	struct view *v;
	struct localzones *z;

	(void)state;
	/* made when they are needed, with the default zones unless the server's are looked up as well */
	v = views_find(old.views, "empty");
	z = views_zones(v, old.conf);
	assert_ptr_equal(RCU_READ(v->zones), z);
	assert_ptr_equal(views_zones(v, old.conf), z);
	assert_true(has_zone(z, "localhost."));
	localzones_unpin(z);
	atomic_store(&v->zones, NULL);
	assert_false(has_zone(views_zones(views_find(old.views, "first"), old.conf), "localhost."));
	assert_true(has_zone(RCU_READ(views_find(old.views, "data")->zones), "localhost."));

	views_inherit(new.views, old.views);
	assert_true(has_zone(RCU_READ(views_find(new.views, "data")->zones), "old.corp."));
	assert_false(has_zone(RCU_READ(views_find(new.views, "data")->zones), "new.corp."));
	assert_true(has_zone(RCU_READ(views_find(new.views, "other")->zones), "other.corp."));
	assert_true(has_zone(RCU_READ(views_find(new.views, "empty")->zones), "kept.corp."));
	unmake(&old);
	/* it is held by both */
	assert_true(has_zone(RCU_READ(views_find(new.views, "data")->zones), "old.corp."));
	unmake(&new);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_nearer_zone_counts),
		cmocka_unit_test(a_zone_of_either_side_counts_alone),
		cmocka_unit_test(a_scope_is_kept_for_its_name),
		cmocka_unit_test(the_views_own_zone_of_a_name_counts),
		cmocka_unit_test(a_view_lists_what_is_not_proven),
		cmocka_unit_test(a_view_has_what_is_configured),
		cmocka_unit_test(what_cannot_be_is_refused),
		cmocka_unit_test(local_data_is_carried_over),
		cmocka_unit_test(scopes_are_limited_to_255), /* it leaves none for others */
	};

	int failed;

	hash_start(true);
	rcu_thread_join();
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	rcu_thread_leave();
	return failed;
}
