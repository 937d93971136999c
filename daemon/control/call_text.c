/* The bytes of a reply: pieces that are filled by a call and emptied by the channel, on one thread or two.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/control/call_text.h"

#include <string.h>

#include "daemon/control/call.h"
#include "util/base/mem.h"

#define PIECE 16384 /* bytes of a reply per allocation */

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
