/* The command that resolves a name and explains how: where each part of the answer came from.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The query takes the path of every packet, with this command as its client; each stage of that
 * path reports to a trace. */
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "daemon/control/call_json.h"
#include "daemon/worker/frontend.h"
#include "daemon/worker/worker.h"
#include "services/access/acl.h"
#include "services/cache/msg.h"
#include "services/history/decision.h"
#include "services/net/client.h"
#include "services/query/snapshot.h"
#include "services/query/trace.h"
#include "util/base/arena.h"
#include "util/base/fault.h"
#include "util/base/mem.h"
#include "util/dns/rr.h"
#include "util/dns/text.h"

struct why {
	struct call *call;
	struct worker *worker;
	struct trace *trace;
	uint64_t begun_us;
	uint8_t name[DNAME_MAX];
	struct question q;
	struct addr client;
	const struct client_ops *ops;
	struct decision decision;
	uint8_t in[512], out[MSG_MAX];
};

static void hear(void *arg, unsigned depth, const char *line)
{
	struct why *y = arg;

	struct json *j = call_object(y->call);

	if (!j) {
		call_line(line, y->call);
		return;
	}
	json_open(j, NULL, '{');
	json_number(j, "depth", depth);
	json_text(j, "text", line + strspn(line, " "));
	json_close(j, '}');
}

/* The steps are an array, from here until the answer is there. */
static void begin_steps(const struct why *y)
{
	struct json *j = call_object(y->call);

	if (j)
		json_open(j, "steps", '[');
}

static void end_steps(const struct why *y)
{
	struct json *j = call_object(y->call);

	if (j)
		json_close(j, ']');
}

/* ---- the answer ---- */

static const char *security_of(const struct message *m)
{
	if (m->flags & FLAG_AD)
		return "proven by DNSSEC";
	return m->rcode == RCODE_SERVFAIL ? "failed" : "not proven by DNSSEC";
}

static void say_reason(struct call *c, const struct message *m)
{
	struct slice ede;
	uint16_t code;

	if (!edns_find_option(&m->edns, EDNS_EDE, &ede) || ede.len < 2)
		return;
	code = get_u16(ede.at);
	call_say(c, "reason: EDE %u%s%.*s\n", code, ede.len > 2 ? ": " : "", (int)ede.len - 2,
		 (const char *)ede.at + 2);
}

static void put_reason(struct json *j, const struct message *m)
{
	struct slice ede;

	if (!edns_find_option(&m->edns, EDNS_EDE, &ede) || ede.len < 2)
		return;
	json_number(j, "ede", get_u16(ede.at));
	if (ede.len > 2)
		json_textn(j, "reason", (const char *)ede.at + 2, ede.len - 2);
}

static void put_record(const char *line, void *json)
{
	json_open(json, NULL, '{');
	call_record(json, line);
	json_close(json, '}');
}

static void put_answer(struct json *j, const struct message *m, uint64_t took_us)
{
	char rcode[16], ms[32];

	json_open(j, "answer", '{');
	json_text(j, "rcode", rr_rcode_name(m->rcode, rcode));
	json_bool(j, "secure", m->flags & FLAG_AD);
	json_bool(j, "truncated", m->flags & FLAG_TC);
	snprintf(ms, sizeof ms, "%" PRIu64 ".%" PRIu64, took_us / 1000, took_us / 100 % 10);
	json_raw(j, "took_ms", ms);
	put_reason(j, m);
	json_open(j, "records", '[');
	for (unsigned i = 0; i < message_set_count(m); i++)
		text_rrset_print(m->sets[i], 0, put_record, j);
	json_close(j, ']');
	json_close(j, '}');
}

static void say_answer(struct call *c, const struct message *m, uint64_t took_us)
{
	struct json *j = call_object(c);
	char rcode[16];

	if (j) {
		put_answer(j, m, took_us);
		return;
	}
	call_say(c, "answer: %s, %s%s, after %" PRIu64 ".%" PRIu64 " ms\n", rr_rcode_name(m->rcode, rcode), security_of(m),
		 m->flags & FLAG_TC ? ", truncated: to be asked again over TCP" : "", took_us / 1000, took_us / 100 % 10);
	say_reason(c, m);
	for (unsigned i = 0; i < message_set_count(m); i++)
		text_rrset_print(m->sets[i], 0, call_line, c);
}

static void show(struct why *y, const uint8_t *bytes, size_t len)
{
	uint64_t took_us = y->worker->env.time->now_us - y->begun_us;
	struct arena arena;
	struct message m;

	end_steps(y);
	arena_init(&arena);
	if (msg_parse(bytes, len, &arena, 0, &m))
		say_answer(y->call, &m, took_us);
	arena_clear(&arena);
}

static void end(struct why *y)
{
	trace_end(y->trace);
	y->trace = NULL;
	call_resume(y->call);
}

static void on_reply(const struct client *c, const uint8_t *bytes, size_t len)
{
	show(c->via, bytes, len);
	end(c->via);
}

static void on_drop(const struct client *c)
{
	struct why *y = c->via;
	struct json *j = call_object(y->call);

	end_steps(y);
	if (j)
		json_bool(j, "dropped", true);
	else
		call_say(y->call, "answer: none, the query is dropped\n");
	end(y);
}

/* A client that speaks UDP, as most do, or TCP. */
static const struct client_ops ops_udp = { .name = "control", .reply = on_reply, .drop = on_drop };
static const struct client_ops ops_tcp = {
	.name = "control", .stream = true, .reply = on_reply, .drop = on_drop
};

/* ---- the query ---- */

static void put_cached(struct json *j, const struct why *y, const struct stored *s)
{
	uint32_t now_s = y->worker->env.time->now_s;
	char name[DNAME_TEXT], type[16];

	json_text(j, "name", dname_print(y->name, name));
	json_text(j, "type", rr_type_name(y->q.type, type));
	json_bool(j, "cached", s != NULL);
	if (!s)
		return;
	json_number(j, "cached_for", now_s - s->stored_s);
	json_number(j, "ttl", time_left(now_s, s->expires_s));
}

static void say_cached(const struct why *y)
{
	const struct env *env = &y->worker->env;
	const struct stored *s =
		msgcache_find(env->messages, &y->q, msgcache_hash(&y->q), 0, false);
	struct json *c = call_object(y->call);

	if (c)
		put_cached(c, y, s);
	else if (s)
		call_say(y->call, "the message cache has an answer: cached for %u s, TTL %u s\n",
			 env->time->now_s - s->stored_s, time_left(env->time->now_s, s->expires_s));
	else
		call_say(y->call, "the message cache has no answer\n");
}

static bool read_transport(struct why *y, const char *word)
{
	y->ops = word && strcasecmp(word, "tcp") == 0 ? &ops_tcp : &ops_udp;
	if (!word || y->ops == &ops_tcp || strcasecmp(word, "udp") == 0)
		return true;
	call_say(y->call, "error: expected udp or tcp: '%s'\n", word);
	return false;
}

/* The address taken as the client's decides views, tags and access control. */
static bool read_arguments(struct why *y)
{
	struct call *c = y->call;
	struct fault f = { 0 };
	char *word;

	if (!call_take_name(c, y->name))
		return false;
	y->q = (struct question){ .name = y->name,
				  .name_len = (uint16_t)dname_len(y->name),
				  .type = TYPE_A,
				  .class_ = CLASS_IN };
	word = control_word(&c->args);
	if (word && !rr_type_parse(word, &y->q.type)) {
		call_say(c, "error parsing RRset type: '%s'\n", word);
		return false;
	}
	word = control_word(&c->args);
	if (addr_parse(&y->client, word ? word : "127.0.0.1", 53, &f))
		return read_transport(y, control_word(&c->args));
	call_say(c, "error: %s\n", f.text);
	return false;
}

static void ask(struct why *y)
{
	struct edns edns = { .present = true, .udp_size = MSG_MAX };
	struct packet p = { .client = { .ops = y->ops, .from = y->client, .via = y } };
	struct worker *w = y->worker;
	struct writer in = writer_over(y->in, sizeof y->in);
	struct decision *usual = w->env.decision;

	p.out = writer_over(y->out, sizeof y->out);
	msg_write_query(&in, 0, FLAG_RD | FLAG_AD, &y->q, &edns);
	p.in = (struct slice){ .at = y->in, .len = writer_len(&in) };
	w->env.trace = trace_pin(y->trace); /* an answer that comes at once ends it before its path does */
	w->env.decision = &y->decision;
	switch (frontend_take(w, &p)) {
	case DISPOSITION_SEND:
		show(y, p.out.start, writer_len(&p.out));
		end(y);
		break;
	case DISPOSITION_DROP:
		on_drop(&p.client);
		break;
	case DISPOSITION_LATER:
		break;
	}
	trace_unpin(w->env.trace);
	w->env.trace = NULL;
	w->env.decision = usual;
}

void control_why(struct call *c, struct worker *w)
{
	struct why *y;

	if (!w)
		return;
	c->data = y = mem_zero(sizeof *y);
	y->call = c;
	y->worker = w;
	y->begun_us = w->env.time->now_us;
	if (!read_arguments(y))
		return;
	say_cached(y);
	begin_steps(y);
	y->trace = trace_begin(w->env.time, hear, y);
	c->waits = true;
	ask(y);
	if (c->waits && !trace_is_shared(y->trace))
		hear(y, 0, "the same query is in progress: waiting for it");
}
