/* Queries in flight: running their modules, and giving them up.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Nothing here recurses: events are queued with their query, the query is queued with the mesh, and
 * mesh_run works through that queue before the turn ends. */
#include "services/mesh/mesh.h"

#include "services/mesh/habits.h"
#include "services/mesh/private.h"
#include "services/stats/stats.h"
#include "util/base/log.h"
#include "util/base/mem.h"
#include "util/base/timebase.h"
#include "util/dns/rr.h"

#define BUCKETS_FIRST 256

/* The next lane, by client in turn, so that a client whose queries yield often delays only itself.
 * NULL: there is none. */
static struct list *next_lane(struct mesh *m)
{
	for (unsigned i = 1; i <= LANES; i++) {
		struct list *lane = &m->lanes[(m->lane + i) % LANES];

		if (!list_is_empty(lane))
			return lane;
	}
	return NULL;
}

/* Yielded queries go on until one yields again or MESH_CHECKS are made, so that together they never
 * fill a turn. Queries woken by packets have as many checks before they must yield. */
static void on_line(struct timer *t)
{
	struct mesh *m = container_of(t, struct mesh, yield_timer);
	uint64_t yields = m->yields;
	struct list *lane = next_lane(m);

	if (!lane)
		return;
	m->env->checks = 0;
	do {
		struct mesh_lookup *l = LIST_ITEM(lane->next, struct mesh_lookup, in_yielded);

		m->lane = (unsigned)(lane - m->lanes);
		list_remove(&l->in_yielded);
		mesh_tell(&l->q, l->yield_module, &(struct event){ .kind = EVENT_TURN });
		list_remove(&l->in_run);
		list_push_front(&m->run, &l->in_run);
		mesh_run(m);
		lane = next_lane(m);
	} while (lane && m->yields == yields && m->env->checks < MESH_CHECKS && !loop_is_due(m->env->loop));
	m->env->checks = 0;
	if (lane)
		timer_set(m->env->loop, &m->yield_timer, 0);
}

static void on_drop(struct timer *t);
static void on_rest(struct timer *t);

struct mesh *mesh_new(struct env *env, const struct module *const *modules)
{
	struct mesh *m = mem_zero(sizeof(*m));

	m->env = env;
	for (; modules[m->module_count]; m->module_count++) {
		PROMISE(m->module_count < QUERY_MODULES);
		m->modules[m->module_count] = modules[m->module_count];
	}
	PROMISE(m->module_count > 0);
	m->bucket_count = BUCKETS_FIRST;
	m->buckets = mem_array(m->bucket_count, sizeof(struct mesh_lookup *));
	for (unsigned i = 0; i < SLOTS; i++)
		list_init(&m->slots[i]);
	list_init(&m->run);
	for (unsigned i = 0; i < LANES; i++)
		list_init(&m->lanes[i]);
	m->yield_timer.fire = on_line;
	m->drop_timer.fire = on_drop;
	m->rest_timer.fire = on_rest;
	m->wait_timer.fire = waiters_on_limit;
	m->shares = shares_new();
	m->habits = habits_new(env, mesh_refresh_ahead, m);
	waiters_init(&m->waiting);
	return m;
}

/*
 * Turns.
 */

void mesh_tell(struct query *q, unsigned module, const struct event *event)
{
	struct mesh_lookup *l = lookup_of(q);
	struct wake *w;

	if (l->done)
		return;
	w = wake_new(l->mesh);
	*w = (struct wake){ .module = module, .event = *event };
	if (event->child)
		lookup_of((struct query *)(uintptr_t)event->child)->holds++;
	if (event->reply) {
		w->reply = *event->reply;
		w->event.reply = &w->reply;
	}
	list_push_back(&l->events, &w->link);
	if (list_is_empty(&l->in_run))
		list_push_back(&l->mesh->run, &l->in_run);
}

void mesh_wake(struct query *q, const struct event *event)
{
	mesh_tell(q, lookup_of(q)->at, event);
	mesh_run(lookup_of(q)->mesh);
}

static struct message *failure(struct query *q, enum reason reason)
{
	struct message *m = arena_new(&q->arena, struct message);

	m->q = q->question;
	m->rcode = RCODE_SERVFAIL;
	m->reason = reason;
	return m;
}

/* A parent is told, or has its child once more if that failed for want of what another query had. */
static void parent_hears(struct query_link *link)
{
	struct query *parent = link->parent, *q = link->child;
	unsigned module = link->module;
	bool was_refused = query_lookup_was_refused(q);

	query_link_remove(link);
	if (was_refused && query_ask_again(parent, q, module))
		return;
	parent->lookup_refused |= was_refused || (q->no_store && q->reply->rcode == RCODE_SERVFAIL);
	mesh_tell(parent, module, &(struct event){ .kind = EVENT_CHILD, .child = q });
}

/* Removes it from the table first: an equal query, even from a callback below, starts anew. */
static void query_finish(struct query *q)
{
	struct mesh_lookup *l = lookup_of(q);

	if (!q->reply)
		q->reply = failure(q, REASON_other);
	if (UNLIKELY(l->group != NULL))
		subnet_group_gather(q);
	query_end(q);
	waiters_finish(q);
	LIST_EACH_SAFE (at, &l->parents)
		parent_hears(LIST_ITEM(at, struct query_link, of_child));
	if (!l->holds)
		query_free(q);
}

/* The oldest event for the waiting module; those for others stay queued. */
static struct wake *next_event(struct query *q)
{
	LIST_EACH (at, &lookup_of(q)->events) {
		struct wake *w = LIST_ITEM(at, struct wake, link);

		if (w->module == lookup_of(q)->at)
			return w;
	}
	return NULL;
}

static const struct module *module_of(const struct query *q)
{
	const struct mesh_lookup *l = lookup_to_read(q);

	return l->mesh->modules[l->at];
}

static bool is_taken(const struct module *m, enum event_kind kind)
{
	return kind == EVENT_ASK || kind == EVENT_ANSWER || m->wakes & 1u << kind;
}

static enum step operate(struct query *q, const struct event *event)
{
	struct mesh_lookup *l = lookup_of(q);
	const struct module *module = module_of(q);

	if (!l->state[l->at])
		l->state[l->at] = arena_zero(&q->arena, module->state_size);
	if (!query_may_step(q) || !is_taken(module, event->kind))
		return STEP_STUCK;
	return module->operate(q, l->state[l->at], event);
}

/* Whether anything will give the module that waits another turn. */
static bool will_wake(struct query *q)
{
	struct mesh_lookup *l = lookup_of(q);
	const struct module *m = module_of(q);

	return !m->waits || m->waits(l->state[l->at]) || l->parked || next_event(q) ||
	       mesh_children(q) || (timer_is_set(&l->timer) && l->timer_module == l->at) ||
	       (!list_is_empty(&l->in_yielded) && l->yield_module == l->at);
}

/* An error of ours, which must cost this query only: it would stand or turn for ever. The line leaves out the
 * name that was asked for: equal lines are held back, and whoever finds the way here may come often. */
static void end_stuck(struct query *q, const struct event *event)
{
	static const char *const events[EVENT_KINDS] = {
		[EVENT_ASK] = "ask",     [EVENT_ANSWER] = "answer", [EVENT_CHILD] = "child",
		[EVENT_REPLY] = "reply", [EVENT_TIMER] = "timer",   [EVENT_TURN] = "turn",
	};
	const struct module *m = module_of(q);
	const char *state = m->state_name ? m->state_name(lookup_of(q)->state[lookup_of(q)->at]) : "(one)";
	char name[DNAME_TEXT], type[16];

	stat_add(q->env->stats, STAT_queries_stuck);
	log_warn("a query made no progress and was ended with SERVFAIL: module %s, state %s, event %s%s",
		 m->name, state, events[event->kind],
		 q->steps >= QUERY_STEPS ? ", after too many steps" : "");
	log_query("no progress for %s %s", dname_print(q->question.name, name),
		  rr_type_name(q->question.type, type));
	q->reply = failure(q, REASON_other);
}

/* Run the current module on an event, then the modules above or below it, until one waits (true) or
 * the answer has come all the way up (false). */
static bool query_work(struct query *q, const struct event *event)
{
	struct mesh_lookup *l = lookup_of(q);
	static const struct event ask = { .kind = EVENT_ASK }, answer = { .kind = EVENT_ANSWER };

	for (;;) {
		switch (operate(q, event)) {
		case STEP_WAIT:
			if (LIKELY(will_wake(q)))
				return true;
			end_stuck(q, event);
			return false;
		case STEP_STUCK:
			end_stuck(q, event);
			return false;
		case STEP_DOWN:
			if (l->at + 1 < l->mesh->module_count) {
				l->at++;
				event = &ask;
				continue;
			}
			/* There is no module below: the same as a failure from there. */
			q->reply = failure(q, REASON_other);
			event = &answer;
			continue;
		case STEP_UP:
			/* It is done, whatever it was still waiting for. */
			query_cancel_events(q, l->at);
			if (l->at == 0)
				return false;
			l->at--;
			event = &answer;
			continue;
		}
	}
}

static void query_step(struct query *q)
{
	struct mesh_lookup *l = lookup_of(q);
	struct wake *w;
	bool goes_on = true;

	l->running = true;
	while (goes_on && (w = next_event(q))) {
		list_remove(&w->link);
		goes_on = query_work(q, &w->event);
		wake_free(l->mesh, w);
	}
	l->running = false;
	if (!goes_on)
		query_finish(q);
}

static void drop_some(struct mesh *m);

/* One answer may be what a thousand queries wait for: so many go on now, or as many as there is time for, the others in the
 * next turns. Until they have, whoever else has work has one of them go on. */
void mesh_run(struct mesh *m)
{
	unsigned left = timer_is_set(&m->rest_timer) ? 1 : MESH_RUNS;

	if (m->running)
		return;
	m->running = true;
	for (; left && !list_is_empty(&m->run); left--) {
		struct query *q = &LIST_ITEM(m->run.next, struct mesh_lookup, in_run)->q;

		list_remove(&lookup_of(q)->in_run);
		query_step(q);
		if (m->drop_all)
			drop_some(m);
		if (loop_is_due(m->env->loop))
			break;
	}
	if (m->drop_all)
		drop_some(m);
	m->running = false;
	if (!list_is_empty(&m->run) && !timer_is_set(&m->rest_timer))
		timer_set(m->env->loop, &m->rest_timer, 0);
}

static void on_rest(struct timer *t)
{
	mesh_run(container_of(t, struct mesh, rest_timer));
}

static void on_timer(struct timer *t)
{
	struct mesh_lookup *l = container_of(t, struct mesh_lookup, timer);

	mesh_tell(&l->q, l->timer_module, &(struct event){ .kind = EVENT_TIMER });
	mesh_run(l->mesh);
}

static void on_deadline(struct timer *t)
{
	struct query *q = &container_of(t, struct mesh_lookup, deadline)->q;
	struct mesh *m = lookup_of(q)->mesh;

	m->running = true;
	q->reply = failure(q, REASON_budget_time);
	q->lookup_refused = true; /* a child may have begun late */
	query_finish(q);
	m->running = false;
	mesh_run(m);
}

void mesh_wake_at(struct query *q, uint64_t from_now_us)
{
	struct mesh_lookup *l = lookup_of(q);

	l->timer_module = l->at;
	timer_set(q->env->loop, &l->timer, from_now_us);
}

void mesh_yield(struct query *q)
{
	struct mesh_lookup *l = lookup_of(q);
	struct mesh *m = l->mesh;

	l->yield_module = l->at;
	list_remove(&l->in_yielded);
	list_push_back(&m->lanes[q->budget->lane % LANES], &l->in_yielded);
	m->yields++;
	if (!timer_is_set(&m->yield_timer))
		timer_set(m->env->loop, &m->yield_timer, 0);
}

struct query *query_begin(struct mesh *m, const struct query_key *s, unsigned depth,
			  struct budget *budget)
{
	struct query *q = query_new(m, s, depth, budget);
	struct mesh_lookup *l = lookup_of(q);
	uint64_t now = m->env->time->now_us;

	l->timer.fire = on_timer;
	l->stale_timer.fire = stale_on_timer;
	l->deadline.fire = on_deadline;
	if (budget->deadline_us != UINT64_MAX)
		timer_set(m->env->loop, &l->deadline,
			  budget->deadline_us > now ? budget->deadline_us - now : 0);
	mesh_tell(q, 0, &(struct event){ .kind = EVENT_ASK });
	return q;
}

struct query *mesh_begin(struct mesh *m, const struct query_key *s)
{
	struct budget *budget = budget_new(m);
	struct query *q = query_begin(m, s, 0, budget);

	budget_drop(budget); /* the query has its own reference */
	return q;
}

/*
 * Giving up.
 */

static bool is_wanted(const struct query *q)
{
	const struct mesh_lookup *l = lookup_to_read(q);

	return l->done || l->running || q->is_refresh || !list_is_empty(&l->members) ||
	       l->slot != SLOT_BACKGROUND || !list_is_empty(&l->parents) ||
	       !list_is_empty(&l->waiters);
}

/* Add children that only this query needs to the list of queries to end. */
static void orphans_join(struct query *q, struct list *going)
{
	LIST_EACH_SAFE (at, &lookup_of(q)->children) {
		struct query_link *link = LIST_ITEM(at, struct query_link, of_parent);
		struct query *child = link->child;

		query_link_remove(link);
		if (is_wanted(child))
			continue;
		list_remove(&lookup_of(child)->in_mesh);
		list_push_back(going, &lookup_of(child)->in_mesh);
	}
}

void mesh_give_up(struct query *q)
{
	struct list going;

	PROMISE(!lookup_of(q)->running && list_is_empty(&lookup_of(q)->parents));
	list_init(&going);
	list_remove(&lookup_of(q)->in_mesh);
	list_push_back(&going, &lookup_of(q)->in_mesh);
	while (!list_is_empty(&going)) {
		q = &LIST_ITEM(going.next, struct mesh_lookup, in_mesh)->q;
		orphans_join(q, &going);
		query_end(q);
		waiters_drop(q);
		query_free(q);
	}
}

void mesh_lose_clients(struct query *q)
{
	struct mesh_lookup *l = lookup_of(q);

	if (l->running || l->done)
		return;
	if (q->is_refresh || !list_is_empty(&l->parents) || !list_is_empty(&l->members))
		query_move_slot(q, SLOT_BACKGROUND);
	else
		mesh_give_up(q);
}

void mesh_leave(struct mesh *m, struct list *on_connection,
		bool (*is)(const struct client *c, const void *arg), const void *arg)
{
	struct query *q;

	if (!is) {
		waiters_leave_all(on_connection);
		return;
	}
	q = waiters_leave(on_connection, is, arg);
	if (q && list_is_empty(&lookup_of(q)->waiters) && lookup_of(q)->slot != SLOT_BACKGROUND)
		mesh_lose_clients(q);
	mesh_run(m);
}

static void drop_query(struct query *q)
{
	LIST_EACH_SAFE (at, &lookup_of(q)->parents)
		query_link_remove(LIST_ITEM(at, struct query_link, of_child));
	query_end(q);
	waiters_drop(q);
	query_free(q);
}

/* The next of those to be dropped; first those of clients, who wait for others. */
static struct query *next_dropped(const struct mesh *m)
{
	for (unsigned i = SLOTS; i-- > 0;) {
		struct mesh_lookup *l = LIST_ITEM(m->slots[i].next, struct mesh_lookup, in_mesh);

		if (!list_is_empty(&m->slots[i]) && l->number < m->drop_before)
			return &l->q;
	}
	return NULL;
}

/* Each has ports to close and clients to tell: others get their turn in between. */
static void drop_some(struct mesh *m)
{
	struct query *q;

	m->drop_all = false;
	for (unsigned left = MESH_DROPS; (q = next_dropped(m)); left--) {
		if (!left) {
			timer_set(m->env->loop, &m->drop_timer, 0);
			break;
		}
		drop_query(q);
	}
}

static void on_drop(struct timer *t)
{
	struct mesh *m = container_of(t, struct mesh, drop_timer);

	m->drop_all = true;
	mesh_run(m);
}

/* Who comes back from being dropped is not among them. */
void mesh_drop_all(struct mesh *m)
{
	m->drop_all = true;
	m->drop_before = m->begun;
	mesh_run(m);
}

/* What waits to be run is not: whoever ends the mesh need not be in a turn, nor have its worker's sockets. */
static void drop_without_a_step(struct mesh *m)
{
	struct query *q;

	m->running = true;
	m->drop_before = UINT64_MAX;
	while ((q = next_dropped(m)))
		drop_query(q);
}

void mesh_free(struct mesh *m)
{
	if (!m)
		return;
	PROMISE(!m->running);
	drop_without_a_step(m);
	timer_stop(m->env->loop, &m->yield_timer);
	timer_stop(m->env->loop, &m->drop_timer);
	timer_stop(m->env->loop, &m->rest_timer);
	timer_stop(m->env->loop, &m->wait_timer);
	for (struct mesh_lookup *l = m->spare, *next; l; l = next) {
		next = l->bucket_next;
		mem_free(l);
	}
	for (struct wake *w = m->spare_wakes, *next; w; w = next) {
		next = w->spare;
		mem_free(w);
	}
	habits_free(m->habits);
	shares_free(m->shares);
	waiters_clear(&m->waiting);
	mem_free(m->buckets);
	mem_free(m);
}

/* Of the queries that were there before, end those that nobody needs. */
static void end_unwanted(struct mesh *m)
{
	for (unsigned i = SLOTS; i-- > 0;) {
		for (struct list *at = m->slots[i].next, *next; at != &m->slots[i]; at = next) {
			struct query *q = &LIST_ITEM(at, struct mesh_lookup, in_mesh)->q;

			next = at->next;
			if (q->is_refresh || !list_is_empty(&lookup_of(q)->waiters) || i == SLOT_BACKGROUND)
				continue;
			mesh_lose_clients(q);
			next = m->slots[i].next; /* others may have gone with it */
		}
	}
}

/* Nothing goes on of any query; who waits for it stays with it. */
static void end_all(struct mesh *m, struct list *ended)
{
	struct query *q;

	m->drop_before = m->begun;
	while ((q = next_dropped(m))) {
		LIST_EACH_SAFE (at, &lookup_of(q)->parents)
			query_link_remove(LIST_ITEM(at, struct query_link, of_child));
		query_end(q);
		list_push_back(ended, &lookup_of(q)->in_mesh);
	}
}

/* Those who come now are behind those who waited. A connection may take its clients with it meanwhile: then some of
 * the former are asked for twice. */
static void clients_ask_again(struct mesh *m)
{
	unsigned left = 0;

	LIST_EACH (at, &m->waiting.by_age)
		left += at != NULL;
	while (left-- && !list_is_empty(&m->waiting.by_age))
		waiter_ask_again(LIST_ITEM(m->waiting.by_age.next, struct waiter, by_age));
}

void mesh_begin_again(struct mesh *m, bool unless_asked)
{
	struct list ended;

	list_init(&ended);
	if (!unless_asked) {
		end_all(m, &ended);
		habits_forget(m->habits);
	}
	clients_ask_again(m);
	while (!list_is_empty(&ended)) {
		struct mesh_lookup *l = LIST_ITEM(ended.next, struct mesh_lookup, in_mesh);

		while (!list_is_empty(&l->waiters))
			waiter_ask_again(LIST_ITEM(l->waiters.next, struct waiter, link));
		list_remove(&l->in_mesh);
		query_free(&l->q);
	}
	if (unless_asked)
		end_unwanted(m);
	mesh_run(m);
}

/*
 * Looking on.
 */

void mesh_each(struct mesh *m, void (*fn)(const struct query *q, void *arg), void *arg)
{
	for (unsigned i = 0; i < SLOTS; i++)
		LIST_EACH (at, &m->slots[i])
			fn(&LIST_ITEM(at, struct mesh_lookup, in_mesh)->q, arg);
}

bool mesh_in_background(const struct query *q)
{
	return lookup_to_read(q)->slot == SLOT_BACKGROUND;
}

const struct module *mesh_module(const struct query *q)
{
	return module_of(q);
}

const struct addr *mesh_awaits(const struct query *q)
{
	const struct module *m = module_of(q);
	const struct mesh_lookup *l = lookup_to_read(q);

	return m->awaits ? m->awaits(l->state[l->at]) : NULL;
}

const struct query *mesh_waits_for(const struct query *q)
{
	const struct mesh_lookup *l = lookup_to_read(q);

	return list_is_empty(&l->children)
		       ? NULL
		       : LIST_ITEM(l->children.next, struct query_link, of_parent)->child;
}

unsigned mesh_size(const struct mesh *m)
{
	return m->count;
}

unsigned mesh_waiting(const struct mesh *m)
{
	return m->waiting.count;
}

void mesh_count(const struct mesh *m)
{
	struct stats *s = m->env->stats;

	stat_set(&s->list_now, m->count);
	stat_set(&s->list_user, mesh_slots_taken(m));
	stat_set(&s->list_replies, m->waiting.count);
}
