/* What to ask next, and whom.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "iterator/choose.h"

#include "iterator/route_zone.h"
#include "iterator/select.h"
#include "iterator/client_subnet.h"
#include "iterator/targets.h"
#include "services/access/ratelimit.h"
#include "services/authzone/zones.h"
#include "services/cache/msg.h"
#include "services/forward/forward.h"
#include "services/forward/zonelimits.h"
#include "services/history/querylog.h"
#include "services/mesh/mesh.h"
#include "services/query/snapshot.h"
#include "services/query/trace.h"
#include "services/stats/stats.h"
#include "util/base/mem.h"
#include "util/base/timebase.h"
#include "util/conf/options.h"
#include "util/dns/rr.h"
#include "util/names/trie.h"

enum { HEDGE_LEAST_MS = 40 };

/* Asking for what is cached would yield nothing new. */
static bool is_known_to_exist(struct iter *it, const struct question *shown)
{
	const struct stored *s;

	if (it->q->kind & QUERY_NO_CACHE)
		return false;
	s = msgcache_find(it->q->env->messages, shown, msgcache_hash(shown), it->q->scope, true);
	return s && stored_is_fresh(s, it->q->env->time->now_s) && s->rcode == RCODE_NOERROR;
}

/* A name on the way that is configured otherwise than the one wanted (below a forward-zone without servers,
 * say): these servers have no say about it, and it is none of their business. */
static bool is_others(const struct iter *it, const struct question *shown)
{
	const uint8_t *look = route_look_name(it->want.name, it->want.type);

	return !route_is_same(route_zone(it->q, shown->name, it->authzone_failed ? look : NULL),
			      route_zone(it->q, look, it->authzone_failed ? look : NULL));
}

static void decide_question(struct iter *it)
{
	struct question was = it->shown, next;

	if (!it->question_due)
		return;
	while (qmin_next(&it->qmin, &it->want, it->at->zone, &next) &&
	       (is_known_to_exist(it, &next) || is_others(it, &next)))
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
			   "limit of %u queries to one zone reached (max-sent-count)",
			   it->conf->max_sent_count);
	else if (it->sent_in_all >= ITER_SENDS)
		iter_blame(it, REASON_budget_sends, "limit of %u upstream queries for one name reached",
			   ITER_SENDS);
	else if (it->q->budget->wasted_sends <= (it->q->depth ? BUDGET_WASTED_KEPT : 0) &&
		 !it->at->config && !it->q->is_detached)
		iter_blame(it, REASON_no_reachable,
			   "too many name servers timed out or gave useless answers");
	else if (it->q->budget->sends <= 0)
		iter_blame(it, REASON_budget_sends,
			   "limit of %u upstream queries for one query reached (max-global-quota)",
			   it->conf->max_global_quota);
	else if (it->arena->taken > ITER_MEMORY)
		iter_blame(it, REASON_budget_sends, "the responses so far need more than %u kB of memory",
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
	       !trie_find_closest(s->caps_exempt, it->shown.name);
}

static void on_answered(void *owner, const struct upstream_reply *reply)
{
	struct iter *it = owner;

	mesh_wake(it->q, &(struct event){ .kind = EVENT_REPLY, .reply = reply });
}

static void on_raced(void *owner, struct target *target, const struct upstream_reply *reply)
{
	struct iter *it = owner;

	it->target = target;
	on_answered(it, reply);
}

/* Another server's answer is still awaited. One that was only silent may be asked again, unless the operator's strategy
 * did choose it. */
static void on_lost(void *owner, struct target *target, const struct upstream_reply *reply)
{
	struct iter *it = owner;
	struct target *now = delegation_target_now(it->at, target);

	now->silent |= reply->end == UPSTREAM_SILENT;
	now->spent |= it->at->config || reply->end != UPSTREAM_SILENT || reply->refused;
	iter_note_sends(it, reply);
	if (reply->end == UPSTREAM_ANSWERED) /* of no use, or it would not have lost */
		iter_note_wasted(it, it->reply_took);
}

static struct race_how race_of(struct iter *it, const struct upstream_question *question, const struct selection *to)
{
	return (struct race_how){ .question = *question,
				  .upstream = it->q->env->upstream,
				  .arena = it->arena,
				  .loop = it->q->env->loop,
				  .targets = { to->target },
				  .count = 1,
				  .done = on_raced,
				  .lost = on_lost,
				  .owner = it };
}

/* Also ask other servers than the selected one, if configured (forward-strategy: race). */
static bool send_race(struct iter *it, const struct upstream_question *question,
		      const struct selection *to)
{
	const struct forward_zone *config = it->at->config;
	struct race_how how = race_of(it, question, to);

	/* whether to send the client subnet depends on the server */
	if (!config || config->strategy != STRATEGY_RACE || it->caps.on || it->sent_subnet)
		return false;
	how.count += select_others(it->at, it->q, it->shown.type, to, how.targets + 1,
				   MIN(config->racers, (unsigned)RACERS_MOST) - 1);
	for (unsigned i = 1; i < how.count; i++)
		select_count(how.targets[i], it->conf->outbound_msg_retry);
	budget_take(&it->q->budget->sends, (int)how.count - 1);
	it->sent += how.count - 1;
	it->sent_in_all += how.count - 1;
	it->race = race_start(&how);
	return true;
}

static void tell_asking(const struct iter *it, const struct target *server)
{
	char target[ADDR_TEXT], name[DNAME_TEXT], type[16], zone[DNAME_TEXT];

	tell(it->q, "asks %s for %s %s, as a %s of %s%s%s",
	     addr_print(&server->addr, 53, target), dname_print(it->shown.name, name),
	     rr_type_name(it->shown.type, type), it->at->forward ? "forwarder" : "server",
	     dname_print(it->at->zone, zone), transport_words(it->at->transport),
	     it->at->config ? " (configured)" : "");
}

static void count_send(struct iter *it, struct target *target)
{
	budget_take(&it->q->budget->sends, 1);
	it->sent++;
	it->sent_in_all++;
	infra_asked(it->q->env->infra, &target->addr, it->q->env->time);
	select_count(target, it->caps.on ? UINT8_MAX : it->conf->outbound_msg_retry);
	tell_asking(it, target);
}

/* At most `ratelimit` queries per second go to the servers of one zone: whether this one may. */
static bool zone_admits(const struct iter *it)
{
	const struct env *e = it->q->env;
	struct rate_rule rule = { .limit = zonelimits_get(it->q->snapshot->zone_limits, it->at->zone),
				  .factor = it->conf->ratelimit_factor,
				  .backoff = it->conf->ratelimit_backoff };
	uint8_t zone[DNAME_MAX];
	size_t len = dname_len(it->at->zone);
	bool passes;

	if (!rule.limit || it->at->forward || !e->zone_rates)
		return true;
	for (size_t i = 0; i < len; i++)
		zone[i] = ascii_lower[it->at->zone[i]];
	passes = ratelimit_admits(e->zone_rates, zone, len, &rule, e->time->now_s, e->random);
	if (rule.tells) /* also when it is one of those that pass all the same */
		querylog_zone_rate(zone, &it->q->question, rule.limit);
	return passes;
}

/* A failure for this reason is not cached: the next second counts anew. */
static bool is_within_rate(struct iter *it)
{
	if (LIKELY(!it->q->snapshot->limits_zones) || zone_admits(it))
		return true;
	stat_bump(&it->q->env->stats->ratelimited, 1);
	iter_blame(it, REASON_budget_sends, "limit of %u queries per second to one zone reached",
		   zonelimits_get(it->q->snapshot->zone_limits, it->at->zone));
	it->q->no_store = true;
	it->state = ITER_fail;
	return false;
}

/* The first takes longer than usual: whom to ask beside it. */
static struct target *another(void *owner)
{
	struct iter *it = owner;
	struct target *first = delegation_target_now(it->at, it->target), *out;
	struct selection to = { .target = first, .tier = it->tier };

	if (it->q->budget->sends <= 0 || it->q->budget->wasted_sends <= BUDGET_WASTED_KEPT ||
	    it->sent >= it->conf->max_sent_count || it->sent_in_all >= ITER_SENDS ||
	    infra_network_is_down(it->q->env->infra, it->q->env->time) ||
	    (iter_has_server_rules(it) && iter_is_stopped_at(it, it->at)) ||
	    !select_others(it->at, it->q, it->shown.type, &to, &out, 1) || out->tries >= first->tries ||
	    (it->q->snapshot->limits_zones && !zone_admits(it)))
		return NULL;
	count_send(it, out);
	return out;
}

/* How long a server is given until another one is asked as well: what it took lately, and then some (its RTO), or what
 * 19 of 20 unknown ones took. */
static uint32_t hedge_ms(const struct iter *it, const struct infra_view *known)
{
	uint32_t usual = infra_first_answer_ms(it->q->env->infra);

	return known->known ? known->rto_ms : MAX(MIN(known->rto_ms, usual + usual / 4), (uint32_t)HEDGE_LEAST_MS);
}

/* A query whose server may lose it, or be dead, while there is another: after a while that is asked as well. Of forwarders
 * and configured servers only those are asked that the operator's strategy says. */
static bool send_hedged(struct iter *it, const struct upstream_question *question, const struct selection *to)
{
	struct race_how how = race_of(it, question, to);

	/* whether a client subnet may be sent, and which, depends on the server */
	if (!question->once || it->at->config || it->at->transport != TRANSPORT_UDP || it->caps.on ||
	    it->q->snapshot->subnets || to->known.down || to->tier == TIER_RECURSOR || time_jumps(it->q->env->time))
		return false;
	how.known = &to->known;
	how.hedge_ms = hedge_ms(it, &to->known);
	how.wait_ms = MAX(2 * how.hedge_ms, to->known.rto_ms);
	how.another = another;
	it->race = race_start(&how);
	return true;
}

static enum iter_step send_question(struct iter *it, const struct selection *to)
{
	struct query *q = it->q;
	bool recurse = it->at->forward || to->tier == TIER_RECURSOR;
	struct upstream_question question = {
		.q = it->shown,
		.server = to->target->addr,
		.zone = it->at->zone,
		.tls_name = to->target->tls_name,
		.http_path = to->target->http_path,
		.subnet = it->sent_subnet,
		.recurse = recurse,
		/* a recursor that validates would keep from us what we can validate ourselves, if we do; a
		 * forwarder is given its chance to find good data first */
		.checking_disabled = (!recurse && q->env->trust_point) || (q->kind & QUERY_CD && q->depth == 0) ||
				     (q->want_signatures && (q->avoid_count || to->target->tries)),
		.dnssec = !it->conf->disable_edns_do,
		.insists = q->want_signatures && it->at->expects_dnssec && !it->conf->disable_edns_do &&
			   !it->conf->disable_dnssec_lame_check,
		.transport = it->at->transport,
		.caps = wants_caps(it),
		.once = select_may_give_up_early(it->at, q, it->shown.type, to),
		.budget = q->budget,
	};

	PROMISE(!iter_is_asking(it));
	it->target = to->target;
	it->tier = to->tier;
	count_send(it, to->target);
	question.known = &to->known;
	if (!send_race(it, &question, to) && !send_hedged(it, &question, to)) {
		it->asked = upstream_ask(q->env->upstream, &question, it->arena, on_answered, it);
	}
	it->state = ITER_await;
	return ITER_WAIT;
}

/* Whether data held here was bogus: it is not used again if the zone's servers may be asked. */
static bool was_bogus(const struct query *q)
{
	for (unsigned i = 0; i < q->avoid_count; i++)
		if (q->avoid[i].family == FAMILY_AUTHZONE)
			return true;
	return false;
}

/* A zone that is held here answers in place of its servers. */
static bool ask_authzone(struct iter *it)
{
	const struct authzones *zones = it->q->snapshot->zones;
	const struct authzone *z;
	struct upstream_reply *reply;
	enum authzone_end end = AUTHZONE_NOT;

	if (LIKELY(!zones->upstream && !it->at->authzone) || it->authzone_failed ||
	    it->at->config || it->caps.on || !(z = authzones_find_exact(zones, it->at->zone)) ||
	    (!z->upstream && !it->at->authzone))
		return false;
	reply = arena_new(it->arena, struct upstream_reply);
	reply->message = arena_new(it->arena, struct message);
	if (!z->falls_back || !was_bogus(it->q))
		end = authzones_resolve(zones, it->at->zone, &it->shown,
					it->q->env->time->now_s, it->arena, reply->message);
	it->sent++;
	if (end == AUTHZONE_ANSWER) {
		stat_bump(&it->q->env->stats->authzone_up, 1);
		it->target = arena_new(it->arena, struct target);
		it->target->addr.family = FAMILY_AUTHZONE;
		it->reply = reply;
		it->state = ITER_response;
		return true;
	}
	it->authzone_failed = true;
	if (end == AUTHZONE_FAILED) {
		iter_blame(it, REASON_not_ready, "the local copy of the zone is not loaded");
		it->state = ITER_fail;
		return true;
	}
	if (it->at->authzone)
		it->state = ITER_find_zone;
	return it->at->authzone;
}

/* In the 0x20 fallback every address is asked, and more than once. Whether those known are enough. */
static bool caps_is_done(struct iter *it)
{
	if (!it->caps.on)
		return false;
	targets_ask(it, -1);
	return caps_suffices(&it->caps, it->at->target_count, it->conf->max_sent_count);
}

/* Prefer looking up further servers to asking one that gave bad data, or has it from elsewhere. */
static bool is_doubtful(enum tier tier)
{
	return tier == TIER_NO_DNSSEC || tier == TIER_AVOIDED || tier == TIER_RECURSOR;
}

/* From here on each client's query is resolved separately. */
static enum iter_step stop_for_all(struct iter *it)
{
	struct message *m = arena_new(it->arena, struct message);

	iter_let_go(it);
	m->q = it->q->question;
	m->flags = FLAG_QR;
	m->rcode = RCODE_SERVFAIL;
	m->reason = REASON_other;
	it->q->ecs.need = ECS_REQUIRED;
	it->q->reply = m;
	it->state = ITER_finish;
	return ITER_UP;
}

/* Whether it must be had from these servers: other than the addresses of one server, or what strangers
 * would make us ask for. */
static bool is_indispensable(const struct iter *it)
{
	return it->q->depth == 0 || it->at->config || it->q->kind & (QUERY_PRIME | QUERY_NO_VALIDATE);
}

enum iter_step choose(struct iter *it)
{
	struct selection to;

	decide_question(it);
	if (caps_is_done(it)) {
		/* a server that is being looked up may yet disagree */
		it->state = mesh_children(it->q) ? ITER_await : ITER_response;
		return ITER_ON;
	}
	if (!may_send(it))
		return ITER_ON;
	if (iter_has_server_rules(it) && iter_is_stopped_at(it, it->at)) {
		iter_let_go(it);
		return iter_stop(it);
	}
	if (ask_authzone(it))
		return ITER_ON;
	targets_ask_ahead(it);
	to = select_server(it->at, it->q, it->shown.type, mesh_children(it->q));
	it->wants_others |= to.target && is_doubtful(to.tier);
	if (to.target && !(is_doubtful(to.tier) && targets_ask_next(it))) {
		if (!is_within_rate(it))
			return ITER_ON;
		if (UNLIKELY(client_subnet_choose(it, &to) == SUBNET_DIVIDE))
			return stop_for_all(it);
		return send_question(it, &to);
	}

	it->state = ITER_await;
	if (mesh_children(it->q) || targets_ask_next(it))
		return ITER_WAIT;
	if (!it->empty && it->conf->outbound_msg_retry > 0 && delegation_has_faltered(it->at)) {
		if (is_indispensable(it)) {
			delegation_forgive(it->at);
			it->state = ITER_choose;
			return ITER_ON;
		}
		it->q->lookup_refused = true;
	}
	it->state = it->caps.first || it->empty ? ITER_response : ITER_parent_fallback;
	return ITER_ON;
}
