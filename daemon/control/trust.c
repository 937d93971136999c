/* Commands about trust anchors, and about domains exempt from validation.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/control/trust.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "daemon/control/call.h"
#include "daemon/process/daemon.h"
#include "services/query/snapshot.h"
#include "util/base/fault.h"
#include "util/base/mem.h"
#include "util/conf/options.h"
#include "util/dns/dname.h"
#include "util/dns/rr.h"
#include "util/names/trie.h"
#include "validator/anchors.h"
#include "validator/autotrust.h"
#include "validator/trust.h"
#include "validator/verify.h"

static bool say_name(const uint8_t *name, void *value, void *call)
{
	char text[DNAME_TEXT];

	(void)value;
	call_line(dname_print(name, text), call);
	return true;
}

void control_list_insecure(struct call *c, struct worker *w)
{
	(void)w;
	trie_each(call_snapshot(c)->domain_insecure, say_name, c);
}

/* ---- trust anchors ---- */

enum { TAGS_MOST = 64 };

static void say_tags(struct call *c, const struct anchor *a, const char *what)
{
	uint16_t tags[TAGS_MOST];
	size_t count = anchor_tags(a, tags, COUNT(tags));
	char name[DNAME_TEXT];

	for (size_t i = 0; i < count; i++)
		call_say(c, "%s %u %s\n", dname_print(a->owner, name), tags[i], what);
}

static bool say_fixed(const struct anchor *a, void *call)
{
	if (!a->rolls)
		say_tags(call, a, "configured");
	return true;
}

static void say_day(struct call *c, const char *what, int64_t wall_s)
{
	time_t t = (time_t)wall_s;
	char text[32] = "";
	struct tm tm;

	if (wall_s > 0 && gmtime_r(&t, &tm))
		strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &tm);
	if (*text)
		call_say(c, " %s %s", what, text);
}

static uint16_t tag_of(const struct autotrust_key *k)
{
	return k->type == TYPE_DS ? get_u16(k->rdata.at) : rr_key_tag(k->rdata);
}

static int by_tag(const void *a, const void *b)
{
	return tag_of(a) - tag_of(b);
}

/* One that is followed, and whose file is not there: it is written when the zone's keys have been confirmed. */
static void say_unwritten(struct call *c, const struct anchor *a, const struct fault *why)
{
	char text[sizeof why->text + 40];

	snprintf(text, sizeof text, "trusted since the start (%s)", why->text);
	if (a)
		say_tags(c, a, text);
}

/* By tag: a file has them in the order in which the zone's servers happened to send them. */
static void say_rolling(struct call *c, const struct anchors *anchors, const struct autotrust *point)
{
	static const char *const states[] = {
#define X(name) [AUTOTRUST_##name] = #name,
		AUTOTRUST_STATES(X)
#undef X
	};
	struct fault f = { 0 };
	struct autotrust *p = autotrust_read(point->path, &f); /* rewritten after each step */
	char name[DNAME_TEXT];

	if (!p) {
		say_unwritten(c, anchors_find_at(anchors, point->owner), &f);
		return;
	}
	qsort(p->keys, p->count, sizeof *p->keys, by_tag);
	for (size_t i = 0; i < p->count; i++) {
		const struct autotrust_key *k = &p->keys[i];

		call_say(c, "%s %u %s", dname_print(p->owner, name), tag_of(k), states[k->state]);
		say_day(c, "since", k->last_change);
		say_day(c, "asked", p->last_success);
		say_day(c, "again", p->next_probe);
		call_say(c, " in %s\n", point->path);
	}
	autotrust_free(p);
}

void control_list_anchors(struct call *c, struct worker *w)
{
	const struct trust_store *trust = call_snapshot(c)->trust;

	(void)w;
	if (!trust)
		return;
	anchors_each(trust->anchors, say_fixed, c);
	for (size_t i = 0; i < anchors_rolling_count(trust->anchors); i++)
		if (anchors_rolling(trust->anchors, i)->path)
			say_rolling(c, trust->anchors, anchors_rolling(trust->anchors, i));
}

/* ---- domains without validation ---- */

static bool is_written(const char *text, const uint8_t *name)
{
	uint8_t written[DNAME_MAX];
	struct fault f = { 0 };

	return dname_parse(written, text, &f) && dname_equals(written, name);
}

/* Remove the name from the list. */
static void strike(struct conf_list *list, const uint8_t *name)
{
	size_t kept = 0;

	for (size_t i = 0; i < list->count; i++) {
		if (is_written(list->items[i].text, name))
			mem_free(list->items[i].text);
		else
			list->items[kept++] = list->items[i];
	}
	list->count = kept;
}

static bool add(struct conf *conf, const uint8_t *name, struct fault *f)
{
	char text[DNAME_TEXT], line[DNAME_TEXT + 32];

	snprintf(line, sizeof line, "domain-insecure: \"%s\"", dname_print(name, text));
	return conf_set_option(conf, line, f);
}

static bool is_listed(const struct daemon *d, const uint8_t *zone)
{
	return trie_find(d->snapshot->domain_insecure, zone) != NULL;
}

bool control_exempt(struct daemon *d, const uint8_t *zone, bool insecure, struct fault *f)
{
	struct conf *conf;

	if (is_listed(d, zone) == insecure)
		return true;
	conf = conf_copy(d->snapshot->conf);
	if (!insecure)
		strike(&conf->server.domain_insecure, zone);
	if ((!insecure || add(conf, zone, f)) && daemon_reconfigure(d, conf, f))
		return true;
	conf_free(conf);
	return false;
}

static void change(struct call *c, bool insecure)
{
	uint8_t name[DNAME_MAX];
	struct fault f = { 0 };

	if (!call_take_name(c, name))
		return;
	if (!control_exempt(c->daemon, name, insecure, &f))
		call_say(c, "error %s\n", f.text);
	else if (!insecure && is_listed(c->daemon, name))
		call_say(c, "error it is insecure by default: a zone of the local network, or one with servers of its own "
			    "where no trust anchor is configured\n");
	else
		call_ok(c);
}

void control_insecure_add(struct call *c, struct worker *w)
{
	(void)w;
	change(c, true);
}

void control_insecure_remove(struct call *c, struct worker *w)
{
	(void)w;
	change(c, false);
}
