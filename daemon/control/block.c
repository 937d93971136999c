/* Commands about blocklists: status, reloading, pauses, rules, testing a name.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Rules and pauses given here survive reloads and last until the process ends, or longer if changes are kept. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "daemon/control/call_json.h"
#include "daemon/control/changes.h"
#include "daemon/control/stats.h"
#include "daemon/process/daemon.h"
#include "daemon/worker/worker.h"
#include "services/blocklist/load.h"
#include "services/policy/policy.h"
#include "services/policy/views.h"
#include "services/query/snapshot.h"
#include "services/stats/stats.h"
#include "util/base/mem.h"
#include "util/dns/rr.h"

enum { YEAR_S = 31536000 };

static struct blocklists *lists_of(const struct call *c)
{
	return call_snapshot(c)->policy->lists;
}

static uint32_t now_s(const struct call *c)
{
	return loop_time(c->daemon->loop)->now_s;
}

/* ---- status ---- */

static const char *const action_words[] = {
	[BLOCKLIST_NXDOMAIN] = "nxdomain", [BLOCKLIST_NODATA] = "nodata", [BLOCKLIST_NULL] = "null",
	[BLOCKLIST_REFUSE] = "refuse",     [BLOCKLIST_ADDRESS] = "address", [BLOCKLIST_DROP] = "drop",
};

static const char *action_print(const struct blocklist *l, char text[3 * ADDR_TEXT])
{
	int len = snprintf(text, ADDR_TEXT, "%s", action_words[l->action]);

	for (int i = 0; i < 2 && l->action == BLOCKLIST_ADDRESS; i++) {
		char addr[ADDR_TEXT];

		if (l->addr[i].family)
			len += snprintf(text + len, ADDR_TEXT, " %s",
					addr_print(&l->addr[i], 0, addr));
	}
	return text;
}

static void put_action(struct json *j, const struct blocklist *l)
{
	char addr[ADDR_TEXT];

	json_text(j, "action", action_words[l->action]);
	if (l->action != BLOCKLIST_ADDRESS)
		return;
	json_open(j, "addresses", '[');
	for (int i = 0; i < 2; i++)
		if (l->addr[i].family)
			json_text(j, NULL, addr_print(&l->addr[i], 0, addr));
	json_close(j, ']');
}

static void say_ago(struct call *c, const char *what, int64_t then_s)
{
	if (then_s)
		call_say(c, " %s %" PRId64 " s ago", what, MAX((int64_t)time(NULL) - then_s, 0));
}

static void say_skips(struct call *c, const struct blocklist_counts *counts)
{
	for (int i = 0; i < BLOCKLIST_SKIP_KINDS; i++)
		if (counts->skipped[i])
			call_say(c, "    ignored: %" PRIu64 " %s\n", counts->skipped[i],
				 blocklist_skip_what[i]);
	if (counts->first_bad)
		call_say(c, "    first invalid line: %u: %s\n", counts->first_bad,
			 counts->first_bad_text);
}

static const char *const kinds[] = {
	[BLOCKLIST_FROM_FILE] = "file", [BLOCKLIST_FROM_URL] = "url", [BLOCKLIST_FROM_ALLOW] = "allow-file"
};

/* Times are seconds since 1970. */
static void put_source(const struct blocklist_source *s, void *json)
{
	const struct blocklist_counts *n = s->counts;
	struct json *j = json;

	json_open(j, NULL, '{');
	json_text(j, "kind", kinds[s->kind]);
	json_text(j, "where", s->where);
	json_number(j, "rules", n->rules);
	json_number(j, "lines", n->lines);
	if (s->good_s)
		json_signed(j, "read", s->good_s);
	if (s->failed_s) {
		json_signed(j, "failed", s->failed_s);
		json_text(j, "reason", s->why);
	}
	json_open(j, "ignored", '{');
	for (int i = 0; i < BLOCKLIST_SKIP_KINDS; i++)
		if (n->skipped[i])
			json_number(j, blocklist_skip_what[i], n->skipped[i]);
	json_close(j, '}');
	if (n->first_bad) {
		json_number(j, "first_invalid_line", n->first_bad);
		json_text(j, "first_invalid_text", n->first_bad_text);
	}
	json_close(j, '}');
}

static void put_list(struct json *j, const struct blocklist *l, uint64_t blocked)
{
	const struct blocklist_table *t = RCU_READ(l->table);
	struct blocklist_age age;
	char stale[600];

	json_open(j, NULL, '{');
	json_text(j, "name", l->name);
	json_number(j, "names", blocklist_table_count(t));
	json_number(j, "bytes", blocklist_table_bytes(t));
	put_action(j, l);
	json_number(j, "blocked", blocked);
	json_number(j, "dropped_rules", blocklist_table_dropped(t));
	json_open(j, "sources", '[');
	blocklist_loading_tell(l, &age, stale, sizeof stale, put_source, j);
	json_close(j, ']');
	if (age.made_s)
		json_signed(j, "made", age.made_s);
	if (age.next_s)
		json_signed(j, "next_check", age.next_s);
	if (age.stale)
		json_text(j, "trouble", age.stale);
	json_close(j, '}');
}

static void say_source(const struct blocklist_source *s, void *call)
{
	struct call *c = call;

	call_say(c, "  %s %s: %" PRIu64 " rules in %" PRIu64 " lines", kinds[s->kind], s->where,
		 s->counts->rules, s->counts->lines);
	say_ago(c, s->kind == BLOCKLIST_FROM_URL ? "fetched" : "read", s->good_s);
	if (s->failed_s) {
		say_ago(c, "failed", s->failed_s);
		call_say(c, ": %s", s->why);
	}
	call_say(c, "\n");
	say_skips(c, s->counts);
}

static void say_list(struct call *c, const struct blocklist *l, uint64_t blocked)
{
	const struct blocklist_table *t = RCU_READ(l->table);
	char action[3 * ADDR_TEXT], stale[600];
	struct blocklist_age age;

	/* Get the age first: it is part of the line that precedes the sources. */
	blocklist_loading_tell(l, &age, stale, sizeof stale, NULL, NULL);
	call_say(c, "%s: %zu names in %zu bytes, action %s, blocked %" PRIu64 " times", l->name,
		 blocklist_table_count(t), blocklist_table_bytes(t), action_print(l, action),
		 blocked);
	say_ago(c, "made", age.made_s);
	if (age.next_s)
		call_say(c, " next check in %" PRId64 " s",
			 MAX(age.next_s - (int64_t)time(NULL), 0));
	call_say(c, "\n");
	if (blocklist_table_dropped(t))
		call_say(c, "  ignored: %" PRIu64 " rules with modifiers, too many at one name\n",
			 blocklist_table_dropped(t));
	if (age.stale)
		call_say(c, "  update failed, old list stays in use: %s\n", age.stale);
	blocklist_loading_tell(l, &age, stale, sizeof stale, say_source, c);
}

static void say_rule(const uint8_t *name, bool allows, void *call)
{
	char text[DNAME_TEXT];

	call_say(call, "%s %s\n", allows ? "allowed:" : "denied:", dname_print(name, text));
}

static void say_pause(const char *view, uint32_t left_s, void *call)
{
	call_say(call, "paused for %" PRIu32 " s%s%s\n", left_s, view ? " in the view " : "",
		 view ? view : "");
}

static void put_rule(const uint8_t *name, bool allows, void *json)
{
	char text[DNAME_TEXT];

	json_open(json, NULL, '{');
	json_text(json, "name", dname_print(name, text));
	json_text(json, "rule", allows ? "allowed" : "denied");
	json_close(json, '}');
}

static void put_pause(const char *view, uint32_t left_s, void *json)
{
	json_open(json, NULL, '{');
	json_number(json, "left", left_s);
	if (view)
		json_text(json, "view", view);
	json_close(json, '}');
}

static void put_status(struct json *j, const struct call *c, const struct blocklists *b, const uint64_t *blocked)
{
	json_open(j, "lists", '[');
	for (size_t i = 0; i < b->count; i++)
		put_list(j, b->at[i], blocked[b->at[i]->slot]);
	json_close(j, ']');
	json_open(j, "rules", '[');
	blocklists_each_rule(b, put_rule, j);
	json_close(j, ']');
	json_open(j, "pauses", '[');
	blocklists_each_pause(b, now_s(c), put_pause, j);
	json_close(j, ']');
}

/* Sums the counts of blocked queries over the workers, in call->data. */
void control_blocklist_status(struct call *c, struct worker *w)
{
	const struct blocklists *b = lists_of(c);
	uint64_t *blocked = c->data;

	if (!blocked)
		blocked = c->data = mem_zero((STAT_LISTS + 1) * sizeof *blocked);
	if (w) {
		for (unsigned i = 0; i <= STAT_LISTS; i++)
			blocked[i] += stat_get(&w->env.stats->blocked_by[i]);
		return;
	}
	if (c->json) {
		put_status(call_object(c), c, b, blocked);
		return;
	}
	for (size_t i = 0; i < b->count; i++)
		say_list(c, b->at[i], blocked[b->at[i]->slot]);
	blocklists_each_rule(b, say_rule, c);
	blocklists_each_pause(b, now_s(c), say_pause, c);
	if (!b->count)
		call_say(c, "there is no blocklist\n");
}

void blocklist_stats_say(const struct blocklists *b, const struct stats *total,
			 void (*out)(const char *line, void *arg), void *arg)
{
	char line[300];

	if (!blocklists_exist(b))
		return;
	snprintf(line, sizeof line, "num.query.blocked=%" PRIu64,
		 stat_get(&total->blocked));
	out(line, arg);
	for (size_t i = 0; i < b->count; i++) {
		snprintf(line, sizeof line, "num.query.blocked.%.200s=%" PRIu64, b->at[i]->name,
			 stat_get(&total->blocked_by[b->at[i]->slot]));
		out(line, arg);
	}
}

/* ---- reloading lists ---- */

void control_blocklist_reload(struct call *c, struct worker *w)
{
	const struct blocklists *b = lists_of(c);
	struct blocklist *one = *c->args ? blocklists_find(b, c->args) : NULL;

	(void)w;
	if (*c->args && !one) {
		call_say(c, "error there is no blocklist %s\n", c->args);
		return;
	}
	for (size_t i = 0; i < b->count; i++)
		if (!one || b->at[i] == one)
			blocklist_loading_hurry(b->at[i]);
	call_ok(c);
}

/* ---- pauses ---- */

/* "90", "90s", "30m", "1h", "2d", up to a year; 0: none of these. */
static uint32_t seconds_in(const char *word)
{
	static const struct {
		const char *unit;
		uint32_t s;
	} units[] = { { "", 1 }, { "s", 1 }, { "m", 60 }, { "h", 3600 }, { "d", 86400 } };
	char *end;
	unsigned long n = *word >= '0' && *word <= '9' ? strtoul(word, &end, 10) : 0;

	for (size_t i = 0; n && i < COUNT(units); i++)
		if (strcmp(end, units[i].unit) == 0)
			return n <= YEAR_S / units[i].s ? (uint32_t)n * units[i].s : 0;
	return 0;
}

static bool keep_pause(struct call *c, uint32_t s, const char *view)
{
	char *command = mem_textf("blocklist_pause until=%" PRId64 "%s%s", (int64_t)time(NULL) + s, view ? " " : "", view ? view : "");
	bool kept = control_keep(c, command);

	mem_free(command);
	return kept;
}

void control_blocklist_pause(struct call *c, struct worker *w)
{
	const char *word = control_word(&c->args);
	uint32_t s = word ? seconds_in(word) : 0;
	const char *view = *c->args ? c->args : NULL;

	(void)w;
	if (!s) {
		call_say(c, "error expected a number of seconds, or of minutes (30m), hours (1h) or days (2d), a year at most\n");
		return;
	}
	if (view && !views_find(call_snapshot(c)->policy->views, view)) {
		call_say(c, "error no view with name: %s\n", view);
		return;
	}
	if (!keep_pause(c, s, view))
		return;
	blocklists_pause(lists_of(c), view, now_s(c) + s);
	call_ok(c);
}

void control_blocklist_resume(struct call *c, struct worker *w)
{
	struct json *j;
	bool ended;

	(void)w;
	if (!control_keep(c, "blocklist_resume"))
		return;
	ended = blocklists_resume(lists_of(c), now_s(c));
	j = call_object(c);
	if (j)
		json_bool(j, "was_paused", ended);
	else if (ended)
		call_ok(c);
	else
		call_say(c, "ok, there was no pause\n");
}

/* ---- rules ---- */

/* Take the name, and note the command. */
static bool take_rule(struct call *c, uint8_t name[DNAME_MAX])
{
	char text[DNAME_TEXT], *command;
	bool kept;

	if (!call_take_name(c, name))
		return false;
	command = control_change_print(c->command->word, NULL, dname_print(name, text));
	kept = control_keep(c, command);
	mem_free(command);
	return kept;
}

void control_blocklist_allow(struct call *c, struct worker *w)
{
	uint8_t name[DNAME_MAX];

	(void)w;
	if (!take_rule(c, name))
		return;
	blocklists_allow(lists_of(c), name);
	call_ok(c);
}

void control_blocklist_deny(struct call *c, struct worker *w)
{
	uint8_t name[DNAME_MAX];

	(void)w;
	if (!take_rule(c, name))
		return;
	blocklists_deny(lists_of(c), name);
	call_ok(c);
}

void control_blocklist_forget(struct call *c, struct worker *w)
{
	uint8_t name[DNAME_MAX];

	(void)w;
	if (!take_rule(c, name))
		return;
	if (blocklists_forget(lists_of(c), name))
		call_ok(c);
	else
		call_say(c, "error no rule was given for this name\n");
}

/* ---- testing a name ---- */

static const char *rule_print(const struct blocklist_rule *r)
{
	unsigned bits = (r->bits & BLOCKLIST_PLAIN) | r->bits >> BLOCKLIST_IMPORTANT_SHIFT;

	if (r->removes)
		return "takes back a rule";
	return bits & BLOCKLIST_ALLOW ? "allows" : "blocks";
}

static void put_line(const char *where, unsigned line, const char *text, const struct blocklist_rule *r, void *json)
{
	char name[DNAME_TEXT];

	json_open(json, NULL, '{');
	json_text(json, "where", where);
	json_number(json, "line", line);
	json_text(json, "text", text);
	json_text(json, "effect", rule_print(r));
	json_text(json, "name", dname_print(r->name, name));
	json_close(json, '}');
}

static void say_line(const char *where, unsigned line, const char *text,
		     const struct blocklist_rule *r, void *call)
{
	char name[DNAME_TEXT];

	call_say(call, "  %s:%u: %.200s (%s %s)\n", where, line, text, rule_print(r),
		 dname_print(r->name, name));
}

static void say_whom(struct call *c, const struct blocklist *l)
{
	if (l->for_all)
		return;
	call_say(c, ", for");
	for (size_t i = 0; i < l->view_count; i++)
		call_say(c, " the view %s", l->views[i]);
	if (!tagset_is_empty(&l->tags))
		call_say(c, " clients with its tags");
}

static void say_what(struct call *c, const struct blocklist *l, const struct blocklist_match *m)
{
	char action[3 * ADDR_TEXT];

	if (m->rewrites)
		call_say(c, " with an answer of its own");
	else
		call_say(c, " with %s", action_print(l, action));
	say_whom(c, l);
	call_say(c, "\n");
}

static void put_whom(struct json *j, const struct blocklist *l)
{
	json_bool(j, "for_all", l->for_all);
	json_open(j, "views", '[');
	for (size_t i = 0; !l->for_all && i < l->view_count; i++)
		json_text(j, NULL, l->views[i]);
	json_close(j, ']');
	json_bool(j, "for_tags", !l->for_all && !tagset_is_empty(&l->tags));
}

static void put_test(struct json *j, const struct blocklist *l, const uint8_t *name, uint16_t type)
{
	static const char *const words[] = {
		[BLOCKLIST_SAYS_NOTHING] = "no match", [BLOCKLIST_BLOCKS] = "blocks", [BLOCKLIST_ALLOWS] = "allows"
	};
	struct blocklist_match m = { 0 };
	enum blocklist_verdict v = blocklist_ask(l, name, type, &m);
	char text[DNAME_TEXT];

	json_open(j, NULL, '{');
	json_text(j, "list", l->name);
	json_text(j, "verdict", words[v]);
	if (v != BLOCKLIST_SAYS_NOTHING)
		json_text(j, "by", dname_print(dname_suffix(name, m.labels), text));
	if (v == BLOCKLIST_BLOCKS) {
		json_bool(j, "own_answer", m.rewrites);
		put_action(j, l);
		put_whom(j, l);
	}
	json_open(j, "lines", '[');
	if (v != BLOCKLIST_SAYS_NOTHING)
		blocklist_loading_search(l, name, put_line, j);
	json_close(j, ']');
	json_close(j, '}');
}

/* A list for some clients is reported, but does not count. */
static void test_list(struct call *c, const struct blocklist *l, const uint8_t *name,
		      uint16_t type)
{
	struct blocklist_match m = { 0 };
	enum blocklist_verdict v = blocklist_ask(l, name, type, &m);
	char text[DNAME_TEXT];

	if (v == BLOCKLIST_SAYS_NOTHING) {
		call_say(c, "list %s: no match\n", l->name);
		return;
	}
	call_say(c, "list %s %s it by %s", l->name, v == BLOCKLIST_BLOCKS ? "blocks" : "allows",
		 dname_print(dname_suffix(name, m.labels), text));
	if (v == BLOCKLIST_BLOCKS)
		say_what(c, l, &m);
	else
		call_say(c, "\n");
	blocklist_loading_search(l, name, say_line, c);
}

static void note_paused(const char *view, uint32_t left_s, void *paused)
{
	(void)left_s;
	*(bool *)paused |= !view;
}

static bool blocks_all(const struct blocklist *l, const uint8_t *name)
{
	struct blocklist_match m = { 0 };

	return blocklist_ask(l, name, TYPE_A, &m) == BLOCKLIST_BLOCKS && l->for_all;
}

/* What was decided at run time comes before the lists. */
static bool is_blocked(const struct blocklists *b, const uint8_t *name, enum blocklist_verdict own)
{
	bool blocked = own == BLOCKLIST_BLOCKS;

	for (size_t i = 0; own == BLOCKLIST_SAYS_NOTHING && i < b->count; i++)
		blocked |= blocks_all(b->at[i], name);
	return blocked;
}

struct tested {
	const struct blocklists *lists;
	const uint8_t *name;
	enum blocklist_verdict own;
	bool blocked, paused;
};

static void put_tested(struct json *j, const struct tested *t)
{
	char text[DNAME_TEXT];

	json_text(j, "name", dname_print(t->name, text));
	json_bool(j, "blocked", t->blocked);
	json_bool(j, "paused", t->paused);
	if (t->own != BLOCKLIST_SAYS_NOTHING)
		json_text(j, "rule", t->own == BLOCKLIST_BLOCKS ? "denied" : "allowed");
	json_open(j, "lists", '[');
	for (size_t i = 0; i < t->lists->count; i++)
		put_test(j, t->lists->at[i], t->name, TYPE_A);
	json_close(j, ']');
}

static void say_tested(struct call *c, const struct tested *t)
{
	char text[DNAME_TEXT];

	if (t->own != BLOCKLIST_SAYS_NOTHING)
		call_say(c, "at run time it was %s\n", t->own == BLOCKLIST_BLOCKS ? "denied" : "allowed");
	for (size_t i = 0; i < t->lists->count; i++)
		test_list(c, t->lists->at[i], t->name, TYPE_A);
	call_say(c, "%s is %s\n", dname_print(t->name, text), t->blocked ? "blocked" : "not blocked");
	if (t->blocked && t->paused)
		call_say(c, "but blocking is paused\n");
}

void control_blocklist_test(struct call *c, struct worker *w)
{
	struct tested t = { .lists = lists_of(c) };
	uint8_t name[DNAME_MAX];

	(void)w;
	if (!call_take_name(c, name))
		return;
	t.name = name;
	t.own = blocklists_ask_own(t.lists, name);
	t.blocked = is_blocked(t.lists, name, t.own);
	blocklists_each_pause(t.lists, now_s(c), note_paused, &t.paused);
	if (c->json)
		put_tested(call_object(c), &t);
	else
		say_tested(c, &t);
}
