/* Claims about lists of firewalls: OPNsense's with policies, pfBlockerNG's tables.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/blocklist/clients.h"

#include <stdio.h>

#include "services/blocklist/read.h"
#include "services/blocklist/table.h"
#include "services/tests/conf.h"
#include "util/base/fault.h"
#include "util/base/rcu.h"
#include "util/dns/msg.h"
#include "util/dns/rr.h"
#include "util/tests/store.h"

#define SEED 4711

/* ---- reading ---- */

static char told[8192];

static void say(const char *text)
{
	snprintf(told + strlen(told), sizeof(told) - strlen(told), "%s%s", *told ? " " : "", text);
}

static void tell(void *arg, const struct blocklist_rule *r)
{
	char name[DNAME_TEXT], text[2 * DNAME_TEXT];
	unsigned important = r->bits >> BLOCKLIST_IMPORTANT_SHIFT, bits = (r->bits & BLOCKLIST_PLAIN) | important;

	(void)arg;
	dname_print(r->name, name);
	snprintf(text, sizeof(text), "%s%s%s%s%s%s:%u%s%s", name, important ? "!" : "",
		 bits & BLOCKLIST_BLOCK_SELF ? "b" : "", bits & BLOCKLIST_BLOCK_BELOW ? "B" : "",
		 bits & BLOCKLIST_ALLOW_SELF ? "a" : "", bits & BLOCKLIST_ALLOW_BELOW ? "A" : "",
		 r->policy, r->special ? " " : "", r->special ? r->special : "");
	say(text);
}

static void tell_policy(void *arg, unsigned number, const char *text)
{
	char line[2048];

	(void)arg;
	snprintf(line, sizeof(line), "%u<%s>", number, text ? text : "");
	if (number)
		say(line);
}

static bool read_with(const char *text, struct blocklist_how how, size_t step, struct fault *f)
{
	struct blocklist_reader *r;
	size_t len = strlen(text);
	bool good = true;

	how.rule = tell;
	how.policy = tell_policy;
	*told = '\0';
	r = blocklist_reader_new(&how);
	for (size_t i = 0; good && i < len; i += step)
		good = blocklist_reader_take(r, text + i, MIN(step, len - i), f);
	good = good && blocklist_reader_end(r, f);
	blocklist_reader_free(r);
	return good;
}

#define TYPES "special dnstype=A|AAAA|CNAME|HTTPS|SVCB,dnsrewrite="

static void each_form_of_a_table_is_understood(void **state)
{
	(void)state;
	static const struct {
		const char *why, *text, *want;
		struct blocklist_how how;
	} rows[] = {
		{ "a policy",
		  "{\"data\":{\"a.example\":[{\"bl\":\"x\",\"wildcard\":false,\"idx\":\"p\"}]},"
		  "\"config\":"
		  "{\"general\":{\"has_wildcards\":false},\"p\":{\"source_nets\":[\"10.0.0.0\\/"
		  "8\",\"2001:db8::/32\"],"
		  "\"address\":\"192.0.2.1\",\"rcode\":\"NOERROR\",\"passlist\":\"b\\\\.example$\","
		  "\"id\":\"p\"}}}",
		  "a.example.b:1 1<" TYPES
		  "NOERROR;A;192.0.2.1\nnets 10.0.0.0/8 2001:db8::/32\npass b\\.example$\nid p\nlists x\n>",
		  { 0 } },
		{ "config first, two policies in its order, one of which nobody has",
		  "{\"config\":{\"q\":{\"source_nets\":[],\"address\":\"::1\",\"rcode\":"
		  "\"NOERROR\"},"
		  "\"p\":{\"rcode\":\"NXDOMAIN\",\"address\":\"0.0.0.0\"}},\n "
		  "\"data\":{\"a.example\":[{\"idx\":\"p\"}, "
		  "{\"idx\":\"q\",\"wildcard\":true}],\"b.example\":[]}}\n",
		  "a.example.b:2 a.example.bB:1 1<" TYPES "NOERROR;AAAA;::1\nid q\n> 2<" TYPES
		  "NXDOMAIN\nid p\n>",
		  { 0 } },
		{ "a star, an escape, capitals",
		  "{\"data\":{\"*.a.EXAMPLE\":[{\"idx\":\"p\"}],\"\\u0062.example\":[{\"idx\":"
		  "\"p\"}]},"
		  "\"config\":{\"p\":{\"rcode\":\"NXDOMAIN\"}}}",
		  "a.example.bB:1 b.example.b:1 1<" TYPES "NXDOMAIN\nid p\n>",
		  { 0 } },
		{ "an older one",
		  "{\"data\": {\"a.example\": {\"bl\": \"x\", \"wildcard\": true}, \"b.example\": "
		  "{\"wildcard\": false}}, "
		  "\"config\": {\"dst_addr\": \"192.0.2.1\", \"rcode\": \"NOERROR\", "
		  "\"has_wildcards\": true}}",
		  "a.example.bB:1 b.example.b:1 1<" TYPES "NOERROR;A;192.0.2.1\nlists x\n>",
		  { 0 } },
		{ "an older one with networks",
		  "{\"data\":{\"a.example\":{\"source_net\":[\"10.0.0.0/"
		  "8\"],\"wildcard\":true},\"b.example\":{}},"
		  "\"config\":{\"rcode\":\"NXDOMAIN\"}}",
		  "a.example.bB:1 b.example.b:2 1<" TYPES "NXDOMAIN\nnets 10.0.0.0/8\n> 2<" TYPES
		  "NXDOMAIN\n>",
		  { 0 } },
		{ "names that cannot be",
		  "{\"data\":{\"com\":{},\"a.example\":{},\"a "
		  "b\":{},\"192.0.2.1\":{}},\"config\":{}}",
		  "a.example.b:1 1<" TYPES "NOERROR;A;0.0.0.0\n>",
		  { 0 } },
		{ "as an allow-file",
		  "{\"data\":{\"a.example\":[{\"idx\":\"p\",\"wildcard\":true}]},\"config\":{}}",
		  "a.example.aA:0 1<" TYPES "NOERROR;A;0.0.0.0\n>",
		  { .allow = true } },
		{ "objects in lines",
		  "{\"kind\":\"domain\",\"domain\":\"a.example\",\"log\":\"1\",\"feed\":\"f\","
		  "\"group\":\"g\"}\n"
		  "{\"kind\":\"regex\",\"domain\":\"b.example\"}\n{\"domain\":\"c.example\"}\n",
		  "a.example.b:0 c.example.b:0",
		  { 0 } },
		{ "objects in lines of a tree",
		  "{\"domain\":\"a.example\"}",
		  "a.example.bB:0",
		  { .rows = BLOCKLIST_ROWS_BELOW } },
		{ "rows",
		  ",a.example,,0,feed,group\n,b.example,,1,feed,group\n",
		  "a.example.b:0 b.example.b:0",
		  { 0 } },
		{ "rows of a tree",
		  ",a.example,,0,feed,group\n",
		  "a.example.bB:0",
		  { .rows = BLOCKLIST_ROWS_BELOW } },
		{ "rows of what passes",
		  "a.example,0\nb.example,1\n",
		  "a.example.!a:0 www.a.example.!a:0 b.example.!aA:0",
		  { .rows = BLOCKLIST_ROWS_PASS } },
		{ "rows of what passes, as an allow-file",
		  "b.example,1\n",
		  "b.example.!aA:0",
		  { .allow = true, .rows = BLOCKLIST_ROWS_PASS } },
		{ "rows of rewrites",
		  "www.s.example,cname,safe.example\nt.example,nxdomain,\nu.example,192.0.2.1,\nv."
		  "example,192.0.2.1,2001:db8::1\n",
		  "www.s.example.b:0 dnsrewrite=NOERROR;CNAME;safe.example s.example.b:0 "
		  "dnsrewrite=NOERROR;CNAME;safe.example "
		  "t.example.b:0 dnsrewrite=NXDOMAIN u.example.b:0 "
		  "dnstype=A|AAAA,dnsrewrite=NOERROR;A;192.0.2.1 "
		  "v.example.b:0 dnstype=A,dnsrewrite=NOERROR;A;192.0.2.1 "
		  "v.example.b:0 dnstype=AAAA,dnsrewrite=NOERROR;AAAA;2001:db8::1",
		  { .rows = BLOCKLIST_ROWS_REWRITE } },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		for (size_t step = 1; step < 4096; step *= 61) {
			struct fault f = { 0 };

			if (!read_with(rows[i].text, rows[i].how, step, &f))
				fail_msg("%s: %s", rows[i].why, f.text);
			if (strcmp(told, rows[i].want) != 0)
				fail_msg("%s: '%s', not '%s'", rows[i].why, told, rows[i].want);
		}
	}
}

static void tables_are_told_by_the_names_of_their_files(void **state)
{
	(void)state;
	static const struct {
		const char *path;
		enum blocklist_rows rows;
	} rows[] = {
		{ "/var/unbound/pfb_py_data.txt", BLOCKLIST_ROWS_BLOCK },
		{ "/var/unbound/pfb_py_zone.txt", BLOCKLIST_ROWS_BELOW },
		{ "pfb_py_zone.txt", BLOCKLIST_ROWS_BELOW },
		{ "/x/pfb_py_whitelist.txt", BLOCKLIST_ROWS_PASS },
		{ "/x/pfb_py_ss.txt", BLOCKLIST_ROWS_REWRITE },
		{ "/pfb_py_zone/ads.txt", BLOCKLIST_ROWS_BLOCK },
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		if (blocklist_rows_of(rows[i].path) != rows[i].rows)
			fail_msg("%s", rows[i].path);
}

static void other_json_is_refused(void **state)
{
	(void)state;
	static const char *const rows[] = {
		"{}",
		"{\"error\":404}",
		"{\"data\":{\"a.example\":[{\"idx\":\"p\"}",
		"{\"data\":{\"a.example",
		"{\"data\":]}",
		"{\"data\":{\"\\q\":{}}}",
		"{\"data\":{\"\\u12x4\":{}}}",
		"{\"data\":[[[[[[[[[[[[]]]]]]]]]]]]}",
		"{\"kind\":\"domain\"}",
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct fault f = { 0 };

		if (read_with(rows[i], (struct blocklist_how){ 0 }, 5, &f) || !f.set)
			fail_msg("taken: %s", rows[i]);
	}
}

/* ---- asking ---- */

static const char list[] =
	"{\"data\":{\"ads.example\":[{\"bl\":\"feed2\",\"idx\":\"kids\"},"
	"{\"idx\":\"all\",\"bl\":\"feed1\",\"wildcard\":true}],"
	"\"tree.example\":[{\"bl\":\"feed1\",\"idx\":\"all\",\"wildcard\":true},"
	"{\"bl\":\"feed2\",\"idx\":\"all\"}],\"game.example\":[{\"idx\":\"kids\",\"wildcard\":true}]},"
	"\"config\":{\"general\":{\"has_wildcards\":true},"
	"\"kids\":{\"source_nets\":[\"10.1.0.0/16\",\"2001:db8:1::/48\"],\"rcode\":\"NXDOMAIN\",\"address\":\"\"},"
	"\"all\":{\"source_nets\":[],\"rcode\":\"NOERROR\",\"address\":\"192.0.2.9\",\"passlist\":\"ok\\\\.tree|.*\\\\.fine\\\\.tree\\\\.example$\"}}}";

static struct blocklist_table *table_of(const char *text)
{
	struct blocklist_table_maker *m = blocklist_table_begin();
	struct blocklist_how how = { .rule = blocklist_table_rule,
				     .policy = blocklist_table_policy,
				     .arg = m };
	struct blocklist_reader *r = blocklist_reader_new(&how);
	struct fault f = { 0 };

	if (!blocklist_reader_take(r, text, strlen(text), &f) || !blocklist_reader_end(r, &f))
		fail_msg("%s", f.text);
	blocklist_reader_free(r);
	return blocklist_table_make(m, SEED);
}

static void check(const struct blocklist_table *t, uint64_t seed)
{
	static const struct {
		const char *name, *from; /* NULL: nobody in particular */
		uint16_t type;
		enum blocklist_verdict want;
		int rcode;
	} rows[] = {
		{ "ads.example.", "10.1.2.3", TYPE_A, BLOCKLIST_BLOCKS, RCODE_NXDOMAIN },
		{ "ads.example.", "2001:db8:1::7", TYPE_AAAA, BLOCKLIST_BLOCKS, RCODE_NXDOMAIN },
		{ "ads.example.", "10.2.2.3", TYPE_A, BLOCKLIST_BLOCKS, RCODE_NOERROR },
		{ "ads.example.", NULL, TYPE_A, BLOCKLIST_BLOCKS, RCODE_NOERROR },
		{ "www.ads.example.", "10.1.2.3", TYPE_A, BLOCKLIST_BLOCKS, RCODE_NOERROR },
		{ "ads.example.", "10.1.2.3", TYPE_HTTPS, BLOCKLIST_BLOCKS, RCODE_NXDOMAIN },
		{ "ads.example.", "10.1.2.3", TYPE_MX, BLOCKLIST_SAYS_NOTHING, 0 },
		{ "game.example.", "10.1.2.3", TYPE_A, BLOCKLIST_BLOCKS, RCODE_NXDOMAIN },
		{ "game.example.", "10.2.2.3", TYPE_A, BLOCKLIST_SAYS_NOTHING, 0 },
		{ "game.example.", NULL, TYPE_A, BLOCKLIST_SAYS_NOTHING, 0 },
		{ "x.tree.example.", "10.2.2.3", TYPE_A, BLOCKLIST_BLOCKS, RCODE_NOERROR },
		{ "ok.tree.example.", "10.2.2.3", TYPE_A, BLOCKLIST_ALLOWS, 0 },
		{ "OK.tree.example.", "10.2.2.3", TYPE_A, BLOCKLIST_ALLOWS, 0 },
		{ "a.fine.tree.example.", "10.2.2.3", TYPE_A, BLOCKLIST_ALLOWS, 0 },
		{ "example.", "10.1.2.3", TYPE_A, BLOCKLIST_SAYS_NOTHING, 0 },
		{ "other.example.", "10.1.2.3", TYPE_A, BLOCKLIST_SAYS_NOTHING, 0 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct blocklist_match m = { 0 };
		struct suffixes q;
		struct addr from;
		enum blocklist_verdict v;

		if (rows[i].from)
			assert_true(addr_parse(&from, rows[i].from, 0, NULL));
		suffixes_find(&q, N(rows[i].name), seed, blocklist_table_deepest(t));
		v = blocklist_table_find(t, &q, rows[i].type, rows[i].from ? &from : NULL, &m);
		if (v != rows[i].want)
			fail_msg("%s for %s: %d", rows[i].name, rows[i].from ? rows[i].from : "nobody", (int)v);
		if (v == BLOCKLIST_BLOCKS && (!m.rewrites || m.rewrite[0]->rcode != rows[i].rcode))
			fail_msg("%s for %s: another answer", rows[i].name, rows[i].from ? rows[i].from : "nobody");
		if (v != BLOCKLIST_SAYS_NOTHING && !blocklist_table_mentions(t, &q))
			fail_msg("%s is not mentioned", rows[i].name);
	}
}

static void assert_origin(const struct blocklist_table *t, const char *name, const char *from, const char *policy,
			  const char *source)
{
	char id[BLOCKLIST_POLICY_WORD], of[BLOCKLIST_POLICY_WORD];
	struct blocklist_match m;
	struct suffixes q;
	struct addr a;

	assert_true(addr_parse(&a, from, 0, NULL));
	suffixes_find(&q, N(name), SEED, blocklist_table_deepest(t));
	assert_int_equal(blocklist_table_find(t, &q, TYPE_A, &a, &m), BLOCKLIST_BLOCKS);
	assert_non_null(m.policy);
	blocklist_policy_id(m.policy, id);
	blocklist_policy_list(m.policy, m.list, of);
	assert_string_equal(id, policy);
	assert_string_equal(of, source);
}

static void a_policy_is_told_with_the_list_that_has_the_name(void **state)
{
	(void)state;
	static struct store f;
	struct blocklist_table *t = table_of(list);
	uint64_t seed = 0;

	for (unsigned i = 0; i < 2; i++) {
		assert_origin(t, "ads.example.", "10.1.2.3", "kids", "feed2");
		assert_origin(t, "www.ads.example.", "10.1.2.3", "all", "feed1");
		assert_origin(t, "tree.example.", "10.2.2.3", "all", "feed2"); /* the first of all */
		assert_origin(t, "game.example.", "10.1.2.3", "kids", "");
		f = (struct store){ 0 };
		assert_true(blocklist_table_save(t, store_put, &f));
		blocklist_table_unpin(t);
		t = blocklist_table_load(store_get, &f, f.len, &seed);
		assert_non_null(t);
	}
	blocklist_table_unpin(t);
	t = table_of("{\"data\":{\"a.example\":{\"bl\":\"old\",\"wildcard\":true}},\"config\":{\"dst_addr\":\"0.0.0.0\"}}");
	assert_origin(t, "a.example.", "192.0.2.1", "", "old");
	blocklist_table_unpin(t);
}

static void the_first_policy_for_the_client_decides(void **state)
{
	(void)state;
	struct blocklist_table *t = table_of(list);

	assert_int_equal(blocklist_table_count(t), 4);
	assert_int_equal(blocklist_table_unknown(t), 0);
	check(t, SEED);
	blocklist_table_unpin(t);
}

static void a_saved_table_has_its_policies(void **state)
{
	(void)state;
	static struct store f, g;
	struct blocklist_table *t = table_of(list);

	assert_true(blocklist_table_save(t, store_put, &f));
	blocklist_table_unpin(t);
	for (uint64_t want = 0; want <= 99; want += 99) {
		uint64_t seed = want;

		g = f;
		t = blocklist_table_load(store_get, &g, g.len, &seed);
		assert_non_null(t);
		check(t, seed);
		blocklist_table_unpin(t);
	}
	for (size_t len = 0; len < f.len; len += 7) {
		uint64_t seed = 0;

		g = f;
		g.len = len;
		assert_null(blocklist_table_load(store_get, &g, f.len, &seed));
	}
}

static void an_unsupported_client_modifier_blocks_no_other_client(void **state)
{
	(void)state;
	struct blocklist_table *t = table_of(
		"{\"data\":{\"a.example\":[{\"idx\":\"p\"}]},\"config\":{\"p\":{\"source_nets\":[\"nonsense\"],"
		"\"rcode\":\"NXDOMAIN\",\"passlist\":\"(?!x)y|a{3}|b\"}}}");
	struct blocklist_match m = { 0 };
	struct suffixes q;
	struct addr from;

	assert_int_equal(blocklist_table_unknown(t), 2);
	assert_true(addr_parse(&from, "192.0.2.1", 0, NULL));
	suffixes_find(&q, N("a.example."), SEED, blocklist_table_deepest(t));
	assert_int_equal(blocklist_table_find(t, &q, TYPE_A, &from, &m), BLOCKLIST_SAYS_NOTHING);
	blocklist_table_unpin(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_form_of_a_table_is_understood),
		cmocka_unit_test(tables_are_told_by_the_names_of_their_files),
		cmocka_unit_test(other_json_is_refused),
		cmocka_unit_test(the_first_policy_for_the_client_decides),
		cmocka_unit_test(a_policy_is_told_with_the_list_that_has_the_name),
		cmocka_unit_test(a_saved_table_has_its_policies),
		cmocka_unit_test(an_unsupported_client_modifier_blocks_no_other_client),
	};
	int failed;

	rcu_thread_join();
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	rcu_flush();
	rcu_thread_leave();
	return failed;
}
