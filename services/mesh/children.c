/* Queries that other queries need: started by modules, joined if equal, never circular.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/mesh/mesh.h"
#include "services/mesh/private.h"

static bool has_time(const struct query *q)
{
	return q->env->time->now_us < q->budget->deadline_us;
}

/* A query that `q` may cause, or NULL. */
static struct query *begin_child(struct query *q, const struct query_key *s)
{
	struct query *child;

	if (q->depth >= QUERY_DEPTH_MAX || !has_time(q) || !budget_take(&q->budget->children, 1))
		return NULL;
	child = query_begin(lookup_of(q)->mesh, s, q->depth + 1, q->budget);
	if (child && s->kind & QUERY_NO_CACHE && q->avoid_count) {
		/* retried because the answer was bogus: avoid the same servers */
		child->avoid =
			arena_copy(&child->arena, q->avoid, q->avoid_count * sizeof(*q->avoid));
		child->avoid_count = q->avoid_count;
	}
	return child;
}

static struct question question_of(const uint8_t *name, uint16_t type, uint16_t class_)
{
	return (struct question){
		.name = name, .name_len = (uint16_t)dname_len(name), .type = type, .class_ = class_
	};
}

static struct query *ask_child(struct query *q, const struct query_key *s, unsigned module)
{
	struct query *child = query_find(lookup_of(q)->mesh, s);

	if (child && query_link_between(q, child))
		return child;
	if (child && query_waits_for(lookup_of(q)->mesh, child, q))
		child = NULL;
	else if (!child)
		child = begin_child(q, s);
	if (child)
		query_link_add(q, child, module);
	else
		q->lookup_refused = true; /* who waits for whom depends on who asked first */
	return child;
}

bool query_ask_again(struct query *parent, const struct query *child, unsigned module)
{
	struct query_key s = child->subnet ? query_key_at(&child->question, child->kind, child->subnet)
					: query_key(&child->question, child->kind);
	struct query *again = child->budget != parent->budget ? ask_child(parent, &s, module) : NULL;

	if (again)
		again->is_answer |= child->is_answer;
	return again;
}

const struct query *mesh_child(struct query *q, const uint8_t *name, uint16_t type, uint16_t class_,
			       unsigned kind)
{
	struct question question = question_of(name, type, class_);
	struct query_key s = query_key(&question, kind | q->scope * (unsigned)QUERY_SCOPE);

	return ask_child(q, &s, lookup_of(q)->at);
}

const struct query *mesh_child_alike(struct query *q, const uint8_t *name, uint16_t type,
				     uint16_t class_)
{
	const unsigned routed = QUERY_ROUTED | QUERY_FORWARDED;
	struct question question = question_of(name, type, class_);
	unsigned kind = q->scope * (unsigned)QUERY_SCOPE;
	struct query_key s = q->subnet ? query_key_at(&question, kind | (q->kind & routed), q->subnet)
				    : query_key(&question, kind);
	struct query *child = ask_child(q, &s, lookup_of(q)->at);

	if (child)
		child->is_answer = true;
	return child;
}

bool mesh_side(struct query *q, const uint8_t *name, uint16_t type, uint16_t class_, unsigned kind)
{
	struct question question = question_of(name, type, class_);
	struct query_key s = query_key(&question, kind | q->scope * (unsigned)QUERY_SCOPE);

	struct query *detached;

	if (query_find(lookup_of(q)->mesh, &s))
		return true;
	detached = begin_child(q, &s);
	if (detached)
		detached->is_detached = true;
	return detached;
}

unsigned mesh_children(const struct query *q)
{
	const struct mesh_lookup *l = lookup_to_read(q);
	unsigned count = 0;

	LIST_EACH (at, &l->children)
		count += LIST_ITEM(at, struct query_link, of_parent)->module == l->at;
	/* Two may end at the same time: while it is told of the first, the second is still queued. */
	LIST_EACH (at, &l->events) {
		const struct wake *w = LIST_ITEM(at, struct wake, link);

		count += w->module == l->at && w->event.kind == EVENT_CHILD;
	}
	return count;
}

void mesh_forget_children(struct query *q)
{
	struct mesh_lookup *l = lookup_of(q);

	LIST_EACH_SAFE (at, &l->children) {
		struct query_link *link = LIST_ITEM(at, struct query_link, of_parent);

		if (link->module == l->at)
			query_link_remove(link);
	}
	LIST_EACH_SAFE (at, &l->events) {
		struct wake *w = LIST_ITEM(at, struct wake, link);

		if (w->module == l->at && w->event.kind == EVENT_CHILD)
			wake_free(l->mesh, w);
	}
}
