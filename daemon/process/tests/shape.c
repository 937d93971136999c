/* Claims about which options shape what is cached.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/process/shape.h"

#include <string.h>

#include "daemon/worker/modules.h"
#include "services/cache/forget.h"
#include "services/query/snapshot.h"
#include "services/tests/conf.h"
#include "util/base/fault.h"
#include "util/base/rcu.h"
#include "util/dns/dname.h"

static const char *const rows_of_shape[] = {
#define SHAPE(option, what) #option,
#include "daemon/process/shape.def"
#undef SHAPE
};

#define GROUP(...)
#define ALIAS(...)
#define OPT(clause, type, name, ...) { #clause, #name },
static const struct {
	const char *clause, *name;
} options[] = {
#include "util/conf/options.def"
};
#undef GROUP
#undef ALIAS
#undef OPT

static void every_option_of_the_server_has_a_row(void **state)
{
	(void)state;
	size_t at = 0;

	for (size_t i = 0; i < COUNT(options); i++) {
		if (strcmp(options[i].clause, "server") != 0)
			continue;
		if (at == COUNT(rows_of_shape) || strcmp(rows_of_shape[at], options[i].name) != 0)
			fail_msg("daemon/process/shape.def has no row for %s in its place: what does a change of it make untrue?",
				 options[i].name);
		at++;
	}
	assert_int_equal(at, COUNT(rows_of_shape));
}

static struct snapshot *snapshot_of(const char *text)
{
	struct fault f = { 0 };
	struct conf *conf = conf_from(text);
	struct snapshot *s = modules_snapshot(conf, &f);

	if (!s)
		fail_msg("%s: %s", text, f.text);
	return s;
}

#define NO_ANCHOR "server:\n module-config: \"iterator\"\n"
#define ANCHOR    "server:\n module-config: \"validator iterator\"\n trust-anchor: \"sig.test DS 1 13 2 " \
		  "0000000000000000000000000000000000000000000000000000000000000000\"\n"
#define OTHER_KEY "server:\n module-config: \"validator iterator\"\n trust-anchor: \"sig.test DS 2 13 2 " \
		  "0000000000000000000000000000000000000000000000000000000000000000\"\n"
#define ONE_MORE  " trust-anchor: \"more.test DS 1 13 2 0000000000000000000000000000000000000000000000000000000000000000\"\n"
#define FORWARD(zone, addr) "forward-zone:\n name: " zone "\n forward-addr: " addr "\n"
#define VIEWED(zone, addr)  FORWARD(zone, addr) " forward-view: v\nview:\n name: v\n"

static void a_change_is_forgotten_as_far_as_it_reaches(void **state)
{
	(void)state;
	static const struct {
		const char *before, *after, *goes, *stays; /* names; NULL: does not matter */
		const char *says;                          /* forget_print; NULL: nothing goes */
	} rows[] = {
		{ NO_ANCHOR, NO_ANCHOR, NULL, NULL, NULL },
		{ NO_ANCHOR, NO_ANCHOR " verbosity: 2\n access-control: 10.0.0.0/8 allow\n prefetch: yes\n", NULL, NULL, NULL },
		{ NO_ANCHOR, NO_ANCHOR " local-zone: a.test static\n", NULL, NULL, NULL },
		{ NO_ANCHOR, NO_ANCHOR FORWARD("a.test", "192.0.2.1"), "www.a.test.", "ba.test.", "1 names with what is below them" },
		{ NO_ANCHOR FORWARD("a.test", "192.0.2.1"), NO_ANCHOR, "a.test.", "test.", "1 names with what is below them" },
		{ NO_ANCHOR FORWARD("a.test", "192.0.2.1"), NO_ANCHOR FORWARD("a.test", "192.0.2.2"), "a.test.", "b.test.", "" },
		{ NO_ANCHOR FORWARD("a.test", "192.0.2.1"), NO_ANCHOR FORWARD("a.test", "192.0.2.1@54"), "a.test.", "b.test.", "" },
		{ NO_ANCHOR FORWARD("a.test", "192.0.2.1"), NO_ANCHOR FORWARD("a.test", "192.0.2.1") " forward-first: yes\n", "a.test.", "b.test.", "" },
		{ NO_ANCHOR FORWARD("a.test", "192.0.2.1"), NO_ANCHOR FORWARD("a.test", "192.0.2.1") " forward-no-cache: yes\n", "a.test.", "b.test.", "" },
		{ NO_ANCHOR FORWARD("a.test", "192.0.2.1"), NO_ANCHOR FORWARD("a.test", "192.0.2.1") FORWARD("b.a.test", "192.0.2.1"), "b.a.test.", "c.a.test.", "" },
		{ NO_ANCHOR FORWARD("a.test", "192.0.2.1"), NO_ANCHOR "stub-zone:\n name: a.test\n stub-addr: 192.0.2.1\n", "a.test.", "b.test.", "" },
		{ NO_ANCHOR FORWARD("a.test", "192.0.2.1"), NO_ANCHOR " verbosity: 2\n" FORWARD("a.test", "192.0.2.1"), NULL, NULL, NULL },
		{ NO_ANCHOR, NO_ANCHOR "stub-zone:\n name: a.test\n stub-host: ns.b.test\n", "a.test.", "b.test.", "" },
		{ NO_ANCHOR, NO_ANCHOR FORWARD(".", "192.0.2.1"), "x.test.", NULL, "" },
		{ NO_ANCHOR, NO_ANCHOR "auth-zone:\n name: a.test\n primary: 192.0.2.1\n", "a.test.", "b.test.", "" },
		{ NO_ANCHOR VIEWED("a.test", "192.0.2.1"), NO_ANCHOR VIEWED("a.test", "192.0.2.2"), NULL, "a.test.", "1 names with what is below them" },
		{ NO_ANCHOR, NO_ANCHOR VIEWED("a.test", "192.0.2.2"), NULL, NULL, NULL },
		{ NO_ANCHOR VIEWED("a.test", "192.0.2.1"), NO_ANCHOR VIEWED("a.test", "192.0.2.1") " view-dnssec: no\n", NULL, "a.test.", "1 names with what is below them" },
		{ NO_ANCHOR, NO_ANCHOR " private-address: 10.0.0.0/8\n", NULL, "a.test.", "0 names with what is below them, and what the new limits do not allow" },
		{ NO_ANCHOR " private-address: 10.0.0.0/8\n", NO_ANCHOR, NULL, "a.test.", "all answers, denials, 0 names with what is below them, and what the new limits do not allow" },
		{ NO_ANCHOR, NO_ANCHOR " private-domain: a.test\n", "x.a.test.", "b.test.", "" },
		{ NO_ANCHOR " private-domain: a.test\n", NO_ANCHOR " private-domain: b.test\n", "a.test.", "c.test.", "2 names with what is below them" },
		{ NO_ANCHOR, NO_ANCHOR " dns64-prefix: 2001:db8::/96\n", NULL, "a.test.", "all answers, 0 names with what is below them" },
		{ NO_ANCHOR, NO_ANCHOR " dns64-ignore-aaaa: a.test\n", "a.test.", "b.test.", "" },
		{ NO_ANCHOR, NO_ANCHOR " client-subnet-zone: a.test\n", "a.test.", "b.test.", "" },
		{ NO_ANCHOR, NO_ANCHOR " do-not-query-address: 192.0.2.1\n", "a.test.", NULL, "everything" },
		{ NO_ANCHOR, NO_ANCHOR " cache-max-ttl: 60\n", NULL, "a.test.", "0 names with what is below them, and what the new limits do not allow" },
		{ NO_ANCHOR " cache-max-ttl: 60\n", NO_ANCHOR " cache-max-ttl: 61\n", NULL, NULL, NULL },
		{ NO_ANCHOR, NO_ANCHOR " cache-max-negative-ttl: 60\n", NULL, "a.test.", "0 names with what is below them, and what the new limits do not allow" },
		{ NO_ANCHOR " cache-min-ttl: 60\n", NO_ANCHOR, NULL, "a.test.", "0 names with what is below them, and what the new limits do not allow" },
		{ NO_ANCHOR, NO_ANCHOR " cache-min-ttl: 60\n", NULL, NULL, NULL },
		{ NO_ANCHOR " cache-min-negative-ttl: 60\n", NO_ANCHOR, NULL, "a.test.", "denials, 0 names with what is below them" },
		{ NO_ANCHOR, NO_ANCHOR " tcp-upstream: yes\n", NULL, "a.test.", "failures, 0 names with what is below them" },
		{ NO_ANCHOR, NO_ANCHOR " minimal-responses: no\n", NULL, "a.test.", "all answers, 0 names with what is below them" },
		{ ANCHOR, ANCHOR, NULL, NULL, NULL },
		{ NO_ANCHOR, ANCHOR, "a.test.", NULL, "everything" },
		{ ANCHOR, ANCHOR ONE_MORE, "x.more.test.", "sig.test.", "1 names with what is below them" },
		{ ANCHOR ONE_MORE, ANCHOR, "more.test.", "sig.test.", "1 names with what is below them" },
		{ ANCHOR, OTHER_KEY, "sig.test.", "test.", "1 names with what is below them" },
		{ ANCHOR, ANCHOR " domain-insecure: a.test\n", "x.a.test.", "sig.test.", "1 names with what is below them" },
		{ ANCHOR " domain-insecure: a.test\n", ANCHOR, "x.a.test.", "sig.test.", "1 names with what is below them" },
		{ ANCHOR, ANCHOR " harden-dnssec-stripped: no\n", "a.test.", NULL, "everything" },
		{ ANCHOR, ANCHOR " val-permissive-mode: yes\n", "a.test.", NULL, "everything" },
		{ ANCHOR, ANCHOR " val-bogus-ttl: 10\n", NULL, "a.test.", "what is bogus, 0 names with what is below them" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct snapshot *a = snapshot_of(rows[i].before), *b = snapshot_of(rows[i].after);
		struct forget *f = shape_compare(a, b, 1);
		char says[200] = "";

		if (f)
			forget_print(f, says, sizeof says);
		if (!f != !rows[i].says || (f && *rows[i].says && strcmp(says, rows[i].says) != 0))
			fail_msg("row %zu: %s, not %s", i, says, rows[i].says ? rows[i].says : "nothing");
		if (rows[i].goes && !forget_name(f, N(rows[i].goes), 0))
			fail_msg("row %zu: %s stays", i, rows[i].goes);
		if (rows[i].stays && forget_name(f, N(rows[i].stays), 0))
			fail_msg("row %zu: %s goes", i, rows[i].stays);
		forget_free(f);
		snapshot_unpin(a);
		snapshot_unpin(b);
	}
}

static void what_a_view_had_is_forgotten_in_its_scope(void **state)
{
	(void)state;
	struct snapshot *a = snapshot_of(NO_ANCHOR VIEWED("a.test", "192.0.2.1")),
			*b = snapshot_of(NO_ANCHOR VIEWED("a.test", "192.0.2.2")), *c = snapshot_of(NO_ANCHOR);
	struct forget *f = shape_compare(a, b, 1), *g = shape_compare(a, c, 1);

	assert_true(forget_name(f, N("x.a.test."), 1));
	assert_false(forget_name(f, N("x.a.test."), 2));
	assert_false(forget_name(f, N("b.test."), 1));
	assert_true(forget_name(g, N("b.test."), 1));
	assert_false(forget_name(g, N("a.test."), 0));
	forget_free(f);
	forget_free(g);
	snapshot_unpin(a);
	snapshot_unpin(b);
	snapshot_unpin(c);
}

/* What of a file that has the one zone of `was`, if any, is not used under `is`. */
static struct forget *zones_apart(const struct snapshot *was, const struct snapshot *is)
{
	struct keptzones a = shape_zones(was), b = shape_zones(is);
	struct trie *t = keptzones_open(&b);

	assert_true(!a.len || keptzones_take(t, (struct slice){ a.at, a.len }));
	keptzones_clear(&a);
	keptzones_clear(&b);
	return keptzones_close(t);
}

static void a_zone_of_the_cache_file_is_the_same_or_it_is_not(void **state)
{
	(void)state;
	static const char *const texts[] = {
		ANCHOR,
		FORWARD("a.test", "192.0.2.1"),
		FORWARD("a.test", "192.0.2.2"),
		FORWARD("a.test", "192.0.2.1@5353"),
		FORWARD("a.test", "192.0.2.1") " forward-first: yes\n",
		FORWARD("a.test", "192.0.2.1#n.test") " forward-tls-upstream: yes\n",
		"stub-zone:\n name: a.test\n stub-addr: 192.0.2.1\n",
		"auth-zone:\n name: a.test\n",
		"auth-zone:\n name: a.test\n primary: 192.0.2.1\n",
	};

	for (size_t i = 0; i < COUNT(texts); i++) {
		for (size_t j = 0; j < COUNT(texts); j++) {
			struct snapshot *was = snapshot_of(texts[i]), *is = snapshot_of(texts[j]);
			struct forget *f = zones_apart(was, is);

			if (!f != (i == j) || forget_name(f, N("x.a.test."), 0) != (i != j) ||
			    forget_name(f, N("b.test."), 0))
				fail_msg("%s, then %s", texts[i], texts[j]);
			forget_free(f);
			snapshot_unpin(was);
			snapshot_unpin(is);
		}
	}
}

static void a_cache_file_of_another_shape_is_known(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		bool validates, shapes;
		const char *zone; /* of which nothing is used */
	} rows[] = {
		{ " verbosity: 3\n prefetch: yes\n local-zone: a.test static\n", false, false, NULL },
		{ " domain-insecure: a.test\n", true, false, NULL },
		{ " harden-dnssec-stripped: no\n", true, false, NULL },
		{ " private-address: 10.0.0.0/8\n", false, true, NULL },
		{ " private-domain: a.test\n", false, true, NULL },
		{ " dns64-prefix: 2001:db8::/96\n", false, true, NULL },
		{ " dns64-ignore-aaaa: a.test\n", false, true, NULL },
		{ " minimal-responses: no\n", false, true, NULL },
		{ FORWARD("a.test", "192.0.2.1"), false, false, "a.test." },
		{ "stub-zone:\n name: a.test\n stub-addr: 192.0.2.1\n", false, false, "a.test." },
		{ "auth-zone:\n name: a.test\n", false, false, "a.test." },
		{ VIEWED("a.test", "192.0.2.1"), false, false, NULL },
	};
	struct snapshot *plain = snapshot_of(ANCHOR);

	for (size_t i = 0; i < COUNT(rows); i++) {
		char text[500];
		struct snapshot *s;
		struct forget *f;

		snprintf(text, sizeof text, "%s%s", ANCHOR, rows[i].text);
		s = snapshot_of(text);
		if ((shape_validation(s) != shape_validation(plain)) != rows[i].validates ||
		    (shape_mark(s) != shape_mark(plain)) != rows[i].shapes)
			fail_msg("%s: its marks are wrong", rows[i].text);
		f = zones_apart(plain, s);
		if (!f != !rows[i].zone || (f && !forget_name(f, N(rows[i].zone), 0)))
			fail_msg("%s: its zones are wrong", rows[i].text);
		forget_free(f);
		snapshot_unpin(s);
	}
	snapshot_unpin(plain);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_option_of_the_server_has_a_row),
		cmocka_unit_test(what_a_view_had_is_forgotten_in_its_scope),
		cmocka_unit_test(a_change_is_forgotten_as_far_as_it_reaches),
		cmocka_unit_test(a_zone_of_the_cache_file_is_the_same_or_it_is_not),
		cmocka_unit_test(a_cache_file_of_another_shape_is_known),
	};
	int failed;

	rcu_thread_join();
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	rcu_thread_leave();
	return failed;
}
