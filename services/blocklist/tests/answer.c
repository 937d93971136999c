/* Claims about what a blocked name is answered with, and which aliases of an answer block it.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/blocklist/answer.h"

#include <stdio.h>

#include "services/access/acl.h"
#include "services/history/decision.h"
#include "services/history/querylog.h"
#include "services/stats/stats.h"
#include "services/tests/conf.h"
#include "services/tests/made.h"
#include "util/base/hash.h"
#include "util/base/mem.h"
#include "util/base/rcu.h"

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

static struct conf *conf;

/* Lists of this configuration, with these rules in their order. */
static struct blocklists *lists_of(const char *text, const char *const *rules)
{
	struct fault f = { 0 };
	struct blocklists *b;

	conf = conf_from(text);
	b = blocklists_new(conf, &f);
	if (!b)
		fail_msg("%s", f.text);
	atomic_store(&b->state->seed, SEED);
	for (size_t i = 0; i < b->count; i++)
		blocklist_publish(b->at[i], table_of(rules[i]));
	return b;
}

static void lists_end(struct blocklists *b)
{
	blocklists_free(b);
	conf_free(conf);
}

/* "RCODE [aa] EDE", then each record. */
static const char *say(const struct message *m, uint32_t now_s)
{
	static char text[1000];
	char rcode[16];
	size_t len = (size_t)snprintf(text, sizeof(text), "%s%s", rr_rcode_name(m->rcode, rcode), m->flags & FLAG_AA ? " aa" : "");

	for (unsigned i = 0; i < message_set_count(m); i++) {
		const struct rrset *s = m->sets[i];

		for (unsigned n = 0; n < s->count; n++) {
			char line[200];

			(void)text_rr_print(line, sizeof(line), rrset_owner(s), s->expires_s - now_s, s->class_, s->type, rrset_record(s, n));
			for (char *c = line; *c; c++)
				*c = *c == '\t' ? ' ' : *c;
			len += (size_t)snprintf(text + len, sizeof(text) - len, "; %s", line);
		}
	}
	return text;
}

/* The answer on the wire, and that in place of another message, which must be the same. */
static const char *answer_of(const struct blocklist_found *f, uint16_t type)
{
	static const struct answer_style style = { .udp_size = 1232, .max_udp = 1232 };
	static const struct rrset *none[1];
	struct request r = { .q = made_question("x.test.", type), .flags = FLAG_RD };
	struct answer_to to = { .style = &style, .request = &r, .stream = true };
	struct message m, before = { .q = r.q, .flags = FLAG_QR | FLAG_AA, .sets = none, .security = SECURITY_SECURE };
	const struct message *in_place;
	uint8_t room[4096];
	struct writer out = writer_over(room, sizeof(room));
	static char text[1000];
	struct arena a;

	arena_init(&a);
	switch (blocklist_answer(f, &to, &out)) {
	case BLOCKLIST_END_DROP:
		assert_null(blocklist_message(f, &before, 1000, &a));
		return "drop";
	case BLOCKLIST_END_FOLLOW: {
		struct alias_prefix aliases;
		char name[DNAME_TEXT];

		assert_true(blocklist_leads_on(f, type));
		blocklist_alias_prefix(f, &r.q, &a, &aliases);
		assert_int_equal(aliases.count, 1);
		assert_int_equal(aliases.sets[0]->expires_s, 60);
		assert_int_equal(aliases.sets[0]->ttl_s, 60);
		assert_true(dname_equals(rrset_owner(aliases.sets[0]), r.q.name));
		snprintf(text, sizeof(text), "follow %s", dname_print(aliases.target, name));
		arena_clear(&a);
		return text;
	}
	default:
		break;
	}
	assert_false(blocklist_leads_on(f, type));
	assert_true(msg_parse(room, writer_len(&out), &a, 0, &m));
	snprintf(text, sizeof(text), "%s", say(&m, 0));
	in_place = blocklist_message(f, &before, 1000, &a);
	assert_non_null(in_place);
	assert_int_equal(in_place->security, SECURITY_INSECURE);
	assert_int_equal(in_place->reason, f->list->reason);
	assert_string_equal(in_place->reason_text, f->list->reason_text);
	assert_int_equal(in_place->flags & FLAG_AA, 0);
	assert_string_equal(say(in_place, 1000), text);
	arena_clear(&a);
	return text;
}

/* ---- claims ---- */

static void a_list_answers_as_configured(void **state)
{
	(void)state;
	static const struct {
		const char *action;
		uint16_t type;
		const char *want;
	} rows[] = {
		{ "nxdomain", TYPE_A, "NXDOMAIN" },
		{ "nodata", TYPE_A, "NOERROR" },
		{ "refuse", TYPE_A, "REFUSED" },
		{ "drop", TYPE_A, "drop" },
		{ "null", TYPE_A, "NOERROR; x.test. 60 IN A 0.0.0.0" },
		{ "null", TYPE_AAAA, "NOERROR; x.test. 60 IN AAAA ::" },
		{ "null", TYPE_TXT, "NOERROR" },
		{ "null", TYPE_HTTPS, "NOERROR" },
		{ "address 192.0.2.1", TYPE_A, "NOERROR; x.test. 60 IN A 192.0.2.1" },
		{ "address 192.0.2.1", TYPE_AAAA, "NOERROR" },
		{ "address 192.0.2.1", TYPE_TXT, "NOERROR" },
		{ "address 2001:db8::1", TYPE_A, "NOERROR" },
		{ "address 2001:db8::1", TYPE_AAAA, "NOERROR; x.test. 60 IN AAAA 2001:db8::1" },
		{ "address 192.0.2.1 2001:db8::1", TYPE_A, "NOERROR; x.test. 60 IN A 192.0.2.1" },
		{ "address 192.0.2.1 2001:db8::1", TYPE_AAAA, "NOERROR; x.test. 60 IN AAAA 2001:db8::1" },
		{ "address 192.0.2.1 2001:db8::1", TYPE_TXT, "NOERROR" },
	};

	for (size_t i = 0; i < COUNT(rows) * 2; i++) {
		static const char *const rules[] = { "||x.test^\n" };
		struct acl_tags tags = { .count = 0 };
		struct acl_rule rule = { .tags = &tags };
		struct blocklist_asker who = { .rule = &rule, .now_s = 1 };
		struct blocklist_found f;
		struct blocklists *b;
		char text[200];

		snprintf(text, sizeof(text), "blocklist:\n name: all\n file: /none\n action: \"%s\"\n", rows[i / 2].action);
		b = lists_of(text, rules);
		if (i % 2)
			blocklists_deny(b, N("x.test.")); /* acts as the first list does */
		assert_true(blocklists_block(b, &who, N("x.test."), rows[i / 2].type, &f));
		assert_int_equal(f.at_run_time, i % 2);
		assert_ptr_equal(f.list, i % 2 ? b->denied : b->at[0]);
		if (strcmp(answer_of(&f, rows[i / 2].type), rows[i / 2].want) != 0)
			fail_msg("%s: %s", rows[i / 2].want, answer_of(&f, rows[i / 2].type));
		lists_end(b);
	}
}

static void a_rule_answers_instead_of_its_list(void **state)
{
	(void)state;
	static const struct {
		const char *rules;
		uint16_t type;
		const char *want;
	} rows[] = {
		{ "||x.test^$dnsrewrite=192.0.2.1\n", TYPE_A, "NOERROR; x.test. 60 IN A 192.0.2.1" },
		{ "||x.test^$dnsrewrite=192.0.2.1\n", TYPE_AAAA, "NOERROR" },
		{ "||x.test^$dnsrewrite=192.0.2.1\n||x.test^$dnsrewrite=192.0.2.2\n||x.test^$dnsrewrite=192.0.2.3\n", TYPE_A,
		  "NOERROR; x.test. 60 IN A 192.0.2.1; x.test. 60 IN A 192.0.2.2; x.test. 60 IN A 192.0.2.3" },
		{ "||x.test^$dnsrewrite=2001:db8::1\n||x.test^$dnsrewrite=192.0.2.2\n||x.test^$dnsrewrite=192.0.2.3\n", TYPE_A,
		  "NOERROR; x.test. 60 IN A 192.0.2.2; x.test. 60 IN A 192.0.2.3" },
		{ "||x.test^$dnsrewrite=REFUSED\n", TYPE_A, "REFUSED" },
		{ "||x.test^$dnsrewrite=NOERROR\n", TYPE_A, "NOERROR" },
		{ "||x.test^$dnsrewrite=safe.test\n", TYPE_A, "follow safe.test." },
		{ "||x.test^$dnsrewrite=safe.test\n", TYPE_CNAME, "NOERROR; x.test. 60 IN CNAME safe.test." },
		{ "||x.test^\n", TYPE_A, "drop" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct acl_tags tags = { .count = 0 };
		struct acl_rule rule = { .tags = &tags };
		struct blocklist_asker who = { .rule = &rule, .now_s = 1 };
		struct blocklist_found f;
		struct blocklists *b = lists_of("blocklist:\n name: all\n file: /none\n action: drop\n", &rows[i].rules);

		assert_true(blocklists_block(b, &who, N("x.test."), rows[i].type, &f));
		if (strcmp(answer_of(&f, rows[i].type), rows[i].want) != 0)
			fail_msg("%s: %s", rows[i].rules, answer_of(&f, rows[i].type));
		lists_end(b);
	}
}

/* As many records as an answer may have, and their order. */
static void no_more_records_than_there_may_be(void **state)
{
	(void)state;
	char text[BLOCKLIST_REWRITES * 2 * 40] = "";
	const char *rules = text;
	struct acl_tags tags = { .count = 0 };
	struct acl_rule rule = { .tags = &tags };
	struct blocklist_asker who = { .rule = &rule, .now_s = 1 };
	struct blocklist_found f;
	struct blocklists *b;
	unsigned count = 0;

	for (unsigned i = 0; i < 2 * BLOCKLIST_REWRITES; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "||%sx.test^$dnsrewrite=192.0.2.%u\n", i % 2 ? "a." : "", i);
	b = lists_of("blocklist:\n name: all\n file: /none\n", &rules);
	assert_true(blocklists_block(b, &who, N("a.x.test."), TYPE_A, &f));
	assert_int_equal(f.match.rewrites, BLOCKLIST_REWRITES);
	assert_int_equal(f.match.labels, 3);
	for (const char *at = answer_of(&f, TYPE_A); (at = strstr(at, "; ")); at++)
		count++;
	assert_int_equal(count, BLOCKLIST_REWRITES);
	lists_end(b);
}

/* ---- aliases ---- */

#define Q     "\0\0\0\0\0\1\0\0\0\0\0\0" "\1x\4test" "\0\0\1\0\1"
#define ALIAS "\300\14\0\5\0\1\0\0\0\74"
#define ADDR  "\300\14\0\1\0\1\0\0\0\74\0\4\300\0\2\1"
#define BAD   "\0\6\3bad\300\16" /* bad.test */
#define GOOD  "\0\7\4good\300\16"

/* A cached answer whose answer section has `count` records, and these bytes. */
static struct stored *stored_with(const char *records, size_t len, unsigned count)
{
	struct stored *s = mem_zero(sizeof(*s) + sizeof(Q) - 1 + len);
	uint8_t *wire = (uint8_t *)s->data;

	s->qname_len = 8;
	s->wire_len = (uint16_t)(sizeof(Q) - 1 + len);
	memcpy(wire, Q, sizeof(Q) - 1);
	memcpy(wire + sizeof(Q) - 1, records, len);
	put_u16(wire + 6, (uint16_t)count);
	return s;
}

static void an_alias_to_what_is_blocked_is_found(void **state)
{
	(void)state;
#define RAW(s) s, sizeof(s) - 1
	static const struct {
		const char *why, *records;
		size_t len;
		unsigned count;
		bool blocked, marked;
	} rows[] = {
		{ "nothing", RAW(""), 0, false, true },
		{ "to it", RAW(ALIAS BAD), 1, true, false },
		{ "to another", RAW(ALIAS GOOD), 1, false, true },
		{ "to what is blocked for others", RAW(ALIAS "\0\7\4kids\300\16"), 1, false, false },
		{ "the second", RAW(ALIAS GOOD ALIAS BAD), 2, true, false },
		{ "behind an address", RAW(ADDR ALIAS BAD), 2, true, false },
		{ "behind what is blocked for others", RAW(ALIAS "\0\7\4kids\300\16" ALIAS BAD), 2, true, false },
		{ "of a name written out", RAW("\1x\4test\0\0\5\0\1\0\0\0\74" BAD), 1, true, false },
		{ "beyond the section", RAW(ALIAS BAD), 0, false, true },
		{ "beyond the section, the second", RAW(ADDR ALIAS BAD), 1, false, true },
		{ "a record that is cut", RAW("\300\14\0\5\0\1\0\0\0\74\0\6\3bad\300"), 1, false, true },
		{ "a head that is cut", RAW("\300\14\0\5\0\1\0\0"), 1, false, true },
		{ "a name that is none", RAW(ALIAS "\0\2\300\377" ALIAS BAD), 2, false, true },
		{ "what lies behind the name in its record", RAW(ALIAS "\0\10\4good\300\16z" ALIAS BAD), 2, true, false },
		{ "a name in another type's data", RAW("\300\14\0\47\0\1\0\0\0\74" BAD), 1, false, true },
	};
	static const char *const rules[] = { "||bad.test^\n", "||kids.test^\n" };
	struct blocklists *b = lists_of("server:\n define-tag: kids\nblocklist:\n name: all\n file: /none\n"
					"blocklist:\n name: kids\n tags: kids\n file: /none\n", rules);
	struct acl_tags tags = { .count = 0 };
	struct acl_rule rule = { .tags = &tags };
	struct blocklist_asker who = { .rule = &rule, .now_s = 1 };

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct stored *s = stored_with(rows[i].records, rows[i].len, rows[i].count);
		struct blocklist_found f;

		assert_true(blocklists_doubt(b, s));
		if (blocklists_block_stored(b, &who, s, &f) != rows[i].blocked)
			fail_msg("%s", rows[i].why);
		if (rows[i].blocked)
			assert_ptr_equal(f.list, b->at[0]);
		if (blocklists_doubt(b, s) == rows[i].marked)
			fail_msg("%s: the mark", rows[i].why);
		mem_free(s);
	}
	lists_end(b);
}

/* An answer is marked only if no list mentions its own name either, for anybody. */
static void who_is_named_is_looked_at_again(void **state)
{
	(void)state;
	static const char *const rules[] = { "||x.test^$client=10.0.0.1\n" };
	struct blocklists *b = lists_of("blocklist:\n name: all\n file: /none\n", rules);
	struct acl_tags tags = { .count = 0 };
	struct acl_rule rule = { .tags = &tags };
	struct addr from = { .family = 4, .ip = { 10, 0, 0, 2 } };
	struct blocklist_asker who = { .rule = &rule, .from = &from, .now_s = 1 };
	struct stored *s = stored_with("", 0, 0);
	struct blocklist_found f;

	assert_false(blocklists_block_stored(b, &who, s, &f));
	assert_true(blocklists_doubt(b, s));
	assert_false(blocklists_block(b, &who, N("x.test."), TYPE_A, &f));
	from.ip[3] = 1;
	assert_true(blocklists_block(b, &who, N("x.test."), TYPE_A, &f));
	mem_free(s);
	lists_end(b);
}

static void aliases_of_messages_are_checked_alike(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		struct made is;
		bool blocked;
	} rows[] = {
		{ "none", { "x.test.", TYPE_A, 0, { "x.test. 60 A 192.0.2.1", NULL, NULL } }, false },
		{ "to another", { "x.test.", TYPE_A, 0, { "x.test. 60 CNAME good.test.", NULL, NULL } }, false },
		{ "to it", { "x.test.", TYPE_A, 0, { "x.test. 60 CNAME bad.test.", NULL, NULL } }, true },
		{ "the second", { "x.test.", TYPE_A, 0, { "x.test. 60 CNAME good.test.\ngood.test. 60 CNAME a.bad.test.", NULL, NULL } }, true },
		{ "of a name that is allowed", { "free.test.", TYPE_A, 0, { "free.test. 60 CNAME bad.test.", NULL, NULL } }, false },
		{ "elsewhere", { "x.test.", TYPE_A, 0, { NULL, "x.test. 60 CNAME bad.test.", "x.test. 60 CNAME bad.test." } }, false },
		{ "another type", { "x.test.", TYPE_A, 0, { "x.test. 60 DNAME bad.test.", NULL, NULL } }, false },
		{ "a type of which it is not blocked", { "x.test.", TYPE_A, 0, { "x.test. 60 CNAME six.test.", NULL, NULL } }, false },
		{ "that type", { "x.test.", TYPE_AAAA, 0, { "x.test. 60 CNAME six.test.", NULL, NULL } }, true },
	};
	static const char *const rules[] = { "||bad.test^\n@@||free.test^\n||six.test^$dnstype=AAAA\n" };
	struct blocklists *b = lists_of("blocklist:\n name: all\n file: /none\n", rules);
	struct acl_tags tags = { .count = 0 };
	struct acl_rule rule = { .tags = &tags };
	struct blocklist_asker who = { .rule = &rule, .now_s = 1 };
	struct arena a;

	arena_init(&a);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct blocklist_found f;

		if (blocklists_block_message(b, &who, made_message(&a, 0, &rows[i].is), &f) != rows[i].blocked)
			fail_msg("%s", rows[i].why);
	}
	arena_clear(&a);
	lists_end(b);
}

/* Rules given at run time precede the lists, for the name asked for and for its aliases; pauses hold for both. */
static void what_is_said_at_run_time_comes_first(void **state)
{
	(void)state;
	static const struct {
		const char *why, *allow, *deny, *asked, *alias;
		uint32_t paused;
		bool blocked, at_run_time;
	} rows[] = {
		{ "a list", NULL, NULL, "x.test.", "bad.test.", 0, true, false },
		{ "a list, paused", NULL, NULL, "x.test.", "bad.test.", 2, false, false },
		{ "a list, after a pause", NULL, NULL, "x.test.", "bad.test.", 1, true, false },
		{ "allowed", "bad.test.", NULL, "x.test.", "bad.test.", 0, false, false },
		{ "what was asked is allowed", "x.test.", NULL, "x.test.", "bad.test.", 0, false, false },
		{ "what was asked is allowed, the alias denied", "x.test.", "good.test.", "x.test.", "good.test.", 0, false, false },
		{ "denied", NULL, "good.test.", "x.test.", "good.test.", 0, true, true },
		{ "denied, paused", NULL, "good.test.", "x.test.", "good.test.", 2, false, false },
		{ "denied and in a list", NULL, "bad.test.", "x.test.", "bad.test.", 0, true, true },
		{ "neither", NULL, "other.test.", "x.test.", "good.test.", 0, false, false },
	};
	static const char *const rules[] = { "||bad.test^\n" };

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct blocklists *b = lists_of("blocklist:\n name: all\n file: /none\n", rules);
		struct acl_tags tags = { .count = 0 };
		struct acl_rule rule = { .tags = &tags };
		struct blocklist_asker who = { .rule = &rule, .now_s = 1 };
		struct blocklist_found f = { .list = NULL };

		if (rows[i].allow)
			blocklists_allow(b, N(rows[i].allow));
		if (rows[i].deny)
			blocklists_deny(b, N(rows[i].deny));
		if (rows[i].paused)
			blocklists_pause(b, NULL, rows[i].paused);
		if (blocklists_block_alias(b, &who, N(rows[i].asked), N(rows[i].alias), TYPE_A, &f) != rows[i].blocked)
			fail_msg("%s", rows[i].why);
		if (rows[i].blocked && f.at_run_time != rows[i].at_run_time)
			fail_msg("%s: by whom", rows[i].why);
		assert_int_equal(blocklists_ask_own(b, N(rows[i].alias)),
				 rows[i].deny && strcmp(rows[i].deny, rows[i].alias) == 0 ? BLOCKLIST_BLOCKS
				 : rows[i].allow && strcmp(rows[i].allow, rows[i].alias) == 0
					 ? BLOCKLIST_ALLOWS
					 : BLOCKLIST_SAYS_NOTHING);
		lists_end(b);
	}
}

static void a_pause_is_for_a_view_or_for_all(void **state)
{
	(void)state;
	static const struct {
		const char *pauses, *view;
		bool blocked;
	} rows[] = {
		{ NULL, "members", false }, { NULL, NULL, false },     { "members", "members", false },
		{ "members", NULL, true },  { "members", "staff", true },
	};
	static const char *const rules[] = { "||bad.test^\n" };

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct blocklists *b = lists_of("blocklist:\n name: all\n file: /none\n", rules);
		struct acl_tags tags = { .count = 0 };
		struct acl_rule rule = { .tags = &tags, .view = rows[i].view };
		struct blocklist_asker who = { .rule = &rule, .now_s = 1 };
		struct blocklist_found f;

		blocklists_pause(b, rows[i].pauses, 100);
		if (blocklists_block(b, &who, N("bad.test."), TYPE_A, &f) != rows[i].blocked)
			fail_msg("row %zu", i);
		lists_end(b);
	}
}

static void what_blocked_is_told_and_counted(void **state)
{
	(void)state;
	static const char *const rules[] = { "||bad.test^\n" };
	struct blocklists *b = lists_of("blocklist:\n name: all\n file: /none\n", rules);
	struct blocklist_found f = { .list = b->at[0] };
	struct decision s = { 0 };
	static struct stats stats;

	blocklist_tell(&f, NULL);
	blocklist_tell(&f, &s);
	assert_int_equal(s.how, DECIDED_BLOCKED);
	assert_string_equal(s.what, "blocklist all");
	f.at_run_time = true;
	blocklist_tell(&f, &s);
	assert_string_equal(s.what, "blocklist_deny");
	blocklist_count(NULL, &f);
	blocklist_count(&stats, &f);
	assert_int_equal(atomic_load(&stats.blocked), 1);
	assert_int_equal(atomic_load(&stats.blocked_by[b->at[0]->slot]), 1);
	lists_end(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_list_answers_as_configured),
		cmocka_unit_test(a_rule_answers_instead_of_its_list),
		cmocka_unit_test(no_more_records_than_there_may_be),
		cmocka_unit_test(an_alias_to_what_is_blocked_is_found),
		cmocka_unit_test(who_is_named_is_looked_at_again),
		cmocka_unit_test(aliases_of_messages_are_checked_alike),
		cmocka_unit_test(what_is_said_at_run_time_comes_first),
		cmocka_unit_test(a_pause_is_for_a_view_or_for_all),
		cmocka_unit_test(what_blocked_is_told_and_counted),
	};
	int failed;

	hash_start(true);
	rcu_thread_join();
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	rcu_flush();
	rcu_thread_leave();
	return failed;
}
