/* Claims about lists: who they are for, which decides, what outlives a reload, what is saved.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/blocklist/blocklist.h"
#include "services/blocklist/load_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "services/access/acl.h"
#include "services/blocklist/answer.h"
#include "services/blocklist/load.h"
#include "services/cache/msg.h"
#include "services/tests/conf.h"
#include "util/base/fault.h"
#include "util/base/mem.h"
#include "util/base/rcu.h"
#include "util/dns/rr.h"

static char folder[] = "/tmp/rd-blocklist-XXXXXX";

static void write_file(const char *name, const char *text)
{
	char path[200];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

/* `text` with the folder in the place of each "@". */
static struct conf *conf_with(const char *text)
{
	char whole[4000], *to = whole;
	int n = snprintf(to, sizeof(whole),
			 "server:\n define-tag: \"kids members\"\n blocklist-directory: \"%s\"\n",
			 folder);

	for (to += n; *text; text++) {
		if (*text == '@')
			to += snprintf(to, sizeof(folder), "%s", folder);
		else
			*to++ = *text;
	}
	*to = '\0';
	return conf_from(whole);
}

struct lists {
	struct conf *conf;
	struct blocklists *b;
};

/* As a daemon does at its start, or (`old`) at a reload. */
static struct lists lists_of(const char *text, const struct lists *old)
{
	struct lists l = { .conf = conf_with(text) };
	struct fault f = { 0 };

	l.b = blocklists_new(l.conf, &f);
	if (!l.b)
		fail_msg("%s", f.text);
	blocklists_start(l.b, old ? old->b : NULL, l.conf, NULL, false);
	return l;
}

static void lists_end(struct lists *l)
{
	blocklists_free(l->b);
	conf_free(l->conf);
}

/* The name of the list that blocks, or "". */
static const char *blocked_by(const struct lists *l, const char *name, const char *tag,
			      const char *view, uint32_t now_s)
{
	struct acl_tags tags = { .count = 0 };
	struct acl_rule rule = { .tags = &tags, .view = view };
	struct blocklist_asker who = { .rule = &rule, .now_s = now_s };
	struct blocklist_found f;
	struct fault why = { 0 };
	bool found;

	if (tag)
		assert_true(tagset_add(&tags.set, &l->conf->server.define_tag, tag, &why));
	found = blocklists_block(l->b, &who, N(name), TYPE_A, &f);
	tagset_clear(&tags.set);
	return found ? f.list->name : "";
}

static const char three[] = "blocklist:\n name: all\n file: @/all\n"
			    "blocklist:\n name: kids\n tags: kids\n file: @/kids\n"
			    "blocklist:\n name: view\n views: members\n file: @/view\n"
			    "view:\n name: members\n";

static void each_client_has_its_lists_and_the_first_decides(void **state)
{
	(void)state;
	static const struct {
		const char *name, *tag, *view, *want;
	} rows[] = {
		{ "a.example.", NULL, NULL, "all" },
		{ "a.example.", "kids", "members", "all" },
		{ "k.example.", NULL, NULL, "" },
		{ "k.example.", "kids", NULL, "kids" },
		{ "k.example.", "members", NULL, "" },
		{ "v.example.", NULL, NULL, "" },
		{ "v.example.", NULL, "members", "view" },
		{ "v.example.", NULL, "others", "" },
		{ "both.example.", "kids", NULL, "all" },
		{ "half.example.", "kids", NULL, "kids" }, /* allowed by another list only */
		{ "none.example.", "kids", "members", "" },
	};
	struct lists l;

	write_file("all", "||a.example^\n||both.example^\n@@||half.example^\n");
	write_file("kids", "||k.example^\n||both.example^\n||half.example^\n");
	write_file("view", "v.example\n");
	l = lists_of(three, NULL);
	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *got =
			blocked_by(&l, rows[i].name, rows[i].tag, rows[i].view, 100);

		if (strcmp(got, rows[i].want) != 0)
			fail_msg("%s: by '%s', not '%s'", rows[i].name, got, rows[i].want);
	}
	lists_end(&l);
}

static void a_pause_ends_by_itself(void **state)
{
	(void)state;
	struct lists l;

	write_file("all", "||a.example^\n");
	write_file("kids", "x.example\n");
	write_file("view", "||v.example^\n");
	l = lists_of(three, NULL);
	blocklists_pause(l.b, NULL, 200);
	assert_string_equal(blocked_by(&l, "a.example.", NULL, NULL, 199), "");
	assert_string_equal(blocked_by(&l, "a.example.", NULL, NULL, 200), "all");
	blocklists_pause(l.b, "members", 300);
	assert_string_equal(blocked_by(&l, "a.example.", NULL, "members", 250), "");
	assert_string_equal(blocked_by(&l, "a.example.", NULL, NULL, 250), "all");
	assert_true(blocklists_resume(l.b, 250));
	assert_string_equal(blocked_by(&l, "a.example.", NULL, "members", 250), "all");
	assert_false(blocklists_resume(l.b, 250));
	lists_end(&l);
}

static void rules_given_at_run_time_come_first_and_outlive_reloads(void **state)
{
	(void)state;
	struct lists l, m;
	uint32_t before;

	write_file("all", "||a.example^\n");
	l = lists_of("blocklist:\n name: all\n file: @/all\n", NULL);
	before = atomic_load(&l.b->state->generation);
	blocklists_allow(l.b, N("A.example."));
	blocklists_deny(l.b, N("new.example."));
	assert_int_not_equal(atomic_load(&l.b->state->generation), before);
	assert_string_equal(blocked_by(&l, "www.a.example.", NULL, NULL, 1), "");
	assert_string_equal(blocked_by(&l, "www.new.example.", NULL, NULL, 1), "blocklist_deny");
	m = lists_of("blocklist:\n name: all\n file: @/all\n", &l);
	assert_ptr_equal(m.b->at[0], l.b->at[0]); /* it is the same list */
	lists_end(&l);
	assert_string_equal(blocked_by(&m, "www.a.example.", NULL, NULL, 1), "");
	assert_string_equal(blocked_by(&m, "www.new.example.", NULL, NULL, 1), "blocklist_deny");
	assert_true(blocklists_forget(m.b, N("a.example.")));
	assert_false(blocklists_forget(m.b, N("a.example.")));
	blocklists_allow(m.b, N("new.example."));
	assert_string_equal(blocked_by(&m, "www.a.example.", NULL, NULL, 1), "all");
	assert_string_equal(blocked_by(&m, "www.new.example.", NULL, NULL, 1), "");
	lists_end(&m);
}

static void a_list_that_is_broken_after_a_reload_keeps_its_names(void **state)
{
	(void)state;
	struct lists l, m;

	write_file("all", "||a.example^\n");
	l = lists_of("blocklist:\n name: all\n file: @/all\n", NULL);
	write_file("all", "<html>\n");
	m = lists_of("blocklist:\n name: all\n action: refuse\n file: @/gone\n file: @/all\n", &l);
	assert_ptr_not_equal(m.b->at[0], l.b->at[0]);
	lists_end(&l);
	assert_string_equal(blocked_by(&m, "www.a.example.", NULL, NULL, 1), "all");
	assert_int_equal(m.b->at[0]->action, BLOCKLIST_REFUSE);
	lists_end(&m);
}

static void an_alias_is_checked_by_what_was_asked_too(void **state)
{
	(void)state;
	static const struct {
		const char *asked, *alias;
		bool blocked;
	} rows[] = {
		{ "www.example.", "t.tracker.example.", true },
		{ "free.example.", "t.tracker.example.", false },
		{ "www.example.", "fine.example.", false },
	};
	struct acl_tags tags = { .count = 0 };
	struct acl_rule rule = { .tags = &tags };
	struct blocklist_asker who = { .rule = &rule, .now_s = 1 };
	struct lists l;

	write_file("all", "||tracker.example^\n@@free.example^\n");
	l = lists_of("blocklist:\n name: all\n file: @/all\n", NULL);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct blocklist_found f;

		if (blocklists_block_alias(l.b, &who, N(rows[i].asked), N(rows[i].alias), TYPE_A,
					   &f) != rows[i].blocked)
			fail_msg("%s to %s", rows[i].asked, rows[i].alias);
	}
	assert_true(blocklists_might_block(l.b, N("x.tracker.example.")));
	assert_true(blocklists_might_block(l.b, N("free.example.")));
	assert_false(blocklists_might_block(l.b, N("example.")));
	lists_end(&l);
}

static void found_at(const char *where, unsigned line, const char *text,
		     const struct blocklist_rule *r, void *told)
{
	const char *slash = strrchr(where, '/');

	(void)r;
	snprintf((char *)told + strlen(told), 200 - strlen(told), "[%s:%u %s]", slash + 1, line,
		 text);
}

static void the_line_of_a_rule_is_found_again(void **state)
{
	(void)state;
	char told[200] = "";
	struct lists l;

	write_file("all", "# one\n0.0.0.0 a.example www.a.example\n||example.org^\n*.a.example\n");
	write_file("allow", "www.a.example\n");
	l = lists_of("blocklist:\n name: all\n file: @/all\n allow-file: @/allow\n", NULL);
	blocklist_loading_search(l.b->at[0], N("www.a.example."), found_at, told);
	assert_string_equal(told, "[all:2 0.0.0.0 a.example www.a.example]"
				  "[all:2 0.0.0.0 a.example www.a.example]"
				  "[all:4 *.a.example][allow:1 www.a.example]");
	assert_string_equal(blocked_by(&l, "www.a.example.", NULL, NULL, 1), "");
	lists_end(&l);
}

/* A cached answer without records. Free with mem_free. */
static struct stored *stored_for(const char *name)
{
	size_t len = dname_len(N(name));
	struct stored *s = mem_zero(sizeof(*s) + MSG_HEAD_LEN + len + 4);

	s->qname_len = (uint8_t)len;
	s->wire_len = (uint16_t)(MSG_HEAD_LEN + len + 4);
	memcpy((uint8_t *)s->data + MSG_HEAD_LEN, N(name), len);
	((uint8_t *)s->data)[MSG_HEAD_LEN + len + 1] = TYPE_A;
	((uint8_t *)s->data)[MSG_HEAD_LEN + len + 3] = CLASS_IN;
	return s;
}

/* Whether the answer is to be looked at again once these lists have found it harmless. */
static bool is_doubted_after(const struct lists *l, struct stored *s)
{
	struct acl_tags tags = { .count = 0 };
	struct acl_rule rule = { .tags = &tags };
	struct blocklist_asker who = { .rule = &rule, .now_s = 1 };
	struct blocklist_found f;

	assert_false(blocklists_block_stored(l->b, &who, s, &f));
	return blocklists_doubt(l->b, s);
}

static void older_lists_do_not_speak_for_newer_ones(void **state)
{
	(void)state;
	static const char one[] = "blocklist:\n name: all\n file: @/all\n";
	static const char two[] = "blocklist:\n name: all\n file: @/all\n"
				  "blocklist:\n name: more\n file: @/more\n";
	struct stored *s = stored_for("www.example.");
	struct lists l, m, n;

	write_file("all", "other.example\n");
	write_file("more", "||www.example^\n");
	l = lists_of(one, NULL);
	assert_true(blocklists_doubt(l.b, s));
	assert_false(is_doubted_after(&l, s));
	m = lists_of(two, &l);
	assert_true(blocklists_doubt(m.b, s));
	/* a worker that has not got the new lists yet */
	assert_true(is_doubted_after(&l, s));
	assert_true(blocklists_doubt(m.b, s));
	n = lists_of(one, &m);
	assert_true(is_doubted_after(&l, s));
	assert_false(is_doubted_after(&n, s));
	assert_false(blocklists_doubt(n.b, s));
	lists_end(&l);
	lists_end(&m);
	lists_end(&n);
	mem_free(s);
}

static void no_generation_comes_twice(void **state)
{
	(void)state;
	static const uint32_t rows[] = { 1, 0xfffe, 0xffff, 0x10000, 0xfffffffd, 0xfffffffe, 0xffffffff };
	struct lists l;

	write_file("all", "other.example\n");
	l = lists_of("blocklist:\n name: all\n file: @/all\n", NULL);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct stored *s = stored_for("www.example.");
		bool is_last;

		atomic_store(&l.b->state->generation, rows[i]);
		is_last = rows[i] == UINT32_MAX;
		if (is_doubted_after(&l, s) != is_last)
			fail_msg("%x: the mark is wrong", (unsigned)rows[i]);
		blocklists_deny(l.b, N("a.test.")); /* a change counts one up, as far as that goes */
		assert_int_equal(atomic_load(&l.b->state->generation), rows[i] + !is_last);
		for (uint32_t change = 0; change < 70000 && change <= UINT32_MAX - rows[i]; change++) {
			atomic_store(&l.b->state->generation, rows[i] + change);
			if ((change || is_last) && !blocklists_doubt(l.b, s))
				fail_msg("%x: after %u changes it counts again", (unsigned)rows[i], change);
		}
		(void)blocklists_forget(l.b, N("a.test."));
		mem_free(s);
	}
	lists_end(&l);
}

static void no_clock_keeps_a_url_from_being_asked(void **state)
{
	(void)state;
	enum { DAY = 86400, NOW = 1800000000 };
	static const struct {
		const char *why;
		int64_t size, due_s;
		bool want;
	} rows[] = {
		{ "it is time", 10, NOW, true },
		{ "in an hour", 10, NOW + 3600, false },
		{ "in a day, as configured", 10, NOW + DAY, false },
		{ "nothing is there yet", -1, NOW + 3600, true },
		{ "set when the clock stood ten years ahead", 10, NOW + 3652LL * DAY, true },
		{ "set when it stood at 1970", 10, DAY, true },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct source s = { .size = rows[i].size, .due_s = rows[i].due_s };

		if (blocklist_source_is_due(&s, DAY, NOW) != rows[i].want)
			fail_msg("%s", rows[i].why);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_client_has_its_lists_and_the_first_decides),
		cmocka_unit_test(a_pause_ends_by_itself),
		cmocka_unit_test(rules_given_at_run_time_come_first_and_outlive_reloads),
		cmocka_unit_test(a_list_that_is_broken_after_a_reload_keeps_its_names),
		cmocka_unit_test(an_alias_is_checked_by_what_was_asked_too),
		cmocka_unit_test(the_line_of_a_rule_is_found_again),
		cmocka_unit_test(older_lists_do_not_speak_for_newer_ones),
		cmocka_unit_test(no_generation_comes_twice),
		cmocka_unit_test(no_clock_keeps_a_url_from_being_asked),
	};
	static const char *const files[] = { "all", "kids", "view", "allow" };
	int failed;

	if (!mkdtemp(folder))
		return 1;
	rcu_thread_join();
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	rcu_flush();
	rcu_thread_leave();
	for (size_t i = 0; i < COUNT(files); i++) {
		char path[200];

		snprintf(path, sizeof(path), "%s/%s", folder, files[i]);
		(void)unlink(path);
	}
	(void)rmdir(folder);
	return failed;
}
