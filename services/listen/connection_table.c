/* The connections of one thread's clients: how many each client has, and who makes room for another.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/listen/connection_table.h"

#include "util/base/mem.h"

enum {
	CHAINS_FIRST = 64,
	COUNTS_FIRST = 16,
	LOOKS_MOST = 64, /* at connections that might make room */
};

struct connclient_held {
	struct connclient_held *next; /* in its hash chain */
	uint64_t client;
	unsigned count;
	struct list by_count; /* with others that have as many */
	struct list idle, busy; /* entries, the longest so first */
};

struct connection_table {
	struct connclient_held **chains; /* their number is a power of two */
	size_t chain_count, client_count;
	struct list *counts; /* clients, by how many connections they have */
	unsigned count_room;
	unsigned highest; /* count in use */
	struct list idle, busy;
};

static struct connclient_held **chain_of(const struct connection_table *t, uint64_t client)
{
	return &t->chains[client & (t->chain_count - 1)];
}

static void counts_grow(struct connection_table *t, unsigned room)
{
	struct list *new = mem_array(room, sizeof *new);

	for (unsigned i = 0; i < room; i++) {
		if (i < t->count_room)
			list_take_all(&new[i], &t->counts[i]);
		else
			list_init(&new[i]);
	}
	mem_free(t->counts);
	t->counts = new;
	t->count_room = room;
}

struct connection_table *connection_table_new(void)
{
	struct connection_table *t = mem_zero(sizeof *t);

	t->chain_count = CHAINS_FIRST;
	t->chains = mem_array(t->chain_count, sizeof(struct connclient_held *));
	counts_grow(t, COUNTS_FIRST);
	list_init(&t->idle);
	list_init(&t->busy);
	return t;
}

void connection_table_free(struct connection_table *t)
{
	if (!t)
		return;
	PROMISE(t->client_count == 0);
	mem_free(t->chains);
	mem_free(t->counts);
	mem_free(t);
}

/* ---- clients ---- */

static void chains_grow(struct connection_table *t)
{
	struct connclient_held **old = t->chains;
	size_t old_count = t->chain_count;

	t->chain_count = 2 * old_count;
	t->chains = mem_array(t->chain_count, sizeof(struct connclient_held *));
	for (size_t i = 0; i < old_count; i++) {
		for (struct connclient_held *c = old[i], *next; c; c = next) {
			struct connclient_held **to = chain_of(t, c->client);

			next = c->next;
			c->next = *to;
			*to = c;
		}
	}
	mem_free(old);
}

static struct connclient_held *client_find(const struct connection_table *t, uint64_t client)
{
	struct connclient_held *c = *chain_of(t, client);

	while (c && c->client != client)
		c = c->next;
	return c;
}

static struct connclient_held *client_get(struct connection_table *t, uint64_t client)
{
	struct connclient_held *c = client_find(t, client), **chain;

	if (c)
		return c;
	if (t->client_count++ == t->chain_count)
		chains_grow(t);
	chain = chain_of(t, client);
	c = mem_new(sizeof *c);
	*c = (struct connclient_held){ .next = *chain, .client = client };
	list_init(&c->by_count);
	list_init(&c->idle);
	list_init(&c->busy);
	*chain = c;
	return c;
}

static void client_free(struct connection_table *t, struct connclient_held *c)
{
	struct connclient_held **at = chain_of(t, c->client);

	while (*at != c)
		at = &(*at)->next;
	*at = c->next;
	t->client_count--;
	mem_free(c);
}

static void recount(struct connection_table *t, struct connclient_held *c, unsigned count)
{
	list_remove(&c->by_count);
	c->count = count;
	if (count >= t->count_room)
		counts_grow(t, 2 * count);
	if (count)
		list_push_back(&t->counts[count], &c->by_count);
	if (count > t->highest)
		t->highest = count;
	while (t->highest && list_is_empty(&t->counts[t->highest]))
		t->highest--;
	if (!count)
		client_free(t, c);
}

unsigned connection_table_held(const struct connection_table *t, uint64_t client)
{
	const struct connclient_held *c = client_find(t, client);

	return c ? c->count : 0;
}

/* ---- connections ---- */

static void entry_link(struct connection_table *t, struct connection_entry *e)
{
	struct connclient_held *c = e->client;

	list_push_back(e->busy ? &t->busy : &t->idle, &e->by_age);
	list_push_back(e->busy ? &c->busy : &c->idle, &e->of_client);
}

static void entry_unlink(struct connection_entry *e)
{
	list_remove(&e->by_age);
	list_remove(&e->of_client);
}

void connection_table_add(struct connection_table *t, struct connection_entry *e, uint64_t client, uint64_t now_us)
{
	*e = (struct connection_entry){ .client = client_get(t, client), .since_us = now_us };
	entry_link(t, e);
	recount(t, e->client, e->client->count + 1);
}

void connection_table_pass_on(struct connection_table *t, struct connection_entry *e, uint64_t client)
{
	struct connclient_held *old = e->client;

	list_remove(&e->of_client);
	e->client = client_get(t, client);
	list_push_back(e->busy ? &e->client->busy : &e->client->idle, &e->of_client);
	recount(t, e->client, e->client->count + 1);
	recount(t, old, old->count - 1);
}

void connection_table_note(struct connection_table *t, struct connection_entry *e, bool busy, uint64_t now_us)
{
	if (busy && e->busy)
		return;
	entry_unlink(e);
	e->busy = busy;
	e->since_us = now_us;
	entry_link(t, e);
}

void connection_table_remove(struct connection_table *t, struct connection_entry *e)
{
	struct connclient_held *c = e->client;

	if (!c)
		return;
	entry_unlink(e);
	e->client = NULL;
	recount(t, c, c->count - 1);
}

void connection_table_each_idle(struct connection_table *t, void (*fn)(struct connection_entry *e))
{
	LIST_EACH_SAFE (at, &t->idle)
		fn(LIST_ITEM(at, struct connection_entry, by_age));
}

/* ---- making room ---- */

struct newcomer {
	uint64_t client;
	unsigned would_hold;
	bool (*may_go)(const struct connection_entry *e, bool has_more);
};

/* Once the newcomer has come. */
static unsigned held(const struct connection_entry *e, const struct newcomer *n)
{
	return e->client->client == n->client ? n->would_hold : e->client->count;
}

static bool may_go(const struct connection_entry *e, const struct newcomer *n)
{
	return n->may_go(e, held(e, n) > n->would_hold);
}

/* Of clients with `least` connections or more. */
static struct connection_entry *longest_idle(const struct connection_table *t, const struct newcomer *n, unsigned least)
{
	unsigned looked = 0;

	LIST_EACH (at, &t->idle) {
		struct connection_entry *e = LIST_ITEM(at, struct connection_entry, by_age);

		if (looked++ == LOOKS_MOST)
			break;
		if (held(e, n) >= least && may_go(e, n))
			return e;
	}
	return NULL;
}

static struct connection_entry *idle_of(const struct connclient_held *c, const struct newcomer *n, unsigned *looked)
{
	LIST_EACH (at, &c->idle) {
		struct connection_entry *e = LIST_ITEM(at, struct connection_entry, of_client);

		if ((*looked)++ >= LOOKS_MOST)
			break;
		if (may_go(e, n))
			return e;
	}
	return NULL;
}

/* An idle one of those with the most, though many others have been idle longer. */
static struct connection_entry *idle_of_largest(const struct connection_table *t, const struct newcomer *n)
{
	const struct connclient_held *own = client_find(t, n->client);
	struct connection_entry *e = NULL;
	unsigned looked = 0;

	if (n->would_hold > t->highest)
		return own ? idle_of(own, n, &looked) : NULL;
	LIST_EACH (at, &t->counts[t->highest]) {
		e = idle_of(LIST_ITEM(at, struct connclient_held, by_count), n, &looked);
		if (e || looked >= LOOKS_MOST)
			break;
	}
	return e;
}

static struct connection_entry *first_of(const struct list *busy)
{
	return list_is_empty(busy) ? NULL : LIST_ITEM(busy->next, struct connection_entry, of_client);
}

/* The one that has been busy longest of the client that holds the most. */
static struct connection_entry *busy_of_largest(const struct connection_table *t)
{
	LIST_EACH (at, &t->counts[t->highest]) {
		struct connection_entry *e = first_of(&LIST_ITEM(at, struct connclient_held, by_count)->busy);

		if (e)
			return e;
	}
	return NULL;
}

/* One that has been busy for very long: its own, or anybody's if it has none. */
static struct connection_entry *busy_for_long(const struct connection_table *t, const struct newcomer *n, uint64_t now_us)
{
	const struct connclient_held *own = client_find(t, n->client);
	struct connection_entry *e = NULL;

	if (own)
		e = first_of(&own->busy);
	else if (!list_is_empty(&t->busy))
		e = LIST_ITEM(t->busy.next, struct connection_entry, by_age);
	return e && now_us - e->since_us >= CONN_PATIENCE_US ? e : NULL;
}

enum connroom connection_table_make_room(struct connection_table *t, uint64_t client, uint64_t now_us,
				  bool (*can_go)(const struct connection_entry *e, bool has_more),
				  struct connection_entry **e)
{
	const struct connclient_held *own = client_find(t, client);
	struct newcomer n = { .client = client, .would_hold = 1 + (own ? own->count : 0), .may_go = can_go };
	unsigned most = MAX(t->highest, n.would_hold);

	*e = longest_idle(t, &n, most);
	if (!*e)
		*e = idle_of_largest(t, &n);
	if (!*e && n.would_hold < most)
		*e = longest_idle(t, &n, n.would_hold);
	if (!*e && n.would_hold < most)
		*e = busy_of_largest(t);
	if (!*e)
		*e = busy_for_long(t, &n, now_us);
	if (*e)
		return CONNROOM_MADE;
	return own && list_is_empty(&own->idle) ? CONNROOM_NONE : CONNROOM_LATER;
}
