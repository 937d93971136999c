/* Time, servers and clients of a world.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "testdata/hostile/play.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "testdata/hostile/keys.h"
#include "testdata/hostile/trace.h"
#include "util/base/fault.h"
#include "util/base/hash.h"
#include "util/base/log.h"
#include "util/base/loop.h"
#include "util/base/mem.h"
#include "util/base/rcu.h"
#include "util/base/timebase.h"
#include "util/conf/options.h"

enum { LATENCY_US = 10000, DECIDED_SILENT = 1, DECIDED_LATE = 2 };

void play_fail(struct play *p, const char *fmt, ...)
{
	va_list args;

	if (p->failed)
		return;
	p->failed = true;
	va_start(args, fmt);
	vsnprintf(p->why, sizeof(p->why), fmt, args);
	va_end(args);
}

uint64_t play_now_us(const struct play *p)
{
	return loop_time(p->world.loop)->now_us;
}

/* ---- servers ---- */

static void on_sent(void *arg, struct outstanding *o)
{
	struct play *p = arg;

	p->packets++;
	o->due_us = play_now_us(p) + LATENCY_US;
	if (p->trace)
		p->trace->sent(p->trace, &o->transmission->to, o->tcp,
			       (struct slice){ o->transmission->wire, o->transmission->len });
}

static void deliver(struct play *p, struct outstanding *o, const struct slice *answers, size_t count)
{
	if (p->trace)
		p->trace->told(p->trace, &o->transmission->to, o->tcp,
			       (struct slice){ o->transmission->wire, o->transmission->len },
			       count ? answers[count - 1] : (struct slice){ NULL, 0 });
	if (count)
		world_deliver(&p->world, o, answers, count);
	else
		world_fail(&p->world, o);
}

/* Packets with other ids come first. False: the query is over. */
static bool outlasts(struct play *p, struct outstanding *o, unsigned strays)
{
	while (strays-- && !o->tcp)
		if (world_stray(&p->world, o))
			return false;
	return true;
}

/* What goes out; false: nothing, or not now. */
static bool attack(struct play *p, struct outstanding *o, const struct question *q, struct site *s, struct told *t,
		   struct attack *a)
{
	*a = (struct attack){ .net = &p->net, .arena = &p->net.arena, .q = q, .site = s, .tcp = o->tcp, .told = t };
	a->forwards = server_is_forwarder(&p->net, &o->transmission->to);
	if (a->forwards)
		a->site = forwarder_site(&p->net, q);
	adversary_answer(a);
	if (a->delay_ms && !o->decided) {
		o->decided = a->silent ? DECIDED_SILENT : DECIDED_LATE;
		o->due_us += a->delay_ms * US_PER_MS;
		return false;
	}
	return true;
}

static void answer(struct play *p, struct outstanding *o)
{
	static uint8_t bytes[MSG_MAX];
	static struct told t;
	struct slice query = { o->transmission->wire, o->transmission->len }, answers[5];
	const uint8_t *name = query.at + MSG_HEAD_LEN;
	size_t name_len = dname_len(name), count = 1;
	struct question q = { name, (uint16_t)name_len, get_u16(name + name_len), CLASS_IN };
	struct site *s = internet_served(&p->net, &o->transmission->to, &q);
	bool forwarded = server_is_forwarder(&p->net, &o->transmission->to);
	struct attack a = { 0 };

	if (o->decided == DECIDED_SILENT || p->net.dark || (!s && !forwarded)) {
		deliver(p, o, NULL, 0);
		return;
	}
	q.name = arena_copy(&p->net.arena, name, name_len);
	places_read(&p->net, query);
	if (forwarded && (p->honest || !server_is_hostile(&o->transmission->to))) {
		forwarder_tell(&p->net, &t, &q);
	} else if (!p->honest && server_is_hostile(&o->transmission->to)) {
		if (!attack(p, o, &q, s, &t, &a))
			return;
		if (!outlasts(p, o, a.strays))
			return;
	} else {
		told_honest(&t, s->zone, &q, &p->net.arena);
		places_tell(&p->net, s, &t);
		if (s == p->net.placed || (p->net.shows_all && s->server % 2))
			t.options = places_echo(&p->net, s == p->net.placed ? 24 : 0);
		if (s->configured)
			t.flags |= FLAG_RA;
	}
	answers[0] = (struct slice){ bytes, told_write(&t, query, bytes, o->tcp ? sizeof(bytes) : 1232) };
	if (a.told && !o->tcp && get_u16(bytes + 2) & FLAG_TC && !(t.flags & FLAG_TC))
		adversary_too_large(&a);
	if (a.lowers && get_u16(bytes + 4))
		(void)dname_copy_lower(bytes + MSG_HEAD_LEN, name);
	if (a.other_question && answers[0].len > 14)
		bytes[13] ^= 1;
	if (a.breaks) {
		deliver(p, o, NULL, 0);
		return;
	}
	if (a.keep)
		answers[0].len = MIN(answers[0].len, a.keep);
	while (count <= a.copies)
		answers[count++] = answers[0];
	deliver(p, o, answers, count);
}

/* ---- clients ---- */

unsigned play_place(unsigned flags)
{
	return (flags & ASK_OTHER_VIEW ? 1 : 0) + (flags & ASK_FAR ? 1 : 0);
}

struct ask *play_ask(struct play *p, const uint8_t *name, uint16_t type, unsigned flags)
{
	struct addr from = { .ip = { 127, 0, (uint8_t)play_place(flags), flags & ASK_OTHER_VIEW ? 2 : 1 }, .port = 4242, .family = 4 };
	struct ask *ask = &p->asks[p->ask_count];
	uint8_t bytes[300];
	struct writer w = writer_over(bytes, sizeof(bytes));
	struct slice query;

	if (p->ask_count == ASKS_MOST || p->failed)
		return NULL;
	*ask = (struct ask){ .q = { name, (uint16_t)dname_len(name), type, CLASS_IN },
			     .flags = flags,
			     .at_us = play_now_us(p),
			     .packets = p->packets };
	write_u16(&w, (uint16_t)p->ask_count++);
	write_u16(&w, (uint16_t)(FLAG_RD | FLAG_AD | (flags & ASK_CD ? FLAG_CD : 0)));
	write_u16(&w, 1);
	write_u32(&w, 0);
	write_u16(&w, flags & ASK_DO ? 1 : 0);
	write_bytes(&w, name, ask->q.name_len);
	write_u16(&w, type);
	write_u16(&w, CLASS_IN);
	if (flags & ASK_DO)
		write_bytes(&w, "\0\0\x29\x10\0\0\0\x80\0\0\0", 11);
	PROMISE(!w.bad);
	query = (struct slice){ bytes, writer_len(&w) };
	if (p->trace)
		p->trace->asked(p->trace, &from, flags & ASK_TCP, query);
	ask->alone = p->open == 0;
	for (unsigned i = 0; i + 1 < p->ask_count && p->open; i++)
		p->asks[i].alone = false;
	p->open++;
	world_ask(&p->world, &from, flags & ASK_TCP, query);
	return ask;
}

static void hear_all(struct play *p)
{
	LIST_EACH_SAFE (at, &p->world.answers) {
		struct client_answer *c = LIST_ITEM(at, struct client_answer, link);
		unsigned id = c->wire.len >= 2 ? msg_id(c->wire.at) : ASKS_MOST;

		if (p->trace)
			p->trace->answered(p->trace, &c->to, c->tcp, c->wire);
		if (id < p->ask_count && p->asks[id].dropped) {
			; /* late */
		} else if (id >= p->ask_count || p->asks[id].answered) {
			play_fail(p, "an answer nobody asked for");
		} else {
			p->asks[id].answered = true;
			p->open--;
			judge_answer(p, &p->asks[id], c);
		}
		client_answer_free(c);
	}
}

/* ---- time ---- */

static struct outstanding *next_due(struct play *p)
{
	struct outstanding *best = NULL;

	LIST_EACH (at, &p->world.outstanding) {
		struct outstanding *o = LIST_ITEM(at, struct outstanding, link);

		if (!best || o->due_us <= best->due_us)
			best = o;
	}
	return best;
}

static void pass(struct play *p, uint64_t us)
{
	if (p->trace)
		p->trace->passed(p->trace, us);
	world_pass(&p->world, us);
}

static void run(struct play *p, uint64_t until_us, bool until_answered)
{
	hear_all(p);
	while (!p->failed && !(until_answered && !p->open)) {
		uint64_t now = play_now_us(p), timer = world_next_timer(&p->world), next;
		struct outstanding *o = next_due(p);

		next = timer == UINT64_MAX ? UINT64_MAX : now + timer;
		if (o && o->due_us <= next)
			next = MAX(o->due_us, now);
		else
			o = NULL;
		if (next > until_us) {
			pass(p, until_us - now);
			break;
		}
		if (next > now)
			pass(p, next - now);
		else if (!o)
			pass(p, 1); /* a timer that is due */
		o = o ? next_due(p) : NULL; /* a query may have been given up meanwhile */
		if (o && o->due_us <= play_now_us(p))
			answer(p, o);
		hear_all(p);
		if (++p->events > EVENTS_MOST)
			play_fail(p, "it does not come to rest");
	}
	hear_all(p);
}

void play_run(struct play *p, uint64_t us)
{
	run(p, play_now_us(p) + us, false);
}

void play_until_answered(struct play *p)
{
	run(p, play_now_us(p) + PATIENCE_MS * US_PER_MS, true);
	for (unsigned i = 0; i < p->ask_count && p->net.scarce && p->open; i++)
		if (!p->asks[i].answered && !(p->asks[i].flags & ASK_JUDGED)) {
			p->asks[i].answered = p->asks[i].dropped = true;
			p->open--;
		}
}

/* ---- a world ---- */

static void no_line(const char *line, void *arg)
{
	(void)line;
	(void)arg;
}

void play_begin_once(void)
{
	hash_start(true);
	rcu_thread_join();
	log_capture(no_line, NULL);
	keys_begin();
}

static struct conf *load(const char *text, struct fault *f)
{
	struct conf_how how = { .no_files = true, .test_switches = true };
	struct conf_report report = { 0 };
	struct conf *conf = conf_new();

	if (conf_load_text(conf, "world", text, strlen(text), &how, &report) && conf_check(conf, &how, &report)) {
		conf_report_clear(&report);
		return conf;
	}
	conf_report_fault(&report, f);
	conf_report_clear(&report);
	conf_free(conf);
	return NULL;
}

struct conf *play_config(struct play *p)
{
	const char *text = internet_config(&p->net);
	struct fault f = { 0 };
	struct conf *conf;

	if (p->trace)
		p->trace->config(p->trace, text);
	conf = load(text, &f);
	if (!conf)
		play_fail(p, "the configuration: %s", f.text);
	return conf;
}

void play_lose_all(struct play *p)
{
	hear_all(p);
	for (unsigned i = 0; i < p->ask_count; i++)
		p->asks[i].answered = true;
	p->open = 0;
}

static bool begin(struct play *p)
{
	struct conf *conf = play_config(p);
	struct fault f = { 0 };

	p->world.steady = true;
	p->world.sent = on_sent;
	p->world.arg = p;
	if (conf && world_begin(&p->world, conf, PLAY_BEGINS_S, &f)) {
		operator_begin(&p->operator, &p->world);
		return true;
	}
	if (conf)
		play_fail(p, "the configuration: %s", f.text);
	conf_free(conf);
	return false;
}

static void end(struct play *p)
{
	if (p->over)
		return;
	operator_end(&p->operator);
	world_end(&p->world);
}

/* What the adversary has left behind is over when he has been gone for so long. */
static void afterwards(struct play *p)
{
	p->honest = true;
	play_until_answered(p);
	play_run(p, 2 * 86400 * US_PER_S + US_PER_S);
	p->afterwards = true;
	judge_victims(p);
}

static uint64_t cpu_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * US_PER_S + (uint64_t)ts.tv_nsec / 1000;
}

void play_world(struct choices *c, bool alone, struct trace *trace, struct play_report *report)
{
	static struct play p;
	uint64_t began = cpu_us();

	memset(&p, 0, sizeof(p));
	p.choices = *c;
	p.trace = trace;
	p.honest = alone;
	p.memory = mem_in_use();
	internet_make(&p.net, &p.choices);
	adversary_begin(&p.net);
	if (begin(&p)) {
		story_tell(&p);
		judge_victims(&p);
		afterwards(&p);
		end(&p);
	}
	internet_clear(&p.net);
	*c = p.choices;
	report->cpu_us = cpu_us() - began;
	if (report->cpu_us > CPU_MOST_MS * US_PER_MS)
		play_fail(&p, "it took %u ms of CPU time", (unsigned)(report->cpu_us / 1000));
	report->failed = p.failed;
	memcpy(report->why, p.why, sizeof(p.why));
	report->asks = p.ask_count;
	report->packets = p.packets;
	report->events = p.events;
}
