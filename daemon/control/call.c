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

#define PIECE 16384 /* bytes of a reply per allocation */

/* ---- the reply ---- */

static void append(struct call *c, const char *from, size_t len)
{
	while (len) {
		struct call_text *t = c->last;
		size_t n;

		if (!c->first || t->end == t->room) {
			t = mem_new(sizeof *t + PIECE);
			*t = (struct call_text){ .room = PIECE };
			if (c->first)
				c->last->next = t;
			else
				c->first = t;
			c->last = t;
			c->pieces++;
		}
		n = MIN(len, t->room - t->end);
		memcpy(t->bytes + t->end, from, n);
		t->end += n;
		from += n;
		len -= n;
	}
}

void call_put(struct call *c, const char *from, size_t len)
{
	struct call_flow *f = c->flow;
	bool tell;

	if (!f) {
		append(c, from, len);
		return;
	}
	pthread_mutex_lock(&f->lock);
	if (!f->gone) {
		append(c, from, len);
		f->held += len;
	}
	tell = f->held >= FLOW_TELL && !f->told && !f->gone;
	f->told |= tell;
	pthread_mutex_unlock(&f->lock);
	if (tell)
		f->more(c);
}

static void put(struct call *c, const char *from, size_t len)
{
	if (c->json)
		call_json_words(c, from, len);
	else
		call_put(c, from, len);
}

struct call_flow *call_flow_new(void (*more)(struct call *c))
{
	struct call_flow *f = mem_zero(sizeof *f);

	pthread_mutex_init(&f->lock, NULL);
	pthread_cond_init(&f->moved, NULL);
	f->more = more;
	return f;
}

void call_flow_end(struct call_flow *f)
{
	if (!f)
		return;
	pthread_mutex_lock(&f->lock);
	f->gone = true;
	pthread_cond_signal(&f->moved);
	pthread_mutex_unlock(&f->lock);
}

void call_flow_free(struct call_flow *f)
{
	if (!f)
		return;
	pthread_cond_destroy(&f->moved);
	pthread_mutex_destroy(&f->lock);
	mem_free(f);
}

bool call_flows(struct call *c)
{
	struct call_flow *f = c->flow;
	bool there;

	if (!f)
		return true;
	pthread_mutex_lock(&f->lock);
	while (f->held >= FLOW_MOST && !f->gone)
		(void)pthread_cond_wait(&f->moved, &f->lock);
	there = !f->gone;
	pthread_mutex_unlock(&f->lock);
	return there;
}

struct call_text *call_next_piece(struct call *c, bool over)
{
	struct call_text *t;

	if (c->flow)
		pthread_mutex_lock(&c->flow->lock);
	t = c->first && (over || c->first != c->last) ? c->first : NULL;
	if (c->flow && !t)
		c->flow->told = false;
	if (c->flow)
		pthread_mutex_unlock(&c->flow->lock);
	return t;
}

void call_piece_sent(struct call *c)
{
	struct call_text *t;

	if (c->flow)
		pthread_mutex_lock(&c->flow->lock);
	t = c->first;
	c->first = t->next;
	if (c->flow) {
		c->flow->held -= MIN(c->flow->held, t->end);
		if (c->flow->held < FLOW_MOST / 2)
			pthread_cond_signal(&c->flow->moved);
		pthread_mutex_unlock(&c->flow->lock);
	}
	mem_free(t);
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
