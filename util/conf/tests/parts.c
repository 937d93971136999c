/* Claims about a program from which configure left out every part.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The file that refuses is compiled here as such a program has it, and stands in the place of the library's. */
#undef HAVE_DOH
#undef HAVE_PAGES
#undef HAVE_DNSTAP
#undef HAVE_AUTH_ZONES
#undef HAVE_HISTORY
#undef HAVE_LEASES
#undef HAVE_CACHEFILE
#undef HAVE_CACHEDB
#undef HAVE_DNS64
#undef HAVE_SUBNET
#define HAVE_DOH 0
#define HAVE_PAGES 0
#define HAVE_DNSTAP 0
#define HAVE_AUTH_ZONES 0
#define HAVE_HISTORY 0
#define HAVE_LEASES 0
#define HAVE_CACHEFILE 0
#define HAVE_CACHEDB 0
#define HAVE_DNS64 0
#define HAVE_SUBNET 0

#include "util/conf/options_parts.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static const struct conf_how how = { .no_files = true };

static bool is_good(const char *text, struct conf_report *report)
{
	struct conf *conf = conf_new();
	bool good;

	if (!conf_load_text(conf, "text", text, strlen(text), &how, report))
		fail_msg("not even read: %s", text);
	good = conf_check(conf, &how, report);
	conf_free(conf);
	return good;
}

static void what_needs_a_part_is_refused_with_its_line_and_the_switch(void **state)
{
	static const struct {
		enum part part;
		const char *text;
		unsigned line;
		const char *name, *flag;
	} rows[] = {
		{ PART_DOH, "forward-zone:\nname: a\nforward-addr: 192.0.2.1#b\nforward-https-upstream: yes\n", 1,
		  "forward-https-upstream", "--disable-doh" },
		{ PART_DOH, "server:\ninterface: 127.0.0.1@53\ninterface: 127.0.0.1@443\n", 3, "interface", "--disable-doh" },
		{ PART_PAGES, "metrics:\n\nmetrics-enable: yes\n", 3, "metrics-enable", "--disable-pages" },
		{ PART_DNSTAP, "dnstap:\ndnstap-enable: yes\n", 2, "dnstap-enable", "--disable-dnstap" },
		{ PART_AUTH_ZONES, "\nauth-zone:\nname: a\nzonefile: b\n", 2, "auth-zone", "--disable-auth-zones" },
		{ PART_AUTH_ZONES, "rpz:\nname: a\nzonefile: b\n", 1, "rpz", "--disable-auth-zones" },
		{ PART_AUTH_ZONES, "key:\nname: a\nsecret: aaaa\n", 1, "key", "--disable-auth-zones" },
		{ PART_HISTORY, "server:\nquery-ring: 1\n", 2, "query-ring", "--disable-history" },
		{ PART_HISTORY, "server:\ntop-lists: 1\n", 2, "top-lists", "--disable-history" },
		{ PART_HISTORY, "server:\nquery-pipe: a\n", 2, "query-pipe", "--disable-history" },
		{ PART_LEASES, "dhcp-leases:\nfile: a\n", 1, "dhcp-leases", "--disable-leases" },
		{ PART_LEASES, "server:\nport: 53\nhosts-file: a\nhosts-file: b\n", 3, "hosts-file", "--disable-leases" },
		{ PART_CACHEFILE, "server:\ncache-file: a\n", 2, "cache-file", "--disable-cachefile" },
		{ PART_CACHEDB, "server:\nmodule-config: \"validator cachedb iterator\"\n", 2, "module-config", "--disable-cachedb" },
		{ PART_DNS64, "server:\nmodule-config: \"dns64 iterator\"\n", 2, "module-config", "--disable-dns64" },
		{ PART_SUBNET, "server:\nmodule-config: \"subnetcache iterator\"\n", 2, "module-config", "--disable-subnet" },
	};
	bool tried[PARTS] = { false };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct conf_report report = { 0 };
		const struct conf_remark *said = NULL;

		if (is_good(rows[i].text, &report))
			fail_msg("taken: %s", rows[i].text);
		for (size_t n = 0; n < report.count; n++)
			if (strstr(report.remarks[n].text, "this program was built without "))
				said = &report.remarks[n];
		if (!said)
			fail_msg("no part is said to be missing: %s", rows[i].text);
		assert_int_equal(said->weight, CONF_ERROR);
		assert_string_equal(said->file, "text");
		assert_int_equal(said->line, rows[i].line);
		assert_int_equal(strncmp(said->text, rows[i].name, strlen(rows[i].name)), 0);
		assert_non_null(strstr(said->text, rows[i].flag));
		tried[rows[i].part] = true;
		conf_report_clear(&report);
	}
	for (unsigned p = 0; p < PARTS; p++)
		if (!tried[p])
			fail_msg("nothing tried of: %s", part_lack((enum part)p));
}

static void what_is_off_needs_no_part(void **state)
{
	static const char *const texts[] = {
		"",
		"server:\nquery-ring: 0\ntop-lists: 0\nquery-pipe: \"\"\n",
		"server:\ncache-file: \"\"\ncache-file-interval: 60\n",
		"server:\nmodule-config: \"validator iterator\"\n",
		"metrics:\nmetrics-enable: no\n",
		"dnstap:\ndnstap-enable: no\n",
		"server:\ninterface: 127.0.0.1@853\n",
		"forward-zone:\nname: a\nforward-addr: 192.0.2.1\nforward-https-upstream: no\n",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++) {
		struct conf_report report = { 0 };

		if (!is_good(texts[i], &report))
			fail_msg("%s: %s", texts[i], report.remarks[0].text);
		conf_report_clear(&report);
	}
}

int main(void)
{
	const struct CMUnitTest claims[] = {
		cmocka_unit_test(what_needs_a_part_is_refused_with_its_line_and_the_switch),
		cmocka_unit_test(what_is_off_needs_no_part),
	};

	return cmocka_run_group_tests(claims, NULL, NULL);
}
