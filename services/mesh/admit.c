/* Who comes in: questions of clients, refreshes, questions of our own; joining equal ones, and the slots for the others.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/mesh/mesh.h"

#include "services/access/waitlimit.h"
#include "services/cache/msg.h"
#include "services/forward/subnets.h"
#include "services/history/recorder.h"
#include "services/mesh/habits.h"
#include "services/mesh/private.h"
#include "services/net/client.h"
#include "services/stats/stats.h"
#include "util/base/timebase.h"

enum {
	CLASS_OF_MANY = 4, /* eight places or more (services/net/shares.h) */
	LOOKS_MOST = 64,   /* at queries past jostle-timeout */
};

/*
 * Slots.
 */

/* Without ports to send from, more queries would only wait. */
static uint32_t slots_most(const struct mesh *m)
{
	uint32_t most = mesh_conf(m)->server.num_queries_per_thread;

	return m->env->ports_most ? MIN(most, m->env->ports_most) : most;
}

/* The oldest query of a client with many places, if this client would have far fewer. */
static struct query *too_large_a_share(struct mesh *m, const struct addr *client)
{
	unsigned highest = shares_highest_class(m->shares);

	if (highest < CLASS_OF_MANY || shares_class_with(m->shares, client) >= highest)
		return NULL;
	for (struct holding *h = shares_of_largest(m->shares); h; h = holding_next(h)) {
		struct mesh_lookup *l = container_of(h, struct mesh_lookup, place);

		if (!l->running)
			return &l->q;
	}
	return NULL;
}

/* One past jostle-timeout, unless its client has fewer places than this one. */
static struct query *too_old(struct mesh *m, const struct addr *client)
{
	uint64_t timeout_us = mesh_conf(m)->server.jostle_timeout * US_PER_MS;
	unsigned class_ = shares_class(m->shares, client), looked = 0;

	LIST_EACH (at, &m->slots[SLOT_JOSTLED]) {
		struct mesh_lookup *l = LIST_ITEM(at, struct mesh_lookup, in_mesh);

		if (l->running)
			continue;
		if (m->env->time->now_us - l->q.begun_us <= timeout_us || looked++ == LOOKS_MOST)
			break;
		if (!l->place.of || holding_class(&l->place) >= class_)
			return &l->q;
	}
	return NULL;
}

/* Whether there is room for one more query of this client, if need be by dropping another one. */
static bool make_room(struct mesh *m, const struct addr *client)
{
	struct query *q;

	if (mesh_slots_taken(m) < slots_most(m))
		return true;
	q = too_large_a_share(m, client);
	if (!q)
		q = too_old(m, client);
	if (!q) {
		stat_bump(&m->env->stats->list_exceeded, 1);
		return false;
	}
	stat_bump(&m->env->stats->list_overwritten, 1);
	if (list_is_empty(&lookup_of(q)->parents) && list_is_empty(&lookup_of(q)->members)) {
		mesh_give_up(q);
	} else {
		/* Others still need the answer. */
		query_move_slot(q, SLOT_BACKGROUND);
		waiters_drop(q);
	}
	return true;
}

bool mesh_has_slots(const struct mesh *m)
{
	return mesh_slots_taken(m) < slots_most(m);
}

void mesh_give_slot(struct query *q, const struct addr *client)
{
	struct mesh_lookup *l = lookup_of(q);
	struct mesh *m = l->mesh;

	if (l->slot == SLOT_BACKGROUND)
		query_move_slot(q, m->slots_used[SLOT_KEPT] < (slots_most(m) + 1) / 2 ? SLOT_KEPT
									    : SLOT_JOSTLED);
	/* A query several wait for counts for the client with the fewest places. */
	if (l->slot == SLOT_JOSTLED &&
	    (!l->place.of || shares_class_with(m->shares, client) < holding_class(&l->place)))
		shares_give(m->shares, &l->place, client);
}

/*
 * Clients.
 */

/* Room for one more client that waits, if need be by dropping another one (services/mesh/waiter.h). */
static bool make_room_to_wait(struct mesh *m)
{
	const struct conf_server *c = &mesh_conf(m)->server;
	uint64_t now_us = m->env->time->now_us, patience_us = c->jostle_timeout * US_PER_MS;
	struct waiter *w;
	struct query *q;

	if (LIKELY(!waiters_are_many(&m->waiting, c->num_queries_per_thread)))
		return true;
	stat_add(m->env->stats, STAT_queries_replyaddr_limit);
	w = waiters_to_give_way(&m->waiting, now_us - MIN(now_us, patience_us));
	if (!w)
		return false;
	q = w->query;
	waiter_drop(w);
	if (list_is_empty(&lookup_of(q)->waiters) && lookup_of(q)->slot != SLOT_BACKGROUND)
		mesh_lose_clients(q);
	return true;
}

/* False: this client has reached its limit. */
static bool may_wait(struct mesh *m, struct asking *a)
{
	const struct addr *client = &a->client->from;
	uint32_t most;

	if (!m->env->waits)
		return true;
	most = waitrules_limit(m->env->snapshot->wait_rules, client, a->request->proven);
	a->counted = most != WAIT_ANY;
	return !a->counted || waits_begin(m->env->waits, client, most);
}

static void drop(struct mesh *m, const struct asking *a, const char *why)
{
	if (UNLIKELY(m->env->recorder != NULL))
		recorder_note(m->env->recorder, m->env->time,
			     &(struct record){ .client = a->client,
						  .q = &a->request->q,
						  .how = SEEN_dropped,
						  .rcode = -1,
						  .text = why });
	a->client->ops->drop(a->client);
}

static void turn_away(struct mesh *m, const struct asking *a, const char *why)
{
	if (a->counted)
		waits_end(m->env->waits, &a->client->from);
	drop(m, a, why);
}

/* Who comes from the front end without aliases gets there what goes first. */
static void offer_stale(struct query *q, const struct asking *a)
{
	struct mesh_lookup *l = lookup_of(q);

	stale_start_timer(q);
	if (!l->stale_allowed && !(a->aliases && stale_goes_first(l->mesh, a->stale)))
		return;
	stale_give(q);
	if (a->aliases && stale_is_all(l->mesh, a->stale) && list_is_empty(&l->waiters))
		mesh_lose_clients(q);
}

static unsigned kind_for(const struct request *r)
{
	return (r->flags & FLAG_CD ? QUERY_CD : 0u) | (r->rpz_passed ? QUERY_RPZ_PASSED : 0u) |
	       r->scope * (unsigned)QUERY_SCOPE;
}

/* Sample the length of the list, when a query is added. */
static void sample_list(const struct mesh *m)
{
	struct stats *s = m->env->stats;

	stat_bump(&s->list_sum, m->count);
	stat_bump(&s->list_samples, 1);
	stat_highest(&s->list_max, m->count);
}

static void ask(struct mesh *m, struct asking *a)
{
	const struct request *r = a->request;
	const struct client *c = a->client;
	struct query_key s = query_key(a->q, subnet_group_kind(kind_for(r), r->where));
	struct query *q;

	stat_add(m->env->stats, STAT_cachemiss);
	sample_list(m);
	if (!may_wait(m, a)) {
		stat_add(m->env->stats, STAT_queries_wait_limit);
		drop(m, a, "this client waits for too many answers");
		return;
	}
	if (!make_room_to_wait(m)) {
		turn_away(m, a, "too many clients are waiting");
		return;
	}
	q = query_find(m, &s);
	if (!q || lookup_of(q)->slot == SLOT_BACKGROUND) {
		if (!make_room(m, &c->from)) {
			turn_away(m, a, "too many lookups in progress");
			return;
		}
		/* Making room may have ended the query found. */
		q = query_find(m, &s);
	}
	if (!q) {
		q = mesh_begin(m, &s);
		q->budget->lane = (uint8_t)client_hash(&c->from);
		habits_allow(m->habits);
	}
	mesh_give_slot(q, &c->from);
	q->is_refresh = false;
	waiter_add_client(q, a);
	waiters_limit_wait(m);
	if (UNLIKELY(lookup_of(q)->parked))
		subnet_group_wake(q);
	if (UNLIKELY(a->stale != NULL))
		offer_stale(q, a);
	mesh_run(m);
}

void mesh_ask(struct mesh *m, const struct request *r, const struct client *c,
	      const struct stored *stale)
{
	ask(m, &(struct asking){ .request = r, .client = c, .q = &r->q, .stale = stale });
}

/* Whether a hit would have it fetched again (prefetch). */
static bool is_due(const struct mesh *m, const struct question *q, const struct request *r)
{
	uint32_t now_s = m->env->time->now_s;
	const struct stored *s;

	if (!mesh_conf(m)->server.prefetch || !m->env->messages)
		return false;
	s = msgcache_find(m->env->messages, q, msgcache_hash(q), r->scope, true);
	return s && stored_is_good(s) && stored_is_fresh(s, now_s) && time_is_past(now_s, s->refresh_s);
}

void mesh_ask_behind(struct mesh *m, const struct request *r, const struct client *c,
		     const struct alias_prefix *aliases)
{
	struct question q = alias_prefix_question(aliases, &r->q);
	bool due = is_due(m, &q, r);

	ask(m, &(struct asking){ .request = r,
				 .client = c,
				 .q = &q,
				 .stale = stale_behind(m, &q, r),
				 .aliases = aliases });
	if (due)
		mesh_refresh(m, &q, kind_for(r), r->where);
}

/*
 * Without a client.
 */

void mesh_refresh_for(struct query *q, const struct client_subnet *where)
{
	if (where && !lookup_of(q)->asker)
		lookup_of(q)->asker = arena_copy(&q->arena, where, sizeof(*where));
}

/* False: nothing was begun. */
static bool refresh(struct mesh *m, const struct question *question, unsigned kind,
		    const struct client_subnet *where, bool ahead)
{
	struct query_key s = query_key(question, subnet_group_kind(kind, where) | QUERY_NO_CACHE);
	struct query *q = query_find(m, &s);

	if (q && lookup_of(q)->parked && where) {
		mesh_refresh_for(q, where);
		subnet_group_wake(q);
		mesh_run(m);
	}
	if (q)
		return false;
	/* A refresh drops no other query, but can itself be dropped. */
	if (mesh_slots_taken(m) >= slots_most(m)) {
		stat_bump(&m->env->stats->list_exceeded, 1);
		return false;
	}
	stat_add(m->env->stats, STAT_prefetch);
	sample_list(m);
	q = mesh_begin(m, &s);
	q->is_refresh = true;
	q->is_ahead = ahead;
	mesh_refresh_for(q, where);
	query_move_slot(q, SLOT_JOSTLED);
	mesh_run(m);
	return true;
}

void mesh_refresh(struct mesh *m, const struct question *question, unsigned kind,
		  const struct client_subnet *where)
{
	(void)refresh(m, question, kind, where, false);
}

bool mesh_refresh_ahead(void *mesh, const struct question *question, unsigned kind)
{
	return refresh(mesh, question, kind, NULL, true);
}

void mesh_note_hit(struct mesh *m, const struct stored *s, unsigned kind)
{
	habits_note(m->habits, s, kind);
}

void mesh_resolve(struct mesh *m, const struct question *question, unsigned kind,
		  void (*done)(void *arg, const struct message *reply), void *arg)
{
	/* no client will see it */
	struct query_key s = query_key(question, kind | QUERY_RPZ_PASSED);
	struct query *q = query_find(m, &s);

	if (!q)
		q = mesh_begin(m, &s);
	q->is_refresh = false;
	waiter_add_callback(q, done, arg);
	mesh_run(m);
}
