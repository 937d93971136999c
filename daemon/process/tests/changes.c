/* Claims about changes made by commands: which of two counts, what a start finds, what it does not believe.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/process/changes.h"
#include "daemon/process/tests/fixture.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/worker/modules.h"
#include "services/policy/policy.h"
#include "services/policy/views.h"
#include "services/query/snapshot.h"
#include "services/tests/conf.h"
#include "util/base/fault.h"
#include "util/base/file.h"
#include "util/base/hash.h"
#include "util/base/log.h"
#include "util/base/mem.h"
#include "util/base/rcu.h"
#include "util/dns/rr.h"

#define CONF                                                                                                             \
	"server:\n module-config: \"iterator\"\n local-zone: \"file.test\" static\n local-data: \"a.file.test A 192.0.2.1\"\n" \
	"view:\n name: v\n"

static struct snapshot *snapshot_of(struct conf *conf)
{
	struct fault f = { .set = false };
	struct snapshot *s = modules_snapshot(conf, &f);

	if (!s)
		fail_msg("%s", f.text);
	return s;
}

/* The commands in their order, with " | " between them, and with " #" what is not in force. */
static const char *listed(const struct changes *c)
{
	static char text[4096];
	size_t len = 0;

	*text = '\0';
	for (size_t i = 0; i < c->count && len < sizeof text; i++)
		len += (size_t)snprintf(text + len, sizeof text - len, "%s%s%s", i ? " | " : "", c->items[i]->text,
					c->items[i]->problem ? " #" : "");
	return text;
}

static bool keep(struct changes *c, const struct snapshot *s, const char *line)
{
	struct fault f = { .set = false };

	return changes_keep(c, s, &line, 1, &f);
}

/* As the daemon does it: noted, then acted on. */
static void carry_out(struct changes *c, struct snapshot *s, const char *line)
{
	struct fault f = { .set = false };
	struct change change;
	struct localzones *z;

	if (!changes_keep(c, s, &line, 1, &f) || !change_read(&change, line, &f))
		fail_msg("%s: %s", line, f.text);
	if (change_thing(change.id.kind) == CHANGE_ZONE || change_thing(change.id.kind) == CHANGE_DATA) {
		z = change_place(&change, s, &f);
		if (f.set || (z && !change_local(&change, z, NULL, &f)))
			fail_msg("%s: %s", line, f.text);
	}
	change_clear(&change);
}

static void of_two_changes_of_one_thing_the_later_wins(void **state)
{
	(void)state;
	static const struct {
		const char *lines[6], *left;
	} rows[] = {
		{ { "local_zone a.test static", "local_zone A.test. refuse" }, "local_zone A.test. refuse" },
		{ { "local_zone a.test static", "view_local_zone v a.test refuse" },
		  "local_zone a.test static | view_local_zone v a.test refuse" },
		{ { "local_zone a.test static", "local_data b.a.test A 192.0.2.1", "local_zone a.test refuse" },
		  "local_zone a.test refuse | local_data b.a.test A 192.0.2.1" },
		{ { "local_zone a.test static", "local_data b.a.test A 192.0.2.1", "local_zone_remove a.test" },
		  "local_zone_remove a.test" },
		{ { "local_data b.a.test A 192.0.2.1", "local_zone a.test static", "local_zone_remove a.test" },
		  "local_data b.a.test A 192.0.2.1 | local_zone_remove a.test" },
		{ { "local_zone_remove file.test", "local_zone file.test static" },
		  "local_zone_remove file.test | local_zone file.test static" },
		{ { "local_data b.test A 192.0.2.1", "local_data b.test 60 IN A 192.0.2.1" }, "local_data b.test 60 IN A 192.0.2.1" },
		{ { "local_data b.test A 192.0.2.1", "local_data b.test A 192.0.2.2", "local_data c.test A 192.0.2.1",
		    "local_data_remove B.test" },
		  "local_data_remove B.test | local_data c.test A 192.0.2.1" },
		{ { "local_data b.test A 192.0.2.1", "local_data b.test A 192.0.2.2", "local_data_remove b.test A 192.0.2.1" },
		  "local_data_remove b.test A 192.0.2.1 | local_data b.test A 192.0.2.2" },
		{ { "view_local_data v b.test A 192.0.2.1", "local_data_remove b.test" },
		  "view_local_data v b.test A 192.0.2.1 | local_data_remove b.test" },
		{ { "set_option cache-max-ttl: 5", "set_option cache_max_ttl 6" }, "set_option cache_max_ttl 6" },
		{ { "set_option private-address: 192.0.2.0/24", "set_option private-address: 198.51.100.0/24" },
		  "set_option private-address: 192.0.2.0/24 | set_option private-address: 198.51.100.0/24" },
		{ { "insecure_add a.test", "insecure_remove a.test" }, "insecure_remove a.test" },
		{ { "forward_add a.test 192.0.2.1", "stub_add a.test 192.0.2.2", "forward_remove a.test" },
		  "forward_remove a.test | stub_add a.test 192.0.2.2" },
		{ { "blocklist_deny a.test", "blocklist_allow a.test" }, "blocklist_allow a.test" },
		{ { "blocklist_deny a.test", "blocklist_deny b.test", "blocklist_forget a.test" }, "blocklist_deny b.test" },
		{ { "blocklist_pause until=9", "blocklist_pause until=9 v", "blocklist_pause until=10" },
		  "blocklist_pause until=10 | blocklist_pause until=9 v" },
		{ { "blocklist_pause until=9", "blocklist_pause until=9 v", "blocklist_deny a.test", "blocklist_resume" },
		  "blocklist_deny a.test" },
		{ { "rpz_disable a.test", "rpz_enable a.test" }, "" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct snapshot *s = snapshot_of(conf_from(CONF));
		struct changes c = { .count = 0 };

		unlink(path);
		changes_open(&c, path);
		for (size_t n = 0; rows[i].lines[n]; n++)
			carry_out(&c, s, rows[i].lines[n]);
		if (strcmp(listed(&c), rows[i].left) != 0)
			fail_msg("row %zu: %s", i, listed(&c));
		changes_open(&c, path);
		if (strcmp(listed(&c), rows[i].left) != 0)
			fail_msg("row %zu, read again: %s", i, listed(&c));
		changes_clear(&c);
		snapshot_unpin(s);
	}
}

static const char *const mixed[] = {
	"local_zone a.test static", "local_data b.a.test A 192.0.2.1", "blocklist_deny c.test", "local_zone a.test refuse",
	"forward_add +t d.test 192.0.2.3@853", "blocklist_forget c.test", "local_zone_remove a.test", "set_option cache-max-ttl: 5",
	"view_local_data v e.test TXT \"x y\"",
};

/* Neither more nor less than what was confirmed, and the next change goes behind it. */
static void wherever_the_file_is_cut_no_whole_change_is_lost(void **state)
{
	static char text[8192], states[COUNT(mixed) + 1][512];
	struct snapshot *s = snapshot_of(conf_from(CONF));
	struct changes c = { .count = 0 };
	size_t len, first = 2; /* lines before the first change: the head, and the last number */
	int fd;

	(void)state;
	unlink(path);
	changes_open(&c, path);
	for (size_t i = 0; i < COUNT(mixed); i++) {
		carry_out(&c, s, mixed[i]);
		strcpy(states[i + 1], listed(&c));
	}
	fd = open(path, O_RDONLY);
	len = file_read(fd, text, sizeof text);
	close(fd);
	assert_true(fd >= 0 && len > 300 && len < sizeof text);
	for (size_t cut = 0; cut <= len; cut++) {
		size_t lines = 0, n;

		for (size_t i = 0; i < cut; i++)
			lines += text[i] == '\n';
		n = lines > first ? lines - first : 0;
		fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
		assert_true(fd >= 0 && file_write(fd, text, cut));
		close(fd);
		changes_open(&c, path);
		if (strcmp(listed(&c), states[n]) != 0)
			fail_msg("cut at %zu: %s", cut, listed(&c));
		if (cut % 16 && cut != len && text[cut] != '\n') /* not each, for that takes a disk its time */
			continue;
		if (!keep(&c, s, "blocklist_allow z.test"))
			fail_msg("cut at %zu: nothing can be added", cut);
		changes_open(&c, path);
		if (strncmp(listed(&c), states[n], strlen(states[n])) != 0 || !strstr(listed(&c), "blocklist_allow z.test"))
			fail_msg("cut at %zu, then added to: %s", cut, listed(&c));
	}
	changes_clear(&c);
	snapshot_unpin(s);
}

static unsigned records(const struct snapshot *s, const char *name)
{
	return localzones_records_at(s->policy->zones, N(name), CLASS_IN);
}

static void the_next_start_has_them(void **state)
{
	static const char *const lines[] = {
		"set_option cache-max-ttl: 5", "insecure_add i.test", "local_data b.test A 192.0.2.1",
		"local_data_remove a.file.test", "view_local_data v e.test A 192.0.2.2", "forward_add f.test 192.0.2.3",
	};
	const struct conf_how how = { .no_files = true };
	struct snapshot *s = snapshot_of(conf_from(CONF));
	struct changes c = { .count = 0 };
	struct conf *conf = conf_from(CONF);
	struct view *v;

	(void)state;
	unlink(path);
	changes_open(&c, path);
	for (size_t i = 0; i < COUNT(lines); i++)
		carry_out(&c, s, lines[i]);
	snapshot_unpin(s);
	changes_open(&c, path);
	changes_configure(&c, conf, &how);
	s = changes_apply(&c, snapshot_of(conf), true);
	assert_int_equal(s->conf->server.cache_max_ttl, 5);
	assert_int_equal(s->conf->server.domain_insecure.count, 1);
	assert_int_equal(records(s, "b.test"), 1);
	assert_int_equal(records(s, "a.file.test"), 0);
	v = views_find(s->policy->views, "v");
	assert_int_equal(localzones_records_at(atomic_load(&v->zones), N("e.test"), CLASS_IN), 1);
	assert_non_null(forwards_find_kind(s->forwards, N("f.test"), false));
	assert_int_equal(c.count, COUNT(lines));
	assert_null(strstr(listed(&c), " #"));
	changes_clear(&c);
	snapshot_unpin(s);
}

static void what_the_configuration_does_not_allow_is_kept_and_skipped(void **state)
{
	static const char *const lines[] = {
		"view_local_data w e.test A 192.0.2.2", /* there is no such view */
		"set_option no-such-option: 5",
		"set_option num-threads: 7",	  /* at a start alone */
		"set_option keep-changes: yes",	  /* likewise */
		"set_option cache-max-ttl: many",
		"local_data b.test A 192.0.2.1",
		"rpz_disable p.test",
		"from_the_future x",
	};
	const struct conf_how how = { .no_files = true };
	struct changes c = { .count = 0 };
	struct conf *conf = conf_from(CONF);
	struct journal j = { 0 };
	struct fault f = { .set = false };
	struct snapshot *s;
	char *text = NULL;
	size_t len = 0;

	(void)state;
	for (size_t i = 0; i < COUNT(lines); i++)
		journal_print(&text, &len, &(struct journal_line){ .number = i + 1, .text = lines[i] });
	unlink(path);
	j.path = mem_text(path);
	assert_true(journal_rewrite(&j, text, len, &f));
	journal_clear(&j);
	mem_free(text);
	changes_open(&c, path);
	changes_configure(&c, conf, &how);
	s = changes_apply(&c, snapshot_of(conf), true);
	changes_run(&c, s, 1);
	assert_string_equal(listed(&c), "view_local_data w e.test A 192.0.2.2 # | set_option no-such-option: 5 # | set_option num-threads: 7 #"
					" | set_option keep-changes: yes # | set_option cache-max-ttl: many # | "
					"local_data b.test A 192.0.2.1 | rpz_disable p.test # | from_the_future x #");
	assert_int_equal(s->conf->server.num_threads, 1);
	assert_int_equal(records(s, "b.test"), 1);
	assert_true(keep(&c, s, "blocklist_deny x.test"));
	changes_open(&c, path);
	assert_int_equal(c.count, COUNT(lines) + 1);
	changes_clear(&c);
	snapshot_unpin(s);
}

static void a_removal_of_nothing_is_forgotten_at_the_next_start(void **state)
{
	static const char *const lines[] = { "local_data_remove b.test", "local_zone_remove b.test", "forward_remove b.test",
					     "view_local_data_remove v b.test", "local_data_remove a.file.test" };
	struct snapshot *s = snapshot_of(conf_from(CONF));
	struct changes c = { .count = 0 };

	(void)state;
	unlink(path);
	changes_open(&c, path);
	for (size_t i = 0; i < COUNT(lines); i++)
		assert_true(keep(&c, s, lines[i]));
	changes_open(&c, path);
	assert_int_equal(c.count, COUNT(lines));
	s = changes_apply(&c, s, true);
	assert_string_equal(listed(&c), "local_data_remove a.file.test");
	changes_clear(&c);
	snapshot_unpin(s);
}

static void what_cannot_be_written_is_refused(void **state)
{
	struct snapshot *s = snapshot_of(conf_from(CONF));
	struct changes c = { .count = 0 };
	struct rlimit old, limit;
	struct change undone;

	(void)state;
	unlink(path);
	changes_open(&c, path);
	assert_true(keep(&c, s, "local_zone a.test static"));
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	limit = old;
	limit.rlim_cur = (rlim_t)c.journal.bytes + 10;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_false(keep(&c, s, "local_zone a.test refuse"));
	assert_false(keep(&c, s, "local_zone_remove a.test"));
	assert_false(changes_undo(&c, 1, &undone, &(struct fault){ .set = false }));
	change_clear(&undone);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_string_equal(listed(&c), "local_zone a.test static");
	changes_open(&c, path);
	assert_string_equal(listed(&c), "local_zone a.test static");
	assert_true(keep(&c, s, "local_zone a.test refuse"));
	assert_int_equal(c.items[0]->number, 2);
	changes_clear(&c);
	snapshot_unpin(s);
}

static void what_is_undone_or_taken_back_is_gone(void **state)
{
	struct snapshot *s = snapshot_of(conf_from(CONF));
	struct fault f = { .set = false };
	struct changes c = { .count = 0 };
	struct change undone;

	(void)state;
	unlink(path);
	changes_open(&c, path);
	assert_true(keep(&c, s, "local_zone a.test static"));
	assert_true(keep(&c, s, "blocklist_deny a.test"));
	assert_true(keep(&c, s, "local_zone a.test refuse"));
	changes_take_back(&c);
	assert_string_equal(listed(&c), "local_zone a.test static | blocklist_deny a.test");
	changes_take_back(&c); /* once is enough */
	assert_true(changes_undo(&c, 1, &undone, &f));
	assert_int_equal(undone.id.kind, CHANGE_local_zone);
	change_clear(&undone);
	assert_string_equal(listed(&c), "blocklist_deny a.test");
	changes_take_back(&c);
	assert_string_equal(listed(&c), "local_zone a.test static | blocklist_deny a.test");
	assert_true(changes_undo(&c, 2, &undone, &f));
	change_clear(&undone);
	assert_false(changes_undo(&c, 2, &undone, &f));
	assert_string_equal(f.text, "there is no change 2");
	change_clear(&undone);
	changes_open(&c, path);
	assert_string_equal(listed(&c), "local_zone a.test static");
	changes_clear(&c);
	snapshot_unpin(s);
}

static void a_file_of_another_version_is_left_alone(void **state)
{
	struct snapshot *s = snapshot_of(conf_from(CONF));
	struct changes c = { .count = 0 };
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	struct stat st;

	(void)state;
	assert_true(fd >= 0 && file_write(fd, "resolverd-changes 9\nx\n", 22));
	close(fd);
	changes_open(&c, path);
	assert_true(c.kept && c.count == 0);
	assert_false(keep(&c, s, "local_zone a.test static"));
	assert_true(stat(path, &st) == 0 && st.st_size == 22);
	changes_clear(&c);
	snapshot_unpin(s);
}

static void a_file_does_not_grow_with_what_is_undone(void **state)
{
	struct snapshot *s = snapshot_of(conf_from(CONF));
	struct changes c = { .count = 0 };
	struct stat st;

	(void)state;
	unlink(path);
	changes_open(&c, path);
	for (size_t i = 0; i < 300; i++)
		assert_true(keep(&c, s, i % 2 ? "blocklist_deny a.test" : "blocklist_allow a.test"));
	assert_int_equal(c.count, 1);
	assert_true(stat(path, &st) == 0 && st.st_size < 8000);
	assert_int_equal(c.items[0]->number, 300);
	changes_open(&c, path);
	assert_string_equal(listed(&c), "blocklist_deny a.test");
	assert_true(keep(&c, s, "blocklist_forget a.test"));
	changes_open(&c, path);
	assert_true(keep(&c, s, "blocklist_deny b.test"));
	assert_int_equal(c.items[0]->number, 302); /* no number is given twice */
	changes_clear(&c);
	snapshot_unpin(s);
}

static void there_is_a_limit_and_nothing_beyond_it_is_noted(void **state)
{
	struct snapshot *s = snapshot_of(conf_from(CONF));
	char **lines = mem_array(CHANGES_MOST + 1, sizeof(char *));
	struct changes c = { .count = 0 };
	struct fault f = { .set = false };

	(void)state;
	unlink(path);
	changes_open(&c, path);
	for (size_t i = 0; i <= CHANGES_MOST; i++)
		lines[i] = mem_textf("blocklist_deny n%zu.test", i);
	assert_false(changes_keep(&c, s, (const char *const *)lines, CHANGES_MOST + 1, &f));
	assert_non_null(strstr(f.text, "no more can be"));
	assert_int_equal(c.count, 0);
	assert_true(changes_keep(&c, s, (const char *const *)lines, CHANGES_MOST, &f));
	assert_false(keep(&c, s, lines[CHANGES_MOST]));
	assert_true(keep(&c, s, lines[0]));
	changes_open(&c, path);
	assert_int_equal(c.count, CHANGES_MOST);
	for (size_t i = 0; i <= CHANGES_MOST; i++)
		mem_free(lines[i]);
	mem_free((void *)lines);
	changes_clear(&c);
	snapshot_unpin(s);
}

static void unless_they_are_kept_only_forwarders_are_noted_and_nothing_is_written(void **state)
{
	struct snapshot *s = snapshot_of(conf_from(CONF));
	struct changes c = { .count = 0 };

	(void)state;
	unlink(path);
	assert_true(keep(&c, s, "local_zone a.test static"));
	assert_true(keep(&c, s, "forward_add a.test 192.0.2.1"));
	assert_string_equal(listed(&c), "forward_add a.test 192.0.2.1");
	assert_int_equal(access(path, F_OK), -1);
	changes_clear(&c);
	snapshot_unpin(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_two_changes_of_one_thing_the_later_wins),
		cmocka_unit_test(wherever_the_file_is_cut_no_whole_change_is_lost),
		cmocka_unit_test(the_next_start_has_them),
		cmocka_unit_test(what_the_configuration_does_not_allow_is_kept_and_skipped),
		cmocka_unit_test(a_removal_of_nothing_is_forgotten_at_the_next_start),
		cmocka_unit_test(what_cannot_be_written_is_refused),
		cmocka_unit_test(what_is_undone_or_taken_back_is_gone),
		cmocka_unit_test(a_file_of_another_version_is_left_alone),
		cmocka_unit_test(a_file_does_not_grow_with_what_is_undone),
		cmocka_unit_test(there_is_a_limit_and_nothing_beyond_it_is_noted),
		cmocka_unit_test(unless_they_are_kept_only_forwarders_are_noted_and_nothing_is_written),
	};
	int failed;

	hash_start(true);
	rcu_thread_join();
	failed = cmocka_run_group_tests(tests, begin, end);
	rcu_thread_leave();
	return failed;
}
