/* Claims about reading lists: what each line of each format means.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/blocklist/read.h"

#include <stdio.h>

#include "services/blocklist/name.h"
#include "services/blocklist/special.h"
#include "services/tests/conf.h"
#include "util/base/fault.h"
#include "util/dns/rr.h"

/* What was read: "ads.example:bB " and so on; b, B: block the name, those below; a, A: allow; p, P:
 * let pass; "!" in front: important; "-": badfilter; "?": with modifiers. */
static char told[8192];

static void tell(void *arg, const struct blocklist_rule *r)
{
	char name[DNAME_TEXT];
	size_t len;
	unsigned plain = r->bits & BLOCKLIST_PLAIN,
		 important = r->bits >> BLOCKLIST_IMPORTANT_SHIFT;
	unsigned bits = plain | important;
	static const char *const letters[] = { "", "b", 0, 0, "a", "p", 0, 0, "", "B", 0, 0, "A", "P" };

	(void)arg;
	dname_print(r->name, name);
	len = strlen(name);
	if (len > 1)
		name[len - 1] = '\0';
	snprintf(told + strlen(told), sizeof(told) - strlen(told), "%s%s:%s%s%s%s%s", *told ? " " : "",
		 name, r->removes ? "-" : "", important ? "!" : "", letters[bits & 5],
		 letters[8 + (bits >> 1 & 5)], r->special ? "?" : "");
}

static struct blocklist_counts counts;

static bool read_with(const char *text, struct blocklist_how how, size_t step, struct fault *f)
{
	struct blocklist_reader *r;
	size_t len = strlen(text);
	bool good = true;

	how.rule = tell;
	*told = '\0';
	r = blocklist_reader_new(&how);
	for (size_t i = 0; good && i < len; i += step)
		good = blocklist_reader_take(r, text + i, MIN(step, len - i), f);
	good = good && blocklist_reader_end(r, f);
	counts = *blocklist_reader_counts(r);
	blocklist_reader_free(r);
	return good;
}

struct row {
	const char *line, *want;
	int skip; /* enum blocklist_skip, counted once; BLOCKLIST_READ: none */
};

static void check_rows(const struct row *rows, size_t count, const char *before)
{
	for (size_t i = 0; i < count; i++) {
		char text[2048];

		snprintf(text, sizeof(text), "%s%s\n", before, rows[i].line);
		for (size_t step = 1; step < 4096; step *= 64) {
			struct fault f = { 0 };
			uint64_t skips = 0;

			(void)read_with(text, (struct blocklist_how){ 0 }, step, &f);
			for (int s = 0; s < BLOCKLIST_SKIP_KINDS; s++)
				skips += counts.skipped[s];
			if (strcmp(told, rows[i].want) != 0)
				fail_msg("'%s': '%s', not '%s'", rows[i].line, told, rows[i].want);
			if (rows[i].skip == BLOCKLIST_READ ? skips != 0
						      : counts.skipped[rows[i].skip] == 0)
				fail_msg("'%s': %d skipped, not as %s", rows[i].line, (int)skips,
					 rows[i].skip == BLOCKLIST_READ
						 ? "read"
						 : blocklist_skip_what[rows[i].skip]);
		}
	}
}

#define READ BLOCKLIST_READ
#define SKIP(id) BLOCKLIST_SKIP_##id

static void hosts_block_the_names_of_null_addresses(void **state)
{
	(void)state;
	static const struct row rows[] = {
		{ "0.0.0.0 ads.example.com", "ads.example.com:b", READ },
		{ "127.0.0.1\tADS.example.COM.  # twice", "ads.example.com:b", READ },
		{ "::1 v6.example", "v6.example:b", READ },
		{ ":: v6.example\r", "v6.example:b", READ },
		{ "127.8.8.8 a.example b.example#c", "a.example:b b.example:b", READ },
		{ "  0.0.0.0  blanks.example ", "blanks.example:b", READ },
		{ "0.0.0.0 under_score.example", "under_score.example:b", READ },
		{ "0.0.0.0 *.star.example", "star.example:bB", READ },
		{ "127.0.0.1 localhost localhost.localdomain", "", READ },
		{ "0.0.0.0 local", "", READ },
		{ "255.255.255.255 broadcasthost", "", READ },
		{ "fe80::1%lo0 localhost", "", READ },
		{ "ff02::1 ip6-allnodes", "", READ },
		{ "fe00::0 ip6-localnet", "", READ },
		{ "0.0.0.0 0.0.0.0", "", SKIP(address) },
		{ "0.0.0.0", "", SKIP(address) },
		{ "0.0.0.0 192.0.2.55", "", SKIP(address) },
		{ "192.0.2.10 real-rewrite.example", "", SKIP(rewrite) },
		{ "0.0.0.0 www.example.org/path", "", SKIP(url) },
		{ "0.0.0.0 port.example:443", "", SKIP(url) },
		{ "0.0.0.0 com", "", SKIP(top) },
		{ "#0.0.0.0 commented.example", "", READ },
		{ "# comment", "", READ },
		{ "## heading ##", "", READ },
	};

	check_rows(rows, COUNT(rows), "");
}

static void plain_names_and_wildcards(void **state)
{
	(void)state;
	static const struct row rows[] = {
		{ "ads.example.com", "ads.example.com:b", READ },
		{ "trailing-dot.example.", "trailing-dot.example:b", READ },
		{ ".leading-dot.example", "leading-dot.example:bB", READ },
		{ "+.clash-style.example", "clash-style.example:bB", READ },
		{ "*.star.example", "star.example:bB", READ },
		{ "ads.example.com # comment", "ads.example.com:b", READ },
		{ "ads.example.com;comment", "", SKIP(name) },
		{ "\xef\xbb\xbf" "bom.example", "bom.example:b", READ },
		{ "b\xc3\xbc" "cher.example", "xn--bcher-kva.example:b", READ },
		{ "B\xc3\x9c" "CHER.example", "xn--bcher-kva.example:b", READ },
		{ "xn--bcher-kva.example", "xn--bcher-kva.example:b", READ },
		{ "! comment", "", READ },
		{ "; comment", "", READ },
		{ "// comment", "", READ },
		{ "https://url.example/path", "", SKIP(url) },
		{ "url.example/path", "", SKIP(url) },
		{ "port.example:8080", "", SKIP(url) },
		{ "192.0.2.55", "", SKIP(address) },
		{ "2001:db8::55", "", SKIP(address) },
		{ "192.0.2.0/24", "", SKIP(address) },
		{ "comma.example,0", "", SKIP(name) },
		{ "two words.example", "", SKIP(unknown) },
		{ "com", "", SKIP(top) },
		{ "*", "", SKIP(top) },
		{ "ads*.infix.example", "", SKIP(pattern) },
		{ "*ads.prefix.example", "", SKIP(pattern) },
		{ "*.*.double.example", "", SKIP(pattern) },
		{ "=exact.example", "", SKIP(url) },
		{ "empty..label.example", "", SKIP(name) },
		{ "a23456789012345678901234567890123456789012345678901234567890123.example",
		  "a23456789012345678901234567890123456789012345678901234567890123.example:b", READ },
		{ "a234567890123456789012345678901234567890123456789012345678901234.example", "",
		  SKIP(name) },
		{ "bad\xff.example", "", SKIP(name) },
	};

	check_rows(rows, COUNT(rows), "");
}

static void adblock_and_adguard(void **state)
{
	(void)state;
	static const struct row rows[] = {
		{ "[Adblock Plus 2.0]", "", READ },
		{ "||ads.example.com^", "ads.example.com:bB", READ },
		{ "||ads.example.com.^", "ads.example.com:bB", READ },
		{ "||polyad.example", "polyad.example:bB", READ },
		{ "|exact.example.org^", "exact.example.org:b", READ },
		{ "shop.example.net^", "shop.example.net:bB", READ },
		{ "@@shop.example.net^", "shop.example.net:aA", READ },
		{ ".dot.example^", "dot.example:B", READ },
		{ "@@.dot.example^", "dot.example:A", READ },
		{ ".dot.example^$important", "dot.example:!B", READ },
		{ "||.dot.example^", "", SKIP(pattern) },
		{ "|.dot.example^", "", SKIP(pattern) },
		{ "||end.example|", "end.example:bB", READ },
		{ "||end.example^|", "end.example:bB", READ },
		{ "||*.star.example^", "star.example:B", READ },
		{ "||comment.example^ # http://victim.example/$x", "comment.example:bB", READ },
		{ "||comment.example^  ! of ours", "comment.example:bB", READ },
		{ "||two.example^ ||rules.example^", "", SKIP(url) },
		{ "*.star.example^", "star.example:B", READ },
		{ "@@||good.ads.example.com^", "good.ads.example.com:aA", READ },
		{ "||tracker.example.net^$important", "tracker.example.net:!bB", READ },
		{ "@@||vip.example.net^$important", "vip.example.net:!aA", READ },
		{ "||off.example^$badfilter", "off.example:-bB", READ },
		{ "||denyallow.example^$denyallow=a.denyallow.example|b.denyallow.example",
		  "denyallow.example:bB?", READ },
		{ "||x.example^$denyallow=~a.x.example", "", SKIP(modifier) },
		{ "||x.example^$denyallow=", "", SKIP(modifier) },
		{ "||x.example^$denyallow=a.*", "", SKIP(modifier) },
		{ "||quoted.example^$client='10.0.0.0/8'|\"::1\"", "quoted.example:bB?", READ },
		{ "||quoted.example^$client=''", "", SKIP(modifier) },
		{ "||part.example^$client=10.0.0.1|laptop", "", SKIP(modifier) },
		{ "@@||rewrite.example^$dnsrewrite", "rewrite.example:aA?", READ },
		{ "@@||rewrite.example^$dnsrewrite=192.0.2.1", "rewrite.example:aA?", READ },
		{ "||off.example^$client=10.0.0.1,badfilter", "off.example:-bB?", READ },
		{ "||text.example^$dnsrewrite=NOERROR;TXT;a\\,b # c", "text.example:bB?", READ },
		{ "||mx.example^$dnsrewrite=NOERROR;MX;10 mail.example", "mx.example:bB?", READ },
		{ "||client.example^$client=192.168.1.50", "client.example:bB?", READ },
		{ "||typed.example^$dnstype=AAAA", "typed.example:bB?", READ },
		{ "||rewrite.example^$dnsrewrite=NOERROR;A;192.0.2.1", "rewrite.example:bB?", READ },
		{ "||rewrite-nx.example^$dnsrewrite=NXDOMAIN", "rewrite-nx.example:bB?", READ },
		{ "||b\xc3\xbc" "cher-ads.example^", "xn--bcher-ads-q9a.example:bB", READ },
		{ "||under_score.example^", "under_score.example:bB", READ },
		{ "||-leadinghyphen.example^", "-leadinghyphen.example:bB", READ },
		{ "||client.example^$client='laptop'", "", SKIP(modifier) },
		{ "||tagged.example^$ctag=device_tv", "", SKIP(modifier) },
		{ "||thirdparty.example.org^$third-party", "", SKIP(modifier) },
		{ "||click.example.com^$image,script", "", SKIP(modifier) },
		{ "||half.example^$important,script", "", SKIP(modifier) },
		{ "||prefix.example.", "", SKIP(pattern) },
		{ "||*-track.wild.example^", "", SKIP(pattern) },
		{ "||sub.*.mid.example^", "", SKIP(pattern) },
		{ "/^ads?[0-9]*\\.(pool|farm)\\.example$/", "", SKIP(pattern) },
		{ "@@/^ads1\\.pool\\.example$/", "", SKIP(pattern) },
		{ "||path.example.org/banner.js", "", SKIP(url) },
		{ "||port.example:8443^", "", SKIP(url) },
		{ "||203.0.113.7^", "", SKIP(address) },
		{ "||2001:db8::7^", "", SKIP(address) },
		{ "example.com##.banner", "", SKIP(cosmetic) },
		{ "example.com#@#.banner", "", SKIP(cosmetic) },
		{ "example.com#?#div:has(> .ad)", "", SKIP(cosmetic) },
		{ "##.ad-banner", "", SKIP(cosmetic) },
		{ "||com^", "", SKIP(top) },
		{ "||^", "", SKIP(name) },
		{ "||.^", "", SKIP(pattern) },
	};

	check_rows(rows, COUNT(rows), "");
}

static void dnsmasq_lines(void **state)
{
	(void)state;
	static const struct row rows[] = {
		{ "address=/ads.example.com/0.0.0.0", "ads.example.com:bB", READ },
		{ "address=/ads.example.com/::", "ads.example.com:bB", READ },
		{ "address=/nx.example.com/", "nx.example.com:bB", READ },
		{ "address=/null.example.com/#", "null.example.com:bB", READ },
		{ "address=/one.example/two.example/", "one.example:bB two.example:bB", READ },
		{ "address=/*.star.example/0.0.0.0", "star.example:B", READ },
		{ "address=/.leadingdot.example/", "leadingdot.example:bB", READ },
		{ "address=/Mixed.CASE.example./0.0.0.0", "mixed.case.example:bB", READ },
		{ "server=/tracker.example.net/", "tracker.example.net:bB", READ },
		{ "local=/nodomain.example/", "nodomain.example:bB", READ },
		{ "server=/unblock.ads.example.com/#", "unblock.ads.example.com:pP", READ },
		{ "address=/one.example/192.0.2.1", "", SKIP(rewrite) },
		{ "server=/fwd.example/192.0.2.53#5353", "fwd.example:pP", READ },
		{ "server=/*.fwd.example/192.0.2.53", "fwd.example:P", READ },
		{ "address=/ads.example.com/0.0.0.0 # see http://www.victim.example/",
		  "ads.example.com:bB", READ },
		{ "address=/nx.example.com/ # comment", "nx.example.com:bB", READ },
		{ "address=/nx.example.com/\t#comment", "nx.example.com:bB", READ },
		{ "address=/null.example.com/# # comment", "null.example.com:bB", READ },
		{ "address=/null.example.com/## comment", "", SKIP(rewrite) },
		{ "address=/a.example.com/0.0.0.0 # a/b.victim.example/c", "a.example.com:bB", READ },
		{ "server=/lan.example/192.168.1.1 # http://www.victim.example/", "lan.example:pP", READ },
		{ "local=/lan.example/ # http://www.victim.example/", "lan.example:bB", READ },
		{ "address = /spaced.example/", "spaced.example:bB", READ },
		{ "address=\"/quoted.example/0.0.0.0\" # comment", "quoted.example:bB", READ },
		{ "address=/quoted.example/\"0.0.0.0\"", "quoted.example:bB", READ },
		{ "address=\"/open.example/0.0.0.0", "", SKIP(unknown) },
		{ "ipset=/x.example/set # address=/victim.example/", "", SKIP(foreign) },
		{ "server=/corp.example/10.0.0.1#53@eth0/", "", SKIP(unknown) },
		{ "server=/a.example/b.example/", "a.example:bB b.example:bB", READ },
		{ "address=/..dots.example/", "dots.example:bB", READ },
		{ "address=/*part.example/", "", SKIP(pattern) },
		{ "address=/com/", "", SKIP(top) },
		{ "address=//", "", SKIP(top) },
		{ "local=/fine.example/bad name.example/", "", SKIP(unknown) },
		{ "address=/#/192.0.2.9", "", SKIP(top) },
		{ "address=/#/", "", SKIP(top) },
		{ "host-record=name.example,192.0.2.20", "", SKIP(foreign) },
		{ "ipset=/vpn.example/vpnset", "", SKIP(foreign) },
	};

	check_rows(rows, COUNT(rows), "");
}

static void unbound_lines(void **state)
{
	(void)state;
	static const struct row rows[] = {
		{ "server:", "", READ },
		{ "local-zone: \"nx.example.com.\" always_nxdomain", "nx.example.com:bB", READ },
		{ "local-zone: null.example. always_null", "null.example:bB", READ },
		{ "local-zone: 'UPPER.example' static", "upper.example:bB", READ },
		{ "  local-zone: \"redir.example\" redirect", "redir.example:bB", READ },
		{ "local-zone: \"deny.example\" deny", "deny.example:bB", READ },
		{ "local-zone: \"open.example\" always_transparent", "open.example:pP", READ },
		{ "local-zone: \"inform.example\" inform", "inform.example:pP", READ },
		{ "local-data: \"data.example A 127.0.0.1\"", "data.example:b", READ },
		{ "local-data: \"data.example. 3600 IN AAAA ::\"", "data.example:b", READ },
		{ "local-data: \"data.example A 192.0.2.1\"", "", SKIP(rewrite) },
		{ "local-data-ptr: \"192.0.2.1 data.example\"", "", SKIP(foreign) },
		{ "local-zone: \"x.example\" nonsense", "", SKIP(unknown) },
	};

	check_rows(rows, COUNT(rows), "");
}

static void records_of_a_policy_zone(void **state)
{
	(void)state;
	static const struct row rows[] = {
		{ "nx.example CNAME .", "nx.example:b", READ },
		{ "*.nx.example CNAME .", "nx.example:B", READ },
		{ "nodata.example 60 IN CNAME *.", "nodata.example:b", READ },
		{ "drop.example CNAME rpz-drop.", "drop.example:b", READ },
		{ "pass.example CNAME rpz-passthru. ; comment", "pass.example:p", READ },
		{ "old.example CNAME old.example.", "old.example:p", READ },
		{ "null.example A 0.0.0.0", "null.example:b", READ },
		{ "abs.example.policy.rpz. CNAME .", "abs.example:b", READ },
		{ "*.v6.example A 0.0.0.0\n AAAA ::", "v6.example:B v6.example:B", READ },
		{ "v6.example A 0.0.0.0\n\tAAAA ::", "v6.example:b v6.example:b", READ },
		{ " TXT \"of the name above\"", "", SKIP(name) },
		{ "tcp.example CNAME rpz-tcp-only.", "", SKIP(rewrite) },
		{ "garden.example CNAME walled.garden.example.", "", SKIP(rewrite) },
		{ "a.example 60 A 192.0.2.80", "", SKIP(rewrite) },
		{ "24.0.2.0.192.rpz-ip CNAME .", "", SKIP(trigger) },
		{ "ns1.bad.example.rpz-nsdname CNAME .", "", SKIP(trigger) },
		{ "elsewhere.example. CNAME .", "", SKIP(name) },
		{ "empty..label.example CNAME .", "", SKIP(name) },
		{ "com CNAME .", "", SKIP(top) },
		{ "$ORIGIN sub.policy.rpz.\nname.example CNAME .", "name.example.sub:b", READ },
	};

	check_rows(rows, COUNT(rows),
		   "$TTL 300\n$ORIGIN policy.rpz.\n@ SOA localhost. root.localhost. (\n 1 2 3\n 4 5 )\n"
		   "@ NS localhost.\n");
}

static void a_zone_needs_no_origin_and_single_records_no_zone(void **state)
{
	(void)state;
	static const struct row in_zone[] = {
		{ "nx.example CNAME .", "nx.example:b", READ },
		{ "*.nx.example CNAME .", "nx.example:B", READ },
	};
	static const struct row alone[] = {
		{ "nx.example CNAME .", "nx.example:b", READ },
		{ "*.nx.example. 300 IN CNAME .", "nx.example:B", READ },
	};

	check_rows(in_zone, COUNT(in_zone),
		   "$TTL 300\n@ SOA localhost. root.localhost. 1 2 3 4 5\n  NS localhost.\n");
	check_rows(in_zone, COUNT(in_zone), "rpz.example. SOA a. b. 1 2 3 4 5\n");
	check_rows(alone, COUNT(alone), "");
}

static void an_allow_file_allows_what_others_block(void **state)
{
	(void)state;
	struct fault f = { 0 };

	assert_true(read_with("a.example\n||b.example^\n*.c.example\n0.0.0.0 d.example\n"
			      "@@||e.example^\n||f.example^$important\nserver=/g.example/#\n"
			      "||h.example^$dnstype=A\n||b.example^$badfilter\n",
			      (struct blocklist_how){ .allow = true }, 1000, &f));
	assert_string_equal(told, "a.example:a b.example:aA c.example:aA d.example:a e.example:aA "
				  "f.example:!aA g.example:aA h.example:aA?");
	assert_int_equal(counts.skipped[BLOCKLIST_SKIP_modifier], 1);
}

static void top_level_domains_are_blocked_on_request(void **state)
{
	(void)state;
	struct fault f = { 0 };

	assert_true(read_with("zip\n||mov^\n*.xyz\n", (struct blocklist_how){ .tops = true }, 1000,
			      &f));
	assert_string_equal(told, "zip:b mov:bB xyz:bB");
}

static void what_is_no_list_is_refused(void **state)
{
	(void)state;
	static char many[40 * 30 + 1];
	const struct {
		const char *why, *text;
		bool good;
	} rows[] = {
		{ "a list", "a.example\n", true },
		{ "without a last line end", "a.example", true },
		{ "only comments", "# nothing yet\n", true },
		{ "nothing", "", false },
		{ "a page", "<!DOCTYPE html>\n<html><body>404</body></html>\n", false },
		{ "a page behind blanks", "\n\n  <html>\n", false },
		{ "a page without line ends", "<html><p>a</p></html>", false },
		{ "JSON", "{\"error\": 404}\n", false },
		{ "a program", "\x7f" "ELF\x02\x01\x01 a.example\n", false },
		{ "an archive", "\x1f\x8b\x08 a.example\n", false },
		{ "prose", "Nothing here is a rule\n", false },
		{ "much prose", many, false },
		{ "a little prose", "a.example\nthis is no rule\n", true },
	};

	for (size_t i = 0; i < 40; i++)
		memcpy(many + 30 * i, i % 4 ? "these are many words no rules\n"
					    : "a0123456789012345678.example.\n", 30);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct fault f = { 0 };

		if (read_with(rows[i].text, (struct blocklist_how){ 0 }, 7, &f) != rows[i].good ||
		    f.set == rows[i].good)
			fail_msg("%s: '%s'", rows[i].why, f.text);
	}
}

static void the_first_bad_line_is_remembered(void **state)
{
	(void)state;
	struct fault f = { 0 };

	assert_true(read_with("a.example\nb.example\nno \xff rule\nneither\x80 this\n",
			      (struct blocklist_how){ 0 }, 1000, &f));
	assert_int_equal(counts.first_bad, 3);
	assert_string_equal(counts.first_bad_text, "no ? rule");
	assert_int_equal(counts.lines, 4);
	assert_int_equal(counts.rules, 2);
}

static void a_line_without_end_takes_no_memory(void **state)
{
	(void)state;
	struct blocklist_how how = { .rule = tell };
	struct blocklist_reader *r = blocklist_reader_new(&how);
	struct fault f = { 0 };
	char block[1000];

	memset(block, 'a', sizeof(block));
	*told = '\0';
	for (unsigned i = 0; i < 100; i++)
		assert_true(blocklist_reader_take(r, block, sizeof(block), &f));
	assert_true(blocklist_reader_take(r, "\nfine.example\nb.example\n", 24, &f));
	assert_true(blocklist_reader_end(r, &f));
	assert_string_equal(told, "fine.example:b b.example:b");
	assert_int_equal(blocklist_reader_counts(r)->skipped[BLOCKLIST_SKIP_unknown], 1);
	blocklist_reader_free(r);
}

static void special_rules_meet_some_questions(void **state)
{
	(void)state;
	static const struct {
		const char *modifiers;
		uint16_t type;
		const char *from; /* NULL: nobody in particular */
		bool meets;
		const char *name; /* NULL: any */
	} rows[] = {
		{ "dnstype=A|~AAAA", TYPE_TXT, NULL, false, NULL },
		{ "dnstype=~AAAA|A", TYPE_A, NULL, true, NULL },
		{ "dnstype=A|~A", TYPE_A, NULL, false, NULL },
		{ "client=10.0.0.0/8|~10.0.0.1", TYPE_A, "10.0.0.2", true, NULL },
		{ "client=10.0.0.0/8|~10.0.0.1", TYPE_A, "10.0.0.1", false, NULL },
		{ "client=10.0.0.0/8|~10.0.0.1", TYPE_A, "11.0.0.1", false, NULL },
		{ "client='10.0.0.0/8'|\"::1\"", TYPE_A, "::1", true, NULL },
		{ "client='10.0.0.0/8'", TYPE_A, "10.1.1.1", true, NULL },
		{ "client=~'10.0.0.0/8'", TYPE_A, "10.1.1.1", false, NULL },
		{ "client=~10.0.0.0/8", TYPE_A, NULL, false, NULL },
		{ "client=1.1.1.1|1.1.1.2|1.1.1.3|1.1.1.4|1.1.1.5|1.1.1.6|1.1.1.7|1.1.1.8|1.1.1.9",
		  TYPE_A, "1.1.1.9", true, NULL },
		{ "denyallow=b.example|a.example", TYPE_A, NULL, false, "a.example." },
		{ "denyallow=b.example|a.example", TYPE_A, NULL, false, "x.B.example." },
		{ "denyallow=b.example|a.example", TYPE_A, NULL, true, "example." },
		{ "denyallow=b.example|a.example", TYPE_A, NULL, true, "xa.example." },
		{ "denyallow=a.example,dnstype=A", TYPE_TXT, NULL, false, "c.example." },
		{ "dnstype=AAAA", TYPE_AAAA, NULL, true, NULL },
		{ "dnstype=AAAA", TYPE_A, NULL, false, NULL },
		{ "dnstype=A|HTTPS", TYPE_HTTPS, NULL, true, NULL },
		{ "dnstype=~A", TYPE_A, NULL, false, NULL },
		{ "dnstype=~A", TYPE_AAAA, NULL, true, NULL },
		{ "client=192.0.2.0/24", TYPE_A, "192.0.2.9", true, NULL },
		{ "client=192.0.2.0/24", TYPE_A, "192.0.3.9", false, NULL },
		{ "client=~192.0.2.0/24", TYPE_A, "192.0.3.9", true, NULL },
		{ "client=192.0.2.0/24", TYPE_A, NULL, false, NULL },
		{ "client=2001:db8::1|192.0.2.1,dnstype=A", TYPE_A, "2001:db8::1", true, NULL },
		{ "client=2001:db8::1|192.0.2.1,dnstype=A", TYPE_TXT, "2001:db8::1", false, NULL },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct blocklist_special s;
		struct addr a;

		if (rows[i].from)
			assert_true(addr_parse(&a, rows[i].from, 0, NULL));
		if (!blocklist_special_parse(&s, rows[i].modifiers) ||
		    blocklist_special_meets(&s, &(struct blocklist_asked){
						   .name = N(rows[i].name ? rows[i].name : "x."),
						   .type = rows[i].type,
						   .from = rows[i].from ? &a : NULL }) !=
			    rows[i].meets)
			fail_msg("%s: row %zu", rows[i].modifiers, i);
		blocklist_special_clear(&s);
	}
}

static void rewrites_say_what_to_answer(void **state)
{
	(void)state;
	static const struct {
		const char *modifiers;
		bool good;
		uint8_t rcode;
		uint16_t type;
	} rows[] = {
		{ "dnsrewrite=NXDOMAIN", true, 3, 0 },
		{ "dnsrewrite=REFUSED;;", true, 5, 0 },
		{ "dnsrewrite=NOERROR;;", true, 0, 0 },
		{ "dnsrewrite=NOERROR;A;192.0.2.1", true, 0, TYPE_A },
		{ "dnsrewrite=NOERROR;AAAA;2001:db8::1", true, 0, TYPE_AAAA },
		{ "dnsrewrite=192.0.2.1", true, 0, TYPE_A },
		{ "dnsrewrite=safe.example.org", true, 0, TYPE_CNAME },
		{ "dnsrewrite=NOERROR;CNAME;safe.example.org", true, 0, TYPE_CNAME },
		{ "dnsrewrite=NOERROR;MX;10 mail.example.org", true, 0, TYPE_MX },
		{ "dnsrewrite=NOERROR;TXT;some text; with \\, signs", true, 0, TYPE_TXT },
		{ "dnsrewrite=NOERROR;PTR;host.example", true, 0, TYPE_PTR },
		{ "dnsrewrite=NOERROR;SRV;10 60 8080 host.example", true, 0, TYPE_SRV },
		{ "dnsrewrite=NOERROR;HTTPS;1 . alpn=h3", true, 0, TYPE_HTTPS },
		{ "dnsrewrite=NOERROR;SVCB;32 example.com alpn=h3", true, 0, TYPE_SVCB },
		{ "dnsrewrite=noerror;a;192.0.2.1", true, 0, TYPE_A },
		{ "dnsrewrite=NXDOMAIN;A;192.0.2.1", true, 3, 0 },
		{ "dnsrewrite=YXDOMAIN;;", true, 6, 0 },
		{ "dnsrewrite", true, 0, 0 },
		{ "dnsrewrite=", true, 0, 0 },
		{ "dnsrewrite=NOERROR;A;2001:db8::1", false, 0, 0 },
		{ "dnsrewrite=NOERROR;AAAA;192.0.2.1", false, 0, 0 },
		{ "dnsrewrite=NOERROR;A;192.0.2.1@53", false, 0, 0 },
		{ "dnsrewrite=NOERROR;A;", false, 0, 0 },
		{ "dnsrewrite=NOERROR;A", false, 0, 0 },
		{ "dnsrewrite=NOERROR;;192.0.2.1", false, 0, 0 },
		{ "dnsrewrite=NOERROR;MX;mail.example.org", false, 0, 0 },
		{ "dnsrewrite=NOERROR;MX;10 mail.example.org 99", false, 0, 0 },
		{ "dnsrewrite=NOERROR;HTTPS;1", false, 0, 0 },
		{ "dnsrewrite=NONSENSE;;", false, 0, 0 },
		{ "dnsrewrite=a.example,dnsrewrite=b.example", false, 0, 0 },
		{ "dnsrewrite=nonsense", false, 0, 0 },
		{ "", false, 0, 0 },
		{ "third-party", false, 0, 0 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct blocklist_special s;
		bool good = blocklist_special_parse(&s, rows[i].modifiers);

		if (good != rows[i].good)
			fail_msg("%s: %s", rows[i].modifiers, good ? "taken" : "refused");
		if (good && (s.rewrite->rcode != rows[i].rcode || s.rewrite->type != rows[i].type))
			fail_msg("%s: rcode %u type %u", rows[i].modifiers, s.rewrite->rcode,
				 s.rewrite->type);
		blocklist_special_clear(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hosts_block_the_names_of_null_addresses),
		cmocka_unit_test(plain_names_and_wildcards),
		cmocka_unit_test(adblock_and_adguard),
		cmocka_unit_test(dnsmasq_lines),
		cmocka_unit_test(unbound_lines),
		cmocka_unit_test(records_of_a_policy_zone),
		cmocka_unit_test(a_zone_needs_no_origin_and_single_records_no_zone),
		cmocka_unit_test(an_allow_file_allows_what_others_block),
		cmocka_unit_test(top_level_domains_are_blocked_on_request),
		cmocka_unit_test(what_is_no_list_is_refused),
		cmocka_unit_test(the_first_bad_line_is_remembered),
		cmocka_unit_test(a_line_without_end_takes_no_memory),
		cmocka_unit_test(special_rules_meet_some_questions),
		cmocka_unit_test(rewrites_say_what_to_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
