/* Who waits for the answer to a query: keeping, counting, and finding the one to give way.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/mesh/waiter.h"

#include <string.h>

#include "services/access/cookies.h"
#include "services/access/waitlimit.h"
#include "services/forward/subnets.h"
#include "services/mesh/private.h"
#include "util/base/mem.h"
#include "util/dns/edns.h"

enum {
	CLASS_OF_MANY = 4, /* eight or more (services/net/shares.h) */
	LOOKS_MOST = 64,
};

_Static_assert(sizeof(struct waiter) + DNAME_MAX + COOKIE_LEN + sizeof(struct client_subnet) <=
		       WAITER_MOST, "as the header says");

void waiters_init(struct waiters *all)
{
	*all = (struct waiters){ .shares = shares_new() };
	list_init(&all->by_age);
}

void waiters_clear(struct waiters *all)
{
	PROMISE(all->count == 0 && all->size == 0);
	shares_free(all->shares);
}

/* ---- what is kept ---- */

struct slice waiter_options(const struct request *r)
{
	static const uint8_t nsid[] = { 0, EDNS_NSID, 0, 0 }, some[] = { 0, EDNS_PADDING, 0, 0 };
	struct slice asked;

	if (!r->edns.options.len)
		return (struct slice){ .len = 0 };
	if (edns_find_option(&r->edns, EDNS_NSID, &asked))
		return (struct slice){ nsid, sizeof nsid };
	if (r->cookie || (r->where && r->where->has_option))
		return (struct slice){ some, sizeof some };
	return (struct slice){ .len = 0 };
}

static const void *put(uint8_t **at, const void *from, size_t len)
{
	uint8_t *to = *at;

	memcpy(to, from, len);
	*at += len;
	return to;
}

static size_t request_size(const struct request *r)
{
	return (r->where ? sizeof(*r->where) : 0) + r->q.name_len + (r->cookie ? COOKIE_LEN : 0);
}

/* What has to be aligned comes first. */
static void keep_request(struct waiter *w, const struct request *r, uint8_t *at)
{
	w->request = *r;
	w->request.edns.options = waiter_options(r);
	if (UNLIKELY(r->where != NULL))
		w->request.where = put(&at, r->where, sizeof(*r->where));
	w->request.q.name = put(&at, r->q.name, r->q.name_len);
	if (r->cookie)
		w->request.cookie = put(&at, r->cookie, COOKIE_LEN);
}

static struct waiter *waiter_add(struct query *q, size_t more)
{
	struct mesh_lookup *l = lookup_of(q);
	struct waiter *w = mem_new(sizeof *w + more);

	*w = (struct waiter){ .query = q, .begun_us = q->env->time->now_us, .size = sizeof *w + more };
	list_init(&w->by_age);
	list_init(&w->on_connection);
	list_push_back(&l->waiters, &w->link);
	l->waiter_count++;
	l->mesh->waiting.count++;
	l->mesh->waiting.size += w->size;
	return w;
}

static void waiter_aliases(struct waiter *w, const struct alias_prefix *aliases)
{
	size_t size;

	w->aliases = alias_prefix_keep(aliases, &size);
	w->size += size;
	lookup_of(w->query)->mesh->waiting.size += size;
}

void waiter_add_client(struct query *q, const struct asking *a)
{
	struct waiters *all = &lookup_of(q)->mesh->waiting;
	struct waiter *w = waiter_add(q, request_size(a->request));
	const struct client_ops *ops = a->client->ops;

	keep_request(w, a->request, (uint8_t *)(w + 1));
	w->has_stale = a->stale != NULL;
	if (UNLIKELY(a->aliases != NULL))
		waiter_aliases(w, a->aliases);
	w->client = *a->client;
	w->counted = a->counted;
	list_push_back(&all->by_age, &w->by_age);
	shares_give(all->shares, &w->place, &w->client.from);
	if (ops->waiting)
		list_push_back(ops->waiting(&w->client), &w->on_connection);
}

void waiter_add_callback(struct query *q, void (*done)(void *arg, const struct message *reply), void *arg)
{
	struct waiter *w = waiter_add(q, 0);

	w->done = done;
	w->arg = arg;
}

void waiter_move(struct waiter *w, struct query *to)
{
	list_remove(&w->link);
	lookup_of(w->query)->waiter_count--;
	w->query = to;
	list_push_back(&lookup_of(to)->waiters, &w->link);
	lookup_of(to)->waiter_count++;
}

void waiter_leave(struct waiter *w)
{
	struct query *q = w->query;
	struct waiters *all = &lookup_of(q)->mesh->waiting;

	list_remove(&w->link);
	list_remove(&w->by_age);
	list_remove(&w->on_connection);
	shares_take_back(all->shares, &w->place);
	lookup_of(q)->waiter_count--;
	all->count--;
	all->size -= w->size;
	if (w->counted)
		waits_end(q->env->waits, &w->client.from);
}

void waiter_free(struct waiter *w)
{
	if (UNLIKELY(w->aliases != NULL))
		mem_free((void *)(uintptr_t)w->aliases);
	mem_free(w);
}

/* ---- when there are many ---- */

bool waiters_are_many(const struct waiters *all, uint32_t queries_most)
{
	return all->count / WAITERS_PER_QUERY >= queries_most ||
	       all->size / WAITERS_PER_QUERY / WAITER_MOST >= queries_most;
}

static bool is_held(const struct waiter *w)
{
	return lookup_of(w->query)->running || lookup_of(w->query)->done;
}

static struct waiter *one_of_many(const struct waiters *all)
{
	unsigned looked = 0;

	if (shares_highest_class(all->shares) < CLASS_OF_MANY)
		return NULL;
	for (struct holding *h = shares_of_largest(all->shares); h && looked++ < LOOKS_MOST;
	     h = holding_next(h)) {
		struct waiter *w = container_of(h, struct waiter, place);

		if (!is_held(w))
			return w;
	}
	return NULL;
}

struct waiter *waiters_to_give_way(struct waiters *all, uint64_t before_us)
{
	struct waiter *one = one_of_many(all);
	unsigned looked = 0;

	if (one)
		return one;
	LIST_EACH (at, &all->by_age) {
		struct waiter *w = LIST_ITEM(at, struct waiter, by_age);

		if (w->begun_us >= before_us || looked++ == LOOKS_MOST)
			break;
		if (is_held(w))
			continue;
		if (!w->client.ops->stream && !w->request.proven)
			return w;
		one = one ? one : w;
	}
	return one;
}
