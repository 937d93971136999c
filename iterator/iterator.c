/* The iterator module: the states of finding an answer.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "iterator/iterator.h"

#include <stdarg.h>
#include <stdio.h>

#include "iterator/consult.h"
#include "iterator/hints.h"
#include "iterator/iter.h"
#include "iterator/recall.h"
#include "iterator/resort.h"
#include "iterator/route.h"
#include "iterator/select.h"
#include "iterator/show.h"
#include "iterator/targets.h"
#include "services/authzone.h"
#include "services/cache/infra.h"
#include "services/cache/msg.h"
#include "services/forward.h"
#include "services/mesh.h"
#include "services/policed.h"
#include "services/ratelimit.h"
#include "services/snapshot.h"
#include "services/stats.h"
#include "services/zonelimits.h"
#include "services/trace.h"
#include "util/log.h"
#include "util/mem.h"
#include "util/options.h"
#include "util/rr.h"
#include "util/timebase.h"
#include "util/trie.h"

/* ---- shared by the states ---- */

void iter_blame(struct iter *it, enum reason reason, const char *fmt, ...)
{
	char text[256];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	it->reason = reason;
	it->reason_text = arena_textf(it->arena, "%s", text);
}

static void ask_no_longer(struct iter *it)
{
	if (it->asked)
		upstream_cancel(it->asked);
	it->asked = NULL;
	race_cancel(it->race);
	it->race = NULL;
}

void iter_let_go(struct iter *it)
{
	ask_no_longer(it);
	mesh_forget_children(it->q);
}

void iter_note_vain(struct iter *it, unsigned packets)
{
	int *vain = &it->q->budget->vain;

	if (it->at && !it->at->config && !it->q->is_aside)
		budget_take(vain, MIN((int)packets, *vain));
}

void iter_hide_name(struct iter *it)
{
	bool on = it->conf->qname_minimisation && !(it->q->kind & QUERY_PRIME) &&
		  it->want.class_ == CLASS_IN;

	/* a server asked for another server's addresses will be asked for both families */
	qmin_begin(&it->qmin, on, it->q->depth > 0 && it->want.type == TYPE_AAAA);
	it->qmin.hurried = it->q->depth > 1;
	it->shown.name_len = 0;
}

void iter_go_to(struct iter *it, struct delegation *d)
{
	iter_let_go(it);
	it->at = d;
	if (!it->refetch)
		it->sent = 0;
	it->lookups = 0;
	it->empty = NULL;
	caps_end(&it->caps);
	it->shown.name_len = 0;
	it->question_due = true;
	if (d && d->forward)
		it->qmin.on = false;
	else if (!it->qmin.on)
		iter_hide_name(it);
}

bool iter_restart(struct iter *it)
{
	iter_go_to(it, NULL);
	iter_hide_name(it);
	if (++it->restarts <= it->conf->max_query_restarts)
		return true;
	iter_blame(it, REASON_budget_aliases, "the limit of %u restarts is reached",
		   it->conf->max_query_restarts);
	return false;
}

enum turn iter_stop(struct iter *it)
{
	it->answer = arena_new(it->arena, struct message);
	*it->answer = (struct message){ .q = it->want, .flags = FLAG_QR };
	it->state = ITER_finish;
	return TURN_ON;
}

static bool is_special(const struct iter *it)
{
	return it->q->kind & (QUERY_PRIME | QUERY_PARENT_SIDE);
}

/* The name to look for servers at: DS RRsets, and old glue, are the parent's. */
static const uint8_t *look_under(const struct iter *it)
{
	if (it->refetch)
		return dname_parent(it->refetch);
	if (it->want.type == TYPE_DS)
		return dname_parent(it->want.name);
	/* A refreshed NS set must not come from the servers it names. */
	if (it->want.type == TYPE_NS && it->q->is_refresh &&
	    route_may_go_round(it->q, it->want.name))
		return dname_parent(it->want.name);
	return it->want.name;
}

static struct route find_route(const struct iter *it)
{
	return route_find(it->q, &(struct route_how){
					 .name = look_under(it),
					 .type = it->want.type,
					 .class_ = it->want.class_,
					 .now_s = it->q->env->time->now_s + it->leeway_s,
					 .failed = it->config_failed,
					 .held_failed = it->held_failed,
				 });
}

/* Policy zones may have rules for servers, of those known by now. */
static bool is_stopped_at(struct iter *it, const struct delegation *d)
{
	struct query *q = it->q;

	for (unsigned i = 0; i < d->name_count; i++)
		policed_meet(q, it->want.name, d->names[i].name, NULL);
	for (unsigned i = 0; i < d->place_count; i++)
		policed_meet(q, it->want.name, NULL, &d->places[i].addr);
	return policed_stops(q);
}

static bool judges_servers(const struct iter *it)
{
	return UNLIKELY(policed_exist(it->q->snapshot->zones)) && policed_by_servers(it->q);
}

/* ---- start: is the answer, or an alias, in the cache? ---- */

/* False if the answer is being refreshed, or was bogus, or answers of these servers are not to be
 * cached at all. */
static bool may_recall(struct iter *it)
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

	if (!judges_servers(it))
		return false;
	route = find_route(it);
	return route.at && is_stopped_at(it, route.at);
}

static enum turn on_start(struct iter *it)
{
	struct recalled r = { .message = NULL };

	it->state = ITER_approach;
	if (may_recall(it))
		r = recall(it->q, &it->want);
	if (r.message == NULL)
		return TURN_ON;
	tell(it->q, "%s is in the cache", r.alias ? "an alias" : "the answer");
	if (is_from_stopped(it))
		return iter_stop(it);
	if (!r.alias) {
		it->answer = r.message;
		it->state = ITER_finish;
		return TURN_ON;
	}

	const uint8_t *target = chain_take(&it->chain, it->arena, r.message, it->want.name);
	it->state = target && iter_restart(it) ? ITER_start : ITER_fail;
	if (target == NULL) {
		iter_blame(it, REASON_budget_aliases, "aliases in a circle");
		return TURN_ON;
	}
	it->want.name = target;
	it->want.name_len = (uint16_t)dname_len(target);
	return policed_stops_at(it->q, target) ? iter_stop(it) : TURN_ON;
}

/* ---- approach: the closest known servers; if there are none, prime ---- */

static struct delegation *priming_servers(const struct iter *it, const uint8_t *zone)
{
	const struct forward_zone *z = route_stub(it->q, zone);

	if (z == NULL || dname_is_root(zone))
		return hints_delegation(it->q);
	return delegation_from_config(it->arena, z);
}

/* Glue is asked for above the zone that is authoritative for the name. */
static void begin_above(struct iter *it)
{
	struct delegation *d = delegation_from_cache(it->q, it->want.name, it->want.class_,
						     it->q->env->time->now_s);

	it->refetch = d ? d->zone : dname_root;
}

static enum turn on_approach(struct iter *it)
{
	struct route route = { .prime = dname_root };

	it->state = ITER_choose;
	if (it->q->kind & QUERY_PRIME) {
		iter_go_to(it, priming_servers(it, it->want.name));
		return TURN_ON;
	}
	if (it->q->kind & QUERY_PARENT_SIDE && it->want.type != TYPE_DS)
		begin_above(it);
	if (!(it->refetch && dname_is_root(it->refetch)))
		route = find_route(it);
	if (route.at) {
		iter_go_to(it, route.at);
		return TURN_ON;
	}
	if (it->want.class_ == CLASS_IN &&
	    mesh_child(it->q, route.prime, TYPE_NS, CLASS_IN, QUERY_PRIME)) {
		it->state = ITER_prime;
		return TURN_WAIT;
	}
	iter_blame(it, REASON_no_reachable, "no servers to begin with");
	it->state = ITER_fail;
	return TURN_ON;
}

static enum turn on_prime(struct iter *it)
{
	return it->at ? TURN_ON : TURN_WAIT;
}

/* The zone has named its servers without any address: go on with the servers that said so. */
static void keep_asked_places(struct iter *it, struct delegation *d)
{
	const struct delegation *asked = priming_servers(it, d->zone);

	for (unsigned i = 0; i < asked->place_count; i++)
		delegation_add_place(d, it->arena, &asked->places[i]);
}

static void primed(struct iter *it, const struct query *child)
{
	struct delegation *d = NULL;

	if (child->question.type != TYPE_NS || !(child->kind & QUERY_PRIME))
		return;
	if (targets_ask_again(it, child))
		return;
	if (child->reply->rcode == RCODE_NOERROR)
		d = delegation_from_message(it->q, child->reply);
	if (d == NULL) {
		iter_blame(it, child->reply->reason ? child->reply->reason : REASON_no_reachable,
			   "the servers of the zone could not be learned from those configured");
		it->state = ITER_fail;
		return;
	}
	if (d->place_count == 0)
		keep_asked_places(it, d);
	iter_go_to(it, route_past_priming(it->q, d));
	it->state = ITER_choose;
}

/* ---- choose: what to ask next, and which server ---- */

/* Asking for what is cached would yield nothing new. */
static bool is_known_to_exist(struct iter *it, const struct question *shown)
{
	const struct stored *s;

	if (it->q->kind & QUERY_NO_CACHE)
		return false;
	s = msgcache_find(it->q->env->messages, shown, msgcache_hash(shown), it->q->scope, true);
	return s && stored_is_fresh(s, it->q->env->time->now_s) && s->rcode == RCODE_NOERROR;
}

static void decide_question(struct iter *it)
{
	struct question was = it->shown, next;

	if (!it->question_due)
		return;
	while (qmin_next(&it->qmin, &it->want, it->at->zone, &next) && is_known_to_exist(it, &next))
		;
	it->question_due = false;
	it->shown = next;
	if (was.name_len && !question_equals(&was, &next)) {
		delegation_refresh(it->at);
		it->empty = NULL;
	}
}

static bool may_send(struct iter *it)
{
	if (it->sent >= it->conf->max_sent_count)
		iter_blame(it, REASON_budget_sends,
			   "the limit of %u questions to one zone is reached",
			   it->conf->max_sent_count);
	else if (it->sent_in_all >= ITER_SENDS)
		iter_blame(it, REASON_budget_sends, "the limit of %u questions for a name is reached",
			   ITER_SENDS);
	else if (it->q->budget->vain <= (it->q->depth ? BUDGET_VAIN_KEPT : 0) &&
		 !it->at->config && !it->q->is_aside)
		iter_blame(it, REASON_no_reachable,
			   "too many servers on the way were silent or of no use");
	else if (it->q->budget->sends <= 0)
		iter_blame(it, REASON_budget_sends,
			   "the limit of %u questions for a query is reached",
			   it->conf->max_global_quota);
	else if (it->arena->taken > ITER_MEMORY)
		iter_blame(it, REASON_budget_sends, "what the answers so far need of memory is more than %u kB",
			   ITER_MEMORY >> 10);
	else
		return true;
	it->state = ITER_fail;
	return false;
}

static bool wants_caps(const struct iter *it)
{
	const struct snapshot *s = it->q->snapshot;

	return it->conf->use_caps_for_id && !it->caps.on &&
	       !(s->caps_exempt && trie_find_closest(s->caps_exempt, it->shown.name));
}

static void on_answered(void *owner, const struct upstream_reply *reply)
{
	struct iter *it = owner;

	mesh_wake(it->q, &(struct event){ .kind = EVENT_REPLY, .reply = reply });
}

static void on_raced(void *owner, struct place *place, const struct upstream_reply *reply)
{
	struct iter *it = owner;

	it->place = place;
	on_answered(it, reply);
}

/* Also ask other servers than the selected one, if configured (forward-strategy: race). */
static bool send_race(struct iter *it, const struct upstream_question *question,
		      const struct selection *to)
{
	const struct forward_zone *config = it->at->config;
	struct race_how how = { .question = *question,
				.upstream = it->q->env->upstream,
				.arena = it->arena,
				.places = { to->place },
				.count = 1,
				.done = on_raced,
				.owner = it };

	/* whether to send the client subnet depends on the server */
	if (!config || config->strategy != STRATEGY_RACE || it->caps.on || it->shows)
		return false;
	how.count += select_others(it->at, it->q, it->shown.type, to, how.places + 1,
				   MIN(config->racers, (unsigned)RACERS_MOST) - 1);
	for (unsigned i = 1; i < how.count; i++)
		select_count(how.places[i], it->conf->outbound_msg_retry);
	budget_take(&it->q->budget->sends, (int)how.count - 1);
	it->sent += how.count - 1;
	it->sent_in_all += how.count - 1;
	it->race = race_start(&how);
	return true;
}

static void tell_asking(const struct iter *it)
{
	char place[ADDR_TEXT], name[DNAME_TEXT], type[16], zone[DNAME_TEXT];

	tell(it->q, "asks %s for %s %s, as a %s of %s%s%s", addr_print(&it->place->addr, 53, place),
	     dname_print(it->shown.name, name), rr_type_name(it->shown.type, type),
	     it->at->forward ? "forwarder" : "server", dname_print(it->at->zone, zone),
	     carrier_words(it->at->carrier), it->at->config ? " (configured)" : "");
}

static enum turn send_question(struct iter *it, const struct selection *to)
{
	struct query *q = it->q;
	bool recurse = it->at->forward || to->tier == TIER_RECURSOR;
	struct upstream_question question = {
		.q = it->shown,
		.server = to->place->addr,
		.zone = it->at->zone,
		.tls_name = to->place->tls_name,
		.http_path = to->place->http_path,
		.subnet = it->shows,
		.recurse = recurse,
		/* a recursor that validates would keep from us what we can judge ourselves, if we do; a
		 * forwarder is given its chance to find good data first */
		.checking_disabled = (!recurse && q->env->trust_point) || (q->kind & QUERY_CD && q->depth == 0) ||
				     (q->want_signatures && (q->avoid_count || to->place->tries)),
		.dnssec = !it->conf->disable_edns_do,
		.insists = q->want_signatures && it->at->expects_dnssec && !it->conf->disable_edns_do &&
			   !it->conf->disable_dnssec_lame_check,
		.carrier = it->at->carrier,
		.caps = wants_caps(it),
	};

	PROMISE(!iter_is_asking(it));
	budget_take(&q->budget->sends, 1);
	it->sent++;
	it->sent_in_all++;
	it->place = to->place;
	it->tier = to->tier;
	select_count(to->place, it->caps.on ? UINT8_MAX : it->conf->outbound_msg_retry);
	tell_asking(it);
	if (!send_race(it, &question, to)) {
		question.known = &to->known;
		it->asked = upstream_ask(q->env->upstream, &question, it->arena, on_answered, it);
	}
	it->state = ITER_await;
	return TURN_WAIT;
}

/* Whether data held here was bogus: it is not used again if the zone's servers may be asked. */
static bool was_bogus(const struct query *q)
{
	for (unsigned i = 0; i < q->avoid_count; i++)
		if (q->avoid[i].family == FAMILY_HELD)
			return true;
	return false;
}

/* A zone that is held here answers in place of its servers. */
static bool ask_held(struct iter *it, enum turn *turn)
{
	const struct authzones *zones = it->q->snapshot->zones;
	const struct authzone *z;
	struct upstream_reply *reply;
	enum held_end end = HELD_NOT;

	if (LIKELY(!zones->upstream && !it->at->held) || it->held_failed || it->at->config ||
	    it->caps.on || !(z = authzones_find_exact(zones, it->at->zone)) ||
	    (!z->upstream && !it->at->held))
		return false;
	reply = arena_new(it->arena, struct upstream_reply);
	reply->message = arena_new(it->arena, struct message);
	if (!z->falls_back || !was_bogus(it->q))
		end = authzones_consult(zones, it->at->zone, &it->shown,
					it->q->env->time->now_s, it->arena, reply->message);
	*turn = TURN_ON;
	it->sent++;
	if (end == HELD_ANSWER) {
		stat_bump(&it->q->env->stats->authzone_up, 1);
		it->place = arena_new(it->arena, struct place);
		it->place->addr.family = FAMILY_HELD;
		it->reply = reply;
		it->state = ITER_digest;
		return true;
	}
	it->held_failed = true;
	if (end == HELD_FAILED) {
		iter_blame(it, REASON_not_ready, "the records of a zone held here are not there");
		it->state = ITER_fail;
		return true;
	}
	if (it->at->held)
		it->state = ITER_approach;
	return it->at->held;
}

/* In the 0x20 fallback every address is asked, and more than once. Whether those known are enough. */
static bool caps_is_done(struct iter *it)
{
	if (!it->caps.on)
		return false;
	targets_ask(it, -1);
	return caps_suffices(&it->caps, it->at->place_count, it->conf->max_sent_count);
}

/* Prefer looking up further servers to asking one that gave bad data. */
static bool is_doubtful(enum tier tier)
{
	return tier == TIER_NO_DNSSEC || tier == TIER_AVOIDED;
}

/* At most `ratelimit` queries per second go to the servers of one zone. A failure for this reason
 * is not cached: the next second counts anew. */
static bool is_within_rate(struct iter *it)
{
	const struct env *e = it->q->env;
	struct rate_rule rule = { .limit = zonelimits_get(it->q->snapshot->zone_limits, it->at->zone),
				  .factor = it->conf->ratelimit_factor,
				  .backoff = it->conf->ratelimit_backoff };
	uint8_t zone[DNAME_MAX];
	size_t len = dname_len(it->at->zone);

	if (!rule.limit || it->at->forward || !e->zone_rates)
		return true;
	for (size_t i = 0; i < len; i++)
		zone[i] = ascii_lower[it->at->zone[i]];
	if (ratelimit_admits(e->zone_rates, zone, len, &rule, e->time->now_s, e->random))
		return true;
	stat_bump(&e->stats->ratelimited, 1);
	iter_blame(it, REASON_budget_sends, "the limit of %u questions a second to one zone is reached",
		   rule.limit);
	it->q->no_store = true;
	it->state = ITER_fail;
	return false;
}

/* From here on each client's query is resolved separately. */
static enum turn stop_for_all(struct iter *it)
{
	struct message *m = arena_new(it->arena, struct message);

	iter_let_go(it);
	m->q = it->q->question;
	m->flags = FLAG_QR;
	m->rcode = RCODE_SERVFAIL;
	m->reason = REASON_other;
	it->q->divided = true;
	it->q->reply = m;
	return TURN_UP;
}

/* Whether it must be had from these servers: other than the addresses of one server, or what strangers
 * would make us ask for. */
static bool is_indispensable(const struct iter *it)
{
	return it->q->depth == 0 || it->at->config || it->q->kind & (QUERY_PRIME | QUERY_NO_VALIDATE);
}

static enum turn on_choose(struct iter *it)
{
	struct selection to;
	enum turn turn;

	decide_question(it);
	if (caps_is_done(it)) {
		/* a server that is being looked up may yet disagree */
		it->state = mesh_children(it->q) ? ITER_await : ITER_digest;
		return TURN_ON;
	}
	if (!may_send(it))
		return TURN_ON;
	if (judges_servers(it) && is_stopped_at(it, it->at)) {
		iter_let_go(it);
		return iter_stop(it);
	}
	if (ask_held(it, &turn))
		return turn;
	targets_ask_ahead(it);
	to = select_server(it->at, it->q, it->shown.type, mesh_children(it->q));
	if (to.place && !(is_doubtful(to.tier) && targets_ask_next(it))) {
		if (UNLIKELY(it->q->snapshot->limits_zones) && !is_within_rate(it))
			return TURN_ON;
		if (UNLIKELY(show_choose(it, &to) == SHOW_DIVIDE))
			return stop_for_all(it);
		return send_question(it, &to);
	}

	it->state = ITER_await;
	if (mesh_children(it->q) || targets_ask_next(it))
		return TURN_WAIT;
	if (is_indispensable(it) && !it->empty && delegation_forgive(it->at)) {
		it->state = ITER_choose;
		return TURN_ON;
	}
	it->state = (it->caps.on && it->caps.first) || it->empty ? ITER_digest : ITER_resort;
	return TURN_ON;
}

/* ---- await, digest, resort ---- */

static enum turn on_await(struct iter *it)
{
	if (iter_is_asking(it) || mesh_children(it->q))
		return TURN_WAIT;
	it->state = ITER_choose;
	return TURN_ON;
}

static enum turn on_digest(struct iter *it)
{
	return digest(it);
}

static enum turn on_resort(struct iter *it)
{
	return resort(it);
}

static enum turn on_consult(struct iter *it)
{
	(void)it;
	return TURN_WAIT;
}

/* ---- finish, fail ---- */

static enum turn on_finish(struct iter *it)
{
	struct message *m;

	iter_let_go(it);
	if (it->at && it->place)
		targets_ask_after(it);
	if (UNLIKELY(it->goes_round != NULL))
		infra_refetch_helped(it->q->env->infra, it->goes_round, it->q->env->time);
	m = chain_finish(&it->chain, it->arena, it->answer, &it->q->question);
	m->flags = FLAG_QR;
	m->id = 0;
	m->edns = (struct edns){ .present = false };
	it->q->answered_by = it->place ? it->place->addr : (struct addr){ .family = 0 };
	if (it->answer == it->q->recalled)
		it->q->recalled = m;
	if (it->chain.answers)
		m->security = SECURITY_UNCHECKED;
	if (it->q->stopped)
		m->security = SECURITY_INSECURE; /* only the policy zone says so */
	it->q->reply = m;
	return TURN_UP;
}

static enum turn on_fail(struct iter *it)
{
	struct message *m = arena_new(it->arena, struct message);
	char name[DNAME_TEXT], type[16];

	iter_let_go(it);
	m->q = it->q->question;
	m->flags = FLAG_QR;
	m->rcode = RCODE_SERVFAIL;
	m->reason = it->reason ? it->reason : REASON_other;
	m->reason_text = it->reason_text;
	it->q->no_store |= it->q->depth && (it->starved || budget_is_short(it->q->budget));
	tell(it->q, "no answer: %s%s%s", reason_text(m->reason), it->reason_text ? ": " : "",
	     it->reason_text ? it->reason_text : "");
	log_query("no answer for %s %s: %s%s%s", dname_print(m->q.name, name),
		  rr_type_name(m->q.type, type), reason_text(m->reason),
		  it->reason_text ? ": " : "", it->reason_text ? it->reason_text : "");
	it->q->reply = m;
	return TURN_UP;
}

/* ---- the module ---- */

#define X(name) [ITER_##name] = on_##name,
static enum turn (*const on_state[])(struct iter *) = { ITER_STATES(X) };
#undef X

#define X(name) #name,
static const char *const state_names[] = { ITER_STATES(X) };
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

/* Count what one query took beyond its first packet: retries, another transport. */
static void note_sends(struct iter *it, const struct upstream_reply *reply)
{
	int more = reply->sends ? (int)reply->sends - 1 : 0;

	it->sent_in_all += (unsigned)more;
	budget_take(&it->q->budget->sends, MIN(more, it->q->budget->sends));
	if (reply->end == UPSTREAM_SILENT)
		iter_note_vain(it, reply->sends);
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
		note_sends(it, ev->reply);
		it->state = ITER_digest;
		break;
	case EVENT_CHILD:
		if (it->state == ITER_prime) {
			primed(it, ev->child);
			break;
		}
		if (it->state == ITER_consult) {
			consulted(it, ev->child);
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

static enum step iterator_operate(struct query *q, void *state, const struct event *ev)
{
	struct iter *it = state;
	enum turn turn;

	if (ev->kind == EVENT_ASK)
		begin(it, q);
	else
		take_event(it, ev);
	do {
		log_algo("iterator: %s", state_names[it->state]);
		turn = on_state[it->state](it);
	} while (turn == TURN_ON);
	return turn == TURN_UP ? STEP_UP : STEP_WAIT;
}

static void iterator_clear(struct query *q, void *state)
{
	struct iter *it = state;

	(void)q;
	ask_no_longer(it);
}

static const struct addr *iterator_awaits(const void *state)
{
	const struct iter *it = state;

	return iter_is_asking(it) ? &it->place->addr : NULL;
}

const struct module iterator_module = {
	.name = "iterator",
	.state_size = sizeof(struct iter),
	.operate = iterator_operate,
	.clear = iterator_clear,
	.awaits = iterator_awaits,
};
