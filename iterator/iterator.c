/* The iterator module: the states of finding an answer.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "iterator/iterator.h"

#include "iterator/choose.h"
#include "iterator/confirm.h"
#include "iterator/response.h"
#include "iterator/hints.h"
#include "iterator/from_cache.h"
#include "iterator/parent_fallback.h"
#include "iterator/route.h"
#include "iterator/route_zone.h"
#include "iterator/targets.h"
#include "services/cache/infra.h"
#include "services/cache/msg.h"
#include "services/forward/forward.h"
#include "services/mesh/mesh.h"
#include "services/query/snapshot.h"
#include "services/query/trace.h"
#include "util/base/log.h"
#include "util/base/timebase.h"
#include "util/conf/options.h"
#include "util/dns/rr.h"

/* ---- where to go ---- */

static bool is_special(const struct iter *it)
{
	return it->q->kind & (QUERY_PRIME | QUERY_PARENT_SIDE);
}

/* Whether the servers above `zone` may be asked about it: not where the name wanted is resolved otherwise
 * than by them, for what is configured apart is nobody else's business. */
static bool goes_above(const struct iter *it, const uint8_t *zone)
{
	return route_is_same(route_zone(it->q, it->want.name, NULL),
			     dname_is_root(zone) ? NULL : route_zone(it->q, dname_parent(zone), NULL));
}

/* The name to look for servers at: DS RRsets, and old glue, are the parent's. */
static const uint8_t *look_under(const struct iter *it)
{
	if (it->refetch)
		return dname_parent(it->refetch);
	/* A refreshed NS set must not come from the servers it names. */
	if (it->want.type == TYPE_NS && it->q->is_refresh && goes_above(it, it->want.name))
		return dname_parent(it->want.name);
	return route_look_name(it->want.name, it->want.type);
}

static struct route find_route(const struct iter *it)
{
	return route_find(it->q, &(struct route_how){
					 .name = look_under(it),
					 .type = it->want.type,
					 .class_ = it->want.class_,
					 .now_s = it->q->env->time->now_s + it->leeway_s,
					 .failed = it->config_failed,
					 .authzone_failed = it->authzone_failed,
				 });
}

/* ---- start: is the answer, or an alias, in the cache? ---- */

/* False if the answer is being refreshed, or was bogus, or answers of these servers are not to be
 * cached at all. */
static bool may_use_cache(struct iter *it)
{
	const struct forward_zone *z = route_config(it->q, it->want.name);

	if (z && z->no_cache && z != it->config_failed) {
		it->q->no_store = true;
		return false;
	}
	return !is_special(it) && !(it->q->kind & QUERY_NO_CACHE) && it->q->avoid_count == 0;
}

/* Whether policy zones stop it for the servers that what is in the cache must have come from. */
static bool is_from_stopped(struct iter *it)
{
	struct route route;

	if (!iter_has_server_rules(it))
		return false;
	route = find_route(it);
	return route.at && iter_is_stopped_at(it, route.at);
}

static enum iter_step on_start(struct iter *it)
{
	struct cached_answer r = { .message = NULL };

	it->state = ITER_find_zone;
	if (may_use_cache(it))
		r = from_cache(it->q, &it->want);
	if (r.message == NULL)
		return ITER_ON;
	tell(it->q, "%s is in the cache", r.alias ? "a CNAME" : "the answer");
	if (is_from_stopped(it))
		return iter_stop(it);
	if (!r.alias) {
		it->answer = r.message;
		it->state = ITER_finish;
		return ITER_ON;
	}

	unsigned known = it->chain.answers;
	const uint8_t *target = aliases_take(&it->chain, it->arena, r.message, it->want.name, it->want.type == TYPE_DS);
	it->state = target && iter_restart(it) ? ITER_start : ITER_fail;
	if (target == NULL) {
		iter_blame(it, REASON_budget_aliases, "CNAME loop");
		return ITER_ON;
	}
	it->want.name = target;
	it->want.name_len = (uint16_t)dname_len(target);
	return iter_is_barred(it, known) ? iter_stop(it) : ITER_ON;
}

/* ---- find_zone: the closest known servers; if there are none, prime ---- */

static struct delegation *priming_servers(const struct iter *it, const uint8_t *zone)
{
	const struct forward_zone *z = route_stub(it->q, zone);

	if (z == NULL || dname_is_root(zone))
		return hints_delegation(it->q);
	return delegation_from_config(it->arena, z);
}

/* Glue is asked for above the zone that is authoritative for the name, as far as that may be. */
static void begin_above(struct iter *it)
{
	struct delegation *d = delegation_from_cache(it->q, it->want.name, it->want.class_,
						     it->q->env->time->now_s);

	const uint8_t *zone = d ? d->zone : dname_root;

	if (goes_above(it, zone))
		it->refetch = zone;
}

static enum iter_step on_find_zone(struct iter *it)
{
	struct route route = { .prime = dname_root };

	it->state = ITER_choose;
	if (it->q->kind & QUERY_PRIME) {
		iter_go_to(it, priming_servers(it, it->want.name));
		return ITER_ON;
	}
	if (it->q->kind & QUERY_PARENT_SIDE && it->want.type != TYPE_DS)
		begin_above(it);
	if (!(it->refetch && dname_is_root(it->refetch)))
		route = find_route(it);
	if (route.at) {
		iter_go_to(it, route.at);
		return ITER_ON;
	}
	iter_go_to(it, NULL); /* a zone held here may have been tried before */
	if (it->want.class_ == CLASS_IN &&
	    mesh_child(it->q, route.prime, TYPE_NS, CLASS_IN, QUERY_PRIME)) {
		it->state = ITER_prime;
		return ITER_WAIT;
	}
	iter_blame(it, REASON_no_reachable, "no name servers to start with (root hints, stub or forward zone)");
	it->state = ITER_fail;
	return ITER_ON;
}

/* For the next to be told; if there is none, nobody will tell. */
static enum iter_step wait_for_child(struct iter *it)
{
	if (mesh_children(it->q))
		return ITER_WAIT;
	iter_blame(it, REASON_no_reachable, "a query it depends on gave no result");
	it->state = ITER_fail;
	return ITER_ON;
}

static enum iter_step on_prime(struct iter *it)
{
	return wait_for_child(it);
}

/* The zone has named its servers without any address: go on with the servers that said so. */
static void keep_asked_places(struct iter *it, struct delegation *d)
{
	const struct delegation *asked = priming_servers(it, d->zone);

	for (unsigned i = 0; i < asked->target_count; i++)
		delegation_add_target(d, it->arena, &asked->targets[i]);
}

/* The servers configured for a zone do not tell its own: with stub-first it goes on as if they were not
 * configured. False: that is not allowed. */
static bool leave_unprimed(struct iter *it, const uint8_t *zone)
{
	const struct forward_zone *z = route_stub(it->q, zone);

	if (!z || !z->first || dname_is_root(zone) || !dname_equals(z->name, zone))
		return false;
	it->config_failed = z;
	it->state = iter_restart(it) ? ITER_find_zone : ITER_fail;
	return true;
}

static void primed(struct iter *it, const struct query *child)
{
	struct delegation *d = NULL;

	if (child->question.type != TYPE_NS || !(child->kind & QUERY_PRIME))
		return;
	if (child->reply->rcode == RCODE_NOERROR)
		d = delegation_from_message(it->q, child->reply);
	if (d == NULL && leave_unprimed(it, child->question.name))
		return;
	if (d == NULL) {
		iter_blame(it, child->reply->reason ? child->reply->reason : REASON_no_reachable,
			   "priming failed: the configured servers do not return the NS RRset of the zone");
		it->state = ITER_fail;
		return;
	}
	if (d->target_count == 0)
		keep_asked_places(it, d);
	iter_go_to(it, route_past_priming(it->q, d));
	it->state = ITER_choose;
}

/* ---- choose, await, response, parent_fallback ---- */

static enum iter_step on_choose(struct iter *it)
{
	return choose(it);
}

static enum iter_step on_await(struct iter *it)
{
	if (iter_is_asking(it) || mesh_children(it->q))
		return ITER_WAIT;
	it->state = ITER_choose;
	return ITER_ON;
}

static enum iter_step on_response(struct iter *it)
{
	return response_read(it);
}

static enum iter_step on_parent_fallback(struct iter *it)
{
	return parent_fallback(it);
}

static enum iter_step on_confirm(struct iter *it)
{
	return wait_for_child(it);
}

/* ---- finish, fail ---- */

static enum iter_step on_finish(struct iter *it)
{
	struct message *m;

	iter_let_go(it);
	if (it->at && it->target)
		targets_ask_after(it);
	if (UNLIKELY(it->asks_parent != NULL))
		infra_refetch_helped(it->q->env->infra, it->asks_parent, it->q->env->time);
	m = aliases_finish(&it->chain, it->arena, it->answer, &it->q->question);
	m->flags = FLAG_QR;
	m->id = 0;
	m->edns = (struct edns){ .present = false };
	it->q->answered_by = it->target ? it->target->addr : (struct addr){ .family = 0 };
	if (it->answer == it->q->cached_answer)
		it->q->cached_answer = m;
	if (it->chain.answers)
		m->security = SECURITY_UNCHECKED;
	if (it->q->stopped)
		m->security = SECURITY_INSECURE; /* only the policy zone says so */
	it->q->reply = m;
	return ITER_UP;
}

static enum iter_step on_fail(struct iter *it)
{
	struct message *m = arena_new(it->arena, struct message);
	char name[DNAME_TEXT], type[16];

	iter_let_go(it);
	m->q = it->q->question;
	m->flags = FLAG_QR;
	m->rcode = RCODE_SERVFAIL;
	m->reason = it->reason ? it->reason : REASON_other;
	m->reason_text = it->reason_text;
	if (budget_is_short(it->q->budget))
		it->q->lookup_refused = true;
	else if (UNLIKELY(it->asks_parent != NULL))
		infra_refetch_failed(it->q->env->infra, it->asks_parent, it->q->env->time);
	tell(it->q, "no answer: %s%s%s", reason_text(m->reason), it->reason_text ? ": " : "",
	     it->reason_text ? it->reason_text : "");
	log_query("no answer for %s %s: %s%s%s", dname_print(m->q.name, name),
		  rr_type_name(m->q.type, type), reason_text(m->reason),
		  it->reason_text ? ": " : "", it->reason_text ? it->reason_text : "");
	it->q->reply = m;
	return ITER_UP;
}

/* ---- the module ---- */

#define X(name_, events_, next_) \
	[ITER_##name_] = { .name = #name_, .run = on_##name_, .events = (events_), .next = (next_) },
static const struct {
	const char *name;
	enum iter_step (*run)(struct iter *it);
	unsigned events, next;
} states[] = { ITER_STATES(X) };
#undef X

/* During a refresh, what is about to expire counts as expired: else the refreshed answer would
 * depend on data that expires first. */
static uint32_t leeway_of(const struct query *q)
{
	const struct stored *s;

	if (!q->is_refresh)
		return 0;
	s = msgcache_find(q->env->messages, &q->question, msgcache_hash(&q->question), q->scope,
			  true);
	return s ? time_left(q->env->time->now_s, s->expires_s) : 0;
}

static void begin(struct iter *it, struct query *q)
{
	if (it->q)
		iter_let_go(it);
	*it = (struct iter){
		.q = q,
		.arena = &q->arena,
		.conf = &q->snapshot->conf->server,
		.state = ITER_start,
		.want = q->question,
		.leeway_s = leeway_of(q),
	};
	iter_hide_name(it);
}

static void take_event(struct iter *it, const struct event *ev)
{
	switch (ev->kind) {
	case EVENT_REPLY:
		if (!iter_is_asking(it))
			break;
		it->asked = NULL;
		it->race = NULL;
		it->reply = ev->reply;
		it->target = delegation_target_now(it->at, it->target);
		iter_note_sends(it, ev->reply);
		it->state = ITER_response;
		break;
	case EVENT_CHILD:
		if (it->state == ITER_prime) {
			primed(it, ev->child);
			break;
		}
		if (it->state == ITER_confirm) {
			confirm_arrived(it, ev->child);
			break;
		}
		targets_arrived(it, ev->child);
		if (it->state == ITER_await && !iter_is_asking(it))
			it->state = ITER_choose;
		break;
	default:
		break;
	}
}

/* Whether the table has the step from `was` to it->state. */
static bool may_follow(const struct iter *it, enum iter_state was, enum iter_step step)
{
	switch (step) {
	case ITER_ON:
		return states[was].next & 1u << it->state;
	case ITER_WAIT:
		return states[it->state].events & (ON(CHILD) | ON(REPLY));
	case ITER_UP:
		break;
	}
	return it->state == ITER_finish || it->state == ITER_fail;
}

static enum step iterator_operate(struct query *q, void *state, const struct event *ev)
{
	struct iter *it = state;
	enum iter_state was;
	enum iter_step step;

	if (!(states[it->state].events & 1u << ev->kind))
		return STEP_STUCK;
	if (ev->kind == EVENT_ASK)
		begin(it, q);
	else
		take_event(it, ev);
	do {
		was = it->state;
		log_algo("iterator: %s", states[was].name);
		step = states[was].run(it);
		if (!may_follow(it, was, step) || !query_may_step(q))
			return STEP_STUCK;
	} while (step == ITER_ON);
	return step == ITER_UP ? STEP_UP : STEP_WAIT;
}

static void iterator_clear(struct query *q, void *state)
{
	struct iter *it = state;

	(void)q;
	iter_stop_asking(it);
}

static const struct addr *iterator_awaits(const void *state)
{
	const struct iter *it = state;

	return iter_is_asking(it) ? &it->target->addr : NULL;
}

static bool iterator_waits(const void *state)
{
	return iter_is_asking(state);
}

static const char *iterator_state_name(const void *state)
{
	const struct iter *it = state;

	return states[it->state].name;
}

const struct module iterator_module = {
	.name = "iterator",
	.state_size = sizeof(struct iter),
	.wakes = WAKE_CHILD | WAKE_REPLY,
	.operate = iterator_operate,
	.waits = iterator_waits,
	.state_name = iterator_state_name,
	.clear = iterator_clear,
	.awaits = iterator_awaits,
};
