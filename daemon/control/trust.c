/* Commands about trust anchors, and about domains exempt from validation.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/control/trust.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "daemon/control/call_json.h"
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

	struct json *j = call_rows(call);

	(void)value;
	if (j)
		json_text(j, NULL, dname_print(name, text));
	else
		call_line(dname_print(name, text), call);
	return true;
}

void control_list_insecure(struct call *c, struct worker *w)
{
	(void)w;
	(void)call_rows(c);
	trie_each(call_snapshot(c)->domain_insecure, say_name, c);
}

/* ---- trust anchors ---- */

enum { KEY_TAGS_MOST = 64 };

static void put_key(struct json *j, const char *owner, unsigned tag, const char *state)
{
	json_text(j, "name", owner);
	json_number(j, "tag", tag);
	json_text(j, "state", state);
}

/* `why`: the file of one that is followed is not there; NULL: it is configured. */
static void say_tag(struct call *c, const char *owner, unsigned tag, const struct fault *why)
{
	struct json *j = call_row(c);

	if (j) {
		put_key(j, owner, tag, why ? "unwritten" : "configured");
		if (why)
			json_text(j, "reason", why->text);
		call_row_end(c);
	} else if (why) {
		call_say(c, "%s %u trusted since the start (%s)\n", owner, tag, why->text);
	} else {
		call_say(c, "%s %u configured\n", owner, tag);
	}
}

static void say_tags(struct call *c, const struct anchor *a, const struct fault *why)
{
	uint16_t tags[KEY_TAGS_MOST];
	size_t count = anchor_tags(a, tags, COUNT(tags));
	char name[DNAME_TEXT];

	dname_print(a->owner, name);
	for (size_t i = 0; i < count; i++)
		say_tag(c, name, tags[i], why);
}

static bool say_fixed(const struct anchor *a, void *call)
{
	if (!a->rolls)
		say_tags(call, a, NULL);
	return true;
}

/* `j`: NULL: as text. */
static void say_day(struct call *c, struct json *j, const char *what, int64_t wall_s)
{
	time_t t = (time_t)wall_s;
	char text[32] = "";
	struct tm tm;

	if (wall_s > 0 && gmtime_r(&t, &tm))
		strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &tm);
	if (*text && j)
		json_text(j, what, text);
	else if (*text)
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

static const char *const states[] = {
#define X(name) [AUTOTRUST_##name] = #name,
	AUTOTRUST_STATES(X)
#undef X
};

static void say_key(struct call *c, const struct autotrust *p, const struct autotrust_key *k, const char *path)
{
	struct json *j = call_row(c);
	char name[DNAME_TEXT];

	dname_print(p->owner, name);
	if (j)
		put_key(j, name, tag_of(k), states[k->state]);
	else
		call_say(c, "%s %u %s", name, tag_of(k), states[k->state]);
	say_day(c, j, "since", k->last_change);
	say_day(c, j, "asked", p->last_success);
	say_day(c, j, "again", p->next_probe);
	if (!j) {
		call_say(c, " in %s\n", path);
		return;
	}
	json_text(j, "file", path);
	call_row_end(c);
}

/* By tag: a file has them in the order in which the zone's servers happened to send them. Where there is none yet, it is written
 * when the zone's keys have been confirmed. */
static void say_rolling(struct call *c, const struct anchors *anchors, const struct autotrust *point)
{
	struct fault f = { 0 };
	struct autotrust *p = autotrust_read(point->path, &f); /* rewritten after each step */
	const struct anchor *a;

	if (!p) {
		a = anchors_find_at(anchors, point->owner);
		if (a)
			say_tags(c, a, &f);
		return;
	}
	qsort(p->keys, p->count, sizeof *p->keys, by_tag);
	for (size_t i = 0; i < p->count; i++)
		say_key(c, p, &p->keys[i], point->path);
	autotrust_free(p);
}

void control_list_anchors(struct call *c, struct worker *w)
{
	const struct trust_store *trust = call_snapshot(c)->trust;

	(void)w;
	(void)call_rows(c);
	if (!trust)
		return;
	anchors_each(trust->anchors, say_fixed, c);
	for (size_t i = 0; i < anchors_rolling_count(trust->anchors); i++)
		if (anchors_rolling(trust->anchors, i)->path)
			say_rolling(c, trust->anchors, anchors_rolling(trust->anchors, i));
}

/* ---- domains without validation ---- */

static bool is_listed(const struct daemon *d, const uint8_t *zone)
{
	return trie_find(d->snapshot->domain_insecure, zone) != NULL;
}

bool control_exempt(struct daemon *d, const uint8_t *zone, bool insecure, struct fault *f)
{
	char name[DNAME_TEXT], *command;
	struct conf *conf;
	bool kept, good;

	if (is_listed(d, zone) == insecure)
		return true;
	conf = conf_copy(d->snapshot->conf);
	command = mem_textf("insecure_%s %s", insecure ? "add" : "remove", dname_print(zone, name));
	kept = change_insecure(conf, zone, insecure, f) && daemon_keep(d, command, f);
	good = kept && daemon_reconfigure(d, conf, f);
	if (kept && !good)
		changes_take_back(&d->changes);
	if (!good)
		conf_free(conf);
	mem_free(command);
	return good;
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
