/* Zones of which the resolver holds a copy: auth-zone clauses, whose files are the zones themselves.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/authzone/data.h"
#include "testdata/hostile/internet.h"
#include "util/base/fault.h"
#include "util/dns/text.h"

static struct internet *here; /* whose zones are read */

void held_begin(struct internet *net)
{
	here = net;
}

void held_choose(struct internet *net, enum choice_stream stream)
{
	static const enum site_number kept[] = { SITE_V, SITE_I, SITE_W, SITE_ISLE, SITE_SUB, SITE_ISLAND, SITE_J, SITE_U, SITE_T, SITE_ROOT };
	static const unsigned ways[] = { HELD_UP, HELD_UP | HELD_DOWN, HELD_UP | HELD_FALLS_BACK, HELD_DOWN };

	for (unsigned count = 1 + draw(net->choices, stream, 3); count; count--) {
		enum site_number n = kept[draw(net->choices, stream, COUNT(kept))];
		unsigned how = ways[draw(net->choices, stream, COUNT(ways))];
		struct site *s = &net->sites[n];

		/* what is above others would answer for all of them; the copy of a zone that changes is not changed */
		if (n == SITE_ROOT || n == SITE_U || n == SITE_T)
			how = HELD_UP;
		if (!s->zone || (n == SITE_T && net->sites[SITE_GONE].zone) || (n == SITE_ROOT && (net->forwards_all || net->root_unloaded)))
			continue;
		s->held = s->held ? 0 : how;
	}
}

char *held_config(struct internet *net)
{
	char *text = arena_textf(&net->arena, "%s", ""), name[DNAME_TEXT];

	for (unsigned i = 0; i < SITES; i++) {
		const struct site *s = &net->sites[i];

		if (s->zone && s->held)
			text = arena_textf(&net->arena, "%sauth-zone:\n\tname: \"%s\"\n\tzonefile: \"world\"\n\tfallback-enabled: %s\n"
							"\tfor-downstream: %s\n\tfor-upstream: %s\n",
					   text, dname_print(s->zone->apex, name), s->held & HELD_FALLS_BACK ? "yes" : "no",
					   s->held & HELD_DOWN ? "yes" : "no", s->held & HELD_UP ? "yes" : "no");
	}
	return text;
}

struct site *held_for_client(struct internet *net, const struct question *q)
{
	const struct site *own = &net->sites[SITE_OWN];
	bool above = q->type == TYPE_DS && !dname_is_root(q->name);
	const uint8_t *name = above ? dname_parent(q->name) : q->name;
	struct site *best = NULL;

	for (unsigned i = 0; i < SITES; i++) {
		struct site *s = &net->sites[i];

		if (s->zone && s->held && dname_is_under(name, s->zone->apex) &&
		    (!best || dname_labels(s->zone->apex) > dname_labels(best->zone->apex)))
			best = s;
	}
	if (own->zone && !net->own_off && net->own_kind == OWN_LOCAL && dname_is_under(q->name, own->zone->apex))
		return NULL; /* local zones come first */
	return best && best->held & HELD_DOWN ? best : NULL;
}

/* ---- their files ---- */

struct zonedata *__real_zonedata_read(const struct zonedata_how *how, struct fault *f);
struct zonedata *__wrap_zonedata_read(const struct zonedata_how *how, struct fault *f);

static void file(struct zonebuild *b, const struct zone *z, struct set *s)
{
	struct text_rr rr = { .owner = s->owner, .ttl_s = s->ttl_s, .type = s->type, .class_ = CLASS_IN };
	struct slice sig = zdata_sig(z, s);

	for (unsigned i = 0; i < s->count; i++) {
		rr.rdata = s->rdata[i];
		zonebuild_add(b, &rr);
	}
	rr.type = TYPE_RRSIG;
	rr.rdata = sig;
	if (sig.len)
		zonebuild_add(b, &rr);
}

struct zonedata *__wrap_zonedata_read(const struct zonedata_how *how, struct fault *f)
{
	struct zonebuild *rules = here ? withheld_zone(here, how->apex) : NULL;

	if (rules)
		return zonebuild_finish(rules, f);
	for (unsigned i = 0; here && i < SITES; i++) {
		const struct zone *z = here->sites[i].zone;
		struct zonebuild *b;

		if (!z || !here->sites[i].held || !dname_equals(z->apex, how->apex))
			continue;
		b = zonebuild_new(z->apex);
		for (unsigned n = 0; n < z->count; n++)
			file(b, z, z->sets[n]);
		return zonebuild_finish(b, f);
	}
	return __real_zonedata_read(how, f);
}
