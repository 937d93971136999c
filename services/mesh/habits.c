/* Habits: a heap of what is to be fetched when, and an account of what that may cost.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/mesh/habits.h"

#include "services/cache/infra.h"
#include "services/cache/msg.h"
#include "services/query/env.h"
#include "services/query/query.h"
#include "services/query/snapshot.h"
#include "util/base/loop.h"
#include "util/base/mem.h"
#include "util/base/timebase.h"
#include "util/conf/options.h"

enum {
	LEAD_MOST_S = 5,   /* so long before it expires, at most */
	LEAD_OF_TTL = 60,  /* a second, and this part of its TTL */
	AT_ONCE = 16,      /* refreshes in one turn of the loop, */
	PAUSE_MS = 100,    /* and until the next ones: after an hour's sleep, many are due */
	OUTAGE_LOOK_S = 10, /* while the network is down: until it is looked at again, */
	OUTAGE_MOST_S = 3600, /* and so long after it has expired, at most */
	ROOM_FIRST = 64,
};

/* One answer that waits for its time. */
struct habit {
	uint32_t due_s, expires_s; /* another one has taken its place if that expires at another time */
	unsigned kind;
	bool was_kept; /* while the network was down */
	uint16_t type, class_;
	uint8_t name_len;
	uint8_t name[];
};

struct habits {
	const struct env *env;
	habits_fetch *fetch;
	void *arg;
	struct timer timer;
	struct habit **heap; /* the next one first */
	size_t count, room;
	uint32_t allowed;    /* in parts of a refresh: HABIT_LOOKUPS are one */
};

/* ---- the heap ---- */

static bool is_before(const struct habit *a, const struct habit *b)
{
	return (int32_t)(a->due_s - b->due_s) < 0;
}

static void heap_swap(struct habits *h, size_t a, size_t b)
{
	struct habit *was = h->heap[a];

	h->heap[a] = h->heap[b];
	h->heap[b] = was;
}

static void heap_put(struct habits *h, struct habit *one)
{
	size_t at = h->count++;

	if (h->count > h->room) {
		h->room = MAX(2 * h->room, (size_t)ROOM_FIRST);
		h->heap = mem_grow(h->heap, h->room * sizeof(struct habit *));
	}
	h->heap[at] = one;
	for (; at && is_before(h->heap[at], h->heap[(at - 1) / 2]); at = (at - 1) / 2)
		heap_swap(h, at, (at - 1) / 2);
}

static struct habit *heap_take(struct habits *h)
{
	struct habit *first = h->heap[0];
	size_t at = 0, least;

	h->heap[0] = h->heap[--h->count];
	for (;; at = least) {
		least = at;
		for (size_t i = 2 * at + 1; i <= 2 * at + 2 && i < h->count; i++)
			least = is_before(h->heap[i], h->heap[least]) ? i : least;
		if (least == at)
			return first;
		heap_swap(h, at, least);
	}
}

/* ---- when it is time ---- */

static void wait_for_next(struct habits *h)
{
	uint32_t now_s = h->env->time->now_s;

	if (h->count)
		timer_set(h->env->loop, &h->timer, time_left(now_s, h->heap[0]->due_s) * US_PER_S);
}

/* Whether the answer is still the one that was asked for; after an outage, that there is no later one. */
static bool is_wanted(const struct env *e, const struct habit *one, const struct question *q)
{
	const struct stored *s = msgcache_find(e->messages, q, msgcache_hash(q), query_scope(one->kind), true);

	if (!s || !stored_is_good(s) || !stored_is_fresh(s, e->time->now_s))
		return one->was_kept;
	return s->expires_s == one->expires_s;
}

static void fetch_one(struct habits *h, const struct habit *one)
{
	struct question q = {
		.name = one->name, .name_len = one->name_len, .type = one->type, .class_ = one->class_
	};

	if (is_wanted(h->env, one, &q) && h->fetch(h->arg, &q, one->kind))
		h->allowed -= HABIT_LOOKUPS;
}

/* What is popular must not be lost by an outage: it waits for its end. */
static void keep_for_later(struct habits *h, struct habit *one)
{
	uint32_t now_s = h->env->time->now_s;

	if (time_is_past(now_s, one->expires_s + OUTAGE_MOST_S)) {
		mem_free(one);
		return;
	}
	one->due_s = now_s + OUTAGE_LOOK_S;
	one->was_kept = true;
	heap_put(h, one);
}

static void on_time(struct timer *t)
{
	struct habits *h = container_of(t, struct habits, timer);
	const struct env *e = h->env;
	const struct conf_server *c = &e->snapshot->conf->server;
	bool works = c->prefetch && c->prefetch_popular && e->messages;
	bool is_down = works && e->infra && infra_network_is_down(e->infra, e->time);
	unsigned taken = 0;

	while (h->count && time_is_past(e->time->now_s, h->heap[0]->due_s)) {
		struct habit *one;

		if (taken++ == AT_ONCE) {
			timer_set(e->loop, &h->timer, PAUSE_MS * US_PER_MS);
			return;
		}
		one = heap_take(h);
		if (is_down) {
			keep_for_later(h, one);
			continue;
		}
		if (works && h->allowed >= HABIT_LOOKUPS)
			fetch_one(h, one);
		mem_free(one);
	}
	wait_for_next(h);
}

/* ---- what is noted ---- */

static bool make_room(struct habits *h, uint32_t due_s)
{
	struct habit *late;

	if (h->count < HABIT_NOTED_MOST)
		return true;
	/* The last one of the heap is a late one, if not the latest: whoever has noted many that are due in a day keeps
	 * nobody from noting what is due in a minute. */
	late = h->heap[h->count - 1];
	if ((int32_t)(late->due_s - due_s) <= 0)
		return false;
	h->count--;
	mem_free(late);
	return true;
}

static void note(struct habits *h, const struct stored *s, unsigned kind)
{
	uint32_t ttl_s = s->expires_s - s->stored_s;
	uint32_t due_s = s->expires_s - MIN(1 + ttl_s / LEAD_OF_TTL, LEAD_MOST_S);
	struct question q;
	struct habit *one;

	if (!make_room(h, due_s))
		return;

	stored_question(s, &q);
	one = mem_new(sizeof(*one) + q.name_len);
	*one = (struct habit){ .due_s = due_s,
			       .expires_s = s->expires_s,
			       .kind = kind,
			       .type = q.type,
			       .class_ = q.class_,
			       .name_len = (uint8_t)q.name_len };
	memcpy(one->name, q.name, q.name_len);
	heap_put(h, one);
	if (h->heap[0] == one)
		wait_for_next(h);
}

void habits_note(struct habits *h, const struct stored *s, unsigned kind)
{
	uint8_t was = stored_note_asked(s);

	if (was & STORED_ASKED)
		return; /* another thread was here first */
	if (was & STORED_AHEAD)
		h->allowed = MIN(h->allowed + HABIT_LOOKUPS, HABIT_SAVED_MOST * HABIT_LOOKUPS);
	if (was & STORED_LIFETIMES && !(s->scope & STORED_PLACED) && stored_is_good(s) &&
	    s->expires_s - s->stored_s >= HABIT_TTL_LEAST_S)
		note(h, s, kind);
}

void habits_allow(struct habits *h)
{
	h->allowed = MIN(h->allowed + 1, HABIT_SAVED_MOST * HABIT_LOOKUPS);
}

/* ---- its life ---- */

struct habits *habits_new(const struct env *env, habits_fetch *fetch, void *arg)
{
	struct habits *h = mem_zero(sizeof(*h));

	h->env = env;
	h->fetch = fetch;
	h->arg = arg;
	h->allowed = HABIT_LOOKUPS;
	h->timer.fire = on_time;
	return h;
}

void habits_forget(struct habits *h)
{
	timer_stop(h->env->loop, &h->timer);
	while (h->count)
		mem_free(h->heap[--h->count]);
}

void habits_free(struct habits *h)
{
	habits_forget(h);
	mem_free(h->heap);
	mem_free(h);
}
