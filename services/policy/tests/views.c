/* Claims about views that go ways of their own: their forwards, and their scopes.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/policy/views.h"

#include "services/forward/forward.h"
#include "services/tests/conf.h"
#include "util/base/fault.h"

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
	return z ? z->servers[0].addr.ip[3] : 0;
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

static void there_is_a_most_of_scopes(void **state)
{
	(void)state;
	struct fault f = { 0 };
	struct views *v = NULL;
	unsigned made = 0;

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
	assert_non_null(strstr(f.text, "more than 255 views"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_nearer_zone_counts),
		cmocka_unit_test(a_scope_is_kept_for_its_name),
		cmocka_unit_test(there_is_a_most_of_scopes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
