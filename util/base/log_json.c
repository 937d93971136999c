/* A line of the log as a JSON object.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/base/log_json.h"

#include <stdio.h>
#include <string.h>

#include "util/base/json.h"

static const char cut_text[] = ",\"cut\":true";

/* For the end of a line: the LF, the bracket, and what says that something is missing. */
enum { RESERVE = 1 + 1 + sizeof cut_text - 1, NUMBER_MOST = 32 };

static const struct { const char *word; bool prose; } events[] = {
#define EVENT(word, prose, help) { #word, prose },
#include "util/base/log_event.def"
#undef EVENT
};

static const struct { const char *name; enum log_member_type type; } members[] = {
#define MEMBER(name, type, help) { #name, LOG_MEMBER_##type },
#include "util/base/log_member.def"
#undef MEMBER
};

struct writing {
	struct json json;
	char *to;
	size_t len;
	bool cut;
};

static void put(void *arg, const char *at, size_t len)
{
	struct writing *w = arg;

	memcpy(w->to + w->len, at, len);
	w->len += len;
}

static size_t room(const struct writing *w)
{
	return LOG_JSON_MOST - RESERVE - w->len;
}

static void put_text(struct writing *w, const char *name, const char *value)
{
	if (!json_text_within(&w->json, name, value, room(w)))
		w->cut = true;
}

/* Whether a member that is no text fits. */
static bool fits(struct writing *w, const char *name)
{
	bool yes = strlen(name) + NUMBER_MOST <= room(w);

	w->cut |= !yes;
	return yes;
}

static void put_number(struct writing *w, const char *name, uint64_t value)
{
	if (fits(w, name))
		json_number(&w->json, name, value);
}

static void put_decimal(struct writing *w, const char *name, uint64_t millionths)
{
	if (fits(w, name))
		json_seconds(&w->json, name, millionths);
}

/* RFC 3339, with milliseconds. */
static void put_time(struct writing *w, const struct log_head *h)
{
	char text[64], zone[8] = "Z";
	unsigned ms = (unsigned)(h->time.tv_nsec / 1000000);
	struct tm tm;
	size_t len;

	if (!(h->local_time ? localtime_r(&h->time.tv_sec, &tm) : gmtime_r(&h->time.tv_sec, &tm)))
		memset(&tm, 0, sizeof tm);
	len = strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &tm);
	if (!h->local_time)
		snprintf(text + len, sizeof text - len, ".%03uZ", ms);
	else if (strftime(zone, sizeof zone, "%z", &tm) == 5)
		snprintf(text + len, sizeof text - len, ".%03u%.3s:%s", ms, zone, zone + 3);
	put_text(w, "time", text);
}

static const char *level_of(const char *kind)
{
	static const char *const levels[] = { "debug", "notice", "warning", "error" };

	for (size_t i = 0; i < COUNT(levels); i++)
		if (strcmp(levels[i], kind) == 0)
			return levels[i];
	return strcmp(kind, "fatal error") == 0 ? "fatal" : "info"; /* as are query and reply */
}

static bool is_floor(const char *folder, size_t len)
{
	static const char *const floors[] = { "daemon", "iterator", "validator" };

	for (size_t i = 0; i < COUNT(floors); i++)
		if (len == strlen(floors[i]) && memcmp(folder, floors[i], len) == 0)
			return true;
	return false;
}

/* The folder that `end` ends. */
static const char *folder_before(const char *path, const char *end)
{
	while (end > path && end[-1] != '/')
		end--;
	return end;
}

/* The room of a file is its folder, with the floor's in front: "services/xfer", "iterator". */
static void put_room(struct writing *w, const char *file)
{
	const char *end = file ? strrchr(file, '/') : NULL, *from;
	char text[64];

	if (!end)
		return;
	from = folder_before(file, end);
	if (!is_floor(from, (size_t)(end - from)) && from > file)
		from = folder_before(file, from - 1);
	snprintf(text, sizeof text, "%.*s", (int)(end - from), from);
	put_text(w, "room", text);
}

static void put_fact(struct writing *w, const struct log_fact *f)
{
	const char *name = members[f->member].name;

	switch (members[f->member].type) {
	case LOG_MEMBER_TEXT:
		if (f->text)
			put_text(w, name, f->text);
		break;
	case LOG_MEMBER_COUNT:
		put_number(w, name, f->number);
		break;
	case LOG_MEMBER_FLAG:
		if (fits(w, name))
			json_bool(&w->json, name, f->number != 0);
		break;
	case LOG_MEMBER_DECIMAL:
		put_decimal(w, name, f->number);
		break;
	}
}

static void put_head(struct writing *w, const struct log_head *h, const struct log_origin *o)
{
	put_time(w, h);
	put_text(w, "level", level_of(o->kind));
	put_text(w, "event", events[o->event].word);
	put_text(w, "ident", h->ident);
	put_number(w, "pid", (uint64_t)h->pid);
	put_number(w, "thread", (uint64_t)h->thread);
	put_room(w, o->file);
}

size_t log_json_build(char *to, const struct log_head *h, const struct log_origin *o, const char *text)
{
	struct writing w = { .json = { .out = put }, .to = to };

	w.json.arg = &w;
	json_open(&w.json, NULL, '{');
	put_head(&w, h, o);
	for (const struct log_fact *f = o->facts; f && f->member != LOG_MEMBERS; f++)
		put_fact(&w, f);
	if (events[o->event].prose)
		put_text(&w, "message", text);
	if (w.cut)
		put(&w, cut_text, sizeof cut_text - 1);
	json_close(&w.json, '}');
	return w.len;
}
