/* Reporting a failure to the operators of a zone (RFC 9567).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/mesh/error_report.h"

#include <stdio.h>
#include <string.h>

#include "services/mesh/mesh.h"
#include "services/mesh/private.h"
#include "services/query/query.h"
#include "services/query/snapshot.h"
#include "services/stats/stats.h"
#include "util/base/arena.h"
#include "util/conf/options.h"
#include "util/dns/dname.h"
#include "util/dns/rr.h"

static const uint8_t er_label[] = { 3, '_', 'e', 'r' };

const uint8_t *report_agent(const struct edns *e, struct arena *a)
{
	struct slice agent;

	if (!e->present || !edns_find_option(e, EDNS_REPORT_CHANNEL, &agent) ||
	    agent.len < 2 || !dname_fills(agent.at, agent.len))
		return NULL;
	return arena_copy(a, agent.at, agent.len);
}

static bool put(uint8_t *to, size_t *len, const void *from, size_t n)
{
	if (*len + n > DNAME_MAX)
		return false;
	memcpy(to + *len, from, n);
	*len += n;
	return true;
}

static bool put_number(uint8_t *to, size_t *len, unsigned n)
{
	char label[12];
	int digits = snprintf(label + 1, sizeof(label) - 1, "%u", n);

	label[0] = (char)digits;
	return put(to, len, label, (size_t)digits + 1);
}

size_t report_name(uint8_t *to, const struct question *q, int ede, const uint8_t *agent)
{
	size_t len = 0;

	if (put(to, &len, er_label, sizeof(er_label)) && put_number(to, &len, q->type) &&
	    put(to, &len, q->name, (size_t)q->name_len - 1) && put_number(to, &len, (unsigned)ede) &&
	    put(to, &len, er_label, sizeof(er_label)) && put(to, &len, agent, dname_len(agent)))
		return len;
	return 0;
}

/* The failure of a report is not reported (RFC 9567 6.1). */
static bool is_report(const struct question *q)
{
	return q->name_len > sizeof(er_label) && memcmp(q->name, er_label, sizeof(er_label)) == 0;
}

static void on_reported(void *arg, const struct message *reply)
{
	(void)arg;
	(void)reply;
}

void report_failure(const struct query *q)
{
	int ede = reason_ede(q->reply->reason);
	uint8_t name[DNAME_MAX];
	struct question report = { .name = name, .type = TYPE_TXT, .class_ = CLASS_IN };

	if (!q->snapshot->conf->server.dns_error_reporting || !q->report_to || ede < 0 ||
	    q->depth > 0 || is_report(&q->question))
		return;
	report.name_len = (uint16_t)report_name(name, &q->question, ede, q->report_to);
	if (report.name_len == 0)
		return;
	stat_add(q->env->stats, STAT_dns_error_reports);
	mesh_resolve(lookup_to_read(q)->mesh, &report, 0, on_reported, NULL);
}
