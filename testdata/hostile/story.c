/* The steps of story.def, one after the other.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "testdata/hostile/play.h"
#include "util/base/mem.h"
#include "util/base/timebase.h"

static const struct step {
	unsigned weight;
	void (*run)(struct play *p);
} steps[] = {
#define STEP(name, weight, what) { weight, step_##name },
#include "testdata/hostile/story.def"
#undef STEP
};

static unsigned pick_story(struct play *p, unsigned bound)
{
	return draw(&p->choices, CHOICES_STORY, bound);
}

static void one_step(struct play *p)
{
	static unsigned sum;
	unsigned at;

	if (!sum)
		for (unsigned i = 0; i < COUNT(steps); i++)
			sum += steps[i].weight;
	at = pick_story(p, sum);
	for (unsigned i = 0; i < COUNT(steps); i++) {
		if (at < steps[i].weight) {
			steps[i].run(p);
			return;
		}
		at -= steps[i].weight;
	}
}

static void some_steps(struct play *p, unsigned count)
{
	while (count-- && !p->failed) {
		one_step(p);
		/* mostly each waits for the one before */
		if (pick_story(p, 4) < 3)
			play_until_answered(p);
		else
			play_run(p, pick_story(p, 60) * US_PER_MS);
	}
	play_until_answered(p);
}

void story_tell(struct play *p)
{
	const bool removes = p->net.focus == &p->net.sites[SITE_GONE];

	if (pick_story(p, 10) == 9)
		step_outage(p); /* the network comes up after the resolver */
	some_steps(p, 2 + pick_story(p, 24));
	if (removes) {
		step_remove(p);
		some_steps(p, pick_story(p, 4));
	}
	/* what the parent has removed is to be gone once its delegation has expired, whatever happens then */
	if (p->removed_us && !p->failed && (removes || pick_story(p, 2))) {
		play_run(p, (p->net.sites[SITE_GONE].cut_ttl_s + 2) * US_PER_S);
		some_steps(p, pick_story(p, 5));
	}
}

/* ---- clients ---- */

static unsigned some_flags(struct play *p)
{
	static const unsigned flags[] = { 0, ASK_DO, ASK_DO, ASK_CD, ASK_CD | ASK_DO, ASK_TCP, ASK_OTHER_VIEW, 0 };

	return flags[pick_story(p, COUNT(flags))] | (p->net.placed && pick_story(p, 3) == 2 ? ASK_FAR : 0);
}

static void ask_at(struct play *p, const struct site *s)
{
	const char *prefix = prefixes[pick_story(p, prefix_count)];
	uint16_t type = asked_types[pick_story(p, 3) ? 0 : pick_story(p, asked_type_count)];

	(void)play_ask(p, site_name(&p->net, s, prefix), type, some_flags(p));
}

void step_ask_his(struct play *p)
{
	struct site *s = &p->net.sites[SITE_EVIL + pick_story(p, 2)];

	if (s->zone)
		ask_at(p, s);
}

void step_ask_focus(struct play *p)
{
	ask_at(p, internet_pick(&p->net, CHOICES_STORY));
}

void step_ask_servers(struct play *p)
{
	const struct site *s = pick_story(p, 2) ? &p->net.sites[SITE_EVIL + pick_story(p, 3)] : internet_pick(&p->net, CHOICES_STORY);
	uint16_t type = pick_story(p, 3) ? TYPE_NS : TYPE_MX;
	unsigned flags = some_flags(p);
	const uint8_t *name;

	if (!s->zone)
		return;
	name = site_name(&p->net, s, pick_story(p, 3) ? "" : prefixes[pick_story(p, prefix_count)]);
	for (unsigned i = 0; i < 2; i++) {
		(void)play_ask(p, name, type, flags);
		play_until_answered(p);
		flags ^= ASK_DO;
	}
}

void step_crowd(struct play *p)
{
	const struct site *s = internet_pick(&p->net, CHOICES_STORY);
	const char *prefix = prefixes[pick_story(p, prefix_count)];

	for (unsigned i = 4 + pick_story(p, 9); i; i--) {
		(void)play_ask(p, site_name(&p->net, s, arena_textf(&p->net.arena, "n%u.%s", p->ask_count, prefix)), TYPE_A, 0);
		ask_at(p, internet_pick(&p->net, CHOICES_STORY));
		play_until_answered(p);
	}
}

static const struct site *some_victim(struct play *p)
{
	const struct site *s = internet_pick(&p->net, CHOICES_STORY);

	return s->hostile ? &p->net.sites[SITE_T] : s;
}

void step_ask_victim(struct play *p)
{
	ask_at(p, some_victim(p));
}

void step_ask_any(struct play *p)
{
	static const char *const names[] = { "", "nowhere", "x.nowhere", "a.t", "zz.t", "a.u", "zz.u", "own.t", "t", "u" };

	(void)play_ask(p, name_make(&p->net.arena, names[pick_story(p, COUNT(names))]),
		       asked_types[pick_story(p, asked_type_count)], some_flags(p));
}

/* ---- time ---- */

void step_pass_little(struct play *p)
{
	play_run(p, (1 + pick_story(p, 20)) * US_PER_S);
}

void step_pass_much(struct play *p)
{
	static const unsigned seconds[] = { 61, 301, 901, 3601, 3700, 7300, 90000 };

	play_run(p, seconds[pick_story(p, COUNT(seconds))] * US_PER_S);
}

/* ---- the zone that its parent removes ---- */

void step_remove(struct play *p)
{
	struct site *s = &p->net.sites[SITE_GONE];

	if (!s->zone || s->gone)
		return;
	internet_remove(&p->net, s);
	p->removed_us = play_now_us(p);
}

void step_gone_refresh(struct play *p)
{
	const struct site *s = &p->net.sites[SITE_GONE];

	if (s->zone)
		ask_at(p, s);
}

void step_ask_again(struct play *p)
{
	const struct ask *ask;
	uint16_t type;

	if (!p->ask_count)
		return;
	ask = &p->asks[p->ask_count - 1 - pick_story(p, p->ask_count)];
	type = pick_story(p, 2) ? asked_types[pick_story(p, asked_type_count)] : ask->q.type;
	(void)play_ask(p, ask->q.name, type, some_flags(p));
}
