/* Commands about the changes that commands have made: listing, undoing, exporting them.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/control/changes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "daemon/control/call_json.h"
#include "daemon/control/call_text.h"
#include "daemon/process/daemon.h"
#include "services/policy/policy.h"
#include "services/query/snapshot.h"
#include "util/base/fault.h"
#include "util/base/mem.h"
#include "util/conf/options.h"
#include "util/dns/dname.h"

/* ---- noting ---- */

char *control_change_print(const char *word, const char *view, const char *args)
{
	return view ? mem_textf("view_%s %s %s", word, view, args) : mem_textf("%s %s", word, args);
}

static bool keep(struct call *c, const char *const *lines, size_t count)
{
	struct daemon *d = c->daemon;
	struct fault f = { 0 };

	if (changes_keep(&d->changes, call_snapshot(c), lines, count, &f))
		return true;
	call_say(c, "error %s\n", f.text);
	return false;
}

bool control_keep(struct call *c, const char *command)
{
	return keep(c, &command, 1);
}

void control_take_back(struct call *c)
{
	changes_take_back(&c->daemon->changes);
}

void kept_lines_add(struct kept_lines *k, char *command, size_t number)
{
	if ((k->count & (k->count - 1)) == 0) {
		size_t room = k->count ? 2 * k->count : 1;

		k->lines = mem_grow(k->lines, room * sizeof(char *));
		k->numbers = mem_grow(k->numbers, room * sizeof *k->numbers);
	}
	k->lines[k->count] = command;
	k->numbers[k->count++] = number;
}

void kept_lines_remove(struct kept_lines *k, size_t number)
{
	size_t kept = 0;

	for (size_t i = 0; i < k->count; i++) {
		if (k->numbers[i] == number) {
			mem_free(k->lines[i]);
			continue;
		}
		k->lines[kept] = k->lines[i];
		k->numbers[kept++] = k->numbers[i];
	}
	k->count = kept;
}

void kept_lines_clear(struct kept_lines *k)
{
	for (size_t i = 0; i < k->count; i++)
		mem_free(k->lines[i]);
	mem_free((void *)k->lines);
	mem_free(k->numbers);
	*k = (struct kept_lines){ 0 };
}

bool control_keep_lines(struct call *c, const struct kept_lines *k)
{
	return keep(c, (const char *const *)k->lines, k->count);
}

/* ---- listing ---- */

static bool are_kept(struct call *c)
{
	const struct changes *changes = &c->daemon->changes;

	if (!changes->kept)
		call_say(c, "error: keep-changes is no: what commands change lasts until the next reload\n");
	else if (changes->journal.unusable)
		call_say(c, "error %s\n", changes->journal.unusable);
	return changes->kept && !changes->journal.unusable;
}

static bool is_over(const struct changes_item *i)
{
	return i->is_readable && i->id.kind == CHANGE_blocklist_pause && i->until_s <= (int64_t)time(NULL);
}

static void print_time(int64_t wall_s, char to[32])
{
	time_t t = (time_t)wall_s;
	struct tm tm;

	if (!gmtime_r(&t, &tm) || !strftime(to, 32, "%Y-%m-%dT%H:%M:%SZ", &tm))
		strcpy(to, "-");
}

static void say_change(struct call *c, const struct changes_item *i)
{
	struct json *j = call_row(c);
	char text[32];

	print_time(i->time_s, text);
	if (!j && i->is_damaged) {
		call_say(c, "- - %.100s # %s\n", i->text, i->problem);
	} else if (!j) {
		call_say(c, "%" PRIu64 " %s %s%s%s\n", i->number, text, i->text, i->problem ? " # " : "",
			 i->problem ? i->problem : "");
	} else {
		if (!i->is_damaged) {
			json_number(j, "number", i->number);
			json_text(j, "time", text);
		}
		json_text(j, "change", i->text);
		json_bool(j, "in_force", !i->problem);
		if (i->problem)
			json_text(j, "reason", i->problem);
		call_row_end(c);
	}
}

void control_list_changes(struct call *c, struct worker *w)
{
	const struct changes *changes = &c->daemon->changes;

	(void)w;
	if (!are_kept(c))
		return;
	(void)call_rows(c);
	for (size_t i = 0; i < changes->count; i++)
		if (!is_over(changes->items[i]))
			say_change(c, changes->items[i]);
}

/* ---- undoing ---- */

static void end_pause(struct call *c, const struct change *pause)
{
	blocklists_pause(call_snapshot(c)->policy->lists, pause->view, loop_time(c->daemon->loop)->now_s);
}

/* What is in the configuration, too, or was replaced, is known from the file alone. */
static bool read_again(struct call *c)
{
	struct fault f = { 0 };

	if (daemon_reload(c->daemon, &(struct reload){ .at_once = false }, &f))
		return true;
	changes_take_back(&c->daemon->changes);
	call_say(c, "error: nothing is undone, for the configuration cannot be read again: %s\n", f.text);
	return false;
}

static bool carry_out(struct call *c, const struct change *undone)
{
	if (undone->id.kind == CHANGE_KINDS)
		return true;
	switch (change_thing(undone->id.kind)) {
	case CHANGE_RULE:
		(void)blocklists_forget(call_snapshot(c)->policy->lists, undone->name);
		return true;
	case CHANGE_PAUSE:
		end_pause(c, undone);
		return true;
	case CHANGE_POLICY_ZONE:
		change_enable(undone, call_snapshot(c));
		return true;
	default:
		return read_again(c);
	}
}

void control_change_undo(struct call *c, struct worker *w)
{
	struct change undone = { .text = NULL };
	struct fault f = { 0 };
	uint64_t number;
	char *end;

	(void)w;
	if (!are_kept(c))
		return;
	errno = 0;
	number = strtoull(c->args, &end, 10);
	if (*c->args < '0' || *c->args > '9' || *end || errno) {
		call_say(c, "error expected the number of a change, as list_changes shows it\n");
		return;
	}
	if (!changes_undo(&c->daemon->changes, number, &undone, &f))
		call_say(c, "error %s\n", f.text);
	else if (carry_out(c, &undone))
		call_ok(c);
	change_clear(&undone);
}

/* ---- exporting ---- */

static void say_options(struct call *c, const struct change *change)
{
	char name[DNAME_TEXT];

	if (change->id.kind == CHANGE_insecure_add)
		call_say(c, "    domain-insecure: \"%s\"\n", dname_print(change->name, name));
	else if (strchr(change->rest, ':'))
		call_say(c, "    %s\n", change->rest);
	else
		call_say(c, "    %.*s: %s\n", (int)strcspn(change->rest, " \t"), change->rest,
			 change->rest + strcspn(change->rest, " \t"));
}

static void say_local(struct call *c, const struct change *change)
{
	char quote = change->rest && strchr(change->rest, '"') ? '\'' : '"', name[DNAME_TEXT];
	const char *margin = change->view ? "#   " : "    ";

	if (change->id.kind == CHANGE_local_zone)
		call_say(c, "%slocal-zone: \"%s\" %s\n", margin, dname_print(change->name, name), zone_traits[change->type].word);
	else
		call_say(c, "%slocal-data: %c%s%c\n", margin, quote, change->rest, quote);
}

static void say_servers(struct call *c, const struct change *change)
{
	const char *kind = change_thing(change->id.kind) == CHANGE_STUB ? "stub" : "forward";
	char name[DNAME_TEXT];

	call_say(c, "%s-zone:\n    name: \"%s\"\n", kind, dname_print(change->name, name));
	for (size_t i = 0; i < change->server_count; i++)
		call_say(c, "    %s-addr: %s\n", kind, change->servers[i]);
	if (change->tls)
		call_say(c, "    %s-tls-upstream: yes\n", kind);
	if (change->prime)
		call_say(c, "    %s-prime: yes\n", kind);
}

/* The clause that its lines are in; "": of its own. NULL: no option says it. */
static const char *clause_of(const struct change *change)
{
	switch (change->id.kind) {
	case CHANGE_set_option:
		return conf_option_clause(change->rest);
	case CHANGE_insecure_add:
		return "server";
	case CHANGE_local_zone:
	case CHANGE_local_data:
		return change->view ? "view" : "server";
	case CHANGE_forward_add:
	case CHANGE_stub_add:
		return "";
	default:
		return NULL;
	}
}

static bool same_view(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static void say_line(struct call *c, const struct change *change)
{
	switch (change_thing(change->id.kind)) {
	case CHANGE_ZONE:
	case CHANGE_DATA:
		say_local(c, change);
		break;
	case CHANGE_FORWARD:
	case CHANGE_STUB:
		say_servers(c, change);
		break;
	default:
		say_options(c, change);
	}
}

/* What stands under one heading. */
struct group {
	const char *clause;
	char *view; /* NULL: of no view */
};

struct export {
	struct call *call;
	struct group *groups;
	size_t count;
};

static bool is_in(const struct group *g, const struct change *change, const char *clause)
{
	return strcmp(g->clause, clause) == 0 && same_view(g->view, change->view);
}

static void note_group(struct export *e, const struct change *change, const char *clause)
{
	for (size_t i = 0; i < e->count; i++)
		if (is_in(&e->groups[i], change, clause))
			return;
	e->groups = mem_grow(e->groups, (e->count + 1) * sizeof *e->groups);
	e->groups[e->count++] =
		(struct group){ .clause = clause, .view = change->view ? mem_text(change->view) : NULL };
}

/* Read each that is in force and can be said, and pass it on with its clause. */
static void each_line(struct export *e, const struct group *g)
{
	const struct changes *changes = &e->call->daemon->changes;

	for (size_t i = 0; i < changes->count; i++) {
		struct change change = { .text = NULL };
		const char *clause = NULL;

		if (!changes->items[i]->problem && change_read(&change, changes->items[i]->text, &(struct fault){ .set = false }))
			clause = clause_of(&change);
		if (clause && !g && *clause)
			note_group(e, &change, clause);
		else if (clause && g && is_in(g, &change, clause))
			say_line(e->call, &change);
		change_clear(&change);
	}
}

static void say_comments(struct call *c)
{
	const struct changes *changes = &c->daemon->changes;

	for (size_t i = 0; i < changes->count; i++) {
		const struct changes_item *item = changes->items[i];
		struct change change = { .text = NULL };

		if (is_over(item))
			continue;
		if (item->problem)
			call_say(c, "# not in force: %.900s (%s)\n", item->text, item->problem);
		else if (change_read(&change, item->text, &(struct fault){ .set = false }) && !clause_of(&change))
			call_say(c, "# no option says this: %s\n", item->text);
		change_clear(&change);
	}
}

/* The table has '_' for '-'. Of two clauses for one view the first counts: its lines are for the clause that is there. */
static void say_heading(struct call *c, const struct group *g)
{
	char *name;

	if (g->view) {
		call_say(c, "# in the clause of the view \"%s\":\n", g->view);
		return;
	}
	name = mem_text(g->clause);
	for (char *p = strchr(name, '_'); p; p = strchr(p, '_'))
		*p = '-';
	call_say(c, "%s:\n", name);
	mem_free(name);
}

void control_changes_export(struct call *c, struct worker *w)
{
	struct export e = { .call = c };

	(void)w;
	if (!are_kept(c))
		return;
	each_line(&e, NULL);
	for (size_t i = 0; i < e.count; i++) {
		say_heading(c, &e.groups[i]);
		each_line(&e, &e.groups[i]);
		mem_free(e.groups[i].view);
	}
	mem_free(e.groups);
	each_line(&e, &(struct group){ .clause = "" });
	say_comments(c);
}
