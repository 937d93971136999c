/* Claims about whole lists: what the documents of each format say they do to a question.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * AdGuard's page on the syntax of DNS filtering rules, dnsmasq's manual, Unbound's manual, the draft
 * on response policy zones. */
#include "services/blocklist/rules.h"

#include <stdio.h>

#include "services/blocklist/table.h"
#include "services/tests/conf.h"
#include "util/base/fault.h"
#include "util/base/mem.h"
#include "util/base/rcu.h"
#include "util/dns/rr.h"
#include "util/dns/text.h"
#include "util/tests/store.h"

#define SEED 12345

static void read_into(struct blocklist_table_maker *m, const char *text, bool allow)
{
	struct blocklist_how how = { .rule = blocklist_table_rule, .arg = m, .allow = allow };
	struct blocklist_reader *r = blocklist_reader_new(&how);
	struct fault f = { 0 };

	if (!blocklist_reader_take(r, text, strlen(text), &f))
		fail_msg("%s", f.text);
	(void)!blocklist_reader_end(r, &f);
	blocklist_reader_free(r);
}

static struct blocklist_table *table_of(const char *text, const char *allow)
{
	struct blocklist_table_maker *m = blocklist_table_begin();

	read_into(m, text, false);
	if (allow)
		read_into(m, allow, true);
	return blocklist_table_make(m, SEED);
}

/* What the list says: "-", "block", "allow", or what it answers: "NXDOMAIN", "A 192.0.2.1 A …". */
static const char *verdict(const struct blocklist_table *t, const char *name, uint16_t type,
			   const char *from)
{
	static char text[2000];
	struct blocklist_match m;
	struct suffixes q;
	struct addr a;

	if (from)
		assert_true(addr_parse(&a, from, 0, NULL));
	suffixes_find(&q, N(name), SEED, blocklist_table_deepest(t));
	switch (blocklist_table_find(t, &q, type, from ? &a : NULL, &m)) {
	case BLOCKLIST_SAYS_NOTHING:
		return "-";
	case BLOCKLIST_ALLOWS:
		return "allow";
	default:
		break;
	}
	if (!m.rewrites)
		return "block";
	*text = '\0';
	for (unsigned i = 0; i < m.rewrites; i++) {
		const struct blocklist_rewrite *w = m.rewrite[i];
		char line[500], rcode[16], *at = line;

		if (!w->type) {
			snprintf(line, sizeof(line), "%s", rr_rcode_name(w->rcode, rcode));
		} else {
			(void)text_rr_print(line, sizeof(line), N("."), 0, CLASS_IN, w->type,
					    (struct slice){ w->data, w->len });
			at = strstr(line, "IN\t") + 3;
			*strchr(at, '\t') = ' ';
		}
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", i ? " + " : "", at);
	}
	return text;
}

/* Questions: "name TYPE [client]" and what is wanted, in turn. */
struct row {
	const char *list;
	const char *asked[12];
	const char *allow;
};

static void ask_row(const struct row *row, const struct blocklist_table *t)
{
	for (size_t i = 0; i < COUNT(row->asked) && row->asked[i]; i += 2) {
		char name[256], word[32] = "A", from[64] = "";
		const char *got;
		uint16_t type;

		(void)sscanf(row->asked[i], "%200s %31s %63s", name, word, from);
		strcat(name, ".");
		assert_true(rr_type_parse(word, &type));
		got = verdict(t, name, type, *from ? from : NULL);
		if (strcmp(got, row->asked[i + 1]) != 0)
			fail_msg("%s: %s: %s, not %s", row->list, row->asked[i], got, row->asked[i + 1]);
	}
}

/* Each table says the same when it comes from a file. */
static void check_rows(const struct row *rows, size_t count)
{
	static struct store f;

	for (size_t i = 0; i < count; i++) {
		struct blocklist_table *t = table_of(rows[i].list, rows[i].allow);
		uint64_t seed = SEED;

		ask_row(&rows[i], t);
		f.len = f.at = 0;
		assert_true(blocklist_table_save(t, store_put, &f));
		blocklist_table_unpin(t);
		t = blocklist_table_load(store_get, &f, f.len, &seed);
		assert_non_null(t);
		ask_row(&rows[i], t);
		blocklist_table_unpin(t);
	}
}

#define B "block"
#define P "allow"
#define NO "-"

static void an_exception_of_any_length_frees_a_name(void **state)
{
	(void)state;
	static const struct row rows[] = {
		{ "||x.org^", { "x.org", B, "www.x.org", B, "notx.org", NO, "org", NO }, NULL },
		{ "@@||x.org^\n||ads.x.org^", { "ads.x.org", P, "a.ads.x.org", P, "x.org", P }, NULL },
		{ "@@||x.org^\n0.0.0.0 ads.x.org\nb.x.org", { "ads.x.org", P, "b.x.org", P }, NULL },
		{ "||x.org^\n@@||ok.x.org^", { "ok.x.org", P, "a.ok.x.org", P, "x.org", B }, NULL },
		{ "@@|x.org^\n||x.org^", { "x.org", P, "a.x.org", B }, NULL },
		{ "@@*.x.org^\n||x.org^", { "x.org", B, "a.x.org", P }, NULL },
		{ "@@x.org^\n||a.x.org^", { "x.org", P, "a.x.org", P, "b.x.org", P }, NULL },
		{ "||x.org^$important\n@@||x.org^", { "x.org", B, "a.x.org", B }, NULL },
		{ "||x.org^$important\n@@||a.x.org^", { "x.org", B, "a.x.org", B }, NULL },
		{ "||a.x.org^$important\n@@||x.org^", { "x.org", P, "a.x.org", B }, NULL },
		{ "||a.x.org^$important\n@@||x.org^$important", { "x.org", P, "a.x.org", P }, NULL },
		{ "|x.org^$important\n@@||x.org^", { "x.org", B, "a.x.org", P }, NULL },
		{ "||x.org^\n@@||a.x.org^\n||b.a.x.org^\n@@||c.b.a.x.org^",
		  { "c.b.a.x.org", P, "b.a.x.org", P, "x.org", B }, NULL },
		{ "x.org^", { "x.org", B, "a.x.org", B, "xx.org", NO }, NULL },
		{ ".x.org^", { "x.org", NO, "a.x.org", B, "b.a.x.org", B }, NULL },
	};

	check_rows(rows, COUNT(rows));
}

static void an_allow_file_frees_what_the_lists_name(void **state)
{
	(void)state;
	static const struct row rows[] = {
		{ "||ads.x.org^\nb.x.org", { "ads.x.org", P, "a.ads.x.org", P, "b.x.org", P }, "||x.org^" },
		{ "||ads.x.org^\n", { "ads.x.org", P, "x.org", P }, "*.x.org" },
		{ "||ads.x.org^\n", { "ads.x.org", B, "x.org", P }, "x.org" },
		{ "||ads.x.org^\n", { "x.org", NO, "ads.x.org", B }, "@@||y.org^\n||org^\n||x.org^$important,script" },
		{ "||ads.x.org^$important\nx.org", { "ads.x.org", B, "x.org", P }, "||x.org^" },
		{ "||ads.x.org^$important", { "ads.x.org", P }, "||x.org^$important" },
		{ "||x.org^$dnsrewrite=1.1.1.1", { "x.org", P, "a.x.org", P }, "||x.org^" },
		{ "||x.org^$dnsrewrite=1.1.1.1", { "x.org", P, "a.x.org", "A 1.1.1.1" }, "|x.org^" },
		{ "||x.org^$dnsrewrite=1.1.1.1,important", { "x.org", "A 1.1.1.1" }, "||x.org^" },
		{ "||x.org^$dnsrewrite=1.1.1.1,important", { "x.org", P }, "||x.org^$important" },
		{ "||x.org^", { "x.org A 10.0.0.1", P, "x.org A 10.0.0.2", B }, "||x.org^$client=10.0.0.1" },
		{ "||x.org^$dnsrewrite=1.1.1.1", { "x.org A 10.0.0.1", P, "x.org A 10.0.0.2", "A 1.1.1.1" },
		  "||x.org^$client=10.0.0.1" },
		/* lists do not take back what the operator allows */
		{ "||a.x.org^\n@@||x.org^$badfilter", { "a.x.org", P }, "||x.org^" },
		{ "address=/a.x.org/", { "a.x.org", P }, "server=/x.org/#" },
	};

	check_rows(rows, COUNT(rows));
}

static void badfilter_takes_back_the_rule_of_the_same_text(void **state)
{
	(void)state;
	static const struct row rows[] = {
		{ "||x.org^\n||x.org^$badfilter", { "x.org", NO }, NULL },
		{ "||x.org^$badfilter\n||x.org^", { "x.org", NO }, NULL },
		{ "||x.org^\n|x.org^$badfilter", { "x.org", B, "a.x.org", B }, NULL },
		{ "||x.org^\n||x.org$badfilter", { "x.org", B }, NULL },
		{ "||x.org\n||x.org$badfilter", { "x.org", NO }, NULL },
		{ "|x.org^\n||x.org^$badfilter", { "x.org", B, "a.x.org", NO }, NULL },
		{ "x.org^\n||x.org^$badfilter", { "x.org", B }, NULL },
		{ "*.x.org^\n.x.org^$badfilter", { "a.x.org", B }, NULL },
		{ "x.org\n||x.org^$badfilter", { "x.org", B }, NULL },
		{ "0.0.0.0 x.org\n|x.org^$badfilter", { "x.org", B }, NULL },
		{ "address=/x.org/\n||x.org^$badfilter", { "x.org", B }, NULL },
		{ "x.org\n||x.org^\n||x.org^$badfilter", { "x.org", B, "a.x.org", NO }, NULL },
		{ "||x.org^$important\n||x.org^$badfilter", { "x.org", B }, NULL },
		{ "||x.org^$important\n||x.org^$badfilter,important", { "x.org", NO }, NULL },
		{ "||x.org^\n||x.org^$badfilter,important", { "x.org", B }, NULL },
		{ "||x.org^\n||x.org^$important\n||x.org^$badfilter\n||x.org^$badfilter,important", { "x.org", NO }, NULL },
		{ "||x.org^\n@@||x.org^\n@@||x.org^$badfilter", { "x.org", B }, NULL },
		{ "||x.org^\n@@||x.org^\n||x.org^$badfilter", { "x.org", P }, NULL },
		{ "||x.org^\n||a.x.org^\n||x.org^$badfilter", { "x.org", NO, "a.x.org", B }, NULL },
		{ "||x.org^$client=10.0.0.1\n||x.org^$badfilter", { "x.org A 10.0.0.1", B }, NULL },
		{ "||x.org^\n||x.org^$client=10.0.0.1,badfilter", { "x.org A 10.0.0.1", B }, NULL },
		{ "||x.org^$client=10.0.0.1\n||x.org^$badfilter,client=10.0.0.1",
		  { "x.org A 10.0.0.1", NO }, NULL },
		{ "||x.org^$client=10.0.0.1\n||x.org^$client=10.0.0.2,badfilter",
		  { "x.org A 10.0.0.1", B }, NULL },
		{ "||x.org^$dnstype=A,important\n||x.org^$important,badfilter,dnstype=A",
		  { "x.org", NO }, NULL },
		{ "||x.org^$client=10.0.0.1,dnstype=A\n||x.org^$dnstype=A,badfilter,client=10.0.0.1",
		  { "x.org A 10.0.0.1", NO }, NULL },
		{ "|x.org^$dnstype=A\n||x.org^$dnstype=A,badfilter", { "x.org", B }, NULL },
		{ "||x.org^$dnsrewrite=1.1.1.1\n||x.org^$dnsrewrite=1.1.1.2\n||x.org^$dnsrewrite=1.1.1.1,badfilter",
		  { "x.org", "A 1.1.1.2" }, NULL },
	};

	check_rows(rows, COUNT(rows));
}

static void denyallow_exempts_from_its_rule_alone(void **state)
{
	(void)state;
	static const struct row rows[] = {
		{ "||x.org^$denyallow=a.x.org|b.x.org",
		  { "x.org", B, "a.x.org", NO, "z.a.x.org", NO, "b.x.org", NO, "c.x.org", B, "xa.x.org", B }, NULL },
		{ "||x.org^$denyallow=a.x.org\n||a.x.org^", { "a.x.org", B }, NULL },
		{ "||x.org^$denyallow=y.net\n||y.net^", { "y.net", B, "x.org", B }, NULL },
		{ "||x.org^$denyallow=a.y.net\n||y.net^", { "a.y.net", B }, NULL },
		{ "||x.org^\n@@||x.org^$denyallow=a.x.org", { "x.org", P, "a.x.org", B }, NULL },
		{ "||x.org^$client=10.0.0.1,denyallow=a.x.org\n||x.org^$client=10.0.0.2",
		  { "a.x.org A 10.0.0.1", NO, "a.x.org A 10.0.0.2", B, "b.x.org A 10.0.0.1", B }, NULL },
		{ "||x.org^$important,denyallow=a.x.org\n@@||x.org^", { "x.org", B, "a.x.org", P }, NULL },
	};

	check_rows(rows, COUNT(rows));
}

static void rewrites_add_up_and_come_first(void **state)
{
	(void)state;
	static const struct row rows[] = {
		{ "||x.org^$dnsrewrite=1.2.3.4\n||x.org^$dnsrewrite=1.2.3.5\n||x.org^$dnsrewrite=1.2.3.4",
		  { "x.org", "A 1.2.3.4 + A 1.2.3.5" }, NULL },
		{ "||x.org^$dnsrewrite=1.2.3.4\n||x.org^$dnsrewrite=2001:db8::1",
		  { "x.org", "A 1.2.3.4 + AAAA 2001:db8::1", "x.org AAAA", "A 1.2.3.4 + AAAA 2001:db8::1" }, NULL },
		{ "||x.org^$dnsrewrite=1.2.3.4\n||a.x.org^$dnsrewrite=1.2.3.5",
		  { "a.x.org", "A 1.2.3.5 + A 1.2.3.4", "x.org", "A 1.2.3.4" }, NULL },
		{ "||x.org^$dnsrewrite=1.2.3.4\n||x.org^$dnsrewrite=REFUSED;;\n||x.org^$dnsrewrite=NXDOMAIN",
		  { "x.org", "REFUSED" }, NULL },
		{ "||x.org^$dnsrewrite=REFUSED\n||x.org^$dnsrewrite=y.net\n||x.org^$dnsrewrite=1.2.3.4",
		  { "x.org", "CNAME y.net.", "x.org TXT", "CNAME y.net." }, NULL },
		{ "||x.org^$dnsrewrite=NOERROR;;", { "x.org", "NOERROR" }, NULL },
		{ "||x.org^$dnsrewrite=NOERROR;MX;32 mail.y.net\n||x.org^$dnsrewrite=NOERROR;TXT;hello world",
		  { "x.org MX", "MX 32 mail.y.net. + TXT \"hello world\"" }, NULL },
		{ "||x.org^$dnsrewrite=NOERROR;SVCB;32 y.net alpn=h3", { "x.org", "SVCB 32 y.net. alpn=\"h3\"" }, NULL },
		{ "||x.org^$dnsrewrite=1.2.3.4\n||a.x.org^", { "a.x.org", "A 1.2.3.4" }, NULL },
		{ "||x.org^$dnsrewrite=1.2.3.4\n@@||x.org^", { "x.org", "A 1.2.3.4" }, NULL },
		{ "||x.org^$dnsrewrite=1.2.3.4\n@@||x.org^$important", { "x.org", "A 1.2.3.4" }, NULL },
		{ "||x.org^$dnsrewrite=1.2.3.4\n||x.org^$important", { "x.org", "A 1.2.3.4" }, NULL },
		{ "||x.org^$dnsrewrite=1.2.3.4\n@@||x.org^$dnsrewrite", { "x.org", NO }, NULL },
		{ "||x.org^$dnsrewrite=1.2.3.4\n||x.org^\n@@||x.org^$dnsrewrite", { "x.org", B }, NULL },
		{ "||a.x.org^$dnsrewrite=1.2.3.4\n@@||x.org^$dnsrewrite", { "a.x.org", NO }, NULL },
		{ "||x.org^$dnsrewrite=1.2.3.4\n||x.org^$dnsrewrite=1.2.3.5\n@@||x.org^$dnsrewrite=1.2.3.4",
		  { "x.org", "A 1.2.3.5" }, NULL },
		{ "||x.org^$dnsrewrite=1.2.3.4,important\n@@||x.org^$dnsrewrite", { "x.org", "A 1.2.3.4" }, NULL },
		{ "||x.org^$dnsrewrite=1.2.3.4,important\n@@||x.org^$dnsrewrite,important", { "x.org", NO }, NULL },
		{ "||x.org^$dnsrewrite=1.2.3.4,important\n@@||x.org^$dnsrewrite=1.2.3.4", { "x.org", "A 1.2.3.4" }, NULL },
		{ "||x.org^$dnsrewrite=y.net\n@@||x.org^$dnsrewrite=y.net", { "x.org", NO }, NULL },
		{ "||x.org^$dnsrewrite=NXDOMAIN;;\n@@||x.org^$dnsrewrite=NXDOMAIN", { "x.org", NO }, NULL },
		{ "||x.org^$dnsrewrite=NXDOMAIN\n@@||x.org^$dnsrewrite=REFUSED", { "x.org", "NXDOMAIN" }, NULL },
		{ "||x.org^$dnsrewrite=safe.x.org", { "x.org", "CNAME safe.x.org.", "safe.x.org", NO }, NULL },
		{ "||x.org^$dnsrewrite=safe.x.org\n||safe.x.org^", { "safe.x.org", B }, NULL },
		{ "||x.org^$dnstype=A,dnsrewrite=1.1.1.1\n||x.org^$dnstype=AAAA,dnsrewrite=2001:db8::5",
		  { "x.org", "A 1.1.1.1", "x.org AAAA", "AAAA 2001:db8::5", "x.org TXT", NO }, NULL },
		{ "||x.org^$client=10.0.0.1,dnsrewrite=1.1.1.1\n||x.org^$client=10.0.0.2,dnsrewrite=2.2.2.2",
		  { "x.org A 10.0.0.1", "A 1.1.1.1", "x.org A 10.0.0.2", "A 2.2.2.2", "x.org A 10.0.0.3", NO }, NULL },
		{ "||x.org^$dnsrewrite=1.1.1.1,client=10.0.0.0/8|10.0.0.1", { "x.org A 10.0.0.1", "A 1.1.1.1" }, NULL },
		{ "||*.x.org^$dnsrewrite=1.1.1.1,denyallow=h.x.org",
		  { "a.x.org", "A 1.1.1.1", "h.x.org", NO, "x.org", NO }, NULL },
	};

	check_rows(rows, COUNT(rows));
}

static void elsewhere_the_longest_name_decides(void **state)
{
	(void)state;
	static const struct row rows[] = {
		{ "address=/x.org/\nserver=/ok.x.org/#\naddress=/no.ok.x.org/",
		  { "x.org", B, "ok.x.org", P, "a.ok.x.org", P, "no.ok.x.org", B, "a.no.ok.x.org", B }, NULL },
		{ "server=/x.org/#\naddress=/no.x.org/0.0.0.0", { "x.org", P, "no.x.org", B }, NULL },
		{ "address=/x.org/#\nserver=/ok.x.org/192.0.2.1", { "x.org", B, "ok.x.org", P }, NULL },
		{ "address=/x.org/#\nserver=/x.org/#", { "x.org", B, "a.x.org", B }, NULL },
		{ "server=/x.org/# # c\naddress=/x.org/0.0.0.0 # c", { "x.org", B }, NULL },
		{ "server=/x.org/# # c\nlocal=/x.org/ # c", { "x.org", P }, NULL },
		{ "server=/x.org/#\naddress=/x.org/", { "x.org", P }, NULL },
		{ "server=/x.org/#\naddress=/*.x.org/#", { "x.org", P, "a.x.org", B }, NULL },
		{ "server=/x.org/#\naddress=/*.x.org/", { "x.org", P, "a.x.org", B }, NULL },
		{ "server=/*.x.org/#\naddress=/x.org/", { "x.org", B, "a.x.org", P }, NULL },
		{ "server=/*.x.org/#\naddress=/x.org/#", { "x.org", B, "a.x.org", P }, NULL },
		{ "server=/*.x.org/#\naddress=/*.x.org/#", { "x.org", NO, "a.x.org", B }, NULL },
		{ "server=/*.x.org/#\naddress=/*.x.org/", { "x.org", NO, "a.x.org", P }, NULL },
		{ "server=/x.org/# # c\n||x.org^", { "x.org", P, "a.x.org", P }, NULL },
		{ "local-zone: x.org transparent\nlocal-data: \"x.org A 0.0.0.0\"", { "x.org", B, "a.x.org", P }, NULL },
		{ "x.org\nx.org CNAME rpz-passthru.", { "x.org", P, "a.x.org", NO }, NULL },
		{ "address=/*.x.org/\nlocal=/y.org/", { "x.org", NO, "a.x.org", B, "a.y.org", B }, NULL },
		{ "local-zone: \"x.org\" static\nlocal-zone: ok.x.org transparent\nlocal-zone: no.ok.x.org refuse",
		  { "x.org", B, "ok.x.org", P, "a.no.ok.x.org", B }, NULL },
		{ "local-zone: \"x.org\" static\nlocal-zone: ok.x.org inform", { "a.ok.x.org", P }, NULL },
		{ "x.org CNAME .\n*.x.org CNAME .\nok.x.org CNAME rpz-passthru.\nz.ok.x.org CNAME .",
		  { "x.org", B, "a.x.org", B, "ok.x.org", P, "z.ok.x.org", B, "a.ok.x.org", B }, NULL },
		{ "*.x.org CNAME rpz-passthru.\n*.a.x.org CNAME .", { "a.x.org", P, "b.a.x.org", B }, NULL },
		/* an exception of AdGuard's holds against these, too */
		{ "@@||x.org^\naddress=/no.x.org/\n*.y.x.org CNAME .", { "no.x.org", P, "a.y.x.org", P }, NULL },
		{ "@@||x.org^\nserver=/x.org/#\naddress=/x.org/\n||a.x.org^", { "x.org", P, "a.x.org", P }, NULL },
		{ "server=/x.org/#\n||a.x.org^", { "a.x.org", B }, NULL },
	};

	check_rows(rows, COUNT(rows));
}

/* The last netblock of one family and the first of the other have the same bits. */
static void netblocks_of_either_family_are_apart(void **state)
{
	(void)state;
	static const struct row rows[] = {
		{ "||x.org^$client=1.0.0.0/8\n||x.org^$client=2.0.0.0/8\n||x.org^$client=3.0.0.0/8\n||x.org^$client=4.0.0.0/8\n"
		  "||x.org^$client=5.0.0.0/8\n||x.org^$client=6.0.0.0/8\n||x.org^$client=7.0.0.0/8\n||x.org^$client=10.0.0.0/8\n"
		  "||x.org^$client=a00::/8\n",
		  { "x.org A 10.1.1.1", B, "x.org A a00::1", B, "x.org A 11.1.1.1", NO, "x.org A b00::1", NO, "x.org A 1.1.1.1", B }, NULL },
	};

	check_rows(rows, COUNT(rows));
}

/* ---- many rules at one name ---- */

static const char *many(const char *what, unsigned count, const char *rest)
{
	static char text[4 << 20];
	size_t len = 0;

	for (unsigned i = 0; i < count; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, what, i >> 8, i & 255);
	snprintf(text + len, sizeof(text) - len, "%s", rest);
	return text;
}

static void clients_are_found_among_many(void **state)
{
	(void)state;
	enum { MANY = 20000 };
	struct blocklist_table *t = table_of(many("||x.org^$client=10.1.%u.%u\n", MANY,
						  "||x.org^$client=10.2.0.0/16\n||x.org^$client=2001:db8::/33|10.3.0.1\n"
						  "||x.org^$dnstype=TXT\n@@||x.org^$client=10.2.7.0/24\n"), NULL);

	assert_int_equal(blocklist_table_count(t), MANY + 4);
	assert_int_equal(blocklist_table_dropped(t), 0);
	for (unsigned i = 0; i < MANY; i += 97) {
		char from[40];

		snprintf(from, sizeof(from), "10.1.%u.%u", i >> 8, i & 255);
		assert_string_equal(verdict(t, "a.x.org.", TYPE_A, from), B);
	}
	assert_string_equal(verdict(t, "x.org.", TYPE_A, "10.1.255.1"), NO);
	assert_string_equal(verdict(t, "x.org.", TYPE_A, "10.2.255.1"), B);
	assert_string_equal(verdict(t, "x.org.", TYPE_A, "10.2.7.1"), P);
	assert_string_equal(verdict(t, "x.org.", TYPE_A, "10.3.0.1"), B);
	assert_string_equal(verdict(t, "x.org.", TYPE_A, "10.3.0.2"), NO);
	assert_string_equal(verdict(t, "x.org.", TYPE_A, "2001:db8:7fff::1"), B);
	assert_string_equal(verdict(t, "x.org.", TYPE_A, "2001:db8:8000::1"), NO);
	assert_string_equal(verdict(t, "x.org.", TYPE_TXT, "192.0.2.1"), B);
	assert_string_equal(verdict(t, "x.org.", TYPE_TXT, NULL), B);
	assert_string_equal(verdict(t, "x.org.", TYPE_A, NULL), NO);
	blocklist_table_unpin(t);
}

static void what_is_too_many_is_counted(void **state)
{
	(void)state;
	static const struct {
		const char *what;
		unsigned count, dropped;
	} rows[] = {
		{ "||x.org^$dnstype=TYPE%u%03u\n", 12000, 12000 - BLOCKLIST_RULES_AT_ONCE },
		{ "||x.org^$dnstype=TYPE%u%03u,client=10.0.0.1\n", 3000, 3000 - BLOCKLIST_RULES_AT_ONCE },
		{ "||x.org^$dnstype=TYPE%u%03u,client=10.0.0.1\n", BLOCKLIST_RULES_AT_ONCE, 0 },
		{ "||x.org^$client=~10.0.%u.%u\n", BLOCKLIST_RULES_AT_ONCE + 1, 1 },
		{ "||x.org^$client=10.1.%u.%u|10.2.0.1|10.2.0.2\n", 12000, 0 },
		{ "||a%u-%u.x.org^$dnstype=TXT\n", 12000, 0 },
		{ "||x.org^$dnstype=TYPE%u%03u\n", 8, 0 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct blocklist_table *t = table_of(many(rows[i].what, rows[i].count, ""), NULL);

		if (blocklist_table_dropped(t) != rows[i].dropped ||
		    blocklist_table_count(t) != rows[i].count - rows[i].dropped)
			fail_msg("%s: %zu kept, %u left out", rows[i].what,
				 blocklist_table_count(t), (unsigned)blocklist_table_dropped(t));
		blocklist_table_unpin(t);
	}
}

static void many_records_are_bounded(void **state)
{
	(void)state;
	struct blocklist_table *t =
		table_of(many("||x.org^$dnsrewrite=10.1.%u.%u\n", 500, ""), NULL);
	struct blocklist_match m;
	struct suffixes q;

	suffixes_find(&q, N("x.org."), SEED, blocklist_table_deepest(t));
	assert_int_equal(blocklist_table_find(t, &q, TYPE_A, NULL, &m), BLOCKLIST_BLOCKS);
	assert_int_equal(m.rewrites, BLOCKLIST_REWRITES);
	assert_int_equal(blocklist_table_dropped(t), 500 - BLOCKLIST_RULES_AT_ONCE);
	blocklist_table_unpin(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_exception_of_any_length_frees_a_name),
		cmocka_unit_test(an_allow_file_frees_what_the_lists_name),
		cmocka_unit_test(badfilter_takes_back_the_rule_of_the_same_text),
		cmocka_unit_test(denyallow_exempts_from_its_rule_alone),
		cmocka_unit_test(rewrites_add_up_and_come_first),
		cmocka_unit_test(elsewhere_the_longest_name_decides),
		cmocka_unit_test(netblocks_of_either_family_are_apart),
		cmocka_unit_test(clients_are_found_among_many),
		cmocka_unit_test(what_is_too_many_is_counted),
		cmocka_unit_test(many_records_are_bounded),
	};
	int failed;

	rcu_thread_join();
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	rcu_flush();
	rcu_thread_leave();
	return failed;
}
