/* The way of a query: from a client to a cached answer, or to the mesh.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/worker/frontend.h"

#include "daemon/worker/chaos.h"
#include "daemon/worker/full_answer.h"
#include "daemon/worker/local.h"
#include "daemon/worker/client_query.h"
#include "daemon/worker/snoop.h"
#include "services/access/ratelimit.h"
#include "services/authzone/zones.h"
#include "services/blocklist/answer.h"
#include "services/cache/msg.h"
#include "services/cache/subnet_index.h"
#include "services/history/querylog.h"
#include "services/mesh/mesh.h"
#include "services/policy/policy.h"
#include "services/policy/views.h"
#include "services/query/snapshot.h"
#include "util/base/mem.h"
#include "util/base/timebase.h"
#include "util/conf/options.h"

/* ---- who asks ---- */

static void count_cookie(struct stats *s, enum cookie_state state)
{
	if (state == COOKIE_NEW)
		stat_add(s, STAT_queries_cookie_client);
	if (state == COOKIE_INVALID)
		stat_add(s, STAT_queries_cookie_invalid);
	if (state == COOKIE_VALID)
		stat_add(s, STAT_queries_cookie_valid);
}

static enum cookie_state look_at_cookie(struct client_query *j)
{
	struct slice given;
	bool came = edns_find_option(&j->request.edns, EDNS_COOKIE, &given);
	enum cookie_state state =
		cookies_verify(&j->w->env.snapshot->cookies, &j->p->client.from,
			      j->w->env.time->wall_s, came ? &given : NULL, j->cookie);

	count_cookie(j->w->env.stats, state);
	if (state != COOKIE_ABSENT && state != COOKIE_MALFORMED)
		j->request.cookie = j->cookie;
	j->cookie_is_valid = j->request.proven = state == COOKIE_VALID;
	j->proven |= j->cookie_is_valid;
	return state;
}

#define NETWORK_CLIENTS 8 /* so many times the limit of one client is that of its IPv6 network */

/* The first over a limit is logged, also when it is one of those that pass all the same. */
static bool rate_admits(const struct client_query *j, const uint8_t *key, size_t len, struct rate_rule rule)
{
	const struct env *e = &j->w->env;
	bool passes = ratelimit_admits(e->client_rates, key, len, &rule, e->time->now_s, e->random);

	if (rule.tells)
		querylog_client_rate(&j->p->client, &j->request.q, rule.limit);
	return passes;
}

/* Of an IPv6 client its network, a /64, is counted, too: it could ask from another address each time. */
static bool network_admits(const struct client_query *j, const uint8_t *key, struct rate_rule rule)
{
	if (key[0] != 6)
		return true;
	rule.limit = MIN(rule.limit, UINT32_MAX / NETWORK_CLIENTS) * NETWORK_CLIENTS;
	return rate_admits(j, key, RATE_KEY_NETWORK, rule);
}

/* ip-ratelimit; with a valid cookie, ip-ratelimit-cookie. */
static bool is_patient(const struct client_query *j)
{
	const struct worker *w = j->w;
	const struct conf_server *c = &w->env.snapshot->conf->server;
	struct rate_rule rule = { .limit = j->cookie_is_valid ? c->ip_ratelimit_cookie
							      : c->ip_ratelimit,
				  .factor = c->ip_ratelimit_factor,
				  .backoff = c->ip_ratelimit_backoff };
	uint8_t key[17];
	size_t len = rate_key_of(&j->p->client.from, key);

	if (rule.limit == 0 || (rate_admits(j, key, len, rule) && network_admits(j, key, rule)))
		return true;
	stat_add(w->env.stats, STAT_queries_ip_ratelimited);
	return false;
}

/* ---- client queries that end early ---- */

static enum disposition turn_away(struct client_query *j)
{
	stat_bump(&j->w->env.stats->unwanted_queries, 1);
	client_query_say(j, "access-control: %s", acl_action_name(j->action));
	if (j->action == ACL_DENY || j->kind == REQUEST_IGNORE)
		return DISPOSITION_DROP;
	(void)client_query_reject(j, RCODE_REFUSED, REASON_prohibited);
	client_query_count_answer(j);
	return DISPOSITION_SEND;
}

/* A NOTIFY counts as a query, too. */
static enum disposition count_notify(const struct client_query *j, enum disposition v)
{
	client_query_note_question(j);
	if (v == DISPOSITION_SEND)
		client_query_count_answer(j);
	return v;
}

/* RFC 7873 5.4: no question, but a cookie to be given or checked. */
static enum disposition answer_cookie(struct client_query *j)
{
	enum cookie_state state;

	if (!j->w->on.cookies)
		return client_query_reject(j, RCODE_FORMERR, REASON_none);
	state = look_at_cookie(j);
	if (UNLIKELY(j->w->on.limits) && !is_patient(j))
		return DISPOSITION_DROP;
	if (state == COOKIE_MALFORMED)
		return client_query_reject(j, RCODE_FORMERR, REASON_none);
	answer_error(&j->p->out, &j->to, state == COOKIE_INVALID ? RCODE_BADCOOKIE : RCODE_NOERROR,
		     REASON_none);
	return DISPOSITION_SEND;
}

/* RFC 8906: every query that can be answered is, if only with an error. */
static enum disposition answer_malformed(struct client_query *j)
{
	switch (j->kind) {
	case REQUEST_FORMERR:
		return client_query_reject(j, RCODE_FORMERR, REASON_none);
	case REQUEST_NOTIMP:
		if (msg_opcode(j->p->in.at) == OPCODE_NOTIFY)
			return count_notify(j, local_notify(j));
		return client_query_reject(j, RCODE_NOTIMP, REASON_none);
	case REQUEST_BADVERS: /* otherwise it was a proper query */
		answer_error(&j->p->out, &j->to, RCODE_BADVERS, REASON_none);
		return DISPOSITION_SEND;
	case REQUEST_COOKIE:
		return answer_cookie(j);
	default:
		return DISPOSITION_DROP;
	}
}

/* Class CH is about the server itself; a cache does not serve transfers and other meta types. */
static enum disposition answer_odd(struct client_query *j)
{
	const struct question *q = &j->request.q;

	if (q->type == TYPE_AXFR || q->type == TYPE_IXFR) {
		j->to.no_recursion = true; /* recursion would not help */
		return client_query_refuse(j, RCODE_REFUSED, REASON_none);
	}
	if (client_query_asks_meta(j))
		return client_query_refuse(j, RCODE_FORMERR, REASON_none);
	if (q->class_ != CLASS_CH)
		return client_query_refuse(j, RCODE_REFUSED, REASON_none);
	chaos_answer(j->w->chaos, &j->to, &j->p->out);
	return client_query_send(j);
}

/* Hardly counted, but log-replies has a line for each reply. */
static enum disposition end_early(const struct client_query *j, enum disposition v)
{
	if (v == DISPOSITION_SEND)
		client_query_log_answer(j);
	return v;
}

/* ---- the stations ---- */

static bool is_admitted(struct client_query *j)
{
	const struct acl_rule *rule =
		acl_get(j->w->env.snapshot->acl, &j->p->client.from, &j->p->client.reached);

	j->rule = rule;
	j->action = rule->action;
	if (UNLIKELY(rule->sees != NULL))
		j->request.scope = rule->sees->scope;
	return j->action != ACL_DENY && j->action != ACL_REFUSE;
}

static bool is_well_formed(const struct client_query *j)
{
	return j->kind == REQUEST_GOOD &&
	       !(j->w->on.drop_large && !j->to.stream && j->p->in.len > 512);
}

/* RFC 7828 3.2.1: a client asks how long its connection may be idle, and does not say it. Over UDP the option is passed
 * over. */
static bool dictates_keepalive(const struct client_query *j)
{
	struct slice said;

	return j->request.edns.options.len && j->to.stream && j->w->env.snapshot->conf->server.edns_tcp_keepalive &&
	       edns_find_option(&j->request.edns, EDNS_KEEPALIVE, &said) && said.len;
}

/* RFC 7873 5.2. A client that needs a cookie and has none is told to use TCP, or given a cookie. */
static bool shows_cookie(struct client_query *j, enum cookie_state state, enum disposition *v)
{
	if (state == COOKIE_MALFORMED) {
		*v = client_query_refuse(j, RCODE_FORMERR, REASON_none);
		return false;
	}
	if (j->proven || j->action != ACL_ALLOW_COOKIE)
		return true;
	if (state == COOKIE_ABSENT) {
		*v = client_query_refuse(j, RCODE_REFUSED, REASON_prohibited);
		put_u16(j->p->out.start + 2, msg_flags(j->p->out.start) | FLAG_TC);
	} else {
		*v = client_query_refuse(j, RCODE_BADCOOKIE, REASON_none);
	}
	return false;
}

/* RFC 7871 7.1: the client's subnet, as far as it matters. */
static bool locates(struct client_query *j, enum disposition *v)
{
	enum client_subnet_end end = subnets_locate(j->w->env.snapshot->subnets, &j->request.edns, &j->p->client.from, &j->where);

	if (end == CLIENT_SUBNET_MALFORMED) {
		*v = client_query_refuse(j, RCODE_FORMERR, REASON_none);
		return false;
	}
	j->tells_too_little = end == CLIENT_SUBNET_SHORT;
	j->request.where = &j->where;
	return true;
}

static bool is_written_down(struct client_query *j, enum disposition *v)
{
	return UNLIKELY(policy_concerns(j->w->env.snapshot->policy, j->rule, &j->request.q)) &&
	       local_decides(j, v);
}

static bool is_ordinary(const struct client_query *j)
{
	return j->request.q.class_ == CLASS_IN && !client_query_asks_meta(j);
}

/* Zones held here are answered from authoritatively. */
static bool answer_from_authzone(struct client_query *j, enum disposition *v)
{
	return UNLIKELY(j->w->env.snapshot->zones->downstream) && local_answers(j, v);
}

/* A client that validates itself (CD) gets what there is, not what was synthesized from it, nor what is thought of
 * it. */
static bool is_made_up(const struct client_query *j, const struct stored *s)
{
	return j->request.flags & FLAG_CD && s && (s->fits & STORED_MADE || stored_is_bare_bogus(s));
}

static inline bool is_of_use(const struct client_query *j, const struct stored *s)
{
	return s && !time_is_past(j->to.now_s, s->expires_s) &&
	       (LIKELY(s->security != SECURITY_UNCHECKED) || !j->w->on.validates);
}

static bool is_known(struct client_query *j)
{
	const struct question *q = &j->request.q;

	j->stored = msgcache_find(j->w->env.messages, q, msgcache_hash(q), j->request.scope,
				  client_query_wants_dnssec(j));
	if (UNLIKELY(is_made_up(j, j->stored)))
		j->stored = NULL;
	return is_of_use(j, j->stored);
}

/* An answer for the client's subnet. */
static const struct stored *find_placed(struct client_query *j)
{
	const struct env *e = &j->w->env;
	const struct question *q = &j->request.q;
	const struct stored *s;
	struct subnet_key at;

	if (!subnet_index_find(e->subnet_index, q, j->request.scope, &j->where.shown, j->to.now_s, &at))
		return NULL;
	s = msgcache_find_at(e->messages, q, j->request.scope, &at, client_query_wants_dnssec(j));
	if (!is_of_use(j, s) || is_made_up(j, s))
		return NULL;
	/* to the general cache's counters it is a miss */
	stat_bump(&e->stats->subnet_cache, 1);
	stat_add(e->stats, STAT_cachemiss);
	if (j->where.has_option && s->rcode != RCODE_SERVFAIL &&
	    (s->security != SECURITY_BOGUS || j->request.flags & FLAG_CD)) {
		j->echo = j->where.said;
		j->echo.scope = at.scope;
		j->to.subnet = &j->echo;
	}
	return s;
}

/* Answers for everyone come first, unless the client's own subnet option is forwarded; but failures
 * come last. */
static bool is_known_there(struct client_query *j)
{
	bool own_way = j->where.has_option && j->where.forwarded, known = !own_way && is_known(j);
	const struct stored *s;

	if (known && stored_is_good(j->stored))
		return true;
	s = find_placed(j);
	if (s) {
		j->stored = s;
		return true;
	}
	return known;
}

/* Whether block lists must be consulted: not for a cached answer they have already passed. */
static bool is_doubtful(const struct client_query *j)
{
	const struct blocklists *lists = j->w->env.snapshot->policy->lists;

	return UNLIKELY(blocklists_exist(lists)) &&
	       (!j->stored || UNLIKELY(blocklists_doubt(lists, j->stored)));
}

/* ---- answers ---- */

static unsigned kind_of(const struct client_query *j)
{
	return (j->request.flags & FLAG_CD ? QUERY_CD : 0u) |
	       (j->request.rpz_passed ? QUERY_RPZ_PASSED : 0u) |
	       j->request.scope * (unsigned)QUERY_SCOPE;
}

/* Whether the cached answer is not given as it was stored: then `*v` says how it ends. */
static bool changes(struct client_query *j, bool stale, enum disposition *v)
{
	return local_changes(j, stale, v) || full_answer_add_servers(j, stale, v);
}

/* What is asked for in its last tenth is fetched anew now; what is so again and again, later and unasked. */
static inline void look_ahead(struct client_query *j)
{
	const struct stored *s = j->stored;

	if (UNLIKELY(time_is_past(j->to.now_s, s->refresh_s)))
		mesh_refresh(j->w->env.mesh, &j->request.q, kind_of(j), j->request.where);
	/* who fetches without a client has no subnet to tell */
	if (UNLIKELY(!stored_was_asked(s) && j->w->on.habits && !j->request.where))
		mesh_note_hit(j->w->env.mesh, s, kind_of(j));
}

static enum disposition answer_known(struct client_query *j)
{
	enum disposition v;
	const struct stored *s = j->stored;

	if (UNLIKELY(s->security == SECURITY_BOGUS && !(j->request.flags & FLAG_CD)))
		return client_query_refuse(j, RCODE_SERVFAIL, s->reason);
	if (LIKELY(!j->w->on.changes && !stored_has_additional(s)) || !changes(j, false, &v)) {
		answer_stored(&j->p->out, &j->to, s, false);
		v = client_query_send(j);
	}
	if (UNLIKELY(j->w->on.prefetch))
		look_ahead(j);
	return v;
}

/* The expired answer, if it may still be served (RFC 8767). */
static const struct stored *stale_of_use(const struct client_query *j)
{
	const struct worker *w = j->w;
	const struct stored *s = j->stored;

	if (!s || !w->on.serve_expired || !stored_is_good(s))
		return NULL;
	if (s->security == SECURITY_UNCHECKED && w->on.validates)
		return NULL; /* from the cache file: not validated yet, and its keys may be gone */
	if (w->on.serve_expired_ttl_s && j->to.now_s - s->expires_s > w->on.serve_expired_ttl_s)
		return NULL;
	return s;
}

static enum disposition answer_stale(struct client_query *j, const struct stored *s, bool refresh)
{
	enum disposition v;

	stat_add(j->w->env.stats, STAT_expired);
	client_query_say(j, "answered with expired data (serve-expired)");
	client_query_decided(j, DECIDED_EXPIRED, "serve-expired");
	if (LIKELY(!j->w->on.changes && !stored_has_additional(s)) || !changes(j, true, &v)) {
		answer_stored(&j->p->out, &j->to, s, true);
		v = client_query_send(j);
	}
	if (refresh)
		mesh_refresh(j->w->env.mesh, &j->request.q, kind_of(j), j->request.where);
	return v;
}

/* RD is not set: clients that may snoop get what is cached; nothing is resolved. */
static enum disposition answer_snooper(struct client_query *j)
{
	const struct policy_client who = client_query_client(j);

	if (j->action != ACL_ALLOW_SNOOP)
		return client_query_refuse(j, RCODE_REFUSED, REASON_not_authoritative);
	if (stale_of_use(j))
		return answer_stale(j, j->stored, time_is_past(j->to.now_s, j->stored->refresh_s));
	j->stored = NULL; /* expired: it is not given */
	if (j->request.scope || !snoop_referral(&j->w->env, &who, &j->to, &j->p->out))
		return client_query_refuse(j, RCODE_SERVFAIL, REASON_not_ready);
	return client_query_send(j);
}

static enum disposition find_out(struct client_query *j)
{
	const struct stored *stale = stale_of_use(j);
	bool failed_lately = stale && !time_is_past(j->to.now_s, stale->refresh_s);

	if (stale && (failed_lately || (j->w->on.client_timeout_ms == 0 && !j->w->on.asks_store)))
		return answer_stale(j, stale, !failed_lately);
	mesh_ask(j->w->env.mesh, &j->request, &j->p->client, stale);
	return DISPOSITION_LATER;
}

/* What follows once a client's right to ask is known. */
static inline enum disposition answer(struct client_query *j)
{
	struct worker *w = j->w;
	enum disposition v = DISPOSITION_DROP;
	bool known;

	if (is_written_down(j, &v))
		return v;
	if (!is_ordinary(j))
		return answer_odd(j);
	if (answer_from_authzone(j, &v))
		return v;
	if (!client_query_may_use_cache(j))
		return client_query_refuse_stranger(j);
	if (UNLIKELY(w->on.subnets) && j->tells_too_little)
		return client_query_refuse(j, RCODE_REFUSED, REASON_none);
	if (!client_query_wants_recursion(j) && j->action != ACL_ALLOW_SNOOP)
		return answer_snooper(j);
	if (UNLIKELY(w->on.deny_any && j->request.q.type == TYPE_ANY))
		return client_query_refuse(j, RCODE_NOERROR, REASON_none);
	known = UNLIKELY(w->on.subnets) ? is_known_there(j) : is_known(j);
	if (is_doubtful(j) && local_blocks(j, &v))
		return v;
	if (known)
		return answer_known(j);
	if (!client_query_wants_recursion(j))
		return answer_snooper(j);
	return find_out(j);
}

/* Every line is a station: it lets the packet go on, or ends its client query. */
static inline enum disposition travel(struct client_query *j)
{
	struct worker *w = j->w;
	enum cookie_state cookie = COOKIE_ABSENT;
	enum disposition v = DISPOSITION_DROP;

	if (!is_admitted(j))
		return end_early(j, turn_away(j));
	if (!is_well_formed(j))
		return end_early(j, answer_malformed(j));
	client_query_note_question(j);
	if (UNLIKELY(dictates_keepalive(j)))
		return client_query_refuse(j, RCODE_FORMERR, REASON_none);
	if (UNLIKELY(w->on.cookies))
		cookie = look_at_cookie(j);
	if (UNLIKELY(w->on.limits) && !is_patient(j))
		return DISPOSITION_DROP;
	if (UNLIKELY(w->on.cookies) && !shows_cookie(j, cookie, &v))
		return v;
	if (UNLIKELY(w->on.subnets) && !locates(j, &v))
		return v;
	return answer(j);
}

enum disposition frontend_take(struct worker *w, struct packet *p)
{
	struct client_query j;
	enum disposition v;

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
	if (UNLIKELY(w->env.recorder != NULL))
		client_query_record(&j, v);
	return v;
}

/* Cookies, rates and the like have had their say. */
static enum disposition readmit(struct client_query *j)
{
	enum disposition v;

	if (!is_admitted(j))
		return end_early(j, turn_away(j));
	if (UNLIKELY(j->w->on.subnets) && !locates(j, &v))
		return v;
	return answer(j);
}

void frontend_readmit(void *worker, const struct request *r, const struct client *c)
{
	uint8_t *room = mem_new(MSG_MAX);
	struct packet p = { .out = writer_over(room, MSG_MAX), .client = *c };
	struct client_query j;
	enum disposition v;

	j.w = worker;
	j.p = &p;
	j.stored = NULL;
	j.cookie_is_valid = r->proven;
	j.proven = c->ops->stream || r->proven;
	j.kind = REQUEST_GOOD;
	j.request = *r;
	j.request.where = NULL;
	j.request.scope = 0;
	j.request.rpz_passed = false;
	j.to = (struct answer_to){ .style = &j.w->style,
				   .request = &j.request,
				   .stream = c->ops->stream,
				   .now_s = j.w->env.time->now_s };
	v = readmit(&j);
	if (UNLIKELY(j.w->env.recorder != NULL))
		client_query_record(&j, v);
	if (v == DISPOSITION_SEND)
		c->ops->reply(c, p.out.start, writer_len(&p.out));
	else if (v == DISPOSITION_DROP)
		c->ops->drop(c);
	mem_free(room);
}

enum disposition frontend_take_any(void *worker, struct packet *p)
{
	return frontend_take(worker, p);
}

void frontend_leave(void *worker, struct list *on_connection,
		    bool (*is)(const struct client *c, const void *arg), const void *arg)
{
	mesh_leave(((struct worker *)worker)->env.mesh, on_connection, is, arg);
}
