/* What the operator does in a world: steps of story.def.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "testdata/hostile/play.h"
#include "testdata/hostile/trace.h"

#include <stdio.h>

#include "util/base/fault.h"
#include "util/base/mem.h"
#include "util/base/timebase.h"

static unsigned pick_story(struct play *p, unsigned bound)
{
	return draw(&p->choices, CHOICES_STORY, bound);
}

static void tell(struct play *p, const char *what)
{
	if (p->trace)
		p->trace->noted(p->trace, what);
}

/* What was asked before it may be answered as before. */
static void unsettle(struct play *p)
{
	for (unsigned i = 0; i < p->ask_count; i++)
		p->asks[i].straddles |= !p->asks[i].answered;
}

static void command(struct play *p, const char *line)
{
	char *reply;

	tell(p, line);
	reply = operator_command(&p->operator, line);
	tell(p, reply);
	mem_free(reply);
}

void step_flush(struct play *p)
{
	static const char *const words[] = { "flush %s", "flush_type %s A", "flush_zone %s", "flush_type %s NS", "flush_type %s DS",
					     "flush_type %s DNSKEY", "flush_zone %s" };
	static const char *const whole[] = { "flush_bogus", "flush_negative", "flush_infra all", "flush_requestlist" };
	unsigned at = pick_story(p, COUNT(words) + COUNT(whole));
	char name[DNAME_TEXT];
	const char *prefix;

	if (at >= COUNT(words)) {
		unsettle(p);
		command(p, whole[at - COUNT(words)]);
		return;
	}
	prefix = prefixes[pick_story(p, prefix_count)];
	dname_print(site_name(&p->net, internet_pick(&p->net, CHOICES_STORY), pick_story(p, 2) ? prefix : ""), name);
	command(p, arena_textf(&p->net.arena, words[at], name)); /* NOLINT: a format of the table */
}

void step_dump_and_load(struct play *p)
{
	bool empty = pick_story(p, 2);

	tell(p, empty ? "dump_cache, flush, load_cache" : "dump_cache, load_cache");
	operator_dump_and_load(&p->operator, empty);
}

/* Another configuration, or the same. */
static void change(struct play *p)
{
	struct internet *net = &p->net;
	unsigned what = pick_story(p, 64);

	if (what & 1 && net->sites[SITE_OWN].zone)
		net->own_off = !net->own_off;
	if ((what & 6) == 6)
		net->has_view = !net->has_view;
	if ((what & 24) == 24)
		net->tiny = !net->tiny;
	if ((what & 36) == 36)
		net->hides = !net->hides;
	if ((what & 40) == 40)
		net->withholds = !net->withholds;
	if ((what & 9) == 9)
		held_choose(net, CHOICES_STORY);
}

void step_reload(struct play *p)
{
	struct fault f = { 0 };
	struct conf *conf;

	change(p);
	conf = play_config(p);
	unsettle(p);
	tell(p, "reload");
	p->changed_us = play_now_us(p);
	if (conf && !operator_reload(&p->operator, conf, &f))
		play_fail(p, "reload: %s", f.text);
	judge_change(p);
}

void step_restart(struct play *p)
{
	static const unsigned seconds[] = { 1, 0, 30, 4000 };
	struct fault f = { 0 };
	uint64_t gap_us;
	struct conf *conf;

	play_until_answered(p);
	if (p->failed)
		return;
	if (pick_story(p, 3) == 0)
		change(p);
	conf = play_config(p);
	tell(p, "stop, start with the cache file");
	gap_us = seconds[pick_story(p, COUNT(seconds))] * US_PER_S;
	play_lose_all(p);
	p->net.denied = false;
	if (conf && !operator_restart(&p->operator, conf, gap_us, &f))
		p->over = true;
	if (p->over)
		play_fail(p, "restart: %s", f.text);
}

/* What is learned of servers meanwhile is the operator's to forget. */
void step_outage(struct play *p)
{
	unsigned count = 1 + pick_story(p, 4);

	play_until_answered(p);
	p->net.dark = true;
	while (count--) {
		(void)play_ask(p, site_name(&p->net, internet_pick(&p->net, CHOICES_STORY), prefixes[pick_story(p, prefix_count)]), TYPE_A, 0);
		unsettle(p);
		play_run(p, pick_story(p, 3) * US_PER_S);
	}
	play_run(p, 60 * US_PER_S);
	p->net.dark = false;
	command(p, "flush_infra all");
	play_run(p, 60 * US_PER_S);
}

void step_look(struct play *p)
{
	static const char *const lines[] = { "list_stubs",	  "list_forwards",	"list_insecure", "list_anchors",
					     "list_local_zones", "list_local_data", "dump_infra", "dump_requestlist",
					     "list_queries",	  "print_cookie_secrets" };
	static const char *const words[] = { "lookup %s", "cache_lookup +t %s" };
	unsigned at = pick_story(p, COUNT(lines) + COUNT(words));
	char name[DNAME_TEXT];

	if (at < COUNT(lines)) {
		command(p, lines[at]);
		return;
	}
	dname_print(site_name(&p->net, internet_pick(&p->net, CHOICES_STORY), prefixes[pick_story(p, prefix_count)]), name);
	command(p, arena_textf(&p->net.arena, words[at - COUNT(lines)], name)); /* NOLINT: a format of the table */
}

/* Until the next reload. */
void step_set_option(struct play *p)
{
	unsettle(p);
	command(p, arena_textf(&p->net.arena, "set_option %s", internet_switch(&p->net, CHOICES_STORY)));
	judge_change(p);
}

void step_stub_add(struct play *p)
{
	static const enum site_number victims[] = { SITE_I, SITE_V, SITE_W, SITE_J };
	const struct site *s = &p->net.sites[victims[pick_story(p, COUNT(victims))]];
	char name[DNAME_TEXT];

	if (!s->zone)
		return;
	unsettle(p);
	dname_print(s->zone->apex, name);
	if (pick_story(p, 3))
		command(p, arena_textf(&p->net.arena, "stub_add %s%s", name, internet_server_lines(&p->net, " ", s, false)));
	else
		command(p, arena_textf(&p->net.arena, "stub_remove %s", name));
	judge_change(p);
}

/* Until the next start. */
void step_deny(struct play *p)
{
	struct internet *net = &p->net;
	char name[DNAME_TEXT];

	if (!net->withholds && !net->denied)
		return;
	unsettle(p);
	net->denied = !net->denied;
	dname_print(net->withheld, name);
	command(p, arena_textf(&net->arena, "blocklist_%s %s", net->denied ? "deny" : "forget", name));
}

/* As the configuration would have it, and so the next reload has it likewise. */
void step_own_command(struct play *p)
{
	struct internet *net = &p->net;
	const struct site *s = &net->sites[SITE_OWN];
	const char *word = net->own_kind == OWN_STUB ? "stub" : "forward";

	if (!s->zone || net->own_kind == OWN_LOCAL)
		return;
	unsettle(p);
	net->own_off = !net->own_off;
	if (net->own_off)
		command(p, arena_textf(&net->arena, "%s_remove +i own.t", word));
	else
		command(p, arena_textf(&net->arena, "%s_add +i own.t%s%s", word, internet_server_lines(net, " ", s, false),
					s->second ? internet_server_lines(net, " ", s, true) : ""));
	judge_change(p);
}
