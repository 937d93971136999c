/* Groups and their members: whose query is sent next, and who may share another client's answer.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/mesh/subnet_group.h"

#include "services/cache/subnet_index.h"
#include "services/forward/subnets.h"
#include "services/mesh/private.h"
#include "services/net/client.h"
#include "services/query/trace.h"

#define GROUP_VISITS 4096

/* A client whose own subnet option is passed to any server does not share the group of the others,
 * and no cached answer would do for it. */
unsigned subnet_group_kind(unsigned kind, const struct client_subnet *w)
{
	if (LIKELY(!w))
		return kind;
	return kind | QUERY_ROUTED | (w->has_option && w->forwarded ? QUERY_FORWARDED : 0u);
}

static const struct subnets *rules_of(const struct query *q)
{
	return q->env->subnet_index ? q->snapshot->subnets : NULL;
}

bool subnet_group_key(const struct query *q, struct subnet_key *at)
{
	const struct subnets *rules = rules_of(q);

	if (LIKELY(!q->subnet) || !rules || !query_is_for_some(q))
		return false;
	*at = subnets_place(rules, q->subnet, q->ecs.sent == ECS_SENT ? q->ecs.scope : 0);
	return true;
}

bool subnet_groups_depend(struct query *q, const struct query *child)
{
	bool is_omitted = child->ecs.need == ECS_OMITTED, is_for_all = q->kind & QUERY_ROUTED && !q->subnet;

	q->ecs.sent = MAX(q->ecs.sent, child->ecs.sent);
	q->ecs.scope = MAX(q->ecs.scope, child->ecs.scope);
	if (is_omitted)
		q->ecs.need = is_for_all ? ECS_REQUIRED : ECS_OMITTED;
	q->no_message |= is_omitted && !is_for_all;
	q->ecs.echoed_before |= is_for_all && child->ecs.echoed_before;
	return is_for_all && q->ecs.need == ECS_REQUIRED;
}

/* ---- members ---- */

static unsigned member_count(const struct query *group)
{
	unsigned count = 0;

	LIST_EACH (at, &lookup_to_read(group)->members)
		count++;
	return count;
}

/* Whether its servers are known to give different answers to different subnets. */
static bool is_proven(const struct query *group)
{
	return group->ecs.echoed_before || subnet_index_exist(group->env->subnet_index, &group->question, group->scope,
						 group->env->time->now_s);
}

static bool has_room(const struct query *group)
{
	unsigned count = member_count(group);

	/* the first member takes the slot that the group gives up */
	return count == 0 ||
	       (count < SUBNET_GROUP_MEMBERS && is_proven(group) && mesh_has_slots(lookup_to_read(group)->mesh));
}

/* The member for clients in `subnet`, begun if needed; NULL: they have to wait. */
static struct query *member_for(struct query *group, const struct netblock *subnet, unsigned more)
{
	struct mesh_lookup *l = lookup_of(group);
	unsigned kind = (group->kind & ~(unsigned)QUERY_NO_CACHE) | more;
	struct query_key s = query_key_at(&group->question, kind, subnet);
	struct query *member = query_find(l->mesh, &s);

	if (member || !has_room(group))
		return member;
	member = mesh_begin(l->mesh, &s);
	lookup_of(member)->group = group;
	list_push_back(&l->members, &lookup_of(member)->in_group);
	return member;
}

static struct query *on_way_in(struct query *group, const struct request *r, const struct client *c,
			       void *arg)
{
	struct query *member;

	(void)arg;
	if (!r->where)
		return NULL;
	member = member_for(group, &r->where->shown,
			  group->kind & QUERY_FORWARDED ? QUERY_NO_CACHE : 0u);
	if (member) {
		member->budget->lane = (uint8_t)client_hash(&c->from);
		member->is_refresh = false;
		mesh_give_slot(member, &c->from);
	}
	return member;
}

static void begin_refresh(struct query *group)
{
	struct query *member = member_for(group, &lookup_of(group)->asker->shown, QUERY_NO_CACHE);

	lookup_of(group)->asker = NULL;
	if (!member || lookup_of(member)->slot != SLOT_BACKGROUND)
		return;
	member->is_refresh = true;
	query_move_slot(member, SLOT_JOSTLED);
}

static struct query *on_moving(struct query *group, const struct request *r, const struct client *c,
			       void *arg)
{
	(void)group;
	(void)r;
	(void)c;
	return arg;
}

/* ---- end of a member ---- */

struct gathering {
	struct query *member;
	struct subnet_key at;
	bool is_for_all;
};

static struct query *on_way_out(struct query *group, const struct request *r, const struct client *c,
				void *arg)
{
	const struct gathering *g = arg;
	const struct netblock *who = r->where ? &r->where->shown : NULL;

	(void)group;
	(void)c;
	if (g->is_for_all)
		return g->member;
	if (!who || who->net.family != g->at.net.net.family || who->bits < g->at.net.bits ||
	    (g->at.coarse && who->bits != g->at.net.bits) ||
	    !netblock_holds(&g->at.net, &who->net))
		return NULL;
	return g->member;
}

static bool has_failed(const struct query *q)
{
	return q->reply->rcode == RCODE_SERVFAIL;
}

void subnet_group_gather(struct query *member)
{
	struct gathering g = { .member = member };

	g.is_for_all = has_failed(member) || !subnet_group_key(member, &g.at);
	waiters_sort(lookup_of(member)->group, on_way_out, &g);
}

void subnet_group_wake(struct query *group)
{
	mesh_tell(group, lookup_of(group)->at, &(struct event){ .kind = EVENT_TURN });
}

void subnet_group_leave(struct query *q)
{
	struct mesh_lookup *l = lookup_of(q);

	LIST_EACH_SAFE (at, &l->members) {
		LIST_ITEM(at, struct mesh_lookup, in_group)->group = NULL;
		list_remove(at);
	}
	if (LIKELY(!l->group))
		return;
	list_remove(&l->in_group);
	subnet_group_wake(l->group);
	l->group = NULL;
}

/* ---- the module ---- */

/* As far as can be known beforehand, its servers would be sent the client subnet. */
static bool divides_at_once(const struct query *q)
{
	const struct subnets *rules = rules_of(q);

	return rules && (q->kind & QUERY_FORWARDED ||
			 subnet_index_exist(q->env->subnet_index, &q->question, q->scope,
				      q->env->time->now_s));
}

/* A group's arena keeps what waited there until the group ends: one that is visited constantly makes
 * way for a new group, in which its members and clients continue. */
static void move_group(struct query *q)
{
	struct mesh_lookup *l = lookup_of(q);
	struct query_key s = query_key(&q->question, q->kind);
	struct query *new = mesh_begin(l->mesh, &s);

	new->ecs.need = ECS_REQUIRED;
	new->ecs.echoed_before = q->ecs.echoed_before;
	LIST_EACH_SAFE (at, &l->members) {
		LIST_ITEM(at, struct mesh_lookup, in_group)->group = new;
		list_remove(at);
		list_push_back(&lookup_of(new)->members, at);
	}
	waiters_sort(q, on_moving, new);
	if (lookup_of(new)->slot != l->slot)
		query_move_slot(new, l->slot);
}

static enum step attend(struct query *q)
{
	struct mesh_lookup *l = lookup_of(q);

	if (++l->visits > GROUP_VISITS) {
		move_group(q);
		return STEP_UP;
	}
	if (!time_jumps(q->env->time))
		timer_set(q->env->loop, &l->deadline, QUERY_TIME_US);
	waiters_sort(q, on_way_in, NULL);
	if (l->asker)
		begin_refresh(q);
	if (list_is_empty(&l->waiters)) {
		q->is_refresh = false;
		if (list_is_empty(&l->members))
			return STEP_UP;
		if (l->slot != SLOT_BACKGROUND)
			query_move_slot(q, SLOT_BACKGROUND);
	}
	return STEP_WAIT;
}

static enum step divide(struct query *q)
{
	tell(q, "the answer depends on the client subnet (ECS)");
	q->ecs.need = ECS_REQUIRED;
	lookup_of(q)->parked = true;
	q->reply = NULL;
	return attend(q);
}

static enum step operate(struct query *q, void *state, const struct event *ev)
{
	bool is_shared = q->kind & QUERY_ROUTED && !q->subnet;

	(void)state;
	switch (ev->kind) {
	case EVENT_ASK:
		return is_shared && (q->ecs.need == ECS_REQUIRED || divides_at_once(q)) ? divide(q) : STEP_DOWN;
	case EVENT_ANSWER:
		return is_shared && q->ecs.need == ECS_REQUIRED ? divide(q) : STEP_UP;
	case EVENT_TURN:
		return lookup_of(q)->parked ? attend(q) : STEP_STUCK;
	default:
		return STEP_STUCK;
	}
}

/* Only a group waits, for its members, which the mesh knows of (lookup->parked). */
static bool waits(const void *state)
{
	(void)state;
	return false;
}

const struct module subnetcache_module = {
	.name = "subnetcache",
	.state_size = 1,
	.wakes = WAKE_TURN,
	.operate = operate,
	.waits = waits,
};
