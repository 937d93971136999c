/* Claims about the table of a list: which rule decides.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/blocklist/table.h"

#include <stdio.h>

#include "services/blocklist/special.h"
#include "services/tests/conf.h"
#include "util/base/fault.h"
#include "util/base/rcu.h"
#include "util/dns/msg.h"
#include "util/dns/rr.h"
#include "util/tests/store.h"

#define SEED 12345

static struct blocklist_table *table_of(const char *text)
{
	struct blocklist_table_maker *m = blocklist_table_begin();
	struct blocklist_how how = { .rule = blocklist_table_rule, .arg = m };
	struct blocklist_reader *r = blocklist_reader_new(&how);
	struct fault f = { 0 };

	if (!blocklist_reader_take(r, text, strlen(text), &f) || !blocklist_reader_end(r, &f))
		fail_msg("%s", f.text);
	blocklist_reader_free(r);
	return blocklist_table_make(m, SEED);
}

static const char list[] = "||ads.example.com^\n"
			   "@@||good.ads.example.com^\n"
			   "||bad.good.ads.example.com^\n"
			   "exact.example.net\n"
			   "*.below.example.net^\n"
			   "||tracker.example.net^$important\n"
			   "@@||tracker.example.net^\n"
			   "@@||www.tracker.example.net^\n"
			   "||vip.example.net^$important\n"
			   "@@||vip.example.net^$important\n"
			   "||both.example^\n"
			   "@@||both.example^\n"
			   "||off.example^\n"
			   "||off.example^$badfilter\n"
			   "||typed.example^$dnstype=AAAA\n"
			   "||nowhere.example^$dnsrewrite=REFUSED\n"
			   "||gone.example^$dnstype=A\n"
			   "||gone.example^$dnstype=A,badfilter\n"
			   "||most.example^$denyallow=not.most.example\n"
			   "@@||typed.free.example^$dnstype=A\n"
			   "||free.example^\n";

struct row {
	const char *name;
	uint16_t type;
	enum blocklist_verdict want;
	unsigned labels;
};

static const struct row rows[] = {
	{ "ads.example.com.", TYPE_A, BLOCKLIST_BLOCKS, 3 },
	{ "x.y.ads.example.com.", TYPE_A, BLOCKLIST_BLOCKS, 3 },
	{ "X.ADS.Example.com.", TYPE_A, BLOCKLIST_BLOCKS, 3 },
	{ "good.ads.example.com.", TYPE_A, BLOCKLIST_ALLOWS, 4 },
	{ "www.good.ads.example.com.", TYPE_A, BLOCKLIST_ALLOWS, 4 },
	{ "bad.good.ads.example.com.", TYPE_A, BLOCKLIST_ALLOWS, 4 },
	{ "example.com.", TYPE_A, BLOCKLIST_SAYS_NOTHING, 0 },
	{ "exact.example.net.", TYPE_TXT, BLOCKLIST_BLOCKS, 3 },
	{ "www.exact.example.net.", TYPE_A, BLOCKLIST_SAYS_NOTHING, 0 },
	{ "below.example.net.", TYPE_A, BLOCKLIST_SAYS_NOTHING, 0 },
	{ "a.b.below.example.net.", TYPE_A, BLOCKLIST_BLOCKS, 3 },
	{ "www.tracker.example.net.", TYPE_A, BLOCKLIST_BLOCKS, 3 },
	{ "www.vip.example.net.", TYPE_A, BLOCKLIST_ALLOWS, 3 },
	{ "both.example.", TYPE_A, BLOCKLIST_ALLOWS, 2 },
	{ "off.example.", TYPE_A, BLOCKLIST_SAYS_NOTHING, 0 },
	{ "typed.example.", TYPE_A, BLOCKLIST_SAYS_NOTHING, 0 },
	{ "www.typed.example.", TYPE_AAAA, BLOCKLIST_BLOCKS, 2 },
	{ "nowhere.example.", TYPE_A, BLOCKLIST_BLOCKS, 2 },
	{ "gone.example.", TYPE_A, BLOCKLIST_SAYS_NOTHING, 0 },
	{ "most.example.", TYPE_A, BLOCKLIST_BLOCKS, 2 },
	{ "x.not.most.example.", TYPE_A, BLOCKLIST_SAYS_NOTHING, 0 },
	{ "typed.free.example.", TYPE_A, BLOCKLIST_ALLOWS, 3 },
	{ "typed.free.example.", TYPE_AAAA, BLOCKLIST_BLOCKS, 2 },
	{ ".", TYPE_A, BLOCKLIST_SAYS_NOTHING, 0 },
};

static void check(const struct blocklist_table *t, uint64_t seed)
{
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct blocklist_match m = { 0 };
		struct suffixes q;
		enum blocklist_verdict got;

		suffixes_find(&q, N(rows[i].name), seed, blocklist_table_deepest(t));
		got = blocklist_table_find(t, &q, rows[i].type, NULL, &m);
		if (got != rows[i].want || (got && m.labels != rows[i].labels))
			fail_msg("%s: %d by a rule of %u labels", rows[i].name, got, m.labels);
	}
}

static void exceptions_of_any_length_hold_but_against_important_rules(void **state)
{
	(void)state;
	struct blocklist_table *t = table_of(list);

	check(t, SEED);
	blocklist_table_unpin(t);
}

static void a_rule_may_say_what_to_answer(void **state)
{
	(void)state;
	struct blocklist_table *t = table_of(list);
	struct blocklist_match m = { 0 };
	struct suffixes q;

	suffixes_find(&q, N("www.nowhere.example."), SEED, blocklist_table_deepest(t));
	assert_int_equal(blocklist_table_find(t, &q, TYPE_A, NULL, &m), BLOCKLIST_BLOCKS);
	assert_int_equal(m.rewrites, 1);
	assert_int_equal(m.rewrite[0]->rcode, RCODE_REFUSED);
	blocklist_table_unpin(t);
}

/* ---- in a file ---- */

static void a_saved_table_says_the_same(void **state)
{
	(void)state;
	static struct store f, g;
	struct blocklist_table *t = table_of(list);
	uint64_t seed = 0;

	f.len = f.at = 0;
	assert_true(blocklist_table_save(t, store_put, &f));
	blocklist_table_unpin(t);
	g = f;
	t = blocklist_table_load(store_get, &g, g.len, &seed);
	assert_non_null(t);
	assert_int_equal(seed, SEED);
	check(t, SEED);
	blocklist_table_unpin(t);
	g = f;
	seed = 99;
	t = blocklist_table_load(store_get, &g, g.len, &seed);
	assert_non_null(t);
	assert_int_equal(seed, 99);
	check(t, 99);
	blocklist_table_unpin(t);
	for (size_t len = 0; len < f.len; len += 17) {
		g = f;
		g.len = len;
		seed = 0;
		assert_null(blocklist_table_load(store_get, &g, f.len, &seed));
	}
}

/* It must not be what happened to be in memory. */
static void a_rule_without_a_name_is_none(void **state)
{
	(void)state;
	static struct store f;
	struct blocklist_table *t = table_of("||typed.example^$dnstype=AAAA\n");
	const uint8_t *name = N("typed.example.");
	size_t len = dname_len(name), at = 8; /* behind its head: lengths, bits, form, operators */
	uint64_t seed = 0;

	f.len = f.at = 0;
	assert_true(blocklist_table_save(t, store_put, &f));
	blocklist_table_unpin(t);
	while (memcmp(f.bytes + at, name, len) != 0)
		assert_true(++at + len < f.len);
	memset(f.bytes + at - 8, 0, 2);
	memmove(f.bytes + at, f.bytes + at + len, f.len - at - len);
	f.len -= len;
	assert_null(blocklist_table_load(store_get, &f, f.len, &seed));
}

static void an_empty_table_says_nothing(void **state)
{
	(void)state;
	struct blocklist_table *t = table_of("# nothing\n");
	struct blocklist_match m = { 0 };
	struct suffixes q;

	assert_int_equal(blocklist_table_count(t), 0);
	suffixes_find(&q, N("www.example."), SEED, blocklist_table_deepest(t));
	assert_int_equal(blocklist_table_find(t, &q, TYPE_A, NULL, &m), BLOCKLIST_SAYS_NOTHING);
	blocklist_table_unpin(t);
}

/* The same list in six formats, of our own names: each blocks what the hosts form lists. */
static void all_formats_block_the_same(void **state)
{
	(void)state;
	static const char *const forms[] = {
		"0.0.0.0 a.example\n0.0.0.0 www.a.example\n0.0.0.0 b.example.org\n",
		"a.example\nwww.a.example\nb.example.org\n",
		"*.a.example\n*.b.example.org\n",
		"[Adblock Plus]\n||a.example^\n||b.example.org^\n",
		"local=/a.example/\nlocal=/b.example.org/\n",
		"server:\nlocal-zone: \"a.example\" always_null\nlocal-zone: \"b.example.org.\" static\n",
		("$TTL 60\n@ SOA a. b. 1 2 3 4 5\na.example CNAME .\n*.a.example CNAME .\n"
		 "b.example.org CNAME .\n"),
	};
	static const char *const names[] = { "a.example.", "www.a.example.", "b.example.org." };

	for (size_t i = 0; i < COUNT(forms); i++) {
		struct blocklist_table *t = table_of(forms[i]);

		for (size_t n = 0; n < COUNT(names); n++) {
			struct blocklist_match m;
			struct suffixes q;

			suffixes_find(&q, N(names[n]), SEED, blocklist_table_deepest(t));
			if (blocklist_table_find(t, &q, TYPE_A, NULL, &m) != BLOCKLIST_BLOCKS)
				fail_msg("form %zu does not block %s", i, names[n]);
		}
		blocklist_table_unpin(t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exceptions_of_any_length_hold_but_against_important_rules),
		cmocka_unit_test(a_rule_may_say_what_to_answer),
		cmocka_unit_test(a_saved_table_says_the_same),
		cmocka_unit_test(a_rule_without_a_name_is_none),
		cmocka_unit_test(an_empty_table_says_nothing),
		cmocka_unit_test(all_formats_block_the_same),
	};
	int failed;

	rcu_thread_join();
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	rcu_flush();
	rcu_thread_leave();
	return failed;
}
