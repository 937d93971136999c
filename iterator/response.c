/* What a server's response leads to.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "iterator/response.h"

#include "iterator/confirm.h"
#include "iterator/from_cache.h"
#include "iterator/route_zone.h"
#include "iterator/scrub.h"
#include "iterator/scrub_set.h"
#include "iterator/client_subnet.h"
#include "iterator/targets.h"
#include "services/authzone/zones.h"
#include "services/cache/aggressive.h"
#include "services/cache/infra.h"
#include "services/cache/msg.h"
#include "services/cache/rrset.h"
#include "services/mesh/cache_rules.h"
#include "services/mesh/error_report.h"
#include "services/mesh/mesh.h"
#include "services/policy/rpz_match.h"
#include "services/query/snapshot.h"
#include "services/query/trace.h"
#include "util/base/log.h"
#include "util/base/timebase.h"
#include "util/conf/options.h"
#include "util/dns/rr.h"

#define DNSSEC_LAME_SENT \
	4 /* queries to a zone before servers that omit signatures are accepted */

static enum iter_step go_on(struct iter *it, enum iter_state state)
{
	it->state = state;
	return ITER_ON;
}

static bool was_told_to_recurse(const struct iter *it)
{
	return it->at->forward || it->tier == TIER_RECURSOR;
}

static const char *target_text(const struct iter *it, char buf[ADDR_TEXT])
{
	return addr_print(&it->target->addr, 53, buf);
}

static const char *zone_text(const struct iter *it, char buf[DNAME_TEXT])
{
	return dname_print(it->at->zone, buf);
}

/* ---- keeping what is believed ---- */

/* The time by which cached sets are validated. When an answer is being refreshed, those that expire
 * within the leeway count as expired, but only against a new answer with more time left. */
static uint32_t when(const struct iter *it, const struct rrset *offered, bool is_answer)
{
	uint32_t now_s = it->q->env->time->now_s;

	if (!is_answer || time_left(now_s, offered->expires_s) <= it->leeway_s)
		return now_s;
	return now_s + it->leeway_s;
}

/* Whether the CNAME was synthesized from a DNAME: without the DNAME nothing would prove it. */
static bool is_synthesized(const struct message *m, const struct rrset *cname)
{
	unsigned count;
	const struct rrset **sets = message_section(m, SECTION_ANSWER, &count);

	if (cname->type != TYPE_CNAME)
		return false;
	for (unsigned i = 0; i < count; i++)
		if (sets[i]->type == TYPE_DNAME &&
		    dname_is_strictly_under(rrset_owner(cname), rrset_owner(sets[i])))
			return true;
	return false;
}

/* Whether servers may tell other clients something else: it was said for one subnet, for none, or of a name on
 * the way to the whole one, with which alone the subnet is sent. Denials of the latter are for all (RFC 7871 7.4). */
static bool is_for_some(const struct iter *it, const struct message *m, bool is_answer)
{
	return is_answer ? it->echoed || it->q->ecs.sent == ECS_OPTED_OUT : it->on_the_way && m->count[SECTION_ANSWER];
}

/* Nobody is answered from it, and no other zone finds its servers by it: it is kept as the parent's. */
static void keep_glue_apart(struct iter *it, const struct rrset *set)
{
	struct rrset *copy = rrset_copy(it->arena, set);

	copy->flags = (copy->flags & (uint8_t)~RRSET_GLUE_APART) | RRSET_PARENT_SIDE;
	rrsetcache_put(it->q->cache.rrsets, copy, it->q->env->time->now_s, it->arena);
}

/* The addresses that a zone's servers tell of themselves live no longer than the delegation by which they are asked: else
 * a zone that was moved to others would go on by the old ones' word. */
static const struct rrset *limited(const struct iter *it, const struct rrset *set)
{
	struct rrset *copy;

	if ((set->type != TYPE_A && set->type != TYPE_AAAA) || !it->at || !it->at->expires ||
	    !time_is_past(set->expires_s, it->at->parent_until_s) ||
	    !dname_is_under(rrset_owner(set), it->at->zone) || !delegation_find(it->at, rrset_owner(set)))
		return set;
	copy = rrset_copy(it->arena, set);
	copy->expires_s = it->at->parent_until_s;
	return copy;
}

/* Offers every set to the RRset cache, and replaces it in the message by the one to be believed. */
static void believe(struct iter *it, struct message *m, bool is_answer)
{
	struct query *q = it->q;
	const struct question *asked = is_answer && q->depth == 0 ? &q->question : NULL;
	uint32_t now_s = q->env->time->now_s;

	store_limit_ttls(q->snapshot->conf, m, it->arena, now_s);
	if (q->no_store || is_for_some(it, m, is_answer))
		return;
	for (unsigned i = 0; i < message_set_count(m); i++)
		if (m->sets[i]->flags & RRSET_GLUE_APART)
			keep_glue_apart(it, m->sets[i]);
		else if (!is_synthesized(m, m->sets[i]))
			m->sets[i] = store_set(q, asked, limited(it, m->sets[i]),
					       when(it, m->sets[i], is_answer), it->arena);
	/* a SOA already cached may be from an answer, whose TTL is longer than a denial's */
	store_limit_denial(q->snapshot->conf, m, it->arena, now_s);
}

static bool has_alias(const struct message *m)
{
	unsigned count;
	const struct rrset **sets = message_section(m, SECTION_ANSWER, &count);

	for (unsigned i = 0; i < count; i++)
		if (sets[i]->type == TYPE_CNAME)
			return true;
	return false;
}

/* Whether the cache has an answer to that question that was validated, or found bogus. */
static bool is_validated(const struct query *q, const struct question *asked, uint64_t hash)
{
	const struct stored *s = msgcache_find(q->env->messages, asked, hash, q->scope, true);

	return s && s->security != SECURITY_UNCHECKED && stored_is_fresh(s, q->env->time->now_s);
}

/* Caches the response for a name on the way (QNAME minimisation), so that it need not be queried
 * again on the way to others. It is stored as not validated and without AA. */
static void keep_message(struct iter *it, const struct message *m)
{
	struct query *q = it->q;
	struct message kept = *m;
	struct msg_keep how = { .now_s = q->env->time->now_s, .scope = q->scope };

	/* the target of an alias has not been looked up */
	if (q->no_store || q->no_message || has_alias(m) || is_for_some(it, m, false) ||
	    (m->rcode != RCODE_NOERROR && m->rcode != RCODE_NXDOMAIN))
		return;
	how.hash = msgcache_hash(&m->q);
	if (is_validated(q, &m->q, how.hash))
		return;
	kept.flags = FLAG_QR;
	store_message(q->env->messages, q->snapshot->conf, &kept, &how);
}

static void keep_parent_side(struct iter *it, const struct rrset *set)
{
	struct rrset *copy;

	if (it->q->no_store)
		return;
	copy = rrset_copy(it->arena, store_limit_ttl(it->q->snapshot->conf, set, it->arena));
	copy->flags |= RRSET_PARENT_SIDE;
	if (set->type == TYPE_NS)
		copy->expires_s = delegation_last_second(it->at, copy->expires_s);
	rrsetcache_put(it->q->cache.rrsets, copy, it->q->env->time->now_s, it->arena);
}

/* ---- useless responses: try another server ---- */

static enum iter_step pass_over(struct iter *it)
{
	if (!it->conf->qname_minimisation_strict)
		it->qmin.on = false;
	it->question_due = true;
	return go_on(it, ITER_choose);
}

static const char *silence_text(enum upstream_end end)
{
	switch (end) {
	case UPSTREAM_UNREACHABLE:
		return "is unreachable";
	case UPSTREAM_UNTRUSTED:
		return "failed TLS authentication";
	default:
		return "timed out";
	}
}

static enum reason silence_reason(const struct iter *it, enum upstream_end end)
{
	if (infra_network_is_down(it->q->env->infra, it->q->env->time))
		return REASON_network_error;
	return end == UPSTREAM_UNTRUSTED ? REASON_untrusted : REASON_no_reachable;
}

/* Truncated over UDP, silent over TCP: twice is enough. */
static bool cuts_and_keeps_silent(const struct iter *it, const struct upstream_reply *reply)
{
	return reply->over_tcp && it->at->transport == TRANSPORT_UDP && !it->conf->tcp_upstream &&
	       it->target->tries >= 2;
}

static enum iter_step on_silence(struct iter *it, const struct upstream_reply *reply)
{
	char target[ADDR_TEXT], zone[DNAME_TEXT];
	enum reason reason = silence_reason(it, reply->end);

	if (reply->end != UPSTREAM_SILENT || reply->refused || cuts_and_keeps_silent(it, reply))
		it->target->spent = true;
	if (it->reason == REASON_none || reason != REASON_no_reachable)
		iter_blame(it, reason, "%s for zone %s %s", target_text(it, target),
			   zone_text(it, zone), silence_text(reply->end));
	it->target->silent = true;
	qmin_unanswered(&it->qmin, it->conf->qname_minimisation_strict);
	if (reply->end == UPSTREAM_SILENT && reply->refused)
		return pass_over(it); /* garbage; the full question may fare better */
	it->question_due = true;
	return go_on(it, ITER_choose);
}

static enum iter_step on_useless(struct iter *it, const struct message *m)
{
	char target[ADDR_TEXT], zone[DNAME_TEXT];

	it->target->spent = true;
	it->target->faltered = m->rcode == RCODE_SERVFAIL;
	iter_note_wasted(it, it->reply_took);
	iter_blame(it, REASON_no_reachable, "%s for zone %s gave a useless answer (rcode %u)",
		   target_text(it, target), zone_text(it, zone), m->rcode);
	return pass_over(it);
}

static enum iter_step on_lame(struct iter *it, unsigned how)
{
	struct query *q = it->q;
	char target[ADDR_TEXT], zone[DNAME_TEXT];

	iter_note_wasted(it, it->reply_took);
	iter_blame(it, REASON_lame, "%s is lame for zone %s", target_text(it, target),
		   zone_text(it, zone));
	infra_set_lame(q->env->infra, &it->target->addr, it->at->zone, how, q->env->time);
	return pass_over(it);
}

/* An empty response may be a fault, or a sloppy NODATA: it is used if no server says more. */
static enum iter_step on_empty(struct iter *it, struct message *m)
{
	it->empty = m;
	it->target->spent = true;
	return pass_over(it);
}

/* ---- DNSSEC records missing where there must be some ---- */

static bool has_dnssec(const struct message *m)
{
	unsigned count = m->count[SECTION_ANSWER] + m->count[SECTION_AUTHORITY];

	for (unsigned i = 0; i < count; i++) {
		if (m->sets[i]->sig_count || m->sets[i]->type == TYPE_RRSIG)
			return true;
	}
	return false;
}

static bool is_bare(const struct iter *it, const struct message *m, enum response r)
{
	return !it->conf->disable_dnssec_lame_check && r <= RESPONSE_referral && !has_dnssec(m);
}

static bool leaves_out_dnssec(const struct iter *it, const struct message *m, enum response r)
{
	return it->q->want_signatures && it->at->expects_dnssec && !was_told_to_recurse(it) &&
	       it->tier < TIER_NO_DNSSEC && it->sent < DNSSEC_LAME_SENT && is_bare(it, m, r);
}

/* The validator asks for DNSKEY and DS RRsets only where they must be signed. A forwarder that
 * omits those signatures omits all of them. */
static bool strips_dnssec(const struct iter *it, const struct message *m, enum response r)
{
	const struct query *q = it->q;

	return it->at->forward && q->depth > 0 &&
	       (it->shown.type == TYPE_DNSKEY || it->shown.type == TYPE_DS) &&
	       is_bare(it, m, r) && q->env->trust_point && q->env->trust_point(q, it->shown.name, it->shown.type);
}

/* Warns, unless the infra cache already has it, and ranks this server below the others. True: try
 * another one. */
static bool note_stripper(struct iter *it)
{
	const struct env *e = it->q->env;
	char target[ADDR_TEXT], zone[DNAME_TEXT], name[DNAME_TEXT], type[16];
	struct infra_view view;

	infra_look(e->infra, &it->target->addr, it->at->zone, e->time, &view);
	if (!(view.lame & LAME_DNSSEC))
		log_warn("forwarder %s for zone %s strips DNSSEC records (%s %s came without "
			 "RRSIGs): signed zones cannot be validated through it",
			 target_text(it, target), zone_text(it, zone),
			 dname_print(it->shown.name, name), rr_type_name(it->shown.type, type));
	infra_set_lame(e->infra, &it->target->addr, it->at->zone, LAME_DNSSEC, e->time);
	it->target->no_dnssec = true;
	return it->tier < TIER_NO_DNSSEC && it->sent < DNSSEC_LAME_SENT;
}

/* ---- answers ---- */

static enum iter_step finish_with(struct iter *it, struct message *m)
{
	m->q = it->want;
	it->answer = m;
	return go_on(it, ITER_finish);
}

/* The response to a minimised query decides how to go on. */
static enum iter_step on_partial_answer(struct iter *it, struct message *m)
{
	char target[ADDR_TEXT], zone[DNAME_TEXT];

	believe(it, m, false);
	keep_message(it, m);
	it->question_due = true;
	if (m->rcode == RCODE_NOERROR)
		return go_on(it, ITER_choose);
	if (!it->conf->qname_minimisation_strict)
		return confirm_denial(it, m);
	if (m->rcode == RCODE_NXDOMAIN)
		return finish_with(it, m);
	iter_blame(it, REASON_other, "%s for zone %s refuses a minimised QNAME",
		   target_text(it, target), zone_text(it, zone));
	return go_on(it, ITER_fail);
}

/* Of a zone that nobody delegates, the servers configured for it say which its own are. */
static void keep_primed(struct iter *it, const struct message *m)
{
	const struct rrset *ns = message_find(m, SECTION_ANSWER, it->want.name, TYPE_NS, it->want.class_);

	if (ns)
		keep_parent_side(it, ns);
}

static enum iter_step on_answer(struct iter *it, struct message *m)
{
	if (it->qmin.on)
		return on_partial_answer(it, m);
	believe(it, m, true);
	if (it->q->kind & QUERY_PRIME)
		keep_primed(it, m);
	if (!it->cut_probe && !was_told_to_recurse(it) && confirm_is_too_low(m, &it->want))
		return confirm_cut(it, m);
	return finish_with(it, m);
}

/* A DNAME whose target is at or below its owner would be followed for ever. */
static bool leads_below_itself(const struct message *m)
{
	const struct rrset *first = m->sets[0]; /* of an alias */

	return first->type == TYPE_DNAME && dname_is_under(rrset_target(first, 0), rrset_owner(first));
}

static bool answer_has(const struct message *m, uint16_t type)
{
	for (unsigned i = 0; i < m->count[SECTION_ANSWER]; i++) {
		if (m->sets[i]->type == type)
			return true;
	}
	return false;
}

static bool is_asked_for(const struct iter *it, uint16_t type)
{
	return it->want.type == type || it->want.type == TYPE_ANY;
}

/* A query for the alias itself is answered by it and what it was made from; not by what follows,
 * which is there if the servers were shown another type. */
static void end_behind_alias(struct message *m)
{
	unsigned answers = m->count[SECTION_ANSWER], kept = m->sets[0]->type == TYPE_DNAME;

	m->sets[answers - 1] = m->sets[kept];
	memmove(m->sets + answers - 1 - kept, m->sets, kept * sizeof(*m->sets));
	m->sets += answers - 1 - kept;
	m->count[SECTION_ANSWER] = (uint16_t)(kept + 1);
}

static bool has_expanded_alias(const struct message *m)
{
	unsigned count;
	const struct rrset **sets = message_section(m, SECTION_ANSWER, &count);

	for (unsigned i = 0; i < count; i++)
		if (rrset_is_expanded(sets[i]))
			return true;
	return false;
}

/* Whether the servers were shown another type than the wanted one: their denials are about that. */
static bool was_shown_another_type(const struct iter *it)
{
	return it->shown.type != it->want.type;
}

static enum iter_step on_alias(struct iter *it, struct message *m)
{
	const uint8_t *target;
	unsigned known;

	if (!dname_equals(it->shown.name, it->want.name)) {
		/* a CNAME on the way says nothing about names below it; a DNAME covers them all */
		if (answer_has(m, TYPE_DNAME))
			it->qmin.on = false;
		m->rcode = RCODE_NOERROR;
		return on_partial_answer(it, m);
	}
	if (it->qmin.on && is_asked_for(it, TYPE_CNAME) && m->rcode != RCODE_NOERROR)
		return pass_over(it); /* the full query may be answered differently */
	believe(it, m, true);
	if (leads_below_itself(m) || (is_asked_for(it, TYPE_CNAME) && m->rcode == RCODE_NOERROR)) {
		m->rcode = RCODE_NOERROR;
		if (it->want.type == TYPE_CNAME)
			end_behind_alias(m);
		return finish_with(it, m);
	}
	if (was_shown_another_type(it)) {
		if (has_expanded_alias(m) || from_cache_stands_beside_alias(it->want.type)) {
			/* its proof is among denials for another type, or the name may have both: ask for the real one */
			it->qmin.on = false;
			m->rcode = RCODE_NOERROR;
			return on_partial_answer(it, m);
		}
		m->count[SECTION_AUTHORITY] = 0;
	}
	known = it->chain.answers;
	target = aliases_take(&it->chain, it->arena, m, it->want.name, it->want.type == TYPE_DS);
	if (target == NULL) {
		iter_blame(it, REASON_budget_aliases, "CNAME loop");
		return go_on(it, ITER_fail);
	}
	if (it->q->depth && !it->q->is_answer && it->chain.answers > TARGETS_ALIASES) {
		iter_blame(it, REASON_budget_aliases, "the name server's name is a chain of CNAMEs");
		it->q->lookup_refused = true;
		return go_on(it, ITER_fail);
	}
	it->want.name = target;
	it->want.name_len = (uint16_t)dname_len(target);
	it->refetch = NULL;
	it->sent_in_all = 0;
	it->config_failed = NULL;
	it->authzone_failed = false;
	if (iter_is_barred(it, known))
		return iter_stop(it);
	return go_on(it, iter_restart(it) ? ITER_start : ITER_fail);
}

/* ---- referrals ---- */

/* The answer to a QUERY_PARENT_SIDE query, for which the glue above the cut is wanted; without sets
 * if the message has none. NULL for other queries. */
static struct message *glue_answer(struct iter *it, const struct message *m)
{
	struct message *answer;
	const struct rrset *set = NULL;

	if (!(it->q->kind & QUERY_PARENT_SIDE) || it->want.type == TYPE_DS)
		return NULL;
	for (int s = SECTION_ANSWER; s <= SECTION_ADDITIONAL && !set; s++)
		set = message_find(m, (enum section)s, it->want.name, it->want.type,
				   it->want.class_);
	answer = arena_new(it->arena, struct message);
	*answer = (struct message){ .q = it->want, .flags = FLAG_QR };
	if (set) {
		keep_parent_side(it, set);
		answer->sets = arena_array(it->arena, const struct rrset *, 1);
		answer->sets[0] = set;
		answer->count[SECTION_ANSWER] = 1;
	}
	return answer;
}

/* What the parent says about the child is not authoritative, even if AA is set. */
static void lower_trust(struct message *m)
{
	for (unsigned i = 0; i < message_set_count(m); i++) {
		struct rrset *set = scrub_set_own(m->sets[i]);
		if (set->type == TYPE_DS || set->type == TYPE_NSEC || set->type == TYPE_NSEC3)
			continue;
		set->trust =
			i < (unsigned)m->count[0] + m->count[1] ? TRUST_AUTH_NOAA : TRUST_ADD_NOAA;
	}
}

/* Removes expired NS sets between the current zone and the new cut, which would hide it. */
static void forget_between(struct iter *it, const uint8_t *cut)
{
	struct rrsetcache *cache = it->q->cache.rrsets;
	unsigned labels = dname_labels(cut);

	for (unsigned i = dname_labels(it->at->zone) + 1; i < labels; i++) {
		const uint8_t *zone = dname_suffix(cut, i);
		const struct rrset *set =
			rrsetcache_find_stale(cache, zone, TYPE_NS, it->want.class_, 0);
		if (set && time_is_past(it->q->env->time->now_s, set->expires_s))
			rrsetcache_remove(cache, zone, TYPE_NS, it->want.class_);
	}
}

/* harden-referral-path: query the cut's NS set and glue from the zones authoritative for them. */
static void check_path(struct iter *it, const struct delegation *d, const struct message *m)
{
	unsigned count;
	const struct rrset **sets = message_section(m, SECTION_ADDITIONAL, &count);

	if (!it->conf->harden_referral_path || it->q->depth > 1)
		return;
	if (!dname_equals(d->zone, it->want.name) || it->want.type != TYPE_NS)
		mesh_side(it->q, d->zone, TYPE_NS, it->want.class_, 0);
	for (unsigned i = 0; i < count; i++) {
		if (sets[i]->type == TYPE_A || sets[i]->type == TYPE_AAAA)
			mesh_side(it->q, rrset_owner(sets[i]), sets[i]->type, it->want.class_, 0);
	}
}

/* prefetch-key: with a DS set in the referral, the DNSKEY set will be needed, unless the zone above has none. */
static void fetch_keys_ahead(struct iter *it, const struct delegation *d, const struct message *m)
{
	if (it->conf->prefetch_key && it->q->want_signatures && d->expects_dnssec && !it->at->lacks_ds &&
	    message_find(m, SECTION_AUTHORITY, d->zone, TYPE_DS, it->want.class_))
		mesh_side(it->q, d->zone, TYPE_DNSKEY, it->want.class_,
			  QUERY_CD | QUERY_NO_VALIDATE);
}

/* For names in its own zone, glue that the parent did not send does not exist. */
static void note_parent_glue(struct delegation *d, const uint8_t *parent)
{
	for (unsigned i = 0; i < d->name_count; i++) {
		struct ns *n = &d->names[i];
		if (!dname_is_under(n->name, parent))
			continue;
		n->parent_v4 = n->v4 == LOOKUP_FOUND ? LOOKUP_FOUND : LOOKUP_NONE;
		n->parent_v6 = n->v6 == LOOKUP_FOUND ? LOOKUP_FOUND : LOOKUP_NONE;
	}
}

static enum iter_step on_referral(struct iter *it, struct message *m)
{
	struct message believed = *m;
	struct delegation *d;

	lower_trust(m);
	d = delegation_from_message(it->q, m);
	if (d == NULL || !dname_is_strictly_under(d->zone, it->at->zone) ||
	    !dname_is_under(it->want.name, d->zone) ||
	    (it->want.type == TYPE_DS && dname_equals(it->want.name, d->zone)))
		return on_useless(it, m);
	delegation_limit(d, it->at);
	note_parent_glue(d, it->at->zone);

	it->answer = glue_answer(it, m);
	believed.sets = arena_copy(it->arena, m->sets, message_set_count(m) * sizeof(*m->sets));
	keep_parent_side(it, message_find(m, SECTION_AUTHORITY, d->zone, TYPE_NS, it->want.class_));
	believe(it, &believed, false);
	if (it->answer)
		return go_on(it, ITER_finish);

	if (it->failed && dname_equals(it->failed->zone, d->zone))
		delegation_remember(d, it->arena, it->failed);
	if (it->q->cache.negative && !it->q->no_store)
		aggressive_hear(it->q->cache.negative, m, d->zone, it->want.class_,
			      it->q->env->time->now_s);
	forget_between(it, d->zone);
	check_path(it, d, m);
	fetch_keys_ahead(it, d, m);
	iter_go_to(it, d);
	delegation_fill(d, it->q, false);
	return go_on(it, ITER_choose);
}

/* ---- all responses ---- */

static enum iter_step on_response(struct iter *it, struct message *m, enum response r)
{
	switch (r) {
	case RESPONSE_empty:
		return it->at->forward ? on_answer(it, m) : on_empty(it, m);
	case RESPONSE_answer:
	case RESPONSE_nodata:
	case RESPONSE_nxdomain:
		if ((it->answer = glue_answer(it, m)))
			return go_on(it, ITER_finish);
		return on_answer(it, m);
	case RESPONSE_alias:
		return on_alias(it, m);
	case RESPONSE_referral:
		return on_referral(it, m);
	case RESPONSE_lame:
		return on_lame(it, it->shown.type == TYPE_A ? LAME_ADDRESSES : LAME_OTHER);
	case RESPONSE_recursor:
		return on_lame(it, LAME_RECURSIVE);
	case RESPONSE_useless:
		break;
	}
	return on_useless(it, m);
}

/* In the 0x20 fallback an answer counts only once enough servers agree on it. */
static enum iter_step on_caps_answer(struct iter *it, struct message *m)
{
	char zone[DNAME_TEXT];

	if (!caps_agrees(&it->caps, m)) {
		iter_blame(it, REASON_forged,
			   "servers of zone %s change the case of the QNAME (0x20) and their answers differ",
			   zone_text(it, zone));
		return go_on(it, ITER_fail);
	}
	return go_on(it, ITER_choose);
}

static void tell_response(const struct iter *it, const struct message *m, enum response r)
{
	char target[ADDR_TEXT], rcode[16];

	tell(it->q, "%s answers: %s (%s, %u RRsets)", addr_print(&it->target->addr, 53, target),
	     response_name(r), rr_rcode_name(m->rcode, rcode), message_set_count(m));
}

static enum iter_step take_response(struct iter *it, struct message *m, const struct upstream_reply *reply)
{
	enum response r = classify(m, &it->shown, it->at->zone, was_told_to_recurse(it));

	tell_response(it, m, r);
	if (UNLIKELY(it->sent_subnet != NULL) && reply && !client_subnet_check(it, reply, r))
		return go_on(it, ITER_choose);
	log_query("%s: %s", addr_print(&it->target->addr, 53, (char[ADDR_TEXT]){ 0 }),
		  response_name(r));
	/* a forwarder is asked for answers: a referral from it is NODATA */
	if (r == RESPONSE_referral && it->at->forward)
		r = RESPONSE_nodata;
	if (strips_dnssec(it, m, r) && note_stripper(it))
		return pass_over(it);
	if (leaves_out_dnssec(it, m, r)) {
		it->target->no_dnssec = true;
		return pass_over(it);
	}
	return on_response(it, m, r);
}

static void tell_silence(const struct iter *it, const struct upstream_reply *reply)
{
	static const char *const whys[] = { [UPSTREAM_SILENT] = "timed out",
					    [UPSTREAM_UNREACHABLE] = "is unreachable",
					    [UPSTREAM_UNTRUSTED] = "failed TLS authentication" };
	char target[ADDR_TEXT];

	tell(it->q, "%s %s", addr_print(&reply->server, 53, target), whys[reply->end]);
}

/* Copies what was kept of a large message, and frees the rest: or ten answers of 64 kB to one question,
 * full of what nobody asked for, would be two megabytes as long as the eleventh does not come. */
static void keep_the_rest(struct iter *it, const struct upstream_reply *reply, bool good)
{
	struct message *m = reply->message;
	struct slice *options = &m->edns.options;
	const struct rrset **sets;
	unsigned count;

	if (!good)
		memset(m->count, 0, sizeof(m->count));
	count = message_set_count(m);
	sets = arena_array(it->arena, const struct rrset *, count + 1);
	for (unsigned i = 0; i < count; i++)
		sets[i] = rrset_copy(it->arena, m->sets[i]);
	m->sets = sets;
	if (options->len)
		options->at = arena_copy(it->arena, options->at, options->len);
	arena_clear(reply->own_arena);
}

enum iter_step response_read(struct iter *it)
{
	const struct upstream_reply *reply = it->reply;
	struct scrub_how how = {
		.asked = &it->shown,
		.zone = it->at->zone,
		.snapshot = it->q->snapshot,
		.forwarder = was_told_to_recurse(it),
		.whole = it->q->want_signatures && question_equals(&it->shown, &it->want) && !it->at->config &&
			 it->want.type != TYPE_ANY && !from_cache_stands_beside_alias(it->want.type),
		.authzone = it->target && it->target->addr.family == FAMILY_AUTHZONE,
		.q = it->q,
		.arena = it->arena,
	};
	bool good;

	how.look = route_look_name(it->want.name, it->want.type);
	how.failed_authzone = it->authzone_failed ? how.look : NULL;
	how.configured[0] = route_zone(it->q, how.look, how.failed_authzone);
	how.configured[1] =
		route_zone_past(it->q, how.look, it->config_failed, how.failed_authzone);
	it->reply = NULL;
	it->echoed = false;
	if (reply == NULL && it->caps.on) {
		struct message *m = it->caps.first;
		caps_end(&it->caps);
		return take_response(it, m, NULL);
	}
	if (reply == NULL)
		return on_answer(it, it->empty);
	switch (reply->end) {
	case UPSTREAM_SILENT:
	case UPSTREAM_UNREACHABLE:
	case UPSTREAM_UNTRUSTED:
		tell_silence(it, reply);
		return on_silence(it, reply);
	case UPSTREAM_MANGLED:
		caps_begin(&it->caps);
		delegation_refresh(it->at);
		return go_on(it, ITER_choose);
	case UPSTREAM_ANSWERED:
		break;
	}
	if (UNLIKELY(it->conf->dns_error_reporting))
		it->q->report_to = report_agent(&reply->message->edns, it->arena);
	/* still truncated, even over TCP: part of an answer is useless */
	if (reply->own_arena) {
		how.arena = reply->own_arena;
		how.large = true;
	}
	good = !(reply->message->flags & FLAG_TC) && scrub(reply->message, &how);
	if (reply->own_arena)
		keep_the_rest(it, reply, good);
	if (!good)
		return on_useless(it, reply->message);
	if (it->caps.on)
		return on_caps_answer(it, reply->message);
	return take_response(it, reply->message, reply);
}
