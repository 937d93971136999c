/* Halls and their guests: whose query is sent next, and who may share another client's answer.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/mesh/subnet_group.h"

#include "services/cache/subnet_index.h"
#include "services/forward/subnets.h"
#include "services/mesh/private.h"
#include "services/net/client.h"
#include "services/query/trace.h"

#define HALL_VISITS 4096

/* A client whose own subnet option is passed to any server does not share the hall of the others,
 * and no cached answer would do for it. */
unsigned hall_kind(unsigned kind, const struct whereabouts *w)
{
	if (LIKELY(!w))
		return kind;
	return kind | QUERY_ROUTED | (w->told && w->forwarded ? QUERY_FORWARDED : 0u);
}

static const struct subnets *rules_of(const struct query *q)
{
	return q->env->subnet_index ? q->snapshot->subnets : NULL;
}

bool halls_place(const struct query *q, struct subnet_key *at)
{
	const struct subnets *rules = rules_of(q);

	if (LIKELY(!q->subnet) || !rules || !query_is_for_some(q))
		return false;
	*at = subnets_place(rules, q->subnet, q->placed ? q->subnet_scope : 0);
	return true;
}

bool halls_depend(struct query *q, const struct query *child)
{
	q->placed |= child->placed;
	q->secret |= child->secret;
	q->subnet_scope = MAX(q->subnet_scope, child->subnet_scope);
	if (!(q->kind & QUERY_ROUTED) || q->subnet) {
		q->listed |= child->listed;
		q->no_message |= child->listed;
		return false;
	}
	q->divided |= child->listed;
	q->told_before |= child->told_before;
	return q->divided;
}

/* ---- guests ---- */

static unsigned guest_count(const struct query *hall)
{
	unsigned count = 0;

	LIST_EACH (at, &hall->guests)
		count++;
	return count;
}

/* Whether its servers are known to give different answers to different subnets. */
static bool is_proven(const struct query *hall)
{
	return hall->told_before || subnet_index_exist(hall->env->subnet_index, &hall->question, hall->scope,
						 hall->env->time->now_s);
}

static bool has_room(const struct query *hall)
{
	unsigned count = guest_count(hall);

	/* the first guest takes the seat that the hall gives up */
	return count == 0 ||
	       (count < HALL_GUESTS && is_proven(hall) && mesh_has_seats(hall->mesh));
}

/* The guest for clients in `subnet`, begun if needed; NULL: they have to wait. */
static struct query *guest_for(struct query *hall, const struct netblock *subnet, unsigned more)
{
	unsigned kind = (hall->kind & ~(unsigned)QUERY_NO_CACHE) | more;
	struct sought s = sought_at(&hall->question, kind, subnet);
	struct query *guest = query_find(hall->mesh, &s);

	if (guest || !has_room(hall))
		return guest;
	guest = mesh_begin(hall->mesh, &s);
	guest->hall = hall;
	list_push_back(&hall->guests, &guest->in_hall);
	return guest;
}

static struct query *on_way_in(struct query *hall, const struct request *r, const struct client *c,
			       void *arg)
{
	struct query *guest;

	(void)arg;
	if (!r->where)
		return NULL;
	guest = guest_for(hall, &r->where->shown,
			  hall->kind & QUERY_FORWARDED ? QUERY_NO_CACHE : 0u);
	if (guest) {
		guest->budget->lane = (uint8_t)client_hash(&c->from);
		guest->is_refresh = false;
		mesh_seat(guest, &c->from);
	}
	return guest;
}

static void begin_refresh(struct query *hall)
{
	struct query *guest = guest_for(hall, &hall->asker->shown, QUERY_NO_CACHE);

	hall->asker = NULL;
	if (!guest || guest->seat != SEAT_BACKGROUND)
		return;
	guest->is_refresh = true;
	query_sit(guest, SEAT_JOSTLED);
}

static struct query *on_moving(struct query *hall, const struct request *r, const struct client *c,
			       void *arg)
{
	(void)hall;
	(void)r;
	(void)c;
	return arg;
}

/* ---- end of a guest ---- */

struct gathering {
	struct query *guest;
	struct subnet_key at;
	bool is_for_all;
};

static struct query *on_way_out(struct query *hall, const struct request *r, const struct client *c,
				void *arg)
{
	const struct gathering *g = arg;
	const struct netblock *who = r->where ? &r->where->shown : NULL;

	(void)hall;
	(void)c;
	if (g->is_for_all)
		return g->guest;
	if (!who || who->net.family != g->at.net.net.family || who->bits < g->at.net.bits ||
	    (g->at.coarse && who->bits != g->at.net.bits) ||
	    !netblock_holds(&g->at.net, &who->net))
		return NULL;
	return g->guest;
}

static bool has_failed(const struct query *q)
{
	return q->reply->rcode == RCODE_SERVFAIL;
}

void hall_gather(struct query *guest)
{
	struct gathering g = { .guest = guest };

	g.is_for_all = has_failed(guest) || !halls_place(guest, &g.at);
	waiters_sort(guest->hall, on_way_out, &g);
}

void hall_wake(struct query *hall)
{
	mesh_tell(hall, hall->at, &(struct event){ .kind = EVENT_TURN });
}

void hall_leave(struct query *q)
{
	LIST_EACH_SAFE (at, &q->guests) {
		LIST_ITEM(at, struct query, in_hall)->hall = NULL;
		list_remove(at);
	}
	if (LIKELY(!q->hall))
		return;
	list_remove(&q->in_hall);
	hall_wake(q->hall);
	q->hall = NULL;
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

/* A hall's arena keeps what waited there until the hall ends: one that is visited constantly makes
 * way for a new hall, in which its guests and clients continue. */
static void move_house(struct query *q)
{
	struct sought s = sought(&q->question, q->kind);
	struct query *new = mesh_begin(q->mesh, &s);

	new->divided = true;
	new->told_before = q->told_before;
	LIST_EACH_SAFE (at, &q->guests) {
		LIST_ITEM(at, struct query, in_hall)->hall = new;
		list_remove(at);
		list_push_back(&new->guests, at);
	}
	waiters_sort(q, on_moving, new);
	if (new->seat != q->seat)
		query_sit(new, q->seat);
}

static enum step attend(struct query *q)
{
	if (++q->visits > HALL_VISITS) {
		move_house(q);
		return STEP_UP;
	}
	if (!time_jumps(q->env->time))
		timer_set(q->env->loop, &q->deadline, QUERY_TIME_US);
	waiters_sort(q, on_way_in, NULL);
	if (q->asker)
		begin_refresh(q);
	if (list_is_empty(&q->waiters)) {
		q->is_refresh = false;
		if (list_is_empty(&q->guests))
			return STEP_UP;
		if (q->seat != SEAT_BACKGROUND)
			query_sit(q, SEAT_BACKGROUND);
	}
	return STEP_WAIT;
}

static enum step divide(struct query *q)
{
	tell(q, "the answer depends on the client subnet (ECS)");
	q->divided = q->parked = true;
	q->reply = NULL;
	return attend(q);
}

static enum step operate(struct query *q, void *state, const struct event *ev)
{
	bool is_shared = q->kind & QUERY_ROUTED && !q->subnet;

	(void)state;
	switch (ev->kind) {
	case EVENT_ASK:
		return is_shared && (q->divided || divides_at_once(q)) ? divide(q) : STEP_DOWN;
	case EVENT_ANSWER:
		return is_shared && q->divided ? divide(q) : STEP_UP;
	case EVENT_TURN:
		return q->parked ? attend(q) : STEP_STUCK;
	default:
		return STEP_STUCK;
	}
}

/* Only a hall waits, for its guests, which the mesh knows of (q->parked). */
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
