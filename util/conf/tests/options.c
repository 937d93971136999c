/* Claims about options: their table, reading, asking, changing, checking, and the example file.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/conf/options_private.h"

#include <dirent.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "util/base/mem.h"

static char source[PATH_MAX];   /* the tree, from the root of the file system */

static void print_errors(const struct conf_report *report)
{
	for (size_t i = 0; i < report->count; i++)
		if (report->remarks[i].weight == CONF_ERROR)
			print_error("%s:%u: %s\n", report->remarks[i].file, report->remarks[i].line,
				    report->remarks[i].text);
}

static struct conf *load_good(const char *text)
{
	struct conf_report report = { 0 };
	struct conf_how how = { .no_files = true };
	struct conf *conf = conf_new();

	if (!conf_load_text(conf, "text", text, strlen(text), &how, &report) ||
	    !conf_check(conf, &how, &report)) {
		print_errors(&report);
		fail_msg("refused: %s", text);
	}
	conf_report_clear(&report);
	return conf;
}

static void append(void *arg, const char *text)
{
	char *buf = arg;
	size_t len = strlen(buf);

	snprintf(buf + len, 512 - len, "%s;", text);
}

/* ---- the table ---- */

static void what_is_said_of_options_elsewhere_is_said_of_some_that_exist(void **state)
{
	(void)state;
	static const struct {
		enum conf_clause clause;
		const char *name, *text;
		enum { ANY_OPTION, ONE_THAT_WORKS, ONE_THAT_DOES_NOT } which;
	} rows[] = {
#define MORE(clause_, name_, text_)    { CLAUSE_##clause_, #name_, text_, ANY_OPTION },
#define WHOLE(clause_, name_, text_)   { CLAUSE_##clause_, #name_, text_, ANY_OPTION },
#define BETTER(clause_, name_, text_)  { CLAUSE_##clause_, #name_, text_, ONE_THAT_WORKS },
#define INSTEAD(clause_, name_, text_) { CLAUSE_##clause_, #name_, text_, ONE_THAT_DOES_NOT },
#define DEFAULT(clause_, name_, text_) { CLAUSE_##clause_, #name_, text_, ANY_OPTION },
#include "util/conf/options_more.def"
#include "util/conf/unbound.def"
#undef MORE
#undef WHOLE
#undef BETTER
#undef INSTEAD
#undef DEFAULT
	};
	char name[CONF_NAME];

	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct option *o;

		conf_name_print(rows[i].name, name);
		o = conf_find_option(rows[i].clause, name, strlen(name));
		if (!o || !*rows[i].text)
			fail_msg("there is no option %s to say '%s' of", name, rows[i].text);
		/* options_explain.c shows the one only of those that work, the other of the rest */
		if (rows[i].which != ANY_OPTION && (rows[i].which == ONE_THAT_WORKS) != (o->status == CONF_WORKS))
			fail_msg("%s: nobody is ever told '%s'", name, rows[i].text);
	}
}

static void every_row_is_whole(void **state)
{
	(void)state;
	char name[CONF_NAME];

	for (size_t i = 0; i < conf_option_count; i++) {
		const struct option *o = &conf_options[i];

		if (o->row == ROW_HEADING)
			continue;
		assert_true(strlen(o->name) < CONF_NAME);
		conf_name_print(o->name, name);
		if (!conf_find_option(o->clause, name, strlen(name)))
			fail_msg("%s is not found by its name", name);
		for (size_t j = 0; j < i; j++)
			if (conf_options[j].clause == o->clause && conf_options[j].row != ROW_HEADING &&
			    strcmp(conf_options[j].name, o->name) == 0)
				fail_msg("%s stands in the table twice", name);
		if (o->row == ROW_ALIAS)
			continue;
		if (!*conf_option_help(o) || strlen(conf_option_help(o)) > 300)
			fail_msg("%s has no help, or a story", name);
		if (o->status == CONF_NONE && !*o->text)
			fail_msg("%s has no effect and says no reason", name);
		if (conf_word_count(o->check) > 1 && o->type != CONF_LIST_T)
			fail_msg("%s has several words and is no list", name);
	}
}

static void defaults_are_those_of_the_table(void **state)
{
	(void)state;
	struct conf *conf = conf_new();

	assert_int_equal(conf->server.num_threads, 1);
	assert_int_equal(conf->server.port, 53);
	assert_int_equal(conf->server.cache_max_ttl, 86400);
	assert_int_equal(conf->server.rrset_cache_size, 4 * 1024 * 1024);
	assert_int_equal(conf->server.serve_expired_client_timeout, 1800);
	assert_true(conf->server.do_ip6);
	assert_false(conf->server.prefetch);
	assert_true(conf->server.use_syslog);
	assert_int_equal(conf->server.interface.count, 0);
	assert_string_equal(conf->server.module_config, "validator iterator");
	assert_string_equal(conf->server.logfile, "");
	assert_string_equal(conf->cachedb.backend, "testframe");
	assert_int_equal(conf->stub_zone_count, 0);
	conf_free(conf);
}

/* ---- reading ---- */

static void values_come_into_their_fields(void **state)
{
	(void)state;
	struct conf *conf = load_good("server:\n\tnum-threads: 4\n\tcache-max-ttl: 2h\n"
				      "\ttcp-idle-timeout: 5s\n\tjostle-timeout: 300ms\n"
				      "\tmsg-cache-size: 50M\n\trrset-cache-size: \"1 kb\"\n"
				      "\tip-address: ::1@5353\n\tinterface: eth0\n"
				      "\taccess-control: 10.0.0.0/8\n\t\tallow_snoop\n"
				      "\tstatistics-interval: \"\"\n\tlogfile: \"x.log\"\n"
				      "stub-zone: name: a.example stub-addr: 192.0.2.1@53\n"
				      "forward-zone:\n\tname: .\n\tforward-addr: 192.0.2.2#dns.example\n"
				      "\tforward-first: yes\n"
				      "stub-zone: name: b.example stub-host: ns.example stub-prime: yes\n"
				      "server: low-rtt-permil: 7\n"
				      "remote-control: control-interface: /run/x control-use-cert: 1\n");
	assert_int_equal(conf->server.num_threads, 4);
	assert_int_equal(conf->server.cache_max_ttl, 7200);
	assert_int_equal(conf->server.tcp_idle_timeout, 5000);
	assert_int_equal(conf->server.jostle_timeout, 300);
	assert_int_equal(conf->server.msg_cache_size, 50 * 1024 * 1024);
	assert_int_equal(conf->server.rrset_cache_size, 1024);
	assert_int_equal(conf->server.statistics_interval, 0);
	assert_int_equal(conf->server.fast_server_permil, 7);
	assert_false(conf->server.use_syslog);
	assert_int_equal(conf->server.interface.count, 2);
	assert_string_equal(conf->server.interface.items[0].text, "::1@5353");
	assert_string_equal(conf->server.interface.items[1].text, "eth0");
	assert_string_equal(conf->server.interface.items[1].file, "text");
	assert_int_equal(conf->server.interface.items[1].line, 9);
	assert_string_equal(conf->server.access_control.items[0].text, "10.0.0.0/8 allow_snoop");
	assert_true(conf->server.access_control.items[0].order > conf->server.interface.items[1].order);
	assert_int_equal(conf->stub_zone_count, 2);
	assert_string_equal(conf->stub_zones[0].name, "a.example");
	assert_int_equal(conf->stub_zones[0].from_line, 14);
	assert_false(conf->stub_zones[0].stub_prime);
	assert_string_equal(conf->stub_zones[1].stub_host.items[0].text, "ns.example");
	assert_true(conf->stub_zones[1].stub_prime);
	assert_int_equal(conf->forward_zone_count, 1);
	assert_true(conf->forward_zones[0].forward_first);
	assert_false(conf->remote_control.control_use_cert);
	assert_true(conf_was_given(conf, "num-threads"));
	assert_true(conf_was_given(conf, "fast-server-permil"));
	assert_false(conf_was_given(conf, "username"));
	assert_false(conf_was_given(conf, "no-such-option"));
	conf_free(conf);
}

static void what_is_out_of_range_may_be_the_limit(void **state)
{
	(void)state;
	static const char text[] = "server: verbosity: 9 edns-buffer-size: 70000 edns-buffer-size: 5";
	struct conf_report report = { 0 };
	struct conf *conf = conf_new();

	assert_true(conf_load_text(conf, "text", text, strlen(text), NULL, &report));
	assert_int_equal(report.count, 3);
	assert_int_equal(report.remarks[0].weight, CONF_WARNING);
	assert_int_equal(conf->server.verbosity, 5);
	assert_int_equal(conf->server.edns_buffer_size, 12);
	conf_report_clear(&report);
	conf_free(conf);
}

static size_t count_notices(const char *text, const struct conf_how *how, size_t *errors)
{
	struct conf_report report = { 0 };
	struct conf *conf = conf_new();
	size_t notices = 0;

	if (conf_load_text(conf, "text", text, strlen(text), how, &report))
		assert_true(conf_check(conf, how, &report));
	for (size_t i = 0; i < report.count; i++)
		notices += report.remarks[i].weight == CONF_NOTICE;
	*errors = report.errors;
	conf_report_clear(&report);
	conf_free(conf);
	return notices;
}

static void what_has_no_effect_is_said_once(void **state)
{
	(void)state;
	struct conf_how how = { .no_files = true }, tests = { .no_files = true, .test_switches = true };
	size_t errors;

	assert_int_equal(count_notices("server: num-threads: 2", &how, &errors), 0);
	assert_int_equal(errors, 0);
	assert_int_equal(count_notices("python: python-script: a python-script: b", &how, &errors), 1);
	assert_int_equal(errors, 0);
	assert_int_equal(count_notices("server: shm-enable: no module-config: \"python iterator\"", &how,
				       &errors), 2);
	assert_int_equal(errors, 0);
	count_notices("server: fake-sha1: yes", &how, &errors);
	assert_int_equal(errors, 1);
	count_notices("server: fake-sha1: yes", &tests, &errors);
	assert_int_equal(errors, 0);
	count_notices("server: fake-sha1: no", &how, &errors);
	assert_int_equal(errors, 0);
}

static void assert_pipe(const char *folder, const char *more, const char *script, const char *want)
{
	char *text = mem_textf("server: module-config: \"python iterator\"\ndirectory: \"%s\"\n%s\npython: python-script: %s\n",
			       folder, more, script);
	struct conf *conf = load_good(text);

	conf_add_lists_of_scripts(conf, NULL);
	assert_string_equal(conf->server.query_pipe, want);
	conf_free(conf);
	mem_free(text);
}

/* As OPNsense's script does; where the option is given, that is what counts. */
static void a_pipe_is_fed_where_the_script_would_and_reporting_is_on(void **state)
{
	(void)state;
	char folder[] = "/tmp/scripts.XXXXXX", data[64], stats[64], chroot_[64];
	FILE *f;

	assert_non_null(mkdtemp(folder));
	snprintf(data, sizeof data, "%s/data", folder);
	snprintf(stats, sizeof stats, "%s/data/stats", folder);
	snprintf(chroot_, sizeof chroot_, "chroot: \"%s\"", folder);
	assert_int_equal(mkdir(data, 0700), 0);
	assert_pipe(folder, "chroot: \"\"", "dnsbl_module.py", "");
	f = fopen(stats, "w");
	assert_non_null(f);
	(void)fclose(f);
	assert_pipe(folder, "chroot: \"\"", "x/dnsbl_module.py", "data/dns_logger");
	assert_pipe(folder, chroot_, "dnsbl_module.py", "/data/dns_logger");
	assert_pipe(folder, chroot_, "pfb_unbound.py", "");
	assert_pipe(folder, "query-pipe: \"\"", "dnsbl_module.py", "");
	assert_pipe(folder, "query-pipe: \"other\"", "dnsbl_module.py", "other");
	assert_int_equal(unlink(stats), 0);
	assert_int_equal(rmdir(data), 0);
	assert_int_equal(rmdir(folder), 0);
}

static void the_lists_of_a_script_are_of_the_line_that_names_it(void **state)
{
	(void)state;
	struct conf *conf = load_good("server: module-config: \"python iterator\"\npython:\n\npython-script: x/pfb_unbound.py\n");
	const struct conf_blocklist *b;

	conf_add_lists_of_scripts(conf, NULL);
	assert_int_equal(conf->blocklist_count, 1);
	b = &conf->blocklists[0];
	assert_string_equal(b->name, "pfblockerng");
	assert_string_equal(b->action, "null");
	assert_int_equal(b->refresh, 60);
	assert_int_equal(b->max_size, 1u << 30);
	assert_int_equal(b->from_line, 4);
	assert_int_equal(b->file.count, 3);
	assert_string_equal(b->file.items[2].text, "pfb_py_ss.tx[t]");
	assert_string_equal(b->file.items[2].file, "text");
	assert_int_equal(b->file.items[2].line, 4);
	assert_int_equal(b->allow_file.count, 1);
	conf_add_lists_of_scripts(conf, NULL);
	assert_int_equal(conf->blocklist_count, 1); /* it has one now */
	conf_free(conf);
}

/* ---- files of testdata/conf ---- */

static char *slurp(const char *path)
{
	FILE *in = fopen(path, "r");
	char *text = mem_new(1 << 20);
	size_t len;

	if (!in)
		fail_msg("cannot read %s", path);
	len = fread(text, 1, (1 << 20) - 1, in);
	text[len] = '\0';
	fclose(in);
	return text;
}

static bool is_in_line(const char *line, const char *text)
{
	const char *want = strstr(line, "# error: ");
	size_t len;

	if (!want)
		return false;
	want += strlen("# error: ");
	len = strcspn(want, "\n");
	for (; strlen(text) >= len; text++)
		if (strncmp(text, want, len) == 0)
			return true;
	return false;
}

/* Each "# error: TEXT" of the file is an error of its line that holds TEXT; no other line has one. */
static void compare_errors(const char *name, const char *text, const struct conf_report *report)
{
	unsigned number = 1;

	for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n', number++) {
		size_t len = strcspn(line, "\n");
		char copy[512];
		bool met = false, expected;

		snprintf(copy, sizeof(copy), "%.*s", (int)MIN(len, sizeof(copy) - 1), line);
		expected = strstr(copy, "# error: ") != NULL;
		for (size_t i = 0; i < report->count; i++) {
			const struct conf_remark *r = &report->remarks[i];

			if (r->weight != CONF_ERROR || r->line != number)
				continue;
			if (strcmp(r->file, name) != 0)
				fail_msg("%s:%u: is told of %s", name, number, r->file);
			if (!expected)
				fail_msg("%s:%u: unexpected: %s", name, number, r->text);
			met |= is_in_line(copy, r->text);
		}
		if (expected && !met)
			fail_msg("%s:%u: is not told: %s", name, number, copy);
	}
}

static void try_file(const char *name, bool good)
{
	struct conf_report report = { 0 };
	/* Only one of the files is about files. */
	struct conf_how how = { .no_files = strcmp(name, "files.conf") != 0 &&
					    strcmp(name, "missing-include.conf") != 0 };
	struct conf *conf = conf_new();
	bool loaded = conf_load_file(conf, name, &how, &report);

	how.no_files |= strcmp(name, "missing-include.conf") == 0;
	loaded &= conf_check(conf, &how, &report);
	if (loaded != good || (good && report.errors)) {
		print_errors(&report);
		fail_msg("%s is %s", name, loaded ? "taken" : "refused");
	}
	if (!good) {
		char *text = slurp(name);

		compare_errors(name, text, &report);
		mem_free(text);
	}
	conf_report_clear(&report);
	conf_free(conf);
}

static void try_folder(const char *name, bool good, unsigned least)
{
	char here[PATH_MAX], path[PATH_MAX + 64];
	unsigned count = 0;
	struct dirent *e;
	DIR *d;

	assert_non_null(getcwd(here, sizeof(here)));
	snprintf(path, sizeof(path), "%s/testdata/conf/%s", source, name);
	assert_int_equal(chdir(path), 0);
	d = opendir(".");
	assert_non_null(d);
	while ((e = readdir(d))) {
		size_t len = strlen(e->d_name);

		if (len < 5 || strcmp(e->d_name + len - 5, ".conf") != 0)
			continue;
		count++;
		try_file(e->d_name, good);
	}
	closedir(d);
	assert_int_equal(chdir(here), 0);
	assert_true(count >= least);
}

static void good_files_are_taken(void **state)
{
	(void)state;
	try_folder("good", true, 2);
}

static void bad_files_are_told_line_by_line(void **state)
{
	(void)state;
	try_folder("bad", false, 6);
}

static void includes_start_from_the_folder(void **state)
{
	(void)state;
	char path[PATH_MAX + 64], got[512] = "";
	struct conf_report report = { 0 };
	struct conf_how how = { .no_files = true };
	struct conf *conf = conf_new();

	snprintf(path, sizeof(path), "%s/testdata/conf/good", source);
	assert_int_equal(chdir(path), 0);
	assert_true(conf_load_file(conf, "includes.conf", &how, &report));
	assert_int_equal(conf->server.access_control.count, 1);
	assert_string_equal(conf->server.access_control.items[0].file, "conf.d/access.part");
	assert_int_equal(conf->server.port, 5300);
	assert_int_equal(conf->server.verbosity, 3);
	assert_int_equal(conf->forward_zone_count, 1);
	assert_string_equal(conf->forward_zones[0].name, "a.example");
	assert_int_equal(conf->forward_zones[0].forward_addr.count, 1);
	assert_true(conf_get_option(conf, "access-control", append, got));
	assert_string_equal(got, "192.0.2.0/24 allow;");
	conf_report_clear(&report);
	conf_free(conf);
}

/* ---- one option ---- */

static void what_unbound_takes_is_taken(void **state)
{
	(void)state;
	static const struct { const char *text, *option, *want; } rows[] = {
		{ "server: val-override-date: \"\"", "val-override-date", "0;" },
		{ "server: val-sig-skew-min: \"\"", "val-sig-skew-min", "0;" },
		{ "server: val-max-restart: \"\"", "val-max-restart", "0;" },
		{ "server: define-tag: \"\"", "define-tag", "" },
		{ "server: trust-anchor: \"\"", "trust-anchor", "" },
		{ "server: http-endpoint: dns-query", "http-endpoint", "/dns-query;" },
		{ "server: outgoing-range: 100000", "outgoing-range", "65535;" },
		{ "server: incoming-num-tcp: 100000", "incoming-num-tcp", "65535;" },
		{ "server: max-sent-count: 0", "max-sent-count", "1;" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct conf *conf = load_good(rows[i].text);
		char got[512] = "";

		if (!conf_get_option(conf, rows[i].option, append, got) || strcmp(got, rows[i].want) != 0)
			fail_msg("%s: '%s'", rows[i].text, got);
		conf_free(conf);
	}
}

static void a_zone_may_come_from_a_url_without_a_scheme(void **state)
{
	(void)state;
	static const char *const rows[][2] = {
		{ "host.example/a", "https://host.example/a" },
		{ "https://host.example/a", "https://host.example/a" },
		{ "http://host.example/a", "http://host.example/a" },
		{ "[2001:db8::1]/a", "https://[2001:db8::1]/a" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char text[200];
		struct conf *conf;

		snprintf(text, sizeof(text), "auth-zone: name: a url: \"%s\"\nrpz: name: b url: \"%s\"", rows[i][0],
			 rows[i][0]);
		conf = load_good(text);
		assert_string_equal(conf->auth_zones[0].url.items[0].text, rows[i][1]);
		assert_string_equal(conf->rpzs[0].url.items[0].text, rows[i][1]);
		conf_free(conf);
	}
}

static void an_option_is_told_by_its_name(void **state)
{
	(void)state;
	static const struct { const char *name, *want; } rows[] = {
		{ "num-threads", "1;" },
		{ "msg-cache-size", "4194304;" },
		{ "do-ip4", "yes;" },
		{ "interface", "127.0.0.1;::1@5353;" },
		{ "ip-address", "127.0.0.1;::1@5353;" },
		{ "local-zone", "b.example deny;a.example static;" },
		{ "define-tag", "blue;red;" },
		{ "local-zone-tag", "b.example blue red;a.example red;" },
		{ "logfile", ";" },
		{ "control-port", "8953;" },
		{ "backend", "testframe;" },
	};
	struct conf *conf = load_good("server: interface: 127.0.0.1 interface: ::1@5353 "
				      "local-zone: a.example static local-zone: b.example deny "
				      "define-tag: \"blue red\" local-zone-tag: a.example red "
				      "local-zone-tag: b.example \"red blue\"");
	char got[512];

	for (size_t i = 0; i < COUNT(rows); i++) {
		got[0] = '\0';
		if (!conf_get_option(conf, rows[i].name, append, got) || strcmp(got, rows[i].want) != 0)
			fail_msg("%s: %s, not %s", rows[i].name, got, rows[i].want);
	}
	assert_false(conf_get_option(conf, "forward-addr", append, got));
	assert_false(conf_get_option(conf, "num_threads", append, got));
	assert_false(conf_get_option(conf, "", append, got));
	conf_free(conf);
}

static void an_option_is_set_in_a_copy(void **state)
{
	(void)state;
	static const struct { const char *line; bool good; const char *name, *want; } rows[] = {
		{ "verbosity: 3", true, "verbosity", "3;" },
		{ "verbosity 2", true, "verbosity", "2;" },
		{ "prefetch:yes", true, "prefetch", "yes;" },
		{ "identity: \"two words\"", true, "identity", "two words;" },
		{ "interface: 192.0.2.1", true, "interface", "::1;192.0.2.1;" },
		{ "access-control: 10.0.0.0/8  deny ", true, "access-control", "10.0.0.0/8 deny;" },
		{ "prefetch: perhaps", false, "prefetch", "no;" },
		{ "access-control: 10.0.0.0/8", false, "access-control", "" },
		{ "no-such: 1", false, "verbosity", "1;" },
		{ "", false, "verbosity", "1;" },
		{ "fake-dsa: yes", false, "fake-dsa", "no;" },
	};
	struct conf *conf = load_good("server: interface: ::1 forward-zone: name: a.example "
				      "forward-addr: 192.0.2.1");
	char got[512];

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct conf *copy = conf_copy(conf);
		struct fault f = { .set = false };

		if (conf_set_option(copy, rows[i].line, &f) != rows[i].good || f.set == rows[i].good)
			fail_msg("'%s': %s", rows[i].line, f.text);
		got[0] = '\0';
		assert_true(conf_get_option(copy, rows[i].name, append, got));
		if (strcmp(got, rows[i].want) != 0)
			fail_msg("'%s': %s, not %s", rows[i].line, got, rows[i].want);
		conf_free(copy);
	}
	got[0] = '\0';
	conf_get_option(conf, "interface", append, got);
	assert_string_equal(got, "::1;");
	conf_free(conf);
}

/* Whether the value is accepted: in a file, and as a change of a configuration. */
static bool accepts_in_file(const struct conf *base, const struct option *o, const char *const *words, unsigned count)
{
	char text[1000], clause[CONF_NAME], name[CONF_NAME];
	struct conf *conf = conf_copy(base);
	struct conf_report report = { 0 };
	struct fault f = { .set = false };
	int len = snprintf(text, sizeof(text), "%s:\n %s:", conf_name_print(conf_clauses[o->clause].name, clause),
			   conf_name_print(o->name, name));
	bool good;

	for (unsigned i = 0; i < count; i++)
		len += snprintf(text + len, sizeof(text) - (size_t)len, " \"%s\"", words[i]);
	good = conf_load_text(conf, "file", text, (size_t)len, NULL, &report) &&
	       conf_check_change(base, conf, NULL, &f);
	conf_report_clear(&report);
	conf_free(conf);
	return good;
}

static bool accepts_as_change(const struct conf *base, const struct option *o, const char *const *words,
			      unsigned count, const char *quote, struct fault *f)
{
	char text[1000], name[CONF_NAME];
	struct conf *conf = conf_copy(base);
	int len = snprintf(text, sizeof(text), "%s:", conf_name_print(o->name, name));
	bool good;

	for (unsigned i = 0; i < count; i++)
		len += snprintf(text + len, sizeof(text) - (size_t)len, " %s%s%s", quote, words[i], quote);
	good = conf_set_option(conf, text, f) && conf_check_change(base, conf, NULL, f);
	conf_free(conf);
	return good;
}

static void a_change_is_checked_as_the_file_is(void **state)
{
	(void)state;
	static const char *const values[] = {
		"", "yes", "no", "nonsense", "-1", "0", "1", "3", "7", "1.5", "99999999999999999999", "1x", "65535", "65536", "4g",
		"10.0.0.0/8", "10.0.0.0/33", "192.0.2.1", "192.0.2.1@99999", "::1", "::/129", "2001:db8::/96", "a.example",
		"a..example", ".", "*", "/no/such/place/at/all", "/", "deny", "always_nxdomain", "static", "validator iterator",
		"iterator iterator", "validator", "none", "full", "x y z", "#", "20200101000000", "99991399000000", "1024 150",
		"3 2 1 0 0", "tag1", "no-such-view", "a.example. IN A 192.0.2.1", "a.example. IN A 999", ". DS 1 13 2 abcd",
		"TLSv1.9", "http://a.example/", "dns-query", "/dns-query", "00112233445566778899aabbccddeeff", "0011",
	};
	struct conf *base = load_good("server: module-config: \"validator iterator\" chroot: \"\" username: \"\" directory: \"/tmp\" pidfile: \"\"");
	unsigned tried = 0, accepted = 0;

	for (size_t i = 0; i < conf_option_count; i++) {
		const struct option *o = &conf_options[i];
		unsigned count = conf_word_count(o->check);

		if (o->row != ROW_OPTION || conf_clauses[o->clause].many || o->status == CONF_TEST_ONLY)
			continue;
		for (size_t v = 0; v < COUNT(values); v++) {
			const char *const words[] = { values[v], values[(v + 3) % COUNT(values)], values[(v + 7) % COUNT(values)] };
			struct fault f = { .set = false };
			bool in_file = accepts_in_file(base, o, words, count);
			bool as_change = accepts_as_change(base, o, words, count, count == 1 ? "\"" : strchr(words[0], ' ') ? "'" : "", &f);

			if (count > 1 && (strpbrk(words[0], " #") || strpbrk(words[1], " #") || strpbrk(words[2], " #") || !*words[0] || !*words[1] || !*words[2]))
				continue; /* they are written otherwise */
			if (in_file != as_change)
				fail_msg("%s: '%s': %s in a file, %s as a change: %s", o->name, values[v],
					 in_file ? "accepted" : "refused", as_change ? "accepted" : "refused", f.text);
			if (!as_change && !f.set)
				fail_msg("%s: '%s' is refused without a word", o->name, values[v]);
			tried++;
			accepted += as_change;
		}
	}
	assert_true(tried > 10000 && accepted > 2000 && accepted < tried / 2);
	conf_free(base);
}

static void what_was_wrong_before_is_no_reason_to_refuse(void **state)
{
	(void)state;
	static const struct {
		const char *line;
		bool good;
	} rows[] = {
		{ "verbosity: 2", true },
		{ "module-config: \"iterator validator\"", false },
		{ "access-control-view: 10.0.0.0/8 absent", false },
		{ "trust-anchor-file: /no/such/place/either", false },
		{ "tls-cert-bundle: /no/such/place/at/all", false },
	};
	struct conf *base = conf_new();
	static const char text[] = "server: module-config: iterator trust-anchor-file: /no/such/place/at/all directory: \"\" username: \"\" chroot: \"\" pidfile: \"\"";

	assert_true(conf_load_text(base, "", text, strlen(text), NULL, NULL));
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct conf *conf = conf_copy(base);
		struct fault f = { .set = false };

		if ((conf_set_option(conf, rows[i].line, &f) && conf_check_change(base, conf, NULL, &f)) !=
		    rows[i].good)
			fail_msg("%s: %s", rows[i].line, f.text);
		conf_free(conf);
	}
	conf_free(base);
}

static void differences_are_named(void **state)
{
	(void)state;
	static const struct { const char *text, *want; } rows[] = {
		{ "server: port: 53", "" },
		{ "server: port: 54 interface: ::1", "interface;port;" },
		{ "forward-zone: name: a.example forward-addr: 192.0.2.1", "forward-zone;" },
		{ "remote-control: control-enable: yes", "control-enable;" },
	};
	struct conf *usual = load_good("");

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct conf *other = load_good(rows[i].text), *copy = conf_copy(other);
		char got[512] = "";

		conf_compare(usual, other, append, got);
		if (strcmp(got, rows[i].want) != 0)
			fail_msg("'%s': %s, not %s", rows[i].text, got, rows[i].want);
		got[0] = '\0';
		conf_compare(other, copy, append, got);
		assert_string_equal(got, "");
		conf_free(copy);
		conf_free(other);
	}
	conf_free(usual);
}

static void paths_are_seen_from_both_sides_of_a_chroot(void **state)
{
	(void)state;
	static const struct { const char *chroot, *folder, *name, *outside, *inside; } rows[] = {
		{ "", "/etc/resolver", "hints", "/etc/resolver/hints", "/etc/resolver/hints" },
		{ "", "/etc/resolver", "/var/hints", "/var/hints", "/var/hints" },
		{ "", "", "hints", "hints", "hints" },
		{ "/jail", "/jail/etc", "hints", "/jail/etc/hints", "/etc/hints" },
		{ "/jail/", "/etc", "hints", "/jail/etc/hints", "/etc/hints" },
		{ "/jail", "/jail", "hints", "/jail/hints", "/hints" },
		{ "/jail", "/etc", "/jail/hints", "/jail/hints", "/hints" },
		{ "/jail", "/etc", "/jailer/hints", "/jail/jailer/hints", "/jailer/hints" },
		{ "/jail", "/etc", "", "", "" },
	};
	for (size_t i = 0; i < COUNT(rows); i++) {
		char text[256], *outside, *inside;
		struct conf *conf;

		snprintf(text, sizeof(text), "server: chroot: \"%s\" directory: \"%s\"", rows[i].chroot,
			 rows[i].folder);
		conf = load_good(text);
		outside = conf_path(conf, rows[i].name);
		inside = conf_path_inside(conf, rows[i].name);
		if (strcmp(outside, rows[i].outside) != 0 || strcmp(inside, rows[i].inside) != 0)
			fail_msg("row %zu: %s and %s", i, outside, inside);
		mem_free(outside);
		mem_free(inside);
		conf_free(conf);
	}
}

/* ---- the example ---- */

static char *print_example(void)
{
	FILE *out = tmpfile();
	char *text;
	size_t len;

	assert_non_null(out);
	conf_print_example(out);
	len = (size_t)ftell(out);
	text = mem_zero(len + 1);
	rewind(out);
	assert_int_equal(fread(text, 1, len, out), len);
	fclose(out);
	return text;
}

static void the_example_is_the_file_in_the_tree(void **state)
{
	(void)state;
	char path[PATH_MAX + 64], *now = print_example(), *then;

	snprintf(path, sizeof(path), "%s/resolver.conf.example", source);
	then = slurp(path);
	if (strcmp(now, then) != 0)
		fail_msg("%s is old: renew it with resolver-checkconf --example", path);
	mem_free(now);
	mem_free(then);
}

static void the_example_is_good_as_it_is_and_with_all_of_it_said(void **state)
{
	(void)state;
	char *text = print_example(), *line = text, *next;
	size_t said = 0;

	conf_free(load_good(text));
	for (; *line; line = next) {
		char *hash = line + strspn(line, "\t");
		size_t name;

		next = line + strcspn(line, "\n");
		next += *next == '\n';
		if (strncmp(hash, "# ", 2) != 0)
			continue;
		/* A word and a colon with a value or the line's end behind it is an option or clause. */
		name = strspn(hash + 2, "abcdefghijklmnopqrstuvwxyz0123456789-");
		if (name == 0 || hash[2 + name] != ':' || conf_name_is("include_toplevel", hash + 2, name))
			continue;
		hash[0] = ' ';
		said++;
	}
	assert_true(said > 360);
	/* Tags and views that the examples of other options name. */
	line = mem_textf("server: define-tag: \"guests children\"\n%s", text);
	conf_free(load_good(line));
	mem_free(line);
	mem_free(text);
}

static int find_source(void **state)
{
	const char *srcdir = getenv("srcdir");

	(void)state;
	return realpath(srcdir ? srcdir : ".", source) ? 0 : -1;
}

int main(void)
{
	const struct CMUnitTest claims[] = {
		cmocka_unit_test(every_row_is_whole),
		cmocka_unit_test(what_is_said_of_options_elsewhere_is_said_of_some_that_exist),
		cmocka_unit_test(defaults_are_those_of_the_table),
		cmocka_unit_test(values_come_into_their_fields),
		cmocka_unit_test(what_is_out_of_range_may_be_the_limit),
		cmocka_unit_test(what_has_no_effect_is_said_once),
		cmocka_unit_test(the_lists_of_a_script_are_of_the_line_that_names_it),
		cmocka_unit_test(a_pipe_is_fed_where_the_script_would_and_reporting_is_on),
		cmocka_unit_test(good_files_are_taken),
		cmocka_unit_test(bad_files_are_told_line_by_line),
		cmocka_unit_test(includes_start_from_the_folder),
		cmocka_unit_test(what_unbound_takes_is_taken),
		cmocka_unit_test(a_zone_may_come_from_a_url_without_a_scheme),
		cmocka_unit_test(an_option_is_told_by_its_name),
		cmocka_unit_test(an_option_is_set_in_a_copy),
		cmocka_unit_test(a_change_is_checked_as_the_file_is),
		cmocka_unit_test(what_was_wrong_before_is_no_reason_to_refuse),
		cmocka_unit_test(differences_are_named),
		cmocka_unit_test(paths_are_seen_from_both_sides_of_a_chroot),
		cmocka_unit_test(the_example_is_the_file_in_the_tree),
		cmocka_unit_test(the_example_is_good_as_it_is_and_with_all_of_it_said),
	};

	return cmocka_run_group_tests(claims, find_source, NULL);
}
