/* The command about upstream servers that are queried over TLS or HTTPS.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/control/upstreams.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "daemon/control/call_json.h"
#include "daemon/worker/worker.h"
#include "services/upstream/upstream.h"
#include "util/base/mem.h"

static struct upstream_row *row_get(struct upstream_rows *rows, const struct peer *p)
{
	char name[sizeof rows->at[0].name];

	peer_print(p, name);
	for (size_t i = 0; i < rows->count; i++)
		if (strcmp(rows->at[i].name, name) == 0)
			return &rows->at[i];
	if (rows->count == UPSTREAM_ROWS)
		return NULL;
	memcpy(rows->at[rows->count].name, name, sizeof name);
	return &rows->at[rows->count++];
}

static void add(const struct peer *p, void *arg)
{
	struct upstream_row *r = row_get(arg, p);

	if (!r)
		return;
	r->workers++;
	r->is_https = p->path;
	r->connections += p->connections;
	r->questions += p->questions;
	r->answers += p->answers;
	r->handshakes += p->handshakes;
	r->resumed += p->resumed;
	r->failures += p->failures;
	r->losses += p->losses;
	r->rtt_sum_us += p->rtt_us;
	r->rtts += p->rtt_us > 0;
	if (*p->why)
		memcpy(r->why, p->why, sizeof r->why);
}

static const char *state_of(const struct upstream_row *r)
{
	if (*r->why)
		return "failing";
	return r->connections ? "connected" : "idle";
}

static void put(struct json *j, const struct upstream_row *r)
{
	json_text(j, "server", r->name);
	json_text(j, "transport", r->is_https ? "https" : "tls");
	json_text(j, "state", state_of(r));
	if (r->rtts)
		json_number(j, "rtt_us", r->rtt_sum_us / r->rtts);
	json_number(j, "connections", r->connections);
	json_number(j, "queries", r->questions);
	json_number(j, "answers", r->answers);
	json_number(j, "handshakes", r->handshakes);
	json_number(j, "resumed", r->resumed);
	json_number(j, "failures", r->failures);
	json_number(j, "losses", r->losses);
	if (*r->why)
		json_text(j, "reason", r->why);
}

static void say(struct call *c, const struct upstream_row *r)
{
	struct json *j = call_row(c);

	if (j) {
		put(j, r);
		call_row_end(c);
		return;
	}
	call_say(c, "%s %s %s", r->name, r->is_https ? "https" : "tls", state_of(r));
	if (r->rtts)
		call_say(c, " rtt=%" PRIu64 "us", r->rtt_sum_us / r->rtts);
	call_say(c,
		 " connections=%u queries=%" PRIu64 " answers=%" PRIu64 " handshakes=%" PRIu64
		 " resumed=%" PRIu64 " failures=%" PRIu64 " losses=%" PRIu64,
		 r->connections, r->questions, r->answers, r->handshakes, r->resumed, r->failures,
		 r->losses);
	if (*r->why)
		call_say(c, " (%s)", r->why);
	call_say(c, "\n");
}

void upstream_rows_take(struct upstream_rows *rows, struct worker *w)
{
	upstream_each_peer(w->env.upstream, add, rows);
}

void control_list_upstreams(struct call *c, struct worker *w)
{
	struct upstream_rows *rows = c->data;

	if (!rows)
		rows = c->data = mem_zero(sizeof *rows);
	if (w) {
		upstream_rows_take(rows, w);
		return;
	}
	(void)call_rows(c);
	for (size_t i = 0; i < rows->count; i++)
		say(c, &rows->at[i]);
}
