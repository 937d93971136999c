/* The pages' parts about sources of answers, the last reload, and the most frequent queries.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/pages/sources.h"

#include "daemon/control/call.h"
#include "daemon/control/top.h"
#include "daemon/process/daemon.h"
#include "daemon/process/leases.h"
#include "services/authzone/data.h"
#include "services/authzone/zones.h"
#include "services/blocklist/load.h"
#include "services/policy/policy.h"
#include "services/query/snapshot.h"
#include "services/stats/metrics.h"
#include "util/base/json.h"
#include "util/conf/options.h"

#define LABELS_MOST 64 /* zones or files per family, to bound the page */
#define TOP_JSON    10

/* One metric family: its samples are consecutive, and the first prints TYPE and HELP. */
struct family {
	struct call *call;
	const char *name, *type, *help, *label;
};

static void sample(struct family *f, const char *label_value, double value)
{
	metrics_print_one(&(struct metric){ .name = f->name,
					    .type = f->type,
					    .help = f->help,
					    .label = f->label,
					    .label_value = label_value,
					    .value = value },
			  call_line, f->call);
	f->help = NULL;
}

/* ---- blocklists ---- */

static const struct blocklists *lists_of(const struct call *c)
{
	return call_snapshot(c)->policy->lists;
}

static struct blocklist_age age_of(const struct blocklist *l)
{
	struct blocklist_age age;
	char stale[8];

	blocklist_loading_tell(l, &age, stale, sizeof stale, NULL, NULL);
	return age;
}

static double list_names(const struct blocklist *l)
{
	return (double)blocklist_table_count(RCU_READ(l->table));
}

static double list_bytes(const struct blocklist *l)
{
	return (double)blocklist_table_bytes(RCU_READ(l->table));
}

static double list_made(const struct blocklist *l)
{
	return (double)age_of(l).made_s;
}

static double list_stale(const struct blocklist *l)
{
	return age_of(l).stale ? 1 : 0;
}

static void say_list_family(struct call *c, const char *name, const char *help,
			    double (*value)(const struct blocklist *l))
{
	struct family f = { c, name, "gauge", help, "list" };
	const struct blocklists *b = lists_of(c);

	for (size_t i = 0; i < MIN(b->count, (size_t)STAT_LISTS); i++)
		sample(&f, b->at[i]->name, value(b->at[i]));
}

static void say_lists(struct call *c, const struct stats *total)
{
	struct family all = { c, "queries_blocked_total", "counter", "Queries that lists blocked.",
			      NULL };
	struct family each = { c, "blocklist_blocked_total", "counter",
			       "Queries that a list blocked.", "list" };
	const struct blocklists *b = lists_of(c);

	sample(&all, NULL, (double)stat_get(&total->blocked));
	for (size_t i = 0; i < MIN(b->count, (size_t)STAT_LISTS); i++)
		sample(&each, b->at[i]->name, (double)stat_get(&total->blocked_by[b->at[i]->slot]));
	say_list_family(c, "blocklist_names", "Names in a list.", list_names);
	say_list_family(c, "blocklist_bytes", "Memory of a list.", list_bytes);
	say_list_family(c, "blocklist_made_timestamp_seconds",
			"When the list in use was loaded, in seconds since 1970.", list_made);
	say_list_family(c, "blocklist_stale",
			"Whether the last update of a list failed.", list_stale);
}

/* ---- lease and hosts files ---- */

enum lease_value { LEASE_READ, LEASE_RECORDS, LEASE_LEFT_OUT, LEASE_TROUBLE };

struct lease_family {
	struct family f;
	enum lease_value what;
	unsigned count;
};

static void say_lease(const struct lease_status *s, void *arg)
{
	struct lease_family *f = arg;
	double value = 0;

	if (f->count++ == LABELS_MOST)
		return;
	switch (f->what) {
	case LEASE_READ:
		value = (double)s->read_s;
		break;
	case LEASE_RECORDS:
		value = (double)s->report.records;
		break;
	case LEASE_LEFT_OUT:
		value = (double)lease_remarks_count(&s->report.remarks);
		break;
	case LEASE_TROUBLE:
		value = *s->trouble ? 1 : 0;
		break;
	}
	sample(&f->f, s->report.path, value);
}

static void say_leases(struct call *c)
{
	struct lease_family rows[] = {
		{ { c, "lease_file_read_timestamp_seconds", "gauge",
		    "When a lease or hosts file was last read, in seconds since 1970.", "file" },
		  LEASE_READ, 0 },
		{ { c, "lease_file_records", "gauge", "Records from a lease or hosts file.", "file" },
		  LEASE_RECORDS, 0 },
		{ { c, "lease_file_left_out", "gauge", "Lines of it that were ignored.", "file" },
		  LEASE_LEFT_OUT, 0 },
		{ { c, "lease_file_failing", "gauge", "Whether it could not be read the last time.",
		    "file" },
		  LEASE_TROUBLE, 0 },
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		leases_each_file(c->daemon->leases, say_lease, &rows[i]);
}

/* ---- auth-zones ---- */

static double zone_serial(const struct authzone *z)
{
	const struct zonedata *data = authzone_stored(z);

	return data && data->soa ? (double)data->serial : 0;
}

static double zone_since(const struct authzone *z)
{
	return (double)atomic_load(&z->cell->since);
}

static double zone_usable(const struct authzone *z)
{
	return authzone_stored(z) && !atomic_load(&z->cell->expired) ? 1 : 0;
}

/* `known`: leave out zones whose value is 0, that is, unknown. */
static void say_zone_family(struct call *c, const char *name, const char *help, bool known,
			    double (*value)(const struct authzone *z))
{
	struct family f = { c, name, "gauge", help, "zone" };
	const struct authzones *zones = call_snapshot(c)->zones;
	char text[DNAME_TEXT];

	for (size_t i = 0; i < MIN(zones->count, (size_t)LABELS_MOST); i++) {
		double v = value(&zones->items[i]);

		if (v > 0 || !known)
			sample(&f, dname_print(zones->items[i].name, text), v);
	}
}

static void say_zones(struct call *c)
{
	say_zone_family(c, "auth_zone_serial", "SOA serial of an auth zone; 0: none.",
			false, zone_serial);
	say_zone_family(c, "auth_zone_since_timestamp_seconds",
			"When a zone was last transferred or fetched, in seconds since 1970.", true, zone_since);
	say_zone_family(c, "auth_zone_usable", "Whether it has been read or fetched and has not expired.",
			false, zone_usable);
}

/* ---- the last reload ---- */

static void say_reload(struct call *c)
{
	const struct daemon *d = c->daemon;
	struct family good = { c, "reload_success", "gauge",
			       "Whether the last reload (or the start) took effect.", NULL };
	struct family when = { c, "reload_timestamp_seconds", "gauge",
			       "When that was, in seconds since 1970.", NULL };

	sample(&good, NULL, d->reload_failed ? 0 : 1);
	sample(&when, NULL, (double)d->reloaded_s);
}

/* ---- toplists ---- */

static const char *label_of(enum toplist_kind kind)
{
	return kind == TOP_CLIENTS ? "client" : "name";
}

static void say_tops(struct call *c, const struct top_tables *tops)
{
	static const char *const names[TOP_KINDS] = {
		[TOP_NAMES] = "top_names", [TOP_CLIENTS] = "top_clients", [TOP_BLOCKED] = "top_blocked"
	};
	static const char *const help[TOP_KINDS] = {
		[TOP_NAMES] = "Queries for the names that come most often (metrics-top).",
		[TOP_CLIENTS] = "Queries of the clients that ask most often (metrics-top).",
		[TOP_BLOCKED] = "Queries for the blocked names that come most often (metrics-top).",
	};
	size_t most = call_snapshot(c)->conf->metrics.metrics_top;
	char text[DNAME_TEXT];

	for (unsigned i = 0; i < TOP_KINDS; i++) {
		struct family f = { c, names[i], "gauge", help[i], label_of((enum toplist_kind)i) };
		const struct toprows *rows = &tops->rows[i];

		for (size_t n = 0; n < MIN(rows->count, most); n++)
			sample(&f, top_text((enum toplist_kind)i, &rows->at[n], text),
			       (double)rows->at[n].count);
	}
}

void sources_say_metrics(struct call *c, const struct stats *total, const struct top_tables *tops)
{
	say_reload(c);
	say_lists(c, total);
	say_leases(c);
	say_zones(c);
	say_tops(c, tops);
}

/* ---- JSON ---- */

static void put_lists(struct json *j, const struct call *c, const struct stats *total)
{
	const struct blocklists *b = lists_of(c);

	json_number(j, "blocked", stat_get(&total->blocked));
	json_open(j, "blocklists", '[');
	for (size_t i = 0; i < b->count; i++) {
		const struct blocklist *l = b->at[i];
		struct blocklist_age age = age_of(l);

		json_open(j, NULL, '{');
		json_text(j, "name", l->name);
		json_number(j, "names", (uint64_t)list_names(l));
		json_number(j, "made", (uint64_t)MAX(age.made_s, (int64_t)0));
		json_bool(j, "stale", age.stale != NULL);
		json_number(j, "blocked", stat_get(&total->blocked_by[l->slot]));
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void put_zones(struct json *j, const struct call *c)
{
	const struct authzones *zones = call_snapshot(c)->zones;
	char text[DNAME_TEXT];

	json_open(j, "auth_zones", '[');
	for (size_t i = 0; i < zones->count; i++) {
		const struct authzone *z = &zones->items[i];

		json_open(j, NULL, '{');
		json_text(j, "zone", dname_print(z->name, text));
		json_number(j, "serial", (uint64_t)zone_serial(z));
		json_number(j, "since", (uint64_t)zone_since(z));
		json_bool(j, "usable", zone_usable(z) > 0);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void put_lease(const struct lease_status *s, void *arg)
{
	struct json *j = arg;

	json_open(j, NULL, '{');
	json_text(j, "file", s->report.path);
	json_number(j, "read", (uint64_t)MAX(s->read_s, (int64_t)0));
	json_number(j, "records", s->report.records);
	if (*s->trouble)
		json_text(j, "trouble", s->trouble);
	json_close(j, '}');
}

static void put_tops(struct json *j, const struct top_tables *tops)
{
	char text[DNAME_TEXT];

	json_open(j, "top", '{');
	for (unsigned i = 0; i < TOP_KINDS; i++) {
		const struct toprows *rows = &tops->rows[i];

		if (!tops->kept[i])
			continue;
		json_open(j, top_kind_word((enum toplist_kind)i), '[');
		for (size_t n = 0; n < MIN(rows->count, (size_t)TOP_JSON); n++) {
			json_open(j, NULL, '{');
			json_text(j, label_of((enum toplist_kind)i),
				  top_text((enum toplist_kind)i, &rows->at[n], text));
			json_number(j, "count", rows->at[n].count);
			json_close(j, '}');
		}
		json_close(j, ']');
	}
	json_close(j, '}');
}

void sources_put_json(struct json *j, const struct call *c, const struct stats *total,
		      const struct top_tables *tops)
{
	json_bool(j, "reload_succeeded", !c->daemon->reload_failed);
	json_number(j, "reloaded", (uint64_t)c->daemon->reloaded_s);
	put_lists(j, c, total);
	put_zones(j, c);
	json_open(j, "lease_files", '[');
	leases_each_file(c->daemon->leases, put_lease, j);
	json_close(j, ']');
	put_tops(j, tops);
}
