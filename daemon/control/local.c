/* Commands about local zones and records, the server's and those of views.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Changes are visible to every worker at once, and last until the next reload. */
#include <stdio.h>
#include <string.h>

#include "daemon/control/call_json.h"
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

static bool parse_name(struct call *c, const char *text, uint8_t *name)
{
	struct fault why = { 0 };

	if (dname_parse(name, text, &why))
		return true;
	call_say(c, "error cannot parse name %s: %s\n", text, why.text);
	return false;
}

/* "name type" */
static bool put_zone(struct call *c, struct localzones *z, char *text)
{
	uint8_t name[DNAME_MAX];
	enum zone_type type;
	char *first = control_word(&text);

	if (!first || !*text) {
		call_say(c, "error could not find next argument after %s\n", first ? first : "");
		return false;
	}
	if (!parse_name(c, first, name))
		return false;
	if (!zone_type_parse(text, &type)) {
		call_say(c, "error not a zone type. %s\n", text);
		return false;
	}
	/* the records of a default zone stay; what it does not know is asked for elsewhere */
	localzones_put(z, name, CLASS_IN, type == ZONE_nodefault ? ZONE_transparent : type);
	return true;
}

static bool remove_zone(struct call *c, struct localzones *z, const char *text)
{
	uint8_t name[DNAME_MAX];

	if (!parse_name(c, text, name))
		return false;
	localzones_remove(z, name, CLASS_IN);
	return true;
}

static bool put_record(struct call *c, struct localzones *z, const char *text)
{
	struct fault f = { 0 };

	if (localzones_put_record(z, text, &f))
		return true;
	call_say(c, "error parsing local-data at position 0 '%s': %s\n", text, f.text);
	return false;
}

/* Remove everything at a name, or a single record. */
static bool remove_data(struct call *c, struct localzones *z, const char *text)
{
	uint8_t name[DNAME_MAX];
	struct fault f = { 0 };

	if (strpbrk(text, " \t")) {
		if (localzones_remove_record(z, text, &f))
			return true;
		call_say(c, "error %s\n", f.text);
		return false;
	}
	if (!parse_name(c, text, name))
		return false;
	localzones_remove_name(z, name, CLASS_IN);
	return true;
}

/* Records that come line by line, put when the last has come. */
struct gathering {
	struct record_batch *batch;
	char *view; /* NULL: the server's */
};

static void gathering_let_go(struct call *c)
{
	struct gathering *g = c->data;

	record_batch_free(g->batch);
	mem_free(g->view);
}

static void gathering_begin(struct call *c, const char *view)
{
	struct gathering *g = c->data = mem_zero(sizeof(*g));

	g->batch = record_batch_new();
	g->view = view ? mem_text(view) : NULL;
	c->let_go = gathering_let_go;
}

static void say_wrong(struct call *c, size_t number, const char *line, const char *why)
{
	call_say(c, "error parsing local-data at line %zu position 0 '%s': %s\n", number, line, why);
}

static void gather_line(struct call *c)
{
	struct gathering *g = c->data;
	struct fault f = { 0 };

	if (record_batch_read(g->batch, record_batch_keep(g->batch, c->item), c->items, &f))
		c->done++;
	else
		say_wrong(c, c->items, c->item, f.text);
}

static void tell_wrong(void *call, size_t number, const char *line, const char *why)
{
	((struct call *)call)->done--;
	say_wrong(call, number, line, why);
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

/* `z`: NULL if the view is gone. */
static void gathering_end(struct call *c, struct localzones *z)
{
	struct gathering *g = c->data;

	if (z)
		record_batch_put(g->batch, z, &(struct record_ends){ .wrong = tell_wrong, .arg = c });
	else
		c->done = 0;
	say_count(c, "added", "datas");
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
	say_whether(c, put_zone(c, of_server(c), c->args));
}

void control_local_zone_remove(struct call *c, struct worker *w)
{
	(void)w;
	say_whether(c, wants_argument(c) && remove_zone(c, of_server(c), c->args));
}

void control_local_data(struct call *c, struct worker *w)
{
	(void)w;
	say_whether(c, put_record(c, of_server(c), c->args));
}

void control_local_data_remove(struct call *c, struct worker *w)
{
	(void)w;
	say_whether(c, wants_argument(c) && remove_data(c, of_server(c), c->args));
}

/* ---- many changes, one per line ---- */

typedef bool (*change_line)(struct call *c, struct localzones *z, char *text);

static bool zone_line(struct call *c, struct localzones *z, char *text)
{
	return put_zone(c, z, text);
}

static bool zone_gone_line(struct call *c, struct localzones *z, char *text)
{
	return remove_zone(c, z, text);
}

static bool data_gone_line(struct call *c, struct localzones *z, char *text)
{
	return remove_data(c, z, text);
}

static void take_line(struct call *c, struct localzones *z, change_line change, bool echoes)
{
	char *line = mem_text(c->item);

	if (change(c, z, c->item))
		c->done++;
	else if (echoes)
		call_say(c, "error for input line: %s\n", line);
	mem_free(line);
}

struct bulk {
	change_line change;
	const char *did, *what; /* "added", "zones" */
	bool echoes;            /* bad lines are repeated in the reply */
};

static void server_bulk(struct call *c, const struct bulk *b)
{
	switch (c->phase) {
	case CALL_BEGIN:
		if (*c->args) {
			call_say(c, "error command %s takes no arguments, have '%s'\n",
				 c->command->word, c->args);
			c->refused = true;
		}
		return;
	case CALL_ITEM:
		take_line(c, of_server(c), b->change, b->echoes);
		return;
	default:
		leases_disturb(c->daemon->leases);
		say_count(c, b->did, b->what);
	}
}

void control_local_zones(struct call *c, struct worker *w)
{
	(void)w;
	server_bulk(c, &(struct bulk){ zone_line, "added", "zones", true });
}

void control_local_zones_remove(struct call *c, struct worker *w)
{
	(void)w;
	server_bulk(c, &(struct bulk){ zone_gone_line, "removed", "zones", true });
}

void control_local_datas(struct call *c, struct worker *w)
{
	(void)w;
	if (c->phase == CALL_BEGIN && *c->args) {
		call_say(c, "error command %s takes no arguments, have '%s'\n", c->command->word,
			 c->args);
		c->refused = true;
		return;
	}
	if (c->phase == CALL_BEGIN)
		gathering_begin(c, NULL);
	else if (c->phase == CALL_ITEM)
		gather_line(c);
	else
		gathering_end(c, of_server(c));
	if (c->phase == CALL_END)
		leases_disturb(c->daemon->leases);
}

void control_local_datas_remove(struct call *c, struct worker *w)
{
	(void)w;
	server_bulk(c, &(struct bulk){ data_gone_line, "removed", "datas", true });
}

/* ---- views ---- */

void control_view_local_zone(struct call *c, struct worker *w)
{
	struct view *v = take_view(c);

	(void)w;
	if (v)
		say_whether(c, put_zone(c, of_view(c, v), c->args));
}

void control_view_local_zone_remove(struct call *c, struct worker *w)
{
	struct view *v = take_view(c);

	(void)w;
	if (v && wants_argument(c))
		say_whether(c, !kept_by(v) || remove_zone(c, kept_by(v), c->args));
}

void control_view_local_data(struct call *c, struct worker *w)
{
	struct view *v = take_view(c);

	(void)w;
	if (v)
		say_whether(c, put_record(c, of_view(c, v), c->args));
}

void control_view_local_data_remove(struct call *c, struct worker *w)
{
	struct view *v = take_view(c);

	(void)w;
	if (v && wants_argument(c))
		say_whether(c, !kept_by(v) || remove_data(c, kept_by(v), c->args));
}

/* The view is looked up again for each line, since a reload may have intervened. */
static void view_bulk(struct call *c, const struct bulk *b)
{
	bool removes = b->change == data_gone_line;
	struct localzones *z;
	struct view *v;

	if (c->phase == CALL_BEGIN) {
		v = take_view(c);
		c->refused = !v;
		c->data = v ? mem_text(v->name) : NULL;
		return;
	}
	if (c->phase == CALL_END) {
		say_count(c, b->did, b->what);
		return;
	}
	v = views_find(call_snapshot(c)->policy->views, c->data);
	z = removes && v ? kept_by(v) : of_view(c, v);
	if (z)
		take_line(c, z, b->change, b->echoes);
}

void control_view_local_datas(struct call *c, struct worker *w)
{
	struct view *v;

	(void)w;
	if (c->phase == CALL_BEGIN) {
		v = take_view(c);
		c->refused = !v;
		if (v)
			gathering_begin(c, v->name);
	} else if (c->phase == CALL_ITEM) {
		gather_line(c);
	} else {
		v = views_find(call_snapshot(c)->policy->views,
			       ((const struct gathering *)c->data)->view);
		gathering_end(c, of_view(c, v));
	}
}

void control_view_local_datas_remove(struct call *c, struct worker *w)
{
	(void)w;
	view_bulk(c, &(struct bulk){ data_gone_line, "removed", "datas", true });
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
