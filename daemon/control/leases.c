/* Commands about names from lease and hosts files.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include "daemon/control/call_json.h"
#include "daemon/process/daemon.h"
#include "daemon/process/leases.h"
#include "util/base/mem.h"
#include "util/dns/dname.h"
#include "util/dns/rr.h"
#include "util/dns/text.h"

/* `ends`: seconds since 1970; absent: never. */
static void put_record(struct json *j, const struct host_record *r, const char *line)
{
	call_record(j, line);
	if (r->ends_s != LEASE_FOREVER)
		json_signed(j, "ends", r->ends_s);
	json_text(j, "source", r->source ? host_source_path(r->source) : "");
	json_number(j, "line", r->line);
}

static void say_record(const struct host_record *r, void *call)
{
	struct call *c = call;
	char line[3 * DNAME_TEXT];
	struct json *j = call_row(c);

	text_rr_print(line, sizeof(line), r->owner, r->ttl_s, CLASS_IN, r->type,
		      (struct slice){ r->rdata, r->rdata_len });
	if (j) {
		put_record(j, r, line);
		call_row_end(c);
		return;
	}
	call_say(c, "%s\t", line);
	if (r->ends_s == LEASE_FOREVER)
		call_say(c, "ends never\t");
	else
		call_say(c, "ends %lld\t", (long long)r->ends_s);
	call_say(c, "%s:%u\n", r->source ? host_source_path(r->source) : "", r->line);
}

void control_list_leases(struct call *c, struct worker *w)
{
	(void)w;
	(void)call_rows(c);
	hostnames_each(leases_names(c->daemon->leases), say_record, c);
}

static void say_remarks(struct call *c, const struct lease_remarks *r)
{
	for (unsigned i = 0; i < r->count; i++)
		call_say(c, "\tline %u: '%s': %s\n", r->first[i].line, r->first[i].text,
			 lease_trouble_text(r->first[i].what));
}

static void put_file(struct json *j, const struct lease_status *s)
{
	const struct host_report *r = &s->report;

	json_text(j, "file", r->path);
	json_text(j, "format", r->format == LEASES_AUTO ? "unknown" : lease_format_word(r->format));
	json_number(j, "hosts", r->hosts);
	json_number(j, "nameless", r->nameless);
	json_number(j, "records", r->records);
	json_number(j, "left_out", lease_remarks_count(&r->remarks));
	json_signed(j, "read", s->read_s);
	if (*s->trouble)
		json_text(j, "trouble", s->trouble);
	json_open(j, "remarks", '[');
	for (unsigned i = 0; i < r->remarks.count; i++) {
		json_open(j, NULL, '{');
		json_number(j, "line", r->remarks.first[i].line);
		json_text(j, "text", r->remarks.first[i].text);
		json_text(j, "reason", lease_trouble_text(r->remarks.first[i].what));
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void say_file(const struct lease_status *s, void *call)
{
	struct call *c = call;
	const struct host_report *r = &s->report;
	struct json *j = call_row(c);

	if (j) {
		put_file(j, s);
		call_row_end(c);
		return;
	}
	call_say(c,
		 "%s\tformat %s\thosts %zu\tnameless %zu\trecords %zu\tleft out %zu\tread %lld\n",
		 r->path, r->format == LEASES_AUTO ? "unknown" : lease_format_word(r->format),
		 r->hosts, r->nameless, r->records, lease_remarks_count(&r->remarks),
		 (long long)s->read_s);
	if (*s->trouble)
		call_say(c, "\t%s\n", s->trouble);
	say_remarks(c, &r->remarks);
}

void control_lease_status(struct call *c, struct worker *w)
{
	(void)w;
	(void)call_rows(c);
	leases_each_file(c->daemon->leases, say_file, c);
}
