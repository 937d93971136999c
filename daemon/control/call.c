/* A control command being carried out: its arguments and reply.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/control/call.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "daemon/control/call_json.h"
#include "daemon/control/call_text.h"
#include "daemon/process/daemon.h"
#include "util/base/fault.h"
#include "util/base/mem.h"
#include "util/dns/dname.h"

/* ---- the reply ---- */

static void put(struct call *c, const char *from, size_t len)
{
	if (c->json)
		call_json_words(c, from, len);
	else
		call_put(c, from, len);
}

void call_say(struct call *c, const char *fmt, ...)
{
	char text[2048], *whole;
	va_list args, again;
	int len;

	va_start(args, fmt);
	va_copy(again, args);
	len = vsnprintf(text, sizeof text, fmt, args);
	va_end(args);
	if (len < (int)sizeof text) {
		put(c, text, (size_t)MAX(len, 0));
	} else {
		whole = mem_new((size_t)len + 1);
		vsnprintf(whole, (size_t)len + 1, fmt, again);
		put(c, whole, (size_t)len);
		mem_free(whole);
	}
	va_end(again);
}

void call_line(const char *line, void *call)
{
	put(call, line, strlen(line));
	put(call, "\n", 1);
}

void call_ok(struct call *c)
{
	put(c, "ok\n", 3);
}

void call_lacks(struct call *c, enum part p)
{
	call_say(c, "error %s\n", part_lack(p));
}

char *call_reply(const struct call *c, size_t *len)
{
	char *text;

	*len = 0;
	for (const struct call_text *t = c->first; t; t = t->next)
		*len += t->end - t->start;
	text = mem_new(*len + 1);
	text[*len] = '\0';
	*len = 0;
	for (const struct call_text *t = c->first; t; t = t->next) {
		memcpy(text + *len, t->bytes + t->start, t->end - t->start);
		*len += t->end - t->start;
	}
	return text;
}

void call_clear(struct call *c)
{
	while (c->first) {
		struct call_text *t = c->first;

		c->first = t->next;
		mem_free(t);
	}
	call_json_clear(c);
}

/* ---- the configuration ---- */

const struct snapshot *call_snapshot(const struct call *c)
{
	return c->snapshot ? c->snapshot : c->daemon->snapshot;
}

/* ---- arguments ---- */

bool call_take_name(struct call *c, uint8_t *to)
{
	struct fault why = { 0 };
	char *word = control_word(&c->args);

	if (!word) {
		call_say(c, "error: this option requires a domain name\n");
		return false;
	}
	if (dname_parse(to, word, &why))
		return true;
	call_say(c, "error cannot parse name %s: %s\n", word, why.text);
	return false;
}

bool call_take_flags(struct call *c, const char *known, bool *given)
{
	const char *letters;

	memset(given, 0, strlen(known) * sizeof *given);
	if (*c->args != '+')
		return true;
	for (letters = control_word(&c->args) + 1; *letters; letters++) {
		const char *at = strchr(known, *letters);

		if (!at) {
			call_say(c, "error: unknown option %s\n", letters);
			return false;
		}
		given[at - known] = true;
	}
	return true;
}
