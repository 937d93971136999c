/* Playing the steps of a scenario, and the loop that carries traffic between them.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/replay/play.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/replay/config.h"
#include "daemon/replay/macro.h"
#include "daemon/replay/rrs.h"
#include "daemon/replay/scenario.h"
#include "daemon/replay/world.h"
#include "services/cache/infra.h"
#include "services/cache/msg.h"
#include "util/base/arena.h"
#include "util/base/fault.h"
#include "util/base/loop.h"
#include "util/base/mem.h"
#include "util/base/rcu.h"
#include "util/base/timebase.h"
#include "util/conf/options.h"
#include "util/dns/msg.h"
#include "util/dns/rr.h"

enum { TURNS_MAX = 5000, DECKARD_PATIENCE_S = 5 };

struct play {
	const struct play_how *how;
	struct scenario *scenario;
	struct world world;
	struct arena *arena;
	struct macro_env macros;
	const struct play_step *step;   /* current; NULL when all are done */
	unsigned query_number;          /* Deckard: step of the last QUERY */
	bool soft;
	char why[400];
	bool failed;
};

static void tell(const struct play *p, const char *fmt, ...) PRINTF_LIKE(2, 3);
static void fail(struct play *p, const char *fmt, ...) PRINTF_LIKE(2, 3);

static void tell(const struct play *p, const char *fmt, ...)
{
	va_list args;

	if (!p->how->verbose)
		return;
	printf("# ");
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	printf("\n");
}

static void fail(struct play *p, const char *fmt, ...)
{
	va_list args;

	if (p->failed)
		return;
	p->failed = true;
	va_start(args, fmt);
	vsnprintf(p->why, sizeof(p->why), fmt, args);
	va_end(args);
}

static const char *describe(struct slice wire, char *to, size_t room)
{
	struct arena scratch;
	struct flat_message m;
	char name[DNAME_TEXT] = "", type[16];

	arena_init(&scratch);
	if (!flat_read(wire, &scratch, &m))
		snprintf(to, room, "unreadable message of %zu bytes", wire.len);
	else
		snprintf(to, room, "%s %s rcode %u flags %04x: %u %u %u",
			 m.qname ? dname_print(m.qname, name) : "(no question)",
			 rr_type_name(m.qtype, type), m.rcode, m.flags, m.count[0], m.count[1],
			 m.count[2]);
	arena_clear(&scratch);
	return to;
}

/* The OPT record, its options in hexadecimal as HEX_EDNSDATA has them. */
static void tell_edns(const struct play *p, const struct edns *e)
{
	char hex[2 * 256 + 1] = "";

	if (!e->present)
		return;
	for (size_t i = 0; i < e->options.len && 2 * i + 2 < sizeof(hex); i++)
		snprintf(hex + 2 * i, 3, "%02x", e->options.at[i]);
	tell(p, "    X OPT version %u size %u%s%s%s%s", e->version, e->udp_size,
	     e->flags & EDNS_DO ? " DO" : "", e->flags & EDNS_CO ? " CO" : "", *hex ? " " : "", hex);
}

static void tell_message(const struct play *p, const char *what, const struct addr *who,
			 struct slice wire)
{
	char text[1200], addr[ADDR_TEXT];
	struct arena scratch;
	struct flat_message m;

	if (!p->how->verbose)
		return;
	tell(p, "%s %s: %s", what, addr_print(who, 53, addr), describe(wire, text, sizeof(text)));
	arena_init(&scratch);
	if (flat_read(wire, &scratch, &m)) {
		for (unsigned s = 0; s < 3; s++)
			for (unsigned i = 0; i < m.count[s]; i++) {
				flat_rr_print(&m.rrs[s][i], text, sizeof(text));
				tell(p, "    %c %s", "ANX"[s], text);
			}
		tell_edns(p, &m.edns);
	}
	arena_clear(&scratch);
}

/* ---- canned answers ---- */

static bool address_matches(const struct addr *listed, const struct addr *to)
{
	return addr_equals_ip(listed, to) && listed->port == to->port;
}

static bool range_lists(const struct range *r, const struct addr *to)
{
	for (size_t i = 0; i < r->address_count; i++)
		if (address_matches(&r->addresses[i], to))
			return true;
	return r->address_count == 0;
}

static bool query_fits(const struct play *p, const struct entry *e, const struct outstanding *o)
{
	struct entry_how how = { .tcp = o->tcp, .strict = p->how->strict, .asked = true };

	return entry_fits(e, (struct slice){ o->transmission->wire, o->transmission->len }, &how,
			  NULL, 0);
}

static struct entry *range_entry(const struct play *p, const struct range *r,
				       const struct outstanding *o)
{
	for (struct entry *e = r->entries; e; e = e->next)
		if (query_fits(p, e, o))
			return e;
	return NULL;
}

/* Unbound's rule: the first entry that matches, searching ranges from last to first. */
static const struct entry *unbound_entry(const struct play *p, const struct outstanding *o,
					 unsigned number)
{
	for (const struct range *r = p->scenario->last_range; r; r = r->prev) {
		const struct entry *e;

		if (number < r->first || number > r->last || !range_lists(r, &o->transmission->to))
			continue;
		e = range_entry(p, r, o);
		if (e)
			return e;
	}
	return NULL;
}

static bool any_range_lists(const struct play *p, const struct addr *to)
{
	for (const struct range *r = p->scenario->ranges; r; r = r->next)
		if (r->address_count && range_lists(r, to))
			return true;
	return false;
}

/* Deckard's rule: the first eligible range and no other. Servers in no range may use any. */
static const struct entry *deckard_entry(const struct play *p, const struct outstanding *o,
					 bool *in_a_range)
{
	bool stranger = !any_range_lists(p, &o->transmission->to);

	*in_a_range = false;
	for (const struct range *r = p->scenario->ranges; r; r = r->next)
		if (p->query_number >= r->first && p->query_number <= r->last &&
		    (stranger || range_lists(r, &o->transmission->to))) {
			struct entry *e = range_entry(p, r, o);

			*in_a_range = true;
			if (e)
				e->used = true;
			return e;
		}
	return NULL;
}

/* In Deckard's dialect a REPLY step answers once, no later than its step number. */
static const struct entry *deckard_one_shot(const struct play *p, const struct outstanding *o)
{
	for (const struct play_step *s = p->scenario->steps; s; s = s->next)
		if (s->kind == PLAY_REPLY && s->number >= p->query_number && !s->entry->used &&
		    query_fits(p, s->entry, o)) {
			s->entry->used = true;
			return s->entry;
		}
	return NULL;
}

/* SERVFAIL with the query's question: what Deckard's server sends when no entry matches. */
static struct slice server_failure(struct play *p, const struct outstanding *o)
{
	struct entry_packet packet = { 0 };
	struct entry e = { .adjust = ADJUST_ID | ADJUST_QUERY, .deckard = true };
	uint8_t head[MSG_HEAD_LEN] = { 0 };

	put_u16(head + 2, FLAG_QR | RCODE_SERVFAIL);
	packet.wire = (struct slice){ head, sizeof(head) };
	return entry_answer(&e, &packet,
			    (struct slice){ o->transmission->wire, o->transmission->len },
			    p->arena);
}

static void deliver_entry(struct play *p, struct outstanding *o, const struct entry *e)
{
	struct slice query = { o->transmission->wire, o->transmission->len };
	struct addr from = o->transmission->to;
	struct slice *answers;
	size_t count = 0;

	if (e->adjust & ADJUST_SILENT) {
		tell(p, "silence");
		world_fail(&p->world, o);
		return;
	}
	for (const struct entry_packet *part = e->packets; part; part = part->next)
		count++;
	answers = arena_zeros(p->arena, count + 1, sizeof(*answers));
	count = 0;
	for (const struct entry_packet *part = e->packets; part; part = part->next) {
		answers[count] = entry_answer(e, part, query, p->arena);
		tell_message(p, "answer from", &from, answers[count++]);
	}
	world_deliver(&p->world, o, answers, count);
}

/* Answer one outstanding query, if any can be answered. */
static bool answer_one(struct play *p)
{
	LIST_EACH(at, &p->world.outstanding) {
		struct outstanding *o = LIST_ITEM(at, struct outstanding, link);
		const struct entry *e;
		bool in_a_range = false;

		if (!p->scenario->deckard) {
			e = unbound_entry(p, o, p->step ? p->step->number : 0);
		} else {
			e = deckard_entry(p, o, &in_a_range);
			if (!e)
				e = deckard_one_shot(p, o);
		}
		if (e) {
			deliver_entry(p, o, e);
			return true;
		}
		if (p->scenario->deckard) {
			struct slice failure = server_failure(p, o);

			p->soft = true;
			tell_message(p, "no entry, failure from", &o->transmission->to, failure);
			world_deliver(&p->world, o, &failure, 1);
			return true;
		}
	}
	return false;
}

/* ---- steps ---- */

static void step_on(struct play *p)
{
	p->step = p->step->next;
}

static bool out_query_fits(const struct play *p, const struct outstanding *o)
{
	return p->step && p->step->kind == PLAY_CHECK_OUT_QUERY &&
	       (p->step->address.family == 0 ||
		addr_equals_ip(&p->step->address, &o->transmission->to)) &&
	       query_fits(p, p->step->entry, o);
}

/* The resolver has sent a query. */
static void on_sent(void *arg, struct outstanding *o)
{
	struct play *p = arg;

	tell_message(p, o->tcp ? "asks (tcp)" : "asks", &o->transmission->to,
		     (struct slice){ o->transmission->wire, o->transmission->len });
	if (!p->scenario->deckard && out_query_fits(p, o)) {
		tell(p, "step %u: sent as expected", p->step->number);
		step_on(p);
	}
}

static bool check_out_query(struct play *p)
{
	if (p->scenario->deckard)
		return false;
	LIST_EACH(at, &p->world.outstanding) {
		struct outstanding *o = LIST_ITEM(at, struct outstanding, link);
		const struct entry *e;

		if (!out_query_fits(p, o))
			continue;
		e = p->step->entry;
		step_on(p);
		if (e->adjust & ADJUST_ID)
			deliver_entry(p, o, e);
		return true;
	}
	return false;
}

static void check_answer(struct play *p)
{
	struct entry_how how = { .strict = p->how->strict };
	char why[300] = "";

	LIST_EACH(at, &p->world.answers) {
		struct client_answer *a = LIST_ITEM(at, struct client_answer, link);

		if (p->step->address.family && !addr_equals_ip(&p->step->address, &a->to))
			continue;
		how.tcp = a->tcp;
		if (!entry_fits(p->step->entry, a->wire, &how, why, sizeof(why)))
			continue;
		tell_message(p, "good answer to", &a->to, a->wire);
		client_answer_free(a);
		step_on(p);
		return;
	}
	if (!list_is_empty(&p->world.answers)) {
		struct client_answer *a = LIST_ITEM(p->world.answers.next, struct client_answer, link);
		char text[200];

		tell_message(p, "wrong answer to", &a->to, a->wire);
		fail(p, "%s (got %s)", why, describe(a->wire, text, sizeof(text)));
	} else {
		fail(p, "no answer");
	}
}

static void do_query(struct play *p)
{
	const struct play_step *s = p->step;
	struct addr from = s->address;

	if (from.family == 0)
		addr_parse(&from, "127.0.0.1", 53535, NULL);
	p->query_number = s->number;
	step_on(p);
	/* what Deckard does not check of one query is not what it checks of the next */
	if (p->scenario->deckard)
		LIST_EACH_SAFE(at, &p->world.answers)
			client_answer_free(LIST_ITEM(at, struct client_answer, link));
	for (const struct entry_packet *k = s->entry->packets; k; k = k->next) {
		tell_message(p, "client asks from", &from, k->wire);
		world_ask(&p->world, &from, s->entry->match & MATCH_TCP, k->wire);
	}
}

/* The question sent last, to the step's address where it has one; NULL: there is none. */
static struct outstanding *newest(const struct play *p, const struct play_step *s)
{
	LIST_EACH(at, &p->world.outstanding) {
		struct outstanding *o = LIST_ITEM(at, struct outstanding, link);

		if (s->address.family == 0 || addr_equals_ip(&s->address, &o->transmission->to))
			return o;
	}
	return NULL;
}

static void do_newest(struct play *p)
{
	const struct play_step *s = p->step;
	struct outstanding *o = newest(p, s);

	step_on(p);
	if (s->kind == PLAY_REPLY && p->scenario->deckard)
		return;
	if (!o) {
		fail(p, "no question is outstanding");
		return;
	}
	if (s->kind == PLAY_REPLY)
		deliver_entry(p, o, s->entry);
	else
		world_fail(&p->world, o);
}

static void macro_now(struct play *p)
{
	uint64_t next = world_next_timer(&p->world);

	p->macros.time_s = (double)loop_time(p->world.loop)->now_us / (double)US_PER_S;
	p->macros.timeout_s = next == UINT64_MAX ? 0 : (double)next / (double)US_PER_S;
}

static char *expand(struct play *p, const char *text)
{
	struct fault f = { 0 };
	char *out;

	macro_now(p);
	out = macro_expand(&p->macros, text, &f);
	if (!out)
		fail(p, "%s", f.text);
	return out;
}

static void do_time_passes(struct play *p)
{
	char *text = p->step->text, *amount, *end = NULL;
	double seconds = -1;

	if (!(amount = word_after(text, "ELAPSE")) && (amount = word_after(text, "EVAL")))
		amount = expand(p, amount);
	if (amount)
		seconds = strtod(amount, &end);
	if (end)
		end += strspn(end, " \t");
	if (!end || end == amount || (*end && *end != ';') || !(seconds >= 0)) {
		if (!p->failed)
			fail(p, "how much time passes? %s", text);
		return;
	}
	tell(p, "%g seconds pass", seconds);
	step_on(p);
	world_pass(&p->world, (uint64_t)(seconds * (double)US_PER_S));
}

static void do_assign(struct play *p)
{
	char *text = p->step->text, *equals = strchr(text, '=');
	char *name, *value;

	if (!equals) {
		fail(p, "ASSIGN needs name = value");
		return;
	}
	name = arena_textf(p->arena, "%.*s", (int)strcspn(text, " \t="), text);
	value = expand(p, equals + 1 + strspn(equals + 1, " \t"));
	if (!value)
		return;
	macro_assign(&p->macros, name, value);
	step_on(p);
}

static size_t trimmed(const char *line)
{
	size_t len = strlen(line);

	while (len && strchr(" \t\r\n", line[len - 1]))
		len--;
	return len;
}

/* Check that a file written by the resolver is, line for line, what the step says. */
static void check_file(struct play *p)
{
	const struct block *want = p->step->block;
	char *path = arena_textf(p->arena, "%s/%s", p->scenario->folder ? p->scenario->folder : "",
				 p->step->text);
	char line[8192];
	FILE *in = fopen(path, "r");

	if (!in) {
		fail(p, "cannot read %s: %s", path, strerror(errno));
		return;
	}
	for (size_t i = 0; i < want->count && !p->failed; i++) {
		char *expected = expand(p, want->lines[i]);

		if (!expected)
			break;
		if (!fgets(line, sizeof(line), in))
			fail(p, "file ends before line: %s", expected);
		else if (trimmed(line) != trimmed(expected) ||
			 memcmp(line, expected, trimmed(line)) != 0)
			fail(p, "line %zu is \"%.*s\", not \"%s\"", i + 1, (int)trimmed(line), line,
			     expected);
	}
	if (!p->failed && fgets(line, sizeof(line), in))
		fail(p, "file has more lines: %.*s", (int)trimmed(line), line);
	fclose(in);
	if (!p->failed)
		step_on(p);
}

static void do_infra_rtt(struct play *p)
{
	char ip[80], zone[512];
	uint8_t name[DNAME_MAX];
	struct addr server;
	unsigned rtt;

	if (sscanf(p->step->text, "%79s %511s %u", ip, zone, &rtt) != 3 ||
	    !addr_parse(&server, ip, 53, NULL) || dname_parse(name, zone, NULL) == 0) {
		fail(p, "INFRA_RTT needs address, zone and milliseconds");
		return;
	}
	rcu_turn_begin();
	infra_set_rtt(p->world.caches.infra, &server, name, rtt, loop_time(p->world.loop));
	rcu_turn_end();
	step_on(p);
}

static void do_message(struct play *p)
{
	char owner[512], class_name[16], type_name[16];
	uint8_t name[DNAME_MAX];
	struct question q = { .name = name };

	if (sscanf(p->step->text, "%511s %15s %15s", owner, class_name, type_name) != 3 ||
	    (q.name_len = (uint16_t)dname_parse(name, owner, NULL)) == 0 ||
	    !rr_class_parse(class_name, &q.class_) || !rr_type_parse(type_name, &q.type)) {
		fail(p, "needs name, class and type");
		return;
	}
	rcu_turn_begin();
	if (p->step->kind == PLAY_FLUSH_MESSAGE) {
		msgcache_remove(p->world.caches.messages, &q);
	} else {
		const struct timebase *t = loop_time(p->world.loop);
		const struct stored *s = msgcache_find(p->world.caches.messages, &q,
						       msgcache_hash(&q), 0, true);

		if (s) {
			struct message *m = stored_unpack(s, p->arena, t->now_s);
			struct msg_keep keep = { .now_s = t->now_s - 4, .ttl_s = 1, .always = true };

			if (m)
				msgcache_store(p->world.caches.messages, m, &keep);
		}
	}
	rcu_turn_end();
	step_on(p);
}

static void perform(struct play *p)
{
	tell(p, "step %u (line %u)", p->step->number, p->step->line);
	switch (p->step->kind) {
	case PLAY_NOTHING:
	case PLAY_TRAFFIC:
		step_on(p);
		break;
	case PLAY_QUERY:
		do_query(p);
		break;
	case PLAY_CHECK_ANSWER:
		check_answer(p);
		break;
	case PLAY_CHECK_OUT_QUERY:
		if (p->scenario->deckard)
			step_on(p);
		else
			fail(p, "the question was not sent");
		break;
	case PLAY_REPLY:
	case PLAY_TIMEOUT:
	case PLAY_ERROR:
		do_newest(p);
		break;
	case PLAY_TIME_PASSES:
		do_time_passes(p);
		break;
	case PLAY_ASSIGN:
		do_assign(p);
		break;
	case PLAY_CHECK_AUTOTRUST:
	case PLAY_CHECK_TEMPFILE:
		check_file(p);
		break;
	case PLAY_INFRA_RTT:
		do_infra_rtt(p);
		break;
	case PLAY_FLUSH_MESSAGE:
	case PLAY_EXPIRE_MESSAGE:
		do_message(p);
		break;
	}
}

/* A Deckard client waits DECKARD_PATIENCE_S for an answer: advance the clock to the next timer. */
static bool wait_for_answer(struct play *p, uint64_t *waited_us)
{
	uint64_t next = world_next_timer(&p->world);

	if (!p->scenario->deckard || p->step->kind != PLAY_CHECK_ANSWER ||
	    !list_is_empty(&p->world.answers) || next == UINT64_MAX ||
	    *waited_us + next > DECKARD_PATIENCE_S * US_PER_S)
		return false;
	*waited_us += next;
	world_pass(&p->world, next);
	return true;
}

/* Answer queries still outstanding after the last step, where the ranges can: mostly for server
 * addresses, which we may look up earlier or later than the author's resolver. */
static void play_out(struct play *p, const struct play_step *last)
{
	unsigned turns = 0;

	p->step = last;
	while (!p->failed && turns++ < TURNS_MAX && answer_one(p))
		;
	p->step = NULL;
}

static void play_steps(struct play *p)
{
	const struct play_step *last = NULL;
	unsigned number = 0, turns = 0;
	uint64_t waited_us = 0;

	p->step = p->scenario->steps;
	while (p->step && !p->failed) {
		if (++turns > TURNS_MAX) {
			fail(p, "it does not come to rest");
			break;
		}
		last = p->step;
		number = last->number;
		if (check_out_query(p))
			continue;
		if (!list_is_empty(&p->world.answers) && p->step->kind == PLAY_CHECK_ANSWER) {
			check_answer(p);
			waited_us = 0;
			continue;
		}
		if (!answer_one(p) && !wait_for_answer(p, &waited_us))
			perform(p);
	}
	if (last && !p->scenario->deckard && !p->how->strict)
		play_out(p, last);
	if (!p->failed && !p->scenario->deckard) {
		if (!list_is_empty(&p->world.outstanding)) {
			struct outstanding *o = LIST_ITEM(p->world.outstanding.next,
							  struct outstanding, link);
			char text[200];

			fail(p, "at the end a question is outstanding: %s",
			     describe((struct slice){ o->transmission->wire, o->transmission->len },
				      text, sizeof(text)));
		} else if (!list_is_empty(&p->world.answers)) {
			fail(p, "at the end an answer was not looked at");
		}
	}
	if (p->failed) {
		char inner[sizeof(p->why)];

		memcpy(inner, p->why, sizeof(inner));
		snprintf(p->why, sizeof(p->why), "step %u: %.300s", number, inner);
	}
}

/* ---- one file ---- */

static void check_mandatory(struct play *p)
{
	for (const struct range *r = p->scenario->ranges; r; r = r->next)
		for (const struct entry *e = r->entries; e; e = e->next)
			if (e->mandatory && !e->used && !p->failed)
				fail(p, "the mandatory entry of line %u was never used", e->line);
}

static void play_once(struct scenario *s, struct arena *a, int minimise,
		      const struct play_how *how, struct play_result *out)
{
	struct play p = { .how = how, .scenario = s, .arena = a };
	struct fault f = { 0 };
	struct conf *conf;
	uint64_t start_s = 0;
	char reason[200];

	conf = replay_config(s, minimise, reason, sizeof(reason), &f);
	if (!conf) {
		out->end = reason[0] ? PLAY_SKIPPED : PLAY_FAILED;
		snprintf(out->why, sizeof(out->why), "%s", reason[0] ? reason : f.text);
		return;
	}
	if (s->deckard)
		start_s = s->deckard_config.time_s > 0 ? (uint64_t)s->deckard_config.time_s :
							 UINT64_C(1700000000);
	for (const struct play_step *step = s->steps; step; step = step->next)
		if (step->entry)
			step->entry->used = false;
	for (const struct range *r = s->ranges; r; r = r->next)
		for (struct entry *e = r->entries; e; e = e->next)
			e->used = false;
	p.macros.arena = a;
	p.world.sent = on_sent;
	p.world.arg = &p;
	if (!world_begin(&p.world, conf, start_s, &f)) {
		conf_free(conf);
		out->end = PLAY_FAILED;
		snprintf(out->why, sizeof(out->why), "%s", f.text);
		return;
	}
	play_steps(&p);
	check_mandatory(&p);
	world_end(&p.world);
	out->soft |= p.soft;
	if (p.failed) {
		out->end = PLAY_FAILED;
		snprintf(out->why, sizeof(out->why), "%s%s", p.why,
			 minimise == 1 ? " (minimised)" : "");
	}
}

static char *read_whole(const char *path, struct fault *f)
{
	FILE *in = fopen(path, "r");
	char *text = NULL;
	size_t len = 0, got;

	if (!in) {
		fault_set(f, "cannot read %s: %s", path, strerror(errno));
		return NULL;
	}
	do {
		text = mem_grow(text, len + 65536 + 1);
		got = fread(text + len, 1, 65536, in);
		len += got;
	} while (got > 0);
	text[len] = '\0';
	fclose(in);
	return text;
}

void play_text(char *text, const struct play_how *how, struct play_result *out)
{
	struct scenario s;
	struct arena a;
	struct fault f = { 0 };

	*out = (struct play_result){ .end = PLAY_PASSED };
	arena_init(&a);
	if (!scenario_read(&s, text, &a, &f)) {
		out->end = PLAY_FAILED;
		snprintf(out->why, sizeof(out->why), "%s", f.text);
	} else if (s.deckard && s.deckard_config.minimise < 0) {
		play_once(&s, &a, 0, how, out);
		if (out->end == PLAY_PASSED)
			play_once(&s, &a, 1, how, out);
	} else {
		play_once(&s, &a, s.deckard ? s.deckard_config.minimise : -1, how, out);
	}
	scenario_tidy(&s);
	arena_clear(&a);
}

void play_file(const char *path, const struct play_how *how, struct play_result *out)
{
	struct fault f = { 0 };
	char *text = read_whole(path, &f);

	if (text) {
		play_text(text, how, out);
	} else {
		*out = (struct play_result){ .end = PLAY_FAILED };
		snprintf(out->why, sizeof(out->why), "%s", f.text);
	}
	mem_free(text);
}
