/* Who waits for a query, and what each of them gets when it ends or takes too long.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/access/cookies.h"
#include "services/access/waitlimit.h"
#include "services/cache/infra.h"
#include "services/cache/subnet_index.h"
#include "services/forward/subnets.h"
#include "services/history/querylog.h"
#include "services/history/recorder.h"
#include "services/mesh/cache_rules.h"
#include "services/mesh/error_report.h"
#include "services/mesh/private.h"
#include "services/mesh/subnet_group.h"
#include "services/mesh/waiter.h"
#include "services/net/client.h"
#include "services/policy/ipset.h"
#include "services/policy/policy.h"
#include "services/query/trace.h"
#include "services/stats/stats.h"

enum {
	IMAGE_SHORT = 400,  /* bytes that fit any client's limit, whatever its OPT says */
	ENDED_A_TURN = 32, /* waits that last too long */
};

static void waiter_join(struct waiter *w, struct query *to)
{
	waiter_move(w, to);
	if (w->has_stale && !lookup_of(to)->done)
		stale_start_timer(to);
}

void waiters_sort(struct query *q,
		  struct query *(*where)(struct query *q, const struct request *r,
					 const struct client *c, void *arg),
		  void *arg)
{
	LIST_EACH_SAFE (at, &lookup_of(q)->waiters) {
		struct waiter *w = LIST_ITEM(at, struct waiter, link);
		struct query *to = w->done ? NULL : where(q, &w->request, &w->client, arg);

		if (to && to != q)
			waiter_join(w, to);
	}
}

static struct query *begin_again(struct query *q, const struct client *c)
{
	struct query_key s = q->subnet ? query_key_at(&q->question, q->kind, q->subnet)
				    : query_key(&q->question, q->kind);
	struct query *again = mesh_begin(lookup_of(q)->mesh, &s);

	again->budget->lane = (uint8_t)client_hash(&c->from);
	return again;
}

/* Have it looked up once more, for clients, who have a budget of their own. The place among the queries is the one it leaves. */
static void waiters_begin_again(struct query *q)
{
	struct query *again = NULL;

	LIST_EACH_SAFE (at, &lookup_of(q)->waiters) {
		struct waiter *w = LIST_ITEM(at, struct waiter, link);

		if (w->done)
			continue;
		if (!again)
			again = begin_again(q, &w->client);
		mesh_give_slot(again, &w->client.from);
		waiter_join(w, again);
	}
}

/*
 * Writing answers. Clients that want the same form get the same bytes except for the id and the
 * spelling of the name, so that a thousand of them cost one encoding.
 */

struct shape {
	bool stream, has_opt, cd_is_ignored;
	uint16_t flags, edns_flags,
		udp_size; /* taken from the request, as far as the answer depends on it */
};

/* What mesh->out holds, unless it has been overwritten since. */
struct encoding {
	const struct stored
		*image; /* the reply as cached, which need not be encoded again; or NULL */
	size_t len;     /* 0: nothing reusable */
	unsigned written;
	struct shape shape;
};

static struct shape shape_of(const struct waiter *w)
{
	const struct edns *e = &w->request.edns;
	struct shape s = { .stream = w->client.ops->stream, .has_opt = e->present,
			   .cd_is_ignored = w->request.cd_is_ignored };

	s.flags = w->request.flags;
	if (e->present) {
		s.edns_flags = e->flags;
		s.udp_size = e->udp_size;
	}
	return s;
}

static bool shape_equals(const struct shape *a, const struct shape *b)
{
	return a->stream == b->stream && a->has_opt == b->has_opt &&
	       a->cd_is_ignored == b->cd_is_ignored && a->flags == b->flags &&
	       a->edns_flags == b->edns_flags && a->udp_size == b->udp_size;
}

static const struct answer_style *style_get(struct mesh *m)
{
	const struct snapshot *s = m->env->snapshot;

	if (m->style_of != s || m->style_number != s->number) {
		answer_style_from(&m->style, s->conf);
		m->style_of = s;
		m->style_number = s->number;
	}
	return &m->style;
}

static struct answer_to answer_to(struct mesh *m, const struct waiter *w)
{
	return (struct answer_to){ .style = style_get(m),
				   .request = &w->request,
				   .stream = w->client.ops->stream,
				   .now_s = m->env->time->now_s };
}

/* A long message is encoded for this client, so that nothing is left out without need. */
static bool image_fits(const struct stored *image, const struct waiter *w)
{
	bool full = (w->request.edns.flags & EDNS_DO) != 0;

	return image && !w->aliases && image->wire_len <= IMAGE_SHORT &&
	       image->fits & (full ? STORED_FULL : STORED_PLAIN);
}

/* Whether the answer shows records: no bare failure, and bogus data only with CD. */
static bool shows_records(const struct waiter *w, const struct message *reply)
{
	return reply->rcode != RCODE_SERVFAIL &&
	       (reply->security != SECURITY_BOGUS || w->request.flags & FLAG_CD);
}

static size_t write_message(struct mesh *m, const struct waiter *w, const struct message *reply,
			    const struct stored *image)
{
	struct answer_to to = answer_to(m, w);
	struct writer out = writer_over(m->out, sizeof(m->out));

	if (UNLIKELY(w->has_echo) && shows_records(w, reply))
		to.subnet = &w->echo;

	if (image_fits(image, w))
		answer_stored(&out, &to, image, false);
	else if (reply->security == SECURITY_BOGUS && !(w->request.flags & FLAG_CD))
		answer_error(&out, &to, RCODE_SERVFAIL, reply->reason);
	else
		answer_message(&out, &to, reply);
	return writer_len(&out);
}

static void encode(struct mesh *m, const struct waiter *w, const struct message *reply,
		   struct encoding *last)
{
	struct shape shape = shape_of(w);
	const struct question *q = &w->request.q;

	if (last->len >= (size_t)MSG_HEAD_LEN + q->name_len && last->written == m->written &&
	    !w->request.edns.options.len && shape_equals(&shape, &last->shape)) {
		put_u16(m->out, w->request.id);
		memcpy(m->out + MSG_HEAD_LEN, q->name, q->name_len);
		return;
	}
	last->len = write_message(m, w, reply, last->image);
	last->written = ++m->written;
	last->shape = shape;
}

/* mesh->out holds SERVFAIL and no records: hardly longer than the query was. */
static bool is_bare_failure(const struct mesh *m)
{
	return msg_rcode(m->out) == RCODE_SERVFAIL && get_u32(m->out + 6) == 0;
}

/* By now a UDP client has retried, or its address is spoofed (DNSBomb). A bare failure amplifies
 * nothing, and a client that does wait should get it. */
static bool is_too_late(const struct mesh *m, const struct waiter *w)
{
	uint32_t most_ms = mesh_conf(m)->server.discard_timeout;

	return most_ms && !w->client.ops->stream &&
	       m->env->time->now_us - w->begun_us > most_ms * US_PER_MS && !is_bare_failure(m);
}

/* Late answers of any kind are not sent to one address in a burst. */
static bool is_in_a_burst(const struct mesh *m, const struct waiter *w, size_t len)
{
	uint64_t now_us = m->env->time->now_us;

	return w->counted && !w->client.ops->stream && !w->request.proven &&
	       mesh_conf(m)->server.discard_timeout &&
	       now_us - w->begun_us > WAITS_LONG_MS * US_PER_MS &&
	       !waits_may_send(m->env->waits, &w->client.from, len, now_us);
}

static void count_answer(struct mesh *m, unsigned rcode, bool is_empty, uint8_t security)
{
	struct stats *s = m->env->stats;

	if (rcode < STAT_RCODES)
		stat_bump(&s->rcode[rcode], 1);
	if (rcode == RCODE_NOERROR && is_empty)
		stat_bump(&s->rcode_nodata, 1);
	if (security == SECURITY_SECURE)
		stat_bump(&s->answer_secure, 1);
	if (security == SECURITY_BOGUS)
		stat_bump(&s->answer_bogus, 1);
}

static void log_answer(const struct mesh *m, const struct waiter *w, size_t len)
{
	querylog_answer(&mesh_conf(m)->server, &w->client,
			&(struct querylog_answer){
				.q = &w->request.q,
				.rcode = (enum rcode)msg_rcode(m->out),
				.took_us = m->env->time->now_us - w->begun_us,
				.len = len,
			});
}

/* Report to the recorder how the query ended. `reply`: NULL if it came from no server. `len` bytes of mesh->out were
 * sent. */
static void testify(struct query *q, const struct waiter *w, const struct message *reply, int rcode,
		    size_t len)
{
	const struct env *e = q->env;

	recorder_note(e->recorder, e->time,
		     &(struct record){
			     .client = &w->client,
			     .q = &w->request.q,
			     .server = reply && q->answered_by.family ? &q->answered_by : NULL,
			     .took_us = e->time->now_us - w->begun_us,
			     .how = rcode < 0 ? SEEN_dropped : SEEN_resolved,
			     .rcode = rcode,
			     .reason = reply ? reply->reason : REASON_none,
			     .text = reply ? reply->reason_text : NULL,
			     .security = reply ? reply->security : SECURITY_UNCHECKED,
			     .answer = { lookup_of(q)->mesh->out, len },
		     });
}

/* There is no answer for it. */
static void waiter_dismiss(struct waiter *w)
{
	waiter_leave(w);
	w->client.ops->drop(&w->client);
	waiter_free(w);
}

static void send_out(struct mesh *m, struct waiter *w, size_t len)
{
	stat_add(m->env->stats, STAT_recursivereplies);
	stats_wait(m->env->stats, client_transport(w->client.ops),
		   m->env->time->now_us - w->begun_us);
	if (UNLIKELY(mesh_conf(m)->server.log_replies))
		log_answer(m, w, len);
	if (UNLIKELY(m->env->ipset != NULL))
		ipset_take(m->env->ipset, m->env->snapshot->policy->zones, m->out, len,
			     m->env->time->now_s);
	w->client.ops->reply(&w->client, m->out, len);
}

/* Send what mesh->out holds, or drop it if too late, and free the waiter. True if sent. */
static bool waiter_send(struct query *q, struct waiter *w, const struct message *reply, size_t len)
{
	struct mesh *m = lookup_of(q)->mesh;
	bool too_late = is_too_late(m, w) || is_in_a_burst(m, w, len);

	waiter_leave(w);
	if (UNLIKELY(m->env->recorder != NULL))
		testify(q, w, reply, too_late ? -1 : (int)msg_rcode(m->out), too_late ? 0 : len);
	if (too_late) {
		stat_add(m->env->stats, STAT_queries_discard_timeout);
		w->client.ops->drop(&w->client);
	} else {
		send_out(m, w, len);
	}
	waiter_free(w);
	return !too_late;
}

/* RFC 7871 7.2.1: a client that sent a subnet is told the scope of the answer; not where the subnet
 * made no difference. */
static void locate(struct query *q, struct waiter *w)
{
	const struct client_subnet *where = w->request.where;
	struct subnet_key at;
	bool is_placed = subnet_group_key(q, &at);

	if (is_placed)
		stat_bump(&q->env->stats->subnet, 1);
	if (!where->has_option || !(is_placed || where->said.source == 0))
		return;
	w->has_echo = true;
	w->echo = where->said;
	w->echo.scope = is_placed ? at.scope : 0;
}

/* What is made for one client only is in an arena of its own: the query's would grow with each. */
static void waiter_answer(struct query *q, struct waiter *w, const struct message *reply,
			  struct encoding *last)
{
	struct mesh *m = lookup_of(q)->mesh;
	bool is_hidden = reply->security == SECURITY_BOGUS && !(w->request.flags & FLAG_CD);
	bool is_own = w->request.edns.options.len || w->aliases; /* these bytes are for it alone */
	struct arena own;

	arena_init(&own);
	if (UNLIKELY(w->request.where != NULL))
		locate(q, w);
	if (UNLIKELY(w->aliases != NULL)) {
		last->len = 0;
		if (!is_hidden)
			reply = alias_prefix_join(w->aliases, &own, &w->request.q, reply,
					  m->env->time->now_s);
	}
	encode(m, w, reply, last);
	stats_ede(m->env->stats, reason_ede(reply->reason));
	if (waiter_send(q, w, reply, last->len))
		count_answer(m, is_hidden ? RCODE_SERVFAIL : reply->rcode,
			     !reply->count[SECTION_ANSWER], reply->security);
	if (is_own)
		last->len = 0;
	arena_clear(&own);
}

/*
 * Policy: what this client may not be told (response-ip and the like).
 */

/* Joins two chains of aliases; false if there are too many. */
static bool join_leads(struct alias_prefix *to, struct arena *a, const struct alias_prefix *first,
		       const struct alias_prefix *then)
{
	*to = first ? *first : *then;
	if (then->nat64.net.family)
		to->nat64 = then->nat64;
	to->rpz_passed |= then->rpz_passed;
	for (unsigned i = 0; first && i < then->count; i++) {
		if (!alias_prefix_add(to, a, then->sets[i]))
			return false;
	}
	return true;
}

/* From now on it waits for the target of the aliases. False if there are too many. */
static bool waiter_follow(struct query *q, struct waiter *w, const struct alias_prefix *behind,
			  struct arena *a)
{
	struct alias_prefix aliases;

	if (q->env->decision)
		decision_clear(q->env->decision); /* only its target is reported */

	if (!join_leads(&aliases, a, w->aliases, behind))
		return false;
	w->request.rpz_passed |= aliases.rpz_passed;
	waiter_leave(w);
	mesh_ask_behind(lookup_of(q)->mesh, &w->request, &w->client, &aliases);
	waiter_free(w);
	return true;
}

static void waiter_refuse(struct query *q, struct waiter *w, struct encoding *last, enum reason reason)
{
	struct message gone = { .q = w->request.q, .rcode = RCODE_SERVFAIL, .reason = reason };

	last->len = 0;
	waiter_answer(q, w, &gone, last);
	last->len = 0;
}

/* Apply policy to the answer for this client: it may be dropped or replaced. What is made for it is in `a`. */
static void waiter_apply_policy(struct query *q, struct waiter *w, const struct message *reply,
			 struct encoding *last, struct arena *a)
{
	struct mesh *m = lookup_of(q)->mesh;
	struct decision own, *decision = m->env->decision;
	struct policy_client who = { .rule = acl_get(m->env->snapshot->acl, &w->client.from,
						     &w->client.reached),
				     .client = &w->client,
				     .stats = m->env->stats,
				     .met = q->met,
				     .own = q->own,
				     .embeds = w->aliases && w->aliases->nat64.net.family,
				     .let_through = w->request.rpz_passed,
				     .sees_bogus = w->request.flags & FLAG_CD };
	struct policy_outcome j;

	if (UNLIKELY(q->budget->trace && !decision)) {
		decision_clear(&own);
		decision = &own;
	}
	who.decision = decision;
	policy_apply(m->env->snapshot->policy, &who, reply, m->env->time->now_s, a, &j);
	if (UNLIKELY(decision && *decision->what))
		tell(q, "%s applies", decision->what);
	switch (j.end) {
	case OUTCOME_AS_IS:
		waiter_answer(q, w, reply, last);
		return;
	case OUTCOME_CHANGED:
		last->len = 0;
		waiter_answer(q, w, j.m, last);
		last->len = 0;
		return;
	case OUTCOME_DROP:
		if (UNLIKELY(m->env->recorder != NULL))
			testify(q, w, reply, -1, 0);
		waiter_dismiss(w);
		return;
	case OUTCOME_FOLLOW:
		if (!waiter_follow(q, w, &j.aliases, a))
			waiter_refuse(q, w, last, REASON_loop);
		return;
	}
}

static void waiter_apply_policy_alone(struct query *q, struct waiter *w, const struct message *reply,
			       struct encoding *last)
{
	struct arena own;

	arena_init(&own);
	waiter_apply_policy(q, w, reply, last, &own);
	arena_clear(&own);
}

/* `beside`: the answer has an ADDITIONAL section, of which not all may be for everybody. */
static bool needs_policy(const struct mesh *m, bool beside)
{
	const struct policy *p = m->env->snapshot->policy;

	return p && (beside || policy_has_answer_rules(p));
}

/*
 * Expired answers (RFC 8767).
 */

/* As waiter_answer_stale, where more is done with it than to send it. */
static bool waiter_present_stale(struct query *q, struct waiter *w, const struct stored *s, bool is_stale)
{
	struct encoding none = { .len = 0 };
	struct mesh *m = lookup_of(q)->mesh;
	uint32_t now_s = m->env->time->now_s;
	const struct message *reply;
	struct arena own;

	arena_init(&own);
	reply = is_stale ? stored_revive(s, &own, now_s, style_get(m)->stale_ttl_s)
			 : stored_unpack(s, &own, now_s);
	if (reply && is_stale)
		stat_add(m->env->stats, STAT_expired);
	if (reply)
		waiter_apply_policy(q, w, reply, &none, &own);
	arena_clear(&own);
	return reply != NULL;
}

/* True if the waiter has been answered. */
static bool waiter_answer_stale(struct query *q, struct waiter *w)
{
	struct mesh *m = lookup_of(q)->mesh;
	const struct stored *s = stale_find(m, &q->question, query_message_hash(q), &w->request);
	struct answer_to to;
	struct writer out;
	bool is_stale;

	if (!s)
		return false;
	is_stale = !stored_is_fresh(s, m->env->time->now_s);
	if (UNLIKELY(w->aliases || needs_policy(m, stored_has_additional(s))))
		return waiter_present_stale(q, w, s, is_stale);
	to = answer_to(m, w);
	out = writer_over(m->out, sizeof(m->out));
	answer_stored(&out, &to, s, is_stale);
	m->written++;
	if (is_stale)
		decision_note(m->env->decision, DECIDED_EXPIRED, "serve-expired");
	if (waiter_send(q, w, NULL, writer_len(&out))) {
		if (is_stale)
			stat_add(m->env->stats, STAT_expired);
		count_answer(m, s->rcode, !s->ttl_count, s->security);
	}
	return true;
}

void waiters_have_stale(struct query *q)
{
	LIST_EACH (at, &lookup_of(q)->waiters) {
		struct waiter *w = LIST_ITEM(at, struct waiter, link);

		w->has_stale = !w->done;
	}
}

void waiters_stale(struct query *q)
{
	LIST_EACH_SAFE (at, &lookup_of(q)->waiters) {
		struct waiter *w = LIST_ITEM(at, struct waiter, link);
		const struct client_subnet *at_where = w->request.where;
		struct client_subnet where = at_where ? *at_where : (struct client_subnet){ 0 };

		if (!w->done && w->has_stale && waiter_answer_stale(q, w) && at_where)
			mesh_refresh_for(q, &where);
	}
}

/*
 * Ending.
 */

void waiters_limit_wait(struct mesh *m)
{
	if (!timer_is_set(&m->wait_timer) && !time_jumps(m->env->time))
		timer_set(m->env->loop, &m->wait_timer, WAIT_TIME_US);
}

/* Some of them, oldest first; the rest are of another turn. */
void waiters_on_limit(struct timer *t)
{
	struct mesh *m = container_of(t, struct mesh, wait_timer);
	uint64_t now_us = m->env->time->now_us;
	struct encoding last = { .len = 0 };

	for (unsigned ended = 0; !list_is_empty(&m->waiting.by_age); ended++) {
		struct waiter *w = LIST_ITEM(m->waiting.by_age.next, struct waiter, by_age);
		uint64_t waited_us = now_us - w->begun_us;

		if (waited_us < WAIT_TIME_US || ended == ENDED_A_TURN) {
			timer_set(m->env->loop, t, WAIT_TIME_US - MIN(waited_us, WAIT_TIME_US));
			return;
		}
		if (!waiter_answer_stale(w->query, w))
			waiter_refuse(w->query, w, &last, REASON_budget_time);
	}
}

static void waiter_tell(struct waiter *w, const struct message *reply)
{
	waiter_leave(w);
	w->done(w->arg, reply);
	waiter_free(w);
}

static bool is_failure(const struct query *q, const struct message *m)
{
	return m->rcode == RCODE_SERVFAIL ||
	       (m->security == SECURITY_BOGUS && !(q->kind & QUERY_CD));
}

/* The reply as clients see it; the reply itself is for internal callers. */
static struct message *face_of(struct query *q)
{
	struct message *m = arena_copy(&q->arena, q->reply, sizeof(*m));
	unsigned sets = message_set_count(m);

	m->q = q->question;
	if (mesh_conf(lookup_of(q)->mesh)->server.minimal_responses) {
		m->sets = arena_copy(&q->arena, m->sets, sets * sizeof(struct rrset *));
		message_minimise(m);
	}
	return m;
}

/* Whether the answer, which the caller validates itself, says more than the RRset cache will: what stands beside keys
 * that were fetched for a chain of trust. For clients it is yet to be validated. */
static bool says_more(const struct query *q)
{
	const struct message *m = q->reply;
	const struct stored *s;

	if (mesh_conf(lookup_to_read(q)->mesh)->server.minimal_responses || m->security != SECURITY_UNCHECKED ||
	    m->rcode != RCODE_NOERROR || m->count[SECTION_ANSWER] == 0 ||
	    message_set_count(m) == m->count[SECTION_ANSWER])
		return false;
	s = msgcache_find(q->env->messages, &q->question, query_message_hash(q), q->scope, true);
	return !s || !stored_is_fresh(s, q->env->time->now_s);
}

/* Answers to special queries (NS data from the child's servers, data that the caller validates
 * itself) are not for clients. What is from the cache is there: stored again, a failure would last longer the more
 * often it is asked for, and what is left of a TTL would count as the whole of it (prefetch). */
static bool is_worth_keeping(const struct query *q)
{
	return !q->no_store && !q->no_message && q->ecs.need != ECS_REQUIRED && q->env->messages &&
	       q->reply != q->cached_answer && !query_lookup_was_refused(q) &&
	       !(q->kind & (QUERY_PRIME | QUERY_PARENT_SIDE)) &&
	       (!(q->kind & QUERY_NO_VALIDATE) || says_more(q));
}

/* A failure while the whole network is down says nothing about the name and is soon forgotten. */
static void blame_network(struct query *q)
{
	const struct env *e = q->env;

	if (q->reply->rcode == RCODE_SERVFAIL && q->reply->security != SECURITY_BOGUS && e->infra &&
	    infra_network_is_down(e->infra, e->time))
		q->reply->reason = REASON_network_error;
}

/* An expired answer that was for all is older than the one now kept per subnet: it is no longer of
 * use. */
static void forget_what_was_for_all(struct query *q)
{
	struct mesh *m = lookup_of(q)->mesh;
	const struct stored *s = msgcache_find(m->env->messages, &q->question,
					       query_message_hash(q), q->scope, true);

	if (s && !stored_is_fresh(s, m->env->time->now_s))
		msgcache_remove(m->env->messages, &q->question);
}

/* Clients get the image that the cache keeps, if it says everything they are to know. */
static const struct stored *keep_reply(struct query *q, const struct message *face)
{
	struct mesh *m = lookup_of(q)->mesh;
	struct subnet_key at;
	bool is_placed = subnet_group_key(q, &at);
	const struct stored *s;

	if (!is_worth_keeping(q))
		return NULL;
	s = store_message(m->env->messages, mesh_conf(m), face,
			  &(struct msg_keep){ .now_s = m->env->time->now_s,
					      .hash = query_message_hash(q),
					      .scope = q->scope,
					      .ahead = q->is_ahead && q->is_refresh,
					      .place = is_placed ? &at : NULL });
	if (UNLIKELY(is_placed && s)) {
		if (stored_is_good(s))
			forget_what_was_for_all(q);
		subnet_index_add(m->env->subnet_index, &q->question, &at,
			   &(struct subnet_index_how){
				   .scope = q->scope,
				   .now_s = m->env->time->now_s,
				   .until_s = s->expires_s,
				   .most = subnets_most(q->snapshot->subnets, at.net.net.family) });
	}
	return s && stored_is_good(s) && face->reason == REASON_none &&
			       !needs_policy(m, face->count[SECTION_ADDITIONAL]) ? s : NULL;
}

void waiters_finish(struct query *q)
{
	struct mesh_lookup *l = lookup_of(q);
	struct mesh *m = l->mesh;
	struct encoding last = { .len = 0 };
	struct message *face;
	bool failed;

	blame_network(q);
	face = face_of(q);
	failed = is_failure(q, face);
	if (UNLIKELY(query_lookup_was_refused(q)))
		waiters_begin_again(q);
	if (UNLIKELY(failed && mesh_conf(m)->server.log_servfail && !list_is_empty(&l->waiters)))
		querylog_failure(&q->question, face->reason, face->reason_text);
	/* what is bogus is kept: were it not reported for who asks with CD, it would not be for who asks next */
	if (UNLIKELY((failed || q->reply->security == SECURITY_BOGUS) && mesh_conf(m)->server.dns_error_reporting &&
		     q->ecs.need != ECS_REQUIRED))
		report_failure(q);
	last.image = keep_reply(q, face);
	LIST_EACH_SAFE (at, &l->waiters) {
		struct waiter *w = LIST_ITEM(at, struct waiter, link);

		if (w->done)
			waiter_tell(w, q->reply);
		else if (failed && waiter_answer_stale(q, w))
			continue;
		else if (UNLIKELY(needs_policy(m, face->count[SECTION_ADDITIONAL])))
			waiter_apply_policy_alone(q, w, face, &last);
		else
			waiter_answer(q, w, face, &last);
	}
}

void waiters_drop(struct query *q)
{
	struct message gone = { .q = q->question, .rcode = RCODE_SERVFAIL, .reason = REASON_other };

	LIST_EACH_SAFE (at, &lookup_of(q)->waiters) {
		struct waiter *w = LIST_ITEM(at, struct waiter, link);

		if (w->done)
			waiter_tell(w, &gone);
		else
			waiter_drop(w);
	}
}

/* Its query may have ended. */
void waiter_ask_again(struct waiter *w)
{
	const struct query *q = w->query;
	struct mesh *m = lookup_to_read(q)->mesh;

	waiter_leave(w);
	if (w->done)
		mesh_resolve(m, &q->question, q->kind, w->done, w->arg);
	else if (m->env->readmit)
		m->env->readmit(m->env->readmit_arg, &w->request, &w->client);
	else
		mesh_ask(m, &w->request, &w->client, NULL);
	waiter_free(w);
}

void waiter_drop(struct waiter *w)
{
	struct query *q = w->query;

	if (UNLIKELY(q->env->recorder != NULL))
		testify(q, w, NULL, -1, 0);
	waiter_dismiss(w);
}

struct query *waiters_leave(struct list *on_connection, bool (*is)(const struct client *c, const void *arg),
			    const void *arg)
{
	LIST_EACH (at, on_connection) {
		struct waiter *w = LIST_ITEM(at, struct waiter, on_connection);
		struct query *q = w->query;

		/* one whose query is having a turn is about to be answered */
		if (lookup_of(q)->done || lookup_of(q)->running || !is(&w->client, arg))
			continue;
		waiter_dismiss(w);
		return q;
	}
	return NULL;
}

void waiters_leave_all(struct list *on_connection)
{
	struct list gone;

	/* The connection, and the head of its list with it, goes with the last of them. */
	list_take_all(&gone, on_connection);
	while (!list_is_empty(&gone)) {
		struct waiter *w = LIST_ITEM(gone.next, struct waiter, on_connection);

		waiter_dismiss(w);
	}
}
