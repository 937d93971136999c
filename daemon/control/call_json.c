/* The reply to a command as JSON.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/control/call_json.h"

#include <stdio.h>
#include <string.h>

#include "daemon/control/call_text.h"
#include "util/base/mem.h"

enum form { NOTHING, FAILED, LINES, ROWS, OBJECT };

struct call_json {
	struct json to;
	enum form form;
	struct { /* FAILED: all that was said; LINES: what was said of a line; not NUL-terminated */
		char *at;
		size_t len, room;
	} words;
};

static void out(void *call, const char *at, size_t len)
{
	call_put(call, at, len);
}

static void begin(struct call *c)
{
	c->json = mem_zero(sizeof *c->json);
	c->json->to = (struct json){ .out = out, .arg = c };
}

void call_take_line(struct call *c, const char *line)
{
	static const char wish[] = "--json";
	size_t len = sizeof wish - 1;

	if (strncmp(line, wish, len) == 0 && line[len] && strchr(" \t", line[len])) {
		line += len + strspn(line + len, " \t");
		begin(c);
	}
	memcpy(c->line, line, strlen(line) + 1);
	c->args = c->line;
}

void call_json_free(struct call *c)
{
	if (!c->json)
		return;
	mem_free(c->json->words.at);
	mem_free(c->json);
	c->json = NULL;
}

void call_json_clear(struct call *c)
{
	if (!c->json)
		return;
	call_json_free(c);
	begin(c);
}

/* ---- the frame ---- */

static void open_frame(struct call *c, bool ok)
{
	struct json *j = &c->json->to;

	json_open(j, NULL, '{');
	json_textn(j, "command", c->line, c->command ? strlen(c->command->word) : strcspn(c->line, " \t"));
	json_bool(j, "ok", ok);
}

static void close_error(struct call_json *r)
{
	size_t len = r->words.len;

	json_textn(&r->to, "error", r->words.at, len && r->words.at[len - 1] == '\n' ? len - 1 : len);
	r->words.len = 0;
}

/* `data` in this form, unless it is in another one already. */
static struct json *open_data(struct call *c, enum form form)
{
	struct call_json *r = c->json;

	if (!r)
		return NULL;
	if (r->form == form)
		return &r->to;
	PROMISE(r->form == NOTHING || r->form == FAILED);
	if (r->form == FAILED)
		close_error(r);
	else
		open_frame(c, true);
	json_open(&r->to, "data", form == OBJECT ? '{' : '[');
	r->form = form;
	return &r->to;
}

struct json *call_object(struct call *c)
{
	return open_data(c, OBJECT);
}

struct json *call_rows(struct call *c)
{
	return open_data(c, ROWS);
}

struct json *call_row(struct call *c)
{
	struct json *j = call_rows(c);

	if (j)
		json_open(j, NULL, '{');
	return j;
}

void call_row_end(struct call *c)
{
	json_close(&c->json->to, '}');
}

/* ---- sentences ---- */

static void keep(struct call_json *r, const char *text, size_t len)
{
	if (r->words.room - r->words.len < len) {
		r->words.room = 2 * r->words.room + len;
		r->words.at = mem_grow(r->words.at, r->words.room);
	}
	memcpy(r->words.at + r->words.len, text, len);
	r->words.len += len;
}

static void line_ends(struct call *c)
{
	struct call_json *r = c->json;

	if (r->words.len != 2 || memcmp(r->words.at, "ok", 2) != 0)
		json_textn(open_data(c, LINES), NULL, r->words.len ? r->words.at : "", r->words.len);
	r->words.len = 0;
}

static void take_lines(struct call *c, const char *text, size_t len)
{
	const char *end;

	while ((end = memchr(text, '\n', len)) != NULL) {
		keep(c->json, text, (size_t)(end - text));
		line_ends(c);
		len -= (size_t)(end + 1 - text);
		text = end + 1;
	}
	keep(c->json, text, len);
}

/* The name of a zone may begin so, too; what handlers say of an error they say at once. */
static bool is_error(const char *text, size_t len)
{
	return len > 5 && memcmp(text, "error", 5) == 0 && strchr(" :\n", text[5]);
}

void call_json_words(struct call *c, const char *text, size_t len)
{
	struct call_json *r = c->json;

	if (r->form == NOTHING && r->words.len == 0 && is_error(text, len)) {
		open_frame(c, false);
		r->form = FAILED;
	}
	if (r->form == FAILED)
		keep(r, text, len);
	else if (r->form == NOTHING || r->form == LINES)
		take_lines(c, text, len);
}

void call_json_end(struct call *c)
{
	struct call_json *r = c->json;

	if (!r)
		return;
	if (r->form == FAILED)
		close_error(r);
	else if (r->words.len)
		line_ends(c);
	if (r->form == NOTHING)
		open_frame(c, true);
	else if (r->form != FAILED)
		json_close(&r->to, r->form == OBJECT ? '}' : ']');
	json_close(&r->to, '}');
	call_put(c, "\n", 1);
}

void call_print_late(const struct call *c, int thread, unsigned s, char *to, size_t room)
{
	int n = c->json ? snprintf(to, room, "{\"command\":\"%s\",\"ok\":false,\"error\":\"", c->command->word) : 0;

	snprintf(to + n, room - (size_t)n,
		 "error thread %d has not responded for more than %u s: the command continues when it does%s\n", thread, s,
		 c->json ? "\"}" : "");
}

/* ---- records ---- */

/* Up to the blank or tab that ends a field; what stands between quotes is one. */
static size_t field_len(const char *at)
{
	bool quoted = false;
	size_t n = 0;

	for (; at[n] && (quoted || (at[n] != ' ' && at[n] != '\t')); n++)
		if (at[n] == '\\' && at[n + 1])
			n++;
		else if (at[n] == '"')
			quoted = !quoted;
	return n;
}

void call_record(struct json *j, const char *line)
{
	static const char *const names[] = { "name", "ttl", "class", "type" };

	for (size_t i = 0; i < COUNT(names); i++) {
		size_t len = strcspn(line, "\t");

		if (i == 1)
			json_value(j, names[i], line, len);
		else
			json_textn(j, names[i], line, len);
		line += len + (line[len] == '\t');
	}
	json_open(j, "data", '[');
	for (line += strspn(line, " \t"); *line; line += strspn(line, " \t")) {
		size_t len = field_len(line);

		json_textn(j, NULL, line, len);
		line += len;
	}
	json_close(j, ']');
}
