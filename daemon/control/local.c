/* Commands about local zones and records, the server's and those of views.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Changes are visible to every worker at once, and last until the next reload, unless they are kept. */
#include <stdio.h>
#include <string.h>

#include "daemon/control/call_json.h"
#include "daemon/control/changes.h"
#include "daemon/process/daemon.h"
#include "daemon/process/leases.h"
#include "services/policy/policy.h"
#include "services/policy/views.h"
#include "services/query/snapshot.h"
#include "util/base/fault.h"
#include "util/base/mem.h"
#include "util/dns/rr.h"
#include "util/dns/text.h"

/* ---- the server's or a view's ---- */

static struct localzones *of_server(const struct call *c)
{
	return call_snapshot(c)->policy->zones;
}

/* The view that the first word names; NULL, with the error in the reply, if there is none. */
static struct view *take_view(struct call *c)
{
	char *name = control_word(&c->args);
	struct view *v;

	if (!name) {
		call_say(c, "error could not find next argument after \n");
		return NULL;
	}
	v = views_find(call_snapshot(c)->policy->views, name);
	if (!v)
		call_say(c, "error no view with name: %s\n", name);
	return v;
}

/* To add something to. */
static struct localzones *of_view(const struct call *c, struct view *v)
{
	return v ? views_zones(v, call_snapshot(c)->conf) : NULL;
}

/* To remove something from, or to show: NULL while the server's apply. */
static struct localzones *kept_by(const struct view *v)
{
	return atomic_load(&v->zones);
}

/* ---- one change ---- */

/* Where `change` takes place: NULL where there is nothing to remove from. */
static struct localzones *place_of(const struct call *c, struct view *v, bool removes)
{
	if (!v)
		return of_server(c);
	return removes ? kept_by(v) : of_view(c, v);
}

/* False, with the error in the reply. To be cleared in either case. */
static bool read_change(struct call *c, struct change *change, const char *command, const char *args)
{
	struct fault f = { 0 };

	if (change_read(change, command, &f))
		return true;
	if (change->id.kind == CHANGE_local_data)
		call_say(c, "error parsing local-data at position 0 '%s': %s\n", args, f.text);
	else
		call_say(c, "error %s\n", f.text);
	return false;
}

static bool act(struct call *c, const struct change *change, struct localzones *z, const char *args)
{
	struct fault f = { 0 };

	if (!z || change_local(change, z, NULL, &f))
		return true;
	if (change->id.kind == CHANGE_local_data)
		call_say(c, "error parsing local-data at position 0 '%s': %s\n", args, f.text);
	else
		call_say(c, "error %s\n", f.text);
	return false;
}

/* `v`: NULL: the server's. `word`: of the server's command. */
static bool carry_out(struct call *c, const char *word, struct view *v, const char *args)
{
	char *command = control_change_print(word, v ? v->name : NULL, args);
	struct change change;
	bool good = read_change(c, &change, command, args) && control_keep(c, command);

	if (good && !act(c, &change, place_of(c, v, change_removes(&change)), args)) {
		control_take_back(c);
		good = false;
	}
	change_clear(&change);
	mem_free(command);
	return good;
}

/* ---- many changes, one per line ---- */

/* What comes line by line. Changes that are kept are noted and put when the last has come, records always; others at once. */
struct gathering {
	struct record_batch *batch; /* NULL: these are no records to be added */
	struct kept_lines lines;    /* if changes are kept */
	char *view;                 /* NULL: the server's */
	const char *word;           /* of the command for one */
};

static void gathering_let_go(struct call *c)
{
	struct gathering *g = c->data;

	record_batch_free(g->batch);
	kept_lines_clear(&g->lines);
	mem_free(g->view);
}

static struct gathering *gathering_begin(struct call *c, const char *word, const char *view)
{
	struct gathering *g = c->data = mem_zero(sizeof(*g));

	g->word = word;
	g->view = view ? mem_text(view) : NULL;
	c->let_go = gathering_let_go;
	return g;
}

static bool keeps(const struct call *c)
{
	return c->daemon->changes.kept;
}

/* "added 2 zones" */
static void say_count(struct call *c, const char *did, const char *what)
{
	struct json *j = call_object(c);

	if (j)
		json_number(j, did, c->done);
	else
		call_say(c, "%s %u %s\n", did, c->done, what);
}

/* The view is looked up again for each line, since a reload may have intervened. False: it is gone. */
static bool find_view(const struct call *c, const struct gathering *g, struct view **v)
{
	*v = g->view ? views_find(call_snapshot(c)->policy->views, g->view) : NULL;
	return *v || !g->view;
}

/* ---- records to be added ---- */

static void say_wrong(struct call *c, size_t number, const char *line, const char *why)
{
	call_say(c, "error parsing local-data at line %zu position 0 '%s': %s\n", number, line, why);
}

static void gather_line(struct call *c)
{
	struct gathering *g = c->data;
	struct fault f = { 0 };

	if (!record_batch_read(g->batch, record_batch_keep(g->batch, c->item), c->items, &f)) {
		say_wrong(c, c->items, c->item, f.text);
		return;
	}
	c->done++;
	if (keeps(c))
		kept_lines_add(&g->lines, control_change_print(g->word, g->view, c->item), c->items);
}

static void tell_wrong(void *call, size_t number, const char *line, const char *why)
{
	struct call *c = call;
	struct gathering *g = c->data;

	c->done--;
	kept_lines_remove(&g->lines, number);
	say_wrong(c, number, line, why);
}

/* What did not fit is not kept either. */
static void put_batch(struct call *c, struct localzones *z)
{
	struct gathering *g = c->data;
	size_t count = g->lines.count;

	if (!control_keep_lines(c, &g->lines)) {
		c->done = 0;
		return;
	}
	record_batch_put(g->batch, z, &(struct record_ends){ .wrong = tell_wrong, .arg = c });
	if (g->lines.count == count)
		return;
	control_take_back(c);
	if (!control_keep_lines(c, &g->lines))
		call_say(c, "error the records are in use until the next reload, but not kept\n");
}

static void gathering_end(struct call *c)
{
	const struct gathering *g = c->data;
	struct view *v;

	if (find_view(c, g, &v))
		put_batch(c, place_of(c, v, false));
	else
		c->done = 0;
	say_count(c, "added", "datas");
}

static void add_records(struct call *c)
{
	if (c->phase == CALL_ITEM)
		gather_line(c);
	else
		gathering_end(c);
}

/* ---- other lines ---- */

struct bulk {
	const char *word;       /* "local_zone" */
	const char *did, *what; /* "added", "zones" */
};

static void take_line(struct call *c)
{
	struct gathering *g = c->data;
	struct view *v;

	if (!find_view(c, g, &v))
		return;
	if (keeps(c)) {
		char *command = control_change_print(g->word, g->view, c->item);
		struct change change;

		if (read_change(c, &change, command, c->item)) {
			kept_lines_add(&g->lines, mem_text(command), c->items);
			c->done++;
		} else {
			call_say(c, "error for input line: %s\n", c->item);
		}
		change_clear(&change);
		mem_free(command);
	} else if (!v || strcmp(g->word, "local_data_remove") != 0 || kept_by(v)) {
		if (carry_out(c, g->word, v, c->item))
			c->done++;
		else
			call_say(c, "error for input line: %s\n", c->item);
	}
}

static void put_lines(struct call *c)
{
	const struct gathering *g = c->data;
	struct view *v;

	if (!g->lines.count)
		return;
	if (!find_view(c, g, &v) || !control_keep_lines(c, &g->lines)) {
		c->done = 0;
		return;
	}
	for (size_t i = 0; i < g->lines.count; i++) {
		struct fault f = { 0 };
		struct change change;

		if (!change_read(&change, g->lines.lines[i], &f) ||
		    !act(c, &change, place_of(c, v, change_removes(&change)), g->lines.lines[i]))
			c->done--;
		change_clear(&change);
	}
}

static void take_lines(struct call *c, const struct bulk *b)
{
	if (c->phase == CALL_ITEM) {
		take_line(c);
		return;
	}
	put_lines(c);
	say_count(c, b->did, b->what);
}

static void say_whether(struct call *c, bool done)
{
	leases_disturb(c->daemon->leases);
	if (done)
		call_ok(c);
}

static bool wants_argument(struct call *c)
{
	if (*c->args)
		return true;
	call_say(c, "error: this option requires a domain name\n");
	return false;
}

/* ---- one change to the server's ---- */

void control_local_zone(struct call *c, struct worker *w)
{
	(void)w;
	say_whether(c, carry_out(c, "local_zone", NULL, c->args));
}

void control_local_zone_remove(struct call *c, struct worker *w)
{
	(void)w;
	say_whether(c, wants_argument(c) && carry_out(c, "local_zone_remove", NULL, c->args));
}

void control_local_data(struct call *c, struct worker *w)
{
	(void)w;
	say_whether(c, carry_out(c, "local_data", NULL, c->args));
}

void control_local_data_remove(struct call *c, struct worker *w)
{
	(void)w;
	say_whether(c, wants_argument(c) && carry_out(c, "local_data_remove", NULL, c->args));
}

/* ---- many changes to the server's ---- */

/* NULL, with the error in the reply, if there are arguments, of which there are none. */
static struct gathering *server_begin(struct call *c, const char *word)
{
	if (!*c->args)
		return gathering_begin(c, word, NULL);
	call_say(c, "error command %s takes no arguments, have '%s'\n", c->command->word, c->args);
	c->refused = true;
	return NULL;
}

static void server_bulk(struct call *c, const struct bulk *b)
{
	if (c->phase == CALL_BEGIN) {
		(void)server_begin(c, b->word);
		return;
	}
	take_lines(c, b);
	if (c->phase == CALL_END)
		leases_disturb(c->daemon->leases);
}

void control_local_zones(struct call *c, struct worker *w)
{
	(void)w;
	server_bulk(c, &(struct bulk){ "local_zone", "added", "zones" });
}

void control_local_zones_remove(struct call *c, struct worker *w)
{
	(void)w;
	server_bulk(c, &(struct bulk){ "local_zone_remove", "removed", "zones" });
}

void control_local_datas(struct call *c, struct worker *w)
{
	struct gathering *g;

	(void)w;
	if (c->phase == CALL_BEGIN) {
		g = server_begin(c, "local_data");
		if (g)
			g->batch = record_batch_new();
		return;
	}
	add_records(c);
	if (c->phase == CALL_END)
		leases_disturb(c->daemon->leases);
}

void control_local_datas_remove(struct call *c, struct worker *w)
{
	(void)w;
	server_bulk(c, &(struct bulk){ "local_data_remove", "removed", "datas" });
}

/* ---- views ---- */

void control_view_local_zone(struct call *c, struct worker *w)
{
	struct view *v = take_view(c);

	(void)w;
	if (v)
		say_whether(c, carry_out(c, "local_zone", v, c->args));
}

void control_view_local_zone_remove(struct call *c, struct worker *w)
{
	struct view *v = take_view(c);

	(void)w;
	if (v && wants_argument(c))
		say_whether(c, (!kept_by(v) && !keeps(c)) || carry_out(c, "local_zone_remove", v, c->args));
}

void control_view_local_data(struct call *c, struct worker *w)
{
	struct view *v = take_view(c);

	(void)w;
	if (v)
		say_whether(c, carry_out(c, "local_data", v, c->args));
}

void control_view_local_data_remove(struct call *c, struct worker *w)
{
	struct view *v = take_view(c);

	(void)w;
	if (v && wants_argument(c))
		say_whether(c, (!kept_by(v) && !keeps(c)) || carry_out(c, "local_data_remove", v, c->args));
}

/* NULL, with the error in the reply, without such a view. */
static struct gathering *view_begin(struct call *c, const char *word)
{
	const struct view *v = take_view(c);

	c->refused = !v;
	return v ? gathering_begin(c, word, v->name) : NULL;
}

void control_view_local_datas(struct call *c, struct worker *w)
{
	struct gathering *g;

	(void)w;
	if (c->phase != CALL_BEGIN) {
		add_records(c);
		return;
	}
	g = view_begin(c, "local_data");
	if (g)
		g->batch = record_batch_new();
}

void control_view_local_datas_remove(struct call *c, struct worker *w)
{
	(void)w;
	if (c->phase == CALL_BEGIN)
		(void)view_begin(c, "local_data_remove");
	else
		take_lines(c, &(struct bulk){ "local_data_remove", "removed", "datas" });
}

/* ---- lists ---- */

static bool say_zone(const uint8_t *name, enum zone_type type, void *call)
{
	char text[DNAME_TEXT];
	struct json *j = call_row(call);

	dname_print(name, text);
	if (!j) {
		call_say(call, "%s %s\n", text, zone_traits[type].word);
		return true;
	}
	json_text(j, "name", text);
	json_text(j, "type", zone_traits[type].word);
	call_row_end(call);
	return true;
}

/* Each record is followed by an empty line. */
static void say_record(const char *line, void *call)
{
	struct json *j = call_row(call);

	if (j) {
		call_record(j, line);
		call_row_end(call);
		return;
	}
	call_line(line, call);
	call_say(call, "\n");
}

static bool say_set(const struct rrset *set, void *call)
{
	text_rrset_print(set, 0, say_record, call);
	return true;
}

static bool rest(void *call)
{
	return call_flows(call);
}

void control_list_local_zones(struct call *c, struct worker *w)
{
	(void)w;
	(void)call_rows(c);
	localzones_list(of_server(c), say_zone, rest, c);
}

void control_list_local_data(struct call *c, struct worker *w)
{
	(void)w;
	(void)call_rows(c);
	localzones_list_sets(of_server(c), say_set, rest, c);
}

void control_view_list_local_zones(struct call *c, struct worker *w)
{
	struct view *v = take_view(c);
	struct localzones *z = v ? kept_by(v) : NULL;

	(void)w;
	if (v)
		(void)call_rows(c);
	if (z)
		localzones_list(z, say_zone, rest, c);
}

void control_view_list_local_data(struct call *c, struct worker *w)
{
	struct view *v = take_view(c);
	struct localzones *z = v ? kept_by(v) : NULL;

	(void)w;
	if (v)
		(void)call_rows(c);
	if (z)
		localzones_list_sets(z, say_set, rest, c);
}
