/* The way of a packet: from a client to a cached answer, or to the mesh.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/frontend.h"

#include "daemon/chaos.h"
#include "daemon/snoop.h"
#include "daemon/worker.h"
#include "services/acl.h"
#include "services/authzone.h"
#include "services/authzone_hosts.h"
#include "services/authzone_xfer.h"
#include "services/blocklist_answer.h"
#include "services/cache/msg.h"
#include "services/cache/places.h"
#include "services/cookies.h"
#include "services/mesh.h"
#include "services/policy.h"
#include "services/querylog.h"
#include "services/ratelimit.h"
#include "services/snapshot.h"
#include "services/stats.h"
#include "services/subnets.h"
#include "services/trace.h"
#include "services/tsig.h"
#include "services/views.h"
#include "services/witness.h"
#include "util/arena.h"
#include "util/options.h"
#include "util/rr.h"
#include "util/timebase.h"

/* A packet on its way, and what has been found out about it. */
struct journey {
	struct worker *w;
	struct packet *p;
	enum request_kind kind;
	struct request request;
	enum acl_action action;
	const struct acl_rule *rule;
	struct answer_to to;
	const struct stored *stored;
	bool proven; /* that its address is its own: over a stream, or by a cookie */
	bool cookie_is_valid;
	uint8_t cookie[COOKIE_LEN];
	struct whereabouts where;
	struct subnet_option echo;
};

/* ---- counting and logging: off the path, behind one flag each ---- */

static void count_flags(struct stats *s, uint16_t flags)
{
	stat_bump(&s->flag_qr, (flags & FLAG_QR) != 0);
	stat_bump(&s->flag_aa, (flags & FLAG_AA) != 0);
	stat_bump(&s->flag_tc, (flags & FLAG_TC) != 0);
	stat_bump(&s->flag_rd, (flags & FLAG_RD) != 0);
	stat_bump(&s->flag_ra, (flags & FLAG_RA) != 0);
	stat_bump(&s->flag_z, (flags & FLAG_Z) != 0);
	stat_bump(&s->flag_ad, (flags & FLAG_AD) != 0);
	stat_bump(&s->flag_cd, (flags & FLAG_CD) != 0);
}

static void count_extended(const struct journey *j)
{
	struct stats *s = j->w->env.stats;
	const struct request *r = &j->request;

	stat_bump(&s->type[MIN(r->q.type, STAT_TYPES)], 1);
	stat_bump(&s->class_[MIN(r->q.class_, STAT_CLASSES)], 1);
	stat_bump(&s->opcode[r->flags >> 11 & 15], 1);
	count_flags(s, r->flags);
	stat_bump(&s->edns_present, r->edns.present);
	stat_bump(&s->edns_do, r->edns.present && (r->edns.flags & EDNS_DO));
	stat_bump(&s->tcp, j->p->client.ops->stream);
	stat_bump(&s->tls, j->p->client.ops->encrypted);
	stat_bump(&s->tls_resume, j->p->client.ops->resumed);
	stat_bump(&s->https, j->p->client.ops->https);
	stat_bump(&s->ipv6, j->p->client.from.family == 6);
}

static enum rcode rcode_sent(const struct journey *j)
{
	return writer_len(&j->p->out) >= MSG_HEAD_LEN ? msg_rcode(j->p->out.start) : RCODE_NOERROR;
}

static void count_answer(const struct journey *j)
{
	struct stats *s = j->w->env.stats;
	enum rcode rcode = rcode_sent(j);

	stat_bump(&s->rcode[rcode], 1);
	if (rcode == RCODE_NOERROR && writer_len(&j->p->out) >= MSG_HEAD_LEN &&
	    get_u16(j->p->out.start + 6) == 0)
		stat_bump(&s->rcode_nodata, 1);
	if (j->stored && j->stored->security == SECURITY_SECURE)
		stat_bump(&s->answer_secure, 1);
	if (j->stored && j->stored->security == SECURITY_BOGUS)
		stat_bump(&s->answer_bogus, 1);
}

static void log_answer(const struct journey *j)
{
	querylog_answer(&j->w->env.snapshot->conf->server, &j->p->client,
			&(struct querylog_answer){
				.q = &j->request.q,
				.rcode = rcode_sent(j),
				.cached = true,
				.len = writer_len(&j->p->out),
			});
}

/* A question that was let in. */
static void note_question(const struct journey *j)
{
	stat_add(j->w->env.stats, STAT_queries);
	if (LIKELY(!j->w->on.notes_questions))
		return;
	if (j->w->on.extended)
		count_extended(j);
	if (j->w->on.log_queries)
		querylog_question(&j->w->env.snapshot->conf->server, &j->p->client, &j->request.q);
}

/* The end of the short way: the answer is in p->out. */
static enum verdict send_now(const struct journey *j)
{
	if (LIKELY(!j->w->on.notes_answers))
		return VERDICT_SEND;
	if (j->w->on.extended)
		count_answer(j);
	if (j->w->on.log_replies)
		log_answer(j);
	return VERDICT_SEND;
}

/* For whoever wants to know how this one goes. */
#define note(j, ...)                                                           \
	do {                                                                   \
		if (UNLIKELY((j)->w->env.trace))                               \
			trace_say((j)->w->env.trace, NULL, __VA_ARGS__);       \
	} while (0)

/* For whoever keeps questions, and for whoever wants to know how this one goes. */
#define settled_by(j, how, ...) settle((j)->w->env.settled, how, __VA_ARGS__)

static void fail_by(const struct journey *j, enum reason reason)
{
	if (UNLIKELY(j->w->env.settled != NULL))
		j->w->env.settled->reason = reason;
}

/* ---- journeys that end early ---- */

static enum verdict refuse(struct journey *j, enum rcode rcode, enum reason reason)
{
	answer_error(&j->p->out, &j->to, rcode, reason);
	stats_ede(j->w->env.stats, reason_ede(reason));
	fail_by(j, reason);
	return send_now(j);
}

/* Not even counted as a question. */
static enum verdict reject(struct journey *j, enum rcode rcode, enum reason reason)
{
	j->to.no_recursion = true;
	answer_error(&j->p->out, &j->to, rcode, reason);
	return VERDICT_SEND;
}

static enum verdict turn_away(struct journey *j)
{
	stat_bump(&j->w->env.stats->unwanted_queries, 1);
	note(j, "access-control: %s", acl_action_name(j->action));
	if (j->action == ACL_DENY || j->kind == REQUEST_IGNORE)
		return VERDICT_DROP;
	(void)reject(j, RCODE_REFUSED, REASON_prohibited);
	if (j->w->on.extended)
		count_answer(j);
	return VERDICT_SEND;
}

/* Where there is a key, a primary uses it (RFC 8945 5.2). */
static enum verdict answer_signed_notify(struct journey *j, const struct authzone *z)
{
	int64_t wall_s = j->w->env.time->wall_s;
	struct tsig_talk talk = { .key = NULL };
	uint8_t *head = j->p->out.at;

	if (tsig_check_question(&talk, z->key, j->p->in.at, j->p->in.len, wall_s) != TSIG_GOOD) {
		tsig_talk_clear(&talk);
		return reject(j, RCODE_NOTAUTH, REASON_prohibited);
	}
	xfers_poke(z);
	answer_error(&j->p->out, &j->to, RCODE_NOERROR, REASON_none);
	tsig_sign_answer(&talk, head, &j->p->out, wall_s);
	tsig_talk_clear(&talk);
	return VERDICT_SEND;
}

/* A primary says that a zone held here has changed (RFC 1996). */
static enum verdict answer_notify(struct journey *j)
{
	const struct authzones *zones = j->w->env.snapshot->zones;
	const struct question *q = &j->request.q;
	const struct authzone *z =
		q->name_len && q->class_ == CLASS_IN ? authzones_find_exact(zones, q->name) : NULL;

	if (q->name_len == 0 || q->type != TYPE_SOA)
		return reject(j, RCODE_FORMERR, REASON_none);
	if (!z)
		return reject(j, RCODE_NOTAUTH, REASON_none);
	if (!authhosts_admit(z, &j->p->client.from))
		return reject(j, RCODE_REFUSED, REASON_prohibited);
	if (z->key)
		return answer_signed_notify(j, z);
	xfers_poke(z);
	answer_error(&j->p->out, &j->to, RCODE_NOERROR, REASON_none);
	return VERDICT_SEND;
}

/* A primary's question is one, too. */
static enum verdict count_notify(const struct journey *j, enum verdict v)
{
	note_question(j);
	if (j->w->on.extended && v == VERDICT_SEND)
		count_answer(j);
	return v;
}

/* RFC 8906: whoever can be answered is answered, be it with an error. */
static enum verdict answer_malformed(struct journey *j)
{
	switch (j->kind) {
	case REQUEST_FORMERR:
		return reject(j, RCODE_FORMERR, REASON_none);
	case REQUEST_NOTIMP:
		if (msg_opcode(j->p->in.at) == OPCODE_NOTIFY &&
		    j->w->env.snapshot->zones->count)
			return count_notify(j, answer_notify(j));
		return reject(j, RCODE_NOTIMP, REASON_none);
	case REQUEST_BADVERS: /* in itself it was a question to us */
		answer_error(&j->p->out, &j->to, RCODE_BADVERS, REASON_none);
		return VERDICT_SEND;
	default:
		return VERDICT_DROP;
	}
}

/* Types that stand for something other than records. ANY alone may be asked for. */
static bool is_meta(uint16_t type)
{
	return type == TYPE_OPT || (type >= 128 && type < 255);
}

/* Class CH tells about the server itself; transfers and other meta types are not for a cache. */
static enum verdict answer_odd(struct journey *j)
{
	const struct question *q = &j->request.q;

	if (q->type == TYPE_AXFR || q->type == TYPE_IXFR) {
		j->to.no_recursion = true; /* it could not help */
		return refuse(j, RCODE_REFUSED, REASON_none);
	}
	if (is_meta(q->type))
		return refuse(j, RCODE_FORMERR, REASON_none);
	if (q->class_ == CLASS_IN) /* ANY under deny-any: an answer with nothing in it */
		return refuse(j, RCODE_NOERROR, REASON_none);
	if (q->class_ != CLASS_CH)
		return refuse(j, RCODE_REFUSED, REASON_none);
	chaos_answer(j->w->chaos, &j->to, &j->p->out);
	return send_now(j);
}

/* Only local data are for these clients, and there are none of this name. */
static enum verdict answer_stranger(struct journey *j)
{
	if (j->action == ACL_DENY_NON_LOCAL)
		return VERDICT_DROP;
	j->to.no_recursion = true;
	refuse(j, RCODE_REFUSED, REASON_prohibited);
	if (j->action == ACL_ALLOW_COOKIE) /* over TCP it would be let in */
		put_u16(j->p->out.start + 2, msg_flags(j->p->out.start) | FLAG_TC);
	return VERDICT_SEND;
}

/* ---- the stations ---- */

static bool is_admitted(struct journey *j)
{
	const struct acl_rule *rule =
		acl_get(j->w->env.snapshot->acl, &j->p->client.from, &j->p->client.reached);

	j->rule = rule;
	j->action = rule->action;
	if (UNLIKELY(rule->sees != NULL))
		j->request.scope = rule->sees->scope;
	return j->action != ACL_DENY && j->action != ACL_REFUSE;
}

static bool is_well_formed(const struct journey *j)
{
	return j->kind == REQUEST_GOOD &&
	       !(j->w->on.drop_large && !j->to.stream && j->p->in.len > 512);
}

static void count_cookie(struct stats *s, enum cookie_state state)
{
	if (state == COOKIE_NEW)
		stat_add(s, STAT_queries_cookie_client);
	if (state == COOKIE_INVALID)
		stat_add(s, STAT_queries_cookie_invalid);
	if (state == COOKIE_VALID)
		stat_add(s, STAT_queries_cookie_valid);
}

static enum cookie_state judge_cookie(struct journey *j)
{
	struct slice given;
	bool came = edns_find_option(&j->request.edns, EDNS_COOKIE, &given);
	enum cookie_state state =
		cookies_judge(&j->w->env.snapshot->cookies, &j->p->client.from,
			      j->w->env.time->wall_s, came ? &given : NULL, j->cookie);

	count_cookie(j->w->env.stats, state);
	if (state != COOKIE_ABSENT && state != COOKIE_MALFORMED)
		j->request.cookie = j->cookie;
	return state;
}

/* RFC 7873 5.2. Who must show a cookie and does not is told to come over TCP, or given one. */
static bool shows_cookie(struct journey *j, enum verdict *v)
{
	enum cookie_state state = judge_cookie(j);

	j->cookie_is_valid = j->request.proven = state == COOKIE_VALID;
	j->proven |= j->cookie_is_valid;
	if (state == COOKIE_MALFORMED) {
		*v = refuse(j, RCODE_FORMERR, REASON_none);
		return false;
	}
	if (j->proven || j->action != ACL_ALLOW_COOKIE)
		return true;
	if (state == COOKIE_ABSENT) {
		*v = refuse(j, RCODE_REFUSED, REASON_prohibited);
		put_u16(j->p->out.start + 2, msg_flags(j->p->out.start) | FLAG_TC);
	} else {
		*v = refuse(j, RCODE_BADCOOKIE, REASON_none);
	}
	return false;
}

/* How often a client may ask; more often with a valid cookie. */
static bool is_patient(const struct journey *j)
{
	const struct worker *w = j->w;
	const struct conf_server *c = &w->env.snapshot->conf->server;
	struct rate_rule rule = { .limit = j->cookie_is_valid ? c->ip_ratelimit_cookie
							     : c->ip_ratelimit,
				  .factor = c->ip_ratelimit_factor,
				  .backoff = c->ip_ratelimit_backoff };
	uint8_t key[17];
	size_t len = rate_key_of(&j->p->client.from, key);

	if (rule.limit == 0 || ratelimit_admits(w->env.client_rates, key, len, &rule,
						w->env.time->now_s, w->env.random))
		return true;
	stat_add(w->env.stats, STAT_queries_ip_ratelimited);
	return false;
}

static bool is_ordinary(const struct journey *j)
{
	const struct question *q = &j->request.q;

	if (UNLIKELY(q->type == TYPE_ANY && j->w->on.deny_any))
		return false;
	return q->class_ == CLASS_IN && !is_meta(q->type);
}

/* Whether such a client may be told what others know, and not only what is configured here. */
static bool may_use_cache(struct journey *j)
{
	if (LIKELY(j->action == ACL_ALLOW || j->action == ACL_ALLOW_SNOOP))
		return true;
	if (j->action == ACL_ALLOW_SETRD)
		j->request.flags |= FLAG_RD;
	return j->action == ACL_ALLOW_SETRD || (j->action == ACL_ALLOW_COOKIE && j->proven);
}

static bool wants_work(const struct journey *j)
{
	return j->request.flags & FLAG_RD;
}

static bool wants_dnssec(const struct request *r)
{
	return r->edns.present && (r->edns.flags & EDNS_DO);
}

/* Whoever checks for himself (CD) is told what there is, and nothing that was made of it. */
static bool is_made_up(const struct journey *j, const struct stored *s)
{
	return j->request.flags & FLAG_CD && s && s->fits & STORED_MADE;
}

static inline bool is_of_use(const struct journey *j, const struct stored *s)
{
	return s && !time_is_past(j->to.now_s, s->expires_s) &&
	       (LIKELY(s->security != SECURITY_UNCHECKED) || !j->w->on.validates);
}

static bool is_known(struct journey *j)
{
	const struct question *q = &j->request.q;

	j->stored = msgcache_find(j->w->env.messages, q, msgcache_hash(q), j->request.scope,
				  wants_dnssec(&j->request));
	if (UNLIKELY(is_made_up(j, j->stored)))
		j->stored = NULL;
	return is_of_use(j, j->stored);
}

/* RFC 7871 7.1: where the client is, as far as that makes a difference. */
static bool locates(struct journey *j, enum verdict *v)
{
	switch (subnets_locate(j->w->env.snapshot->subnets, &j->request.edns, &j->p->client.from,
			       &j->where)) {
	case WHEREABOUTS_MALFORMED:
		*v = refuse(j, RCODE_FORMERR, REASON_none);
		return false;
	case WHEREABOUTS_SHORT:
		*v = refuse(j, RCODE_REFUSED, REASON_none);
		return false;
	case WHEREABOUTS_GOOD:
		break;
	}
	j->request.where = &j->where;
	return true;
}

/* An answer that holds where the client is. */
static const struct stored *find_placed(struct journey *j)
{
	const struct env *e = &j->w->env;
	const struct question *q = &j->request.q;
	const struct stored *s;
	struct place_kept at;

	if (!places_find(e->places, q, j->request.scope, &j->where.shown, j->to.now_s, &at))
		return NULL;
	s = msgcache_find_at(e->messages, q, j->request.scope, &at, wants_dnssec(&j->request));
	if (!is_of_use(j, s) || is_made_up(j, s))
		return NULL;
	/* it is a miss to those who count the cache for all */
	stat_bump(&e->stats->subnet_cache, 1);
	stat_add(e->stats, STAT_cachemiss);
	if (j->where.told && s->rcode != RCODE_SERVFAIL &&
	    (s->security != SECURITY_BOGUS || j->request.flags & FLAG_CD)) {
		j->echo = j->where.said;
		j->echo.scope = at.net.bits;
		j->to.subnet = &j->echo;
	}
	return s;
}

/* What is for all comes first, but for whoever has its own word forwarded, and for a failure. */
static bool is_known_there(struct journey *j)
{
	bool own_way = j->where.told && j->where.forwarded, known = !own_way && is_known(j);
	const struct stored *s;

	if (known && stored_is_good(j->stored))
		return true;
	s = find_placed(j);
	if (s) {
		j->stored = s;
		return true;
	}
	if (own_way)
		j->stored = NULL;
	return known;
}

static unsigned kind_of(const struct journey *j)
{
	return (j->request.flags & FLAG_CD ? QUERY_CD : 0u) |
	       j->request.scope * (unsigned)QUERY_SCOPE;
}

/* The aliases lead into a zone that is held here. */
static bool leads_to_held(struct journey *j, const struct question *q, const struct lead *lead,
			  struct arena *a)
{
	const struct authzones *zones = j->w->env.snapshot->zones;
	struct answer_to to = j->to;
	struct message m;

	if (LIKELY(!zones->downstream) || authzones_answer(zones, q, a, &m) != HELD_ANSWER)
		return false;
	to.now_s = 0;
	stat_bump(&j->w->env.stats->authzone_down, 1);
	answer_message(&j->p->out, &to, lead_join(lead, a, &j->request.q, &m, 0));
	return true;
}

/* The rest of an answer that begins with these aliases is found by whoever may cause work; others
 * get what is here. */
static enum verdict follow(struct journey *j, const struct lead *lead, struct arena *a)
{
	struct question q = { .name = lead->target,
			      .name_len = (uint16_t)dname_len(lead->target),
			      .type = j->request.q.type,
			      .class_ = j->request.q.class_ };
	struct message nothing = { .q = q };
	const struct message *end = &nothing;

	if (leads_to_held(j, &q, lead, a))
		return send_now(j);
	if (!may_use_cache(j))
		return answer_stranger(j);
	if (wants_work(j)) {
		mesh_ask_behind(j->w->env.mesh, &j->request, &j->p->client, lead);
		return VERDICT_LATER;
	}
	if (j->action == ACL_ALLOW_SNOOP)
		j->stored = msgcache_find(j->w->env.messages, &q, msgcache_hash(&q), j->request.scope,
					  wants_dnssec(&j->request));
	if (j->stored && stored_is_good(j->stored) && stored_is_fresh(j->stored, j->to.now_s))
		end = stored_unpack(j->stored, a, j->to.now_s);
	answer_message(&j->p->out, &j->to, lead_join(lead, a, &j->request.q, end, j->to.now_s));
	return send_now(j);
}

/* What is written down here settles it: `*v` says how. */
static bool policy_settles(struct journey *j, enum verdict *v)
{
	const struct policy_client who = { .rule = j->rule,
					   .client = &j->p->client,
					   .stats = j->w->env.stats,
					   .settled = j->w->env.settled };
	struct lead lead;
	struct arena a;
	enum policy_end end;

	if (is_meta(j->request.q.type) || (j->action == ACL_ALLOW_COOKIE && !j->proven) ||
	    (j->request.q.type == TYPE_ANY && j->w->on.deny_any))
		return false;
	arena_init(&a);
	end = policy_answer(j->w->env.snapshot->policy, &who, &j->to, &j->p->out, &a, &lead);
	if (end == POLICY_FOLLOW)
		*v = follow(j, &lead, &a);
	else
		*v = end == POLICY_SEND ? send_now(j) : VERDICT_DROP;
	j->request.unpoliced = end == POLICY_LET_THROUGH;
	arena_clear(&a);
	return end != POLICY_PASS && end != POLICY_LET_THROUGH;
}

static bool is_written_down(struct journey *j, enum verdict *v)
{
	bool settled = UNLIKELY(policy_concerns(j->w->env.snapshot->policy, j->rule,
						&j->request.q)) &&
		       policy_settles(j, v);

	if (settled)
		note(j, "%s settles it", j->w->env.settled->what);
	return settled;
}

static enum verdict answer_blocked(struct journey *j, const struct list_found *f)
{
	struct lead lead;
	struct arena a;
	enum verdict v;

	switch (blocklist_answer(f, &j->to, &j->p->out)) {
	case LIST_END_SENT:
		return send_now(j);
	case LIST_END_DROP:
		return VERDICT_DROP;
	case LIST_END_FOLLOW:
		break;
	}
	arena_init(&a);
	blocklist_lead(f, &j->request.q, &a, &lead);
	v = follow(j, &lead, &a);
	arena_clear(&a);
	return v;
}

/* Whether lists have to be asked: not of what is in the cache and was found harmless. */
static bool is_doubtful(const struct journey *j)
{
	const struct blocklists *lists = j->w->env.snapshot->policy->lists;

	return UNLIKELY(blocklists_exist(lists)) &&
	       (!j->stored || UNLIKELY(blocklists_doubt(lists, j->stored)));
}

/* By its name, or by where the cached answer leads. */
static bool is_blocked(struct journey *j, enum verdict *v)
{
	const struct policy *p = j->w->env.snapshot->policy;
	const struct list_asker who = { .rule = j->rule,
					.from = &j->p->client.from,
					.now_s = j->to.now_s };
	struct list_found f;

	if (!blocklists_block(p->lists, &who, j->request.q.name, j->request.q.type, &f) &&
	    !(j->stored && blocklists_block_stored(p->lists, &who, j->stored, &f)))
		return false;
	blocklist_count(j->w->env.stats, &f);
	blocklist_tell(&f, j->w->env.settled);
	note(j, "%s blocks it", j->w->env.settled->what);
	if (UNLIKELY(p->logs))
		blocklist_log(&f, &j->p->client, &j->request.q);
	j->stored = NULL;
	*v = answer_blocked(j, &f);
	return true;
}

static void note_held(const struct journey *j)
{
	const struct authzone *z;
	char name[DNAME_TEXT];

	if (LIKELY(!j->w->env.settled))
		return;
	z = authzones_find(j->w->env.snapshot->zones, j->request.q.name);
	settled_by(j, SETTLED_HERE, "auth-zone %s", z ? dname_print(z->name, name) : "");
	note(j, "%s, which is held here, answers", j->w->env.settled->what);
}

/* Zones that are held here are answered from with authority. */
static bool is_held(struct journey *j, enum verdict *v)
{
	struct answer_to to = j->to;
	struct message m;
	struct arena a;
	enum held_end end;

	if (LIKELY(!j->w->env.snapshot->zones->downstream))
		return false;
	arena_init(&a);
	end = authzones_answer(j->w->env.snapshot->zones, &j->request.q, &a, &m);
	to.now_s = 0;
	if (end == HELD_ANSWER) {
		if (j->w->env.snapshot->conf->server.minimal_responses)
			message_minimise(&m);
		answer_message(&j->p->out, &to, &m);
	}
	if (end == HELD_FAILED) {
		*v = refuse(j, RCODE_SERVFAIL, REASON_not_ready);
		put_u16(j->p->out.start + 2, msg_flags(j->p->out.start) | FLAG_AA);
	}
	if (end == HELD_ANSWER) {
		stat_bump(&j->w->env.stats->authzone_down, 1);
		*v = send_now(j);
	}
	arena_clear(&a);
	if (end != HELD_NOT)
		note_held(j);
	return end != HELD_NOT;
}

static bool is_judged(const struct journey *j)
{
	return policy_doubts(j->w->env.snapshot->policy, j->stored);
}

/* An answer from the cache that this client may have to get in another shape, or not at all. */
static bool policy_changes(struct journey *j, bool stale, enum verdict *v)
{
	const struct policy_client who = { .rule = j->rule,
					   .client = &j->p->client,
					   .stats = j->w->env.stats,
					   .settled = j->w->env.settled,
					   .let_through = j->request.unpoliced };
	uint32_t now_s = j->to.now_s;
	struct judged judged;
	struct arena a;

	arena_init(&a);
	policy_judge(j->w->env.snapshot->policy, &who,
		     stale ? stored_revive(j->stored, &a, now_s, j->w->style.stale_ttl_s)
			   : stored_unpack(j->stored, &a, now_s),
		     now_s, &a, &judged);
	if (UNLIKELY(who.settled && *who.settled->what))
		note(j, "%s has a say in it", who.settled->what);
	if (judged.end == JUDGED_CHANGED) {
		answer_message(&j->p->out, &j->to, judged.m);
		*v = send_now(j);
	} else if (judged.end == JUDGED_FOLLOW) {
		j->stored = NULL;
		*v = follow(j, &judged.lead, &a);
	} else {
		*v = VERDICT_DROP;
	}
	arena_clear(&a);
	return judged.end != JUDGED_AS_IS;
}

static enum verdict answer_known(struct journey *j)
{
	enum verdict v;
	const struct stored *s = j->stored;

	if (UNLIKELY(s->security == SECURITY_BOGUS && !(j->request.flags & FLAG_CD)))
		return refuse(j, RCODE_SERVFAIL, s->reason);
	if (UNLIKELY(j->w->on.judges) && is_judged(j) && policy_changes(j, false, &v))
		return v;
	answer_stored(&j->p->out, &j->to, s, false);
	if (UNLIKELY(j->w->on.prefetch && time_is_past(j->to.now_s, s->refresh_s)))
		mesh_refresh(j->w->env.mesh, &j->request.q, kind_of(j), j->request.where);
	return send_now(j);
}

/* An expired answer that is not too old to be of use (RFC 8767). */
static const struct stored *stale_of_use(const struct journey *j)
{
	const struct worker *w = j->w;
	const struct stored *s = j->stored;

	if (!s || !w->on.serve_expired || !stored_is_good(s))
		return NULL;
	if (s->security == SECURITY_UNCHECKED && w->on.validates)
		return NULL; /* of the cache file: not proven yet, and its keys may be gone */
	if (w->on.serve_expired_ttl_s && j->to.now_s - s->expires_s > w->on.serve_expired_ttl_s)
		return NULL;
	return s;
}

static enum verdict answer_stale(struct journey *j, const struct stored *s, bool refresh)
{
	enum verdict v;

	stat_add(j->w->env.stats, STAT_expired);
	note(j, "an answer that has expired is given (serve-expired)");
	settled_by(j, SETTLED_EXPIRED, "serve-expired");
	if (UNLIKELY(j->w->on.judges) && is_judged(j) && policy_changes(j, true, &v)) {
		if (refresh)
			mesh_refresh(j->w->env.mesh, &j->request.q, kind_of(j), j->request.where);
		return v;
	}
	answer_stored(&j->p->out, &j->to, s, true);
	if (refresh)
		mesh_refresh(j->w->env.mesh, &j->request.q, kind_of(j), j->request.where);
	return send_now(j);
}

/* RD is not set: what is here may be told to who may look, no work is done. */
static enum verdict answer_snooper(struct journey *j)
{
	if (j->action != ACL_ALLOW_SNOOP)
		return refuse(j, RCODE_REFUSED, REASON_not_authoritative);
	if (stale_of_use(j))
		return answer_stale(j, j->stored, false);
	if (j->request.scope || !snoop_referral(&j->w->env, &j->to, &j->p->out))
		return refuse(j, RCODE_SERVFAIL, REASON_not_ready);
	return send_now(j);
}

static enum verdict find_out(struct journey *j)
{
	const struct stored *stale = stale_of_use(j);
	bool in_vain = stale && !time_is_past(j->to.now_s, stale->refresh_s);

	if (stale && (in_vain || (j->w->on.client_timeout_ms == 0 && !j->w->on.asks_store)))
		return answer_stale(j, stale, !in_vain);
	mesh_ask(j->w->env.mesh, &j->request, &j->p->client, stale);
	return VERDICT_LATER;
}

/* Every line is a station: it lets the packet on, or says how its journey ends. */
static inline enum verdict travel(struct journey *j)
{
	struct worker *w = j->w;
	enum verdict v = VERDICT_DROP;
	bool known;

	if (!is_admitted(j))
		return turn_away(j);
	if (!is_well_formed(j))
		return answer_malformed(j);
	note_question(j);
	if (UNLIKELY(w->on.cookies) && !shows_cookie(j, &v))
		return v;
	if (UNLIKELY(w->on.limits) && !is_patient(j))
		return VERDICT_DROP;
	if (UNLIKELY(w->on.subnets) && !locates(j, &v))
		return v;
	if (is_written_down(j, &v))
		return v;
	if (!is_ordinary(j))
		return answer_odd(j);
	if (is_held(j, &v))
		return v;
	if (!may_use_cache(j))
		return answer_stranger(j);
	if (!wants_work(j) && j->action != ACL_ALLOW_SNOOP)
		return answer_snooper(j);
	known = UNLIKELY(w->on.subnets) ? is_known_there(j) : is_known(j);
	if (is_doubtful(j) && is_blocked(j, &v))
		return v;
	if (known)
		return answer_known(j);
	if (!wants_work(j))
		return answer_snooper(j);
	return find_out(j);
}

/* What became of it, for whoever keeps questions; the mesh tells of those that go on there. */
static void testify(const struct journey *j, enum verdict v)
{
	struct testimony t = { .client = &j->p->client,
			       .q = &j->request.q,
			       .how = j->stored ? SEEN_cached : SEEN_local,
			       .rcode = v == VERDICT_SEND ? (int)rcode_sent(j) : -1 };

	if (v == VERDICT_LATER)
		settled_clear(j->w->env.settled);
	if (v == VERDICT_LATER || j->kind != REQUEST_GOOD || j->w->env.trace)
		return;
	if (v == VERDICT_DROP)
		t.how = SEEN_dropped;
	else if (t.rcode == RCODE_REFUSED)
		t.how = SEEN_refused;
	witness_note(j->w->env.witness, j->w->env.time, &t);
}

enum verdict frontend_take(struct worker *w, struct packet *p)
{
	struct journey j;
	enum verdict v;

	j.w = w;
	j.p = p;
	j.stored = NULL;
	j.cookie_is_valid = false;
	j.proven = p->client.ops->stream;
	j.kind = msg_read_request(p->in.at, p->in.len, &j.request);
	j.to = (struct answer_to){ .style = &w->style,
				   .request = &j.request,
				   .stream = p->client.ops->stream,
				   .now_s = w->env.time->now_s };

	if (UNLIKELY(w->on.ignore_cd)) {
		j.request.cd_is_ignored = (j.request.flags & FLAG_CD) != 0;
		j.request.flags &= (uint16_t)~FLAG_CD;
	}
	v = travel(&j);
	if (UNLIKELY(w->env.witness != NULL))
		testify(&j, v);
	return v;
}

enum verdict frontend_door(void *worker, struct packet *p)
{
	return frontend_take(worker, p);
}

void frontend_leave(void *worker, bool (*is)(const struct client *c, const void *arg),
		    const void *arg)
{
	mesh_leave(((struct worker *)worker)->env.mesh, is, arg);
}
