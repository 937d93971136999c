/* Commands about names from lease and hosts files.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include "daemon/control/call.h"
#include "daemon/process/daemon.h"
#include "daemon/process/leases.h"
#include "util/base/mem.h"
#include "util/dns/dname.h"
#include "util/dns/rr.h"
#include "util/dns/text.h"

static void say_record(const struct host_record *r, void *call)
{
	struct call *c = call;
	char line[3 * DNAME_TEXT];

	text_rr_print(line, sizeof(line), r->owner, r->ttl_s, CLASS_IN, r->type,
		      (struct slice){ r->rdata, r->rdata_len });
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
	hostnames_each(leases_names(c->daemon->leases), say_record, c);
}

static void say_remarks(struct call *c, const struct lease_remarks *r)
{
	for (unsigned i = 0; i < r->count; i++)
		call_say(c, "\tline %u: '%s': %s\n", r->first[i].line, r->first[i].text,
			 lease_trouble_text(r->first[i].what));
}

static void say_file(const struct lease_status *s, void *call)
{
	struct call *c = call;
	const struct host_report *r = &s->report;

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
	leases_each_file(c->daemon->leases, say_file, c);
}
