/* Commands about the lookups in progress.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>

#include "daemon/control/call_json.h"
#include "daemon/worker/worker.h"
#include "services/mesh/mesh.h"
#include "util/dns/rr.h"

struct listing {
	struct call *call;
	const struct worker *worker;
	unsigned count;
};

/* What the query's current module is waiting for. */
static void say_state(const struct listing *l, const struct query *q)
{
	const struct module *m = mesh_module(q);
	const struct addr *server = mesh_awaits(q);
	const struct query *child = mesh_waits_for(q);
	char name[DNAME_TEXT], type[16], class_[16], place[ADDR_TEXT];

	if (server) {
		call_say(l->call, " %s wait for %s\n", m->name, addr_print(server, server->port, place));
	} else if (child) {
		const struct question *wanted = &child->question;

		call_say(l->call, " %s wants %s %s %s\n", m->name,
			 rr_type_name(wanted->type, type), rr_class_name(wanted->class_, class_),
			 dname_print(wanted->name, name));
	} else {
		call_say(l->call, " %s is module_wait_reply\n", m->name);
	}
}

static void put_question(struct json *j, const char *key, const struct question *q)
{
	char name[DNAME_TEXT], type[16], class_[16];

	if (key)
		json_open(j, key, '{');
	json_text(j, "type", rr_type_name(q->type, type));
	json_text(j, "class", rr_class_name(q->class_, class_));
	json_text(j, "name", dname_print(q->name, name));
	if (key)
		json_close(j, '}');
}

/* `seconds`: absent when no client waits. It awaits a server's answer, another question's, or neither. */
static void put_query(struct json *j, const struct listing *l, const struct query *q)
{
	const struct addr *server = mesh_awaits(q);
	const struct query *child = mesh_waits_for(q);
	char place[ADDR_TEXT];

	json_number(j, "number", l->count);
	put_question(j, NULL, &q->question);
	if (!mesh_in_background(q))
		json_seconds(j, "seconds", l->worker->env.time->now_us - q->begun_us);
	json_text(j, "module", mesh_module(q)->name);
	if (server)
		json_text(j, "server", addr_print(server, server->port, place));
	else if (child)
		put_question(j, "wants", &child->question);
}

static void say_query(const struct query *q, void *arg)
{
	struct listing *l = arg;
	char name[DNAME_TEXT], type[16], class_[16];
	uint64_t age_us = l->worker->env.time->now_us - q->begun_us;
	struct json *j = call_row(l->call);

	if (j) {
		put_query(j, l, q);
		l->count++;
		call_row_end(l->call);
		return;
	}
	call_say(l->call, "%3u %4s %2s %s ", l->count++, rr_type_name(q->question.type, type),
		 rr_class_name(q->question.class_, class_), dname_print(q->question.name, name));
	if (mesh_in_background(q))
		call_say(l->call, "-");
	else
		call_say(l->call, "%" PRIu64 ".%06" PRIu64, age_us / US_PER_S, age_us % US_PER_S);
	say_state(l, q);
}

void control_dump_requestlist(struct call *c, struct worker *w)
{
	struct listing l = { .call = c, .worker = w };

	if (!w)
		return;
	if (!call_rows(c))
		call_say(c, "thread #0\n#   type cl name    seconds    module status\n");
	mesh_each(w->env.mesh, say_query, &l);
}

void control_flush_requestlist(struct call *c, struct worker *w)
{
	if (w)
		mesh_drop_all(w->env.mesh);
	else
		call_ok(c);
}
