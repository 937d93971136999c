/* Queries: creating, finding, linking to those they wait for, ending.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/cache/msg.h"
#include "services/mesh/private.h"
#include "services/policy/policy.h"
#include "services/policy/views.h"
#include "services/query/trace.h"
#include "util/base/mem.h"

#include <string.h>

enum {
	SPARE_MOST = 256, /* queries kept for reuse */
	WALK_MOST = 256,  /* queries visited when looking for a cycle */
};

/* The kind as used for lookup: a refresh and the plain query are the same. */
static unsigned identity(unsigned kind)
{
	return kind & ~(unsigned)QUERY_NO_CACHE;
}

static uint64_t kind_hash(unsigned kind)
{
	return identity(kind) * UINT64_C(0x9e3779b97f4a7c15);
}

struct query_key query_key(const struct question *q, unsigned kind)
{
	return (struct query_key){ .q = q, .kind = kind, .hash = msgcache_hash(q) ^ kind_hash(kind) };
}

static uint64_t subnet_hash(const struct netblock *n)
{
	return addr_hash(&n->net) + n->bits;
}

struct query_key query_key_at(const struct question *q, unsigned kind, const struct netblock *subnet)
{
	struct query_key s = query_key(q, kind);

	s.subnet = subnet;
	s.hash ^= subnet_hash(subnet);
	return s;
}

static bool same_subnet(const struct netblock *a, const struct netblock *b)
{
	return a == b || (a && b && a->bits == b->bits && addr_equals_ip(&a->net, &b->net));
}

uint64_t query_message_hash(const struct query *q)
{
	return lookup_to_read(q)->hash ^ kind_hash(q->kind) ^ (q->subnet ? subnet_hash(q->subnet) : 0);
}

static struct mesh_lookup **bucket_of(const struct mesh *m, uint64_t hash)
{
	return &m->buckets[hash & (m->bucket_count - 1)];
}

static void table_grow(struct mesh *m)
{
	struct mesh_lookup **old = m->buckets;
	size_t old_count = m->bucket_count;

	m->bucket_count = 2 * old_count;
	m->buckets = mem_array(m->bucket_count, sizeof(struct mesh_lookup *));
	for (size_t i = 0; i < old_count; i++) {
		for (struct mesh_lookup *l = old[i], *next; l; l = next) {
			struct mesh_lookup **at = bucket_of(m, l->hash);

			next = l->bucket_next;
			l->bucket_next = *at;
			*at = l;
		}
	}
	mem_free(old);
}

struct query *query_find(struct mesh *m, const struct query_key *s)
{
	for (struct mesh_lookup *at = *bucket_of(m, s->hash); at; at = at->bucket_next)
		if (at->hash == s->hash && identity(at->q.kind) == identity(s->kind) &&
		    same_subnet(at->q.subnet, s->subnet) && question_equals(&at->q.question, s->q))
			return &at->q;
	return NULL;
}

struct budget *budget_new(const struct mesh *m)
{
	struct budget *b = mem_new(sizeof(*b));
	const struct timebase *t = m->env->time;

	*b = (struct budget){
		.sends = (int)MIN(mesh_conf(m)->server.max_global_quota, (uint32_t)INT32_MAX),
		/* with harden-referral-path each zone on the way has NS RRset and addresses confirmed */
		.children = QUERY_CHILDREN << mesh_conf(m)->server.harden_referral_path,
		.wasted_sends = QUERY_WASTED,
		.ns_without_addr = QUERY_NS_WITHOUT_ADDR,
		.signatures = QUERY_SIGNATURES,
		.good_signatures = QUERY_GOOD_SIGNATURES,
		.hashes = QUERY_HASHES,
		.deadline_us = time_jumps(t) ? UINT64_MAX : t->now_us + QUERY_TIME_US,
		.refs = 1,
		.trace = trace_pin(m->env->trace),
	};
	return b;
}

static struct mesh_lookup *lookup_blank(struct mesh *m)
{
	struct mesh_lookup *l = m->spare;

	if (!l)
		return mem_zero(sizeof(*l));
	m->spare = l->bucket_next;
	m->spare_count--;
	memset(l, 0, sizeof(*l));
	return l;
}

static void copy_question(struct query *q, const struct question *from)
{
	uint8_t *name = arena_take(&q->arena, from->name_len);

	dname_copy_lower(name, from->name);
	q->question = *from;
	q->question.name = name;
}

static void enter_scope(struct query *q)
{
	const struct env *e = q->env;

	q->scope = query_scope(q->kind);
	if (LIKELY(q->scope == 0)) {
		q->cache = (struct scope_caches){ e->rrsets, e->negative, e->keys };
		return;
	}
	PROMISE(q->scope <= e->scope_count);
	q->cache = e->scopes[q->scope - 1];
	q->view = views_of_scope(q->snapshot->policy->views, q->scope);
}

struct query *query_new(struct mesh *m, const struct query_key *s, unsigned depth,
			struct budget *budget)
{
	struct mesh_lookup *l = lookup_blank(m);
	struct query *q = &l->q;
	struct mesh_lookup **bucket;

	arena_init(&q->arena);
	q->env = m->env;
	q->snapshot = m->env->snapshot;
	if (pins_take(&m->env->pins, q->snapshot))
		(void)snapshot_pin(q->snapshot);
	copy_question(q, s->q);
	q->kind = s->kind;
	if (s->subnet)
		q->subnet = arena_copy(&q->arena, s->subnet, sizeof(*s->subnet));
	enter_scope(q);
	q->depth = depth;
	q->budget = budget_pin(budget);
	q->begun_us = m->env->time->now_us;
	l->mesh = m;
	l->number = m->begun++;
	l->hash = s->hash;
	list_init(&l->in_run);
	list_init(&l->in_yielded);
	list_init(&l->in_group);
	list_init(&l->members);
	list_init(&l->events);
	list_init(&l->waiters);
	list_init(&l->parents);
	list_init(&l->children);
	list_init(&l->in_mesh);

	if (m->count >= m->bucket_count)
		table_grow(m);
	bucket = bucket_of(m, l->hash);
	l->bucket_next = *bucket;
	*bucket = l;
	m->count++;
	m->slots_used[SLOT_BACKGROUND]++;
	list_push_back(&m->slots[SLOT_BACKGROUND], &l->in_mesh);
	return q;
}

void query_move_slot(struct query *q, enum query_slot slot)
{
	struct mesh_lookup *l = lookup_of(q);
	struct mesh *m = l->mesh;

	m->slots_used[l->slot]--;
	m->slots_used[slot]++;
	l->slot = slot;
	shares_take_back(m->shares, &l->place);
	list_remove(&l->in_mesh);
	list_push_back(&m->slots[slot], &l->in_mesh);
}

static void table_remove(struct mesh_lookup *l)
{
	struct mesh_lookup **at = bucket_of(l->mesh, l->hash);

	while (*at != l)
		at = &(*at)->bucket_next;
	*at = l->bucket_next;
}

void query_end(struct query *q)
{
	struct mesh_lookup *l = lookup_of(q);
	struct mesh *m = l->mesh;
	struct loop *loop = m->env->loop;

	l->done = true;
	table_remove(l);
	subnet_group_leave(q);
	m->count--;
	m->slots_used[l->slot]--;
	shares_take_back(m->shares, &l->place);
	list_remove(&l->in_mesh);
	list_remove(&l->in_run);
	list_remove(&l->in_yielded);
	timer_stop(loop, &l->timer);
	timer_stop(loop, &l->stale_timer);
	timer_stop(loop, &l->deadline);
	for (unsigned i = m->module_count; i-- > 0;)
		if (l->state[i] && m->modules[i]->clear)
			m->modules[i]->clear(q, l->state[i]);
	query_cancel_events(q, 0);
}

void query_free(struct query *q)
{
	struct mesh_lookup *l = lookup_of(q);
	struct mesh *m = l->mesh;

	PROMISE(l->done && !l->running && !l->holds);
	PROMISE(list_is_empty(&l->waiters) && list_is_empty(&l->parents));
	budget_drop(q->budget);
	arena_clear(&q->arena);
	if (pins_drop(&m->env->pins, q->snapshot))
		snapshot_unpin(q->snapshot);
	if (m->spare_count == SPARE_MOST) {
		mem_free(l);
		return;
	}
	l->bucket_next = m->spare;
	m->spare = l;
	m->spare_count++;
}

/*
 * Links between queries.
 */

void query_link_add(struct query *parent, struct query *child, unsigned module)
{
	struct query_link *link = arena_new(&parent->arena, struct query_link);

	*link = (struct query_link){ .parent = parent, .child = child, .module = module };
	list_push_back(&lookup_of(child)->parents, &link->of_child);
	list_push_back(&lookup_of(parent)->children, &link->of_parent);
	lookup_of(parent)->child_count++;
}

void query_link_remove(struct query_link *link)
{
	list_remove(&link->of_child);
	list_remove(&link->of_parent);
	lookup_of(link->parent)->child_count--;
}

struct query_link *query_link_between(const struct query *parent, const struct query *child)
{
	LIST_EACH (at, &lookup_to_read(parent)->children) {
		struct query_link *link = LIST_ITEM(at, struct query_link, of_parent);

		if (link->child == child)
			return link;
	}
	return NULL;
}

bool query_waits_for(struct mesh *m, struct query *from, const struct query *target)
{
	struct query *found[WALK_MOST];
	size_t count = 1;

	if (from == target)
		return true;
	m->walk++;
	found[0] = from;
	lookup_of(from)->walk = m->walk;
	for (size_t i = 0; i < count; i++) {
		LIST_EACH (at, &lookup_of(found[i])->children) {
			struct query *child = LIST_ITEM(at, struct query_link, of_parent)->child;

			if (child == target || count == WALK_MOST)
				return true;
			if (lookup_of(child)->walk == m->walk)
				continue;
			lookup_of(child)->walk = m->walk;
			found[count++] = child;
		}
	}
	return false;
}

/*
 * Pending events.
 */

struct wake *wake_new(struct mesh *m)
{
	struct wake *w = m->spare_wakes;

	if (!w)
		return mem_zero(sizeof(*w));
	m->spare_wakes = w->spare;
	return w;
}

/* The event may hold the last reference to a finished child. */
void wake_free(struct mesh *m, struct wake *w)
{
	struct query *child = (struct query *)(uintptr_t)w->event.child;

	list_remove(&w->link);
	w->spare = m->spare_wakes;
	m->spare_wakes = w;
	if (child && --lookup_of(child)->holds == 0)
		query_free(child);
}

void query_cancel_events(struct query *q, unsigned module)
{
	struct mesh_lookup *l = lookup_of(q);

	LIST_EACH_SAFE (at, &l->events) {
		struct wake *w = LIST_ITEM(at, struct wake, link);

		if (w->module >= module)
			wake_free(l->mesh, w);
	}
	LIST_EACH_SAFE (at, &l->children) {
		struct query_link *link = LIST_ITEM(at, struct query_link, of_parent);

		if (link->module >= module)
			query_link_remove(link);
	}
	if (l->timer_module >= module)
		timer_stop(q->env->loop, &l->timer);
	if (l->yield_module >= module)
		list_remove(&l->in_yielded);
}
