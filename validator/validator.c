/* The validator module: resolve, validate the answer, retry elsewhere, or give a sig_result.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "validator/validator.h"

#include <stdlib.h>
#include <string.h>

#include "services/cache/aggressive.h"
#include "services/cache/rrset.h"
#include "services/mesh/cache_rules.h"
#include "services/mesh/mesh.h"
#include "services/policy/views.h"
#include "services/query/query.h"
#include "services/query/snapshot.h"
#include "services/query/trace.h"
#include "services/stats/stats.h"
#include "util/base/log.h"
#include "util/base/timebase.h"
#include "util/conf/options.h"
#include "util/dns/rr.h"
#include "validator/clock.h"
#include "validator/answer_validity.h"
#include "validator/keycache.h"
#include "validator/roll.h"
#include "validator/trust.h"

struct validator {
	bool pass;              /* this query is not ours to validate */
	bool validating;
	unsigned restarts;      /* so far; at most val-max-restart */
	struct trust_chain chain;
	struct answer_validity validity;
};

static const struct conf_server *conf_of(const struct query *q)
{
	return &q->snapshot->conf->server;
}

/* ---- queries and answers not validated ---- */

/* Queries whose sender validates, or that are about the servers themselves. Client queries with CD
 * are validated all the same: the answer then comes from servers with valid data where there are any,
 * and the cache stays clean for everybody. */
static bool is_for_others(const struct query *q)
{
	return q->kind & (QUERY_NO_VALIDATE | QUERY_PRIME | QUERY_PARENT_SIDE) ||
	       (q->kind & QUERY_CD && q->depth > 0) ||
	       q->question.class_ != CLASS_IN || !q->snapshot->trust;
}

/* Failures contain nothing that is signed, and signatures are not signed; what was validated before
 * keeps its sig_result. */
static bool is_decided(const struct message *m)
{
	return m->security != SECURITY_UNCHECKED ||
	       (m->q.type == TYPE_RRSIG && m->count[SECTION_ANSWER]) ||
	       (m->rcode != RCODE_NOERROR && m->rcode != RCODE_NXDOMAIN &&
		m->rcode != RCODE_YXDOMAIN);
}

/* ---- root-key-sentinel (RFC 8509) ---- */

static bool sentinel_tag(const uint8_t *name, const char *prefix, uint16_t *tag)
{
	size_t len = strlen(prefix);
	char digits[6] = "";
	int number;

	if (name[0] != len + 5)
		return false;
	for (size_t i = 0; i < len; i++)
		if (ascii_lower[name[1 + i]] != (uint8_t)prefix[i])
			return false;
	memcpy(digits, name + 1 + len, 5);
	for (size_t i = 0; i < 5; i++)
		if (digits[i] < '0' || digits[i] > '9')
			return false;
	number = atoi(digits);
	*tag = (uint16_t)number;
	return number <= UINT16_MAX;
}

/* Whether the root's trust anchor has a key with this tag. */
static bool root_has_key(const struct query *q, uint16_t tag)
{
	const struct anchor *root = anchors_find_at(q->snapshot->trust->anchors, dname_root);
	uint16_t tags[32];
	size_t count = root ? anchor_tags(root, tags, COUNT(tags)) : 0;

	for (size_t i = 0; i < MIN(count, COUNT(tags)); i++)
		if (tags[i] == tag)
			return true;
	return false;
}

/* Whether the query is for a sentinel name for which the answer is withheld. */
static bool is_sentinel(const struct query *q)
{
	const uint8_t *name = q->question.name;
	uint16_t tag;

	if (!conf_of(q)->root_key_sentinel ||
	    (q->question.type != TYPE_A && q->question.type != TYPE_AAAA))
		return false;
	if (sentinel_tag(name, "root-key-sentinel-is-ta-", &tag))
		return !root_has_key(q, tag);
	if (sentinel_tag(name, "root-key-sentinel-not-ta-", &tag))
		return root_has_key(q, tag);
	return false;
}

/* RFC 8509 3.1: with CD the answer is not altered; but what such a client gets is not for others. */
static bool sentinel_denies(struct query *q)
{
	if (!is_sentinel(q))
		return false;
	q->no_message |= (q->kind & QUERY_CD) != 0;
	return !(q->kind & QUERY_CD);
}

/* ---- the sig_result ---- */

/* Stores the secure sets: in the cache they replace those not validated. Not what was made from a DNAME, without
 * which nothing proves it; nor, unless the `whole` message is secure, what was made from a wildcard. */
static void teach_sets(struct query *q, const struct answer_validity *j, bool whole)
{
	const struct question *asked = q->depth == 0 ? &q->question : NULL;

	if (q->no_store || query_is_for_some(q))
		return;
	for (unsigned i = 0; i < message_set_count(j->m); i++) {
		const struct verified *v = answer_validity_verified(j, i);

		if (v && (whole || !verified_is_expanded(v)))
			store_verified(q, asked, v, q->env->time->now_s, &q->arena);
	}
}

/* What was found false does not stand in the way of what is true, of lower rank perhaps, and leads
 * nowhere. */
static void reject_sets(struct query *q, const struct answer_validity *j)
{
	if (q->no_store || query_is_for_some(q))
		return;
	for (unsigned i = 0; i < message_set_count(j->m); i++)
		if (j->validated[i] && j->sets[i].security == SECURITY_BOGUS && !j->sets[i].chain_failed)
			rrsetcache_reject(q->cache.rrsets, j->m->sets[i]);
}

/* Stores denials and wildcards, which also answer for other names (RFC 8198), each for the zone that signed it. */
static void teach_negative(struct query *q, const struct answer_validity *j)
{
	unsigned first = j->m->count[SECTION_ANSWER], last = first + j->m->count[SECTION_AUTHORITY];
	const struct verified **proofs;
	uint32_t now_s = q->env->time->now_s;
	unsigned count = 0;

	if (q->no_store || query_is_for_some(q) || !q->cache.negative)
		return;
	for (unsigned i = 0; i < first && q->ecs.need != ECS_OMITTED; i++) {
		const struct verified *v = answer_validity_verified(j, i);

		if (v && verified_is_expanded(v))
			aggressive_learn_wildcard(q->cache.rrsets, v, now_s, &q->arena);
	}
	proofs = arena_array(&q->arena, const struct verified *, last - first + 1);
	for (unsigned i = first; i < last; i++) {
		const struct verified *v = answer_validity_verified(j, i);

		if (v)
			proofs[count++] = v;
	}
	aggressive_learn(q->cache.negative, proofs, count, q->snapshot->conf, now_s, &q->arena);
}

static void count_bogus(const struct query *q, const struct answer_validity *j)
{
	unsigned bogus = 0;

	for (unsigned i = 0; i < message_set_count(j->m); i++)
		bogus += j->validated[i] && j->sets[i].security == SECURITY_BOGUS;
	stat_bump(&q->env->stats->rrset_bogus, bogus);
}

static void log_bogus(const struct query *q, const struct validity *j)
{
	char name[DNAME_TEXT], buf[16], server[ADDR_TEXT] = "";
	const char *type = rr_type_name(q->question.type, buf);
	unsigned level = conf_of(q)->val_log_level;

	if (level == 0)
		return;
	dname_print(q->question.name, name);
	if (level == 1) {
		log_line_of("info", bogus, LOG_FACTS(LOG_TEXT(name, name), LOG_TEXT(type, type), LOG_TEXT(class, "IN")),
			    "validation failure %s %s IN", name, type);
		return;
	}
	if (q->answered_by.family)
		addr_print(&q->answered_by, 53, server);
	log_line_of("info", bogus,
		    LOG_FACTS(LOG_TEXT(name, name), LOG_TEXT(type, type), LOG_TEXT(class, "IN"),
			      LOG_TEXT(server, *server ? server : NULL), LOG_TEXT(reason, reason_text(j->reason)),
			      LOG_TEXT(detail, j->text)),
		    "validation failure <%s %s IN>: %s%s%s%s%s", name, type,
		 reason_text(j->reason), j->text ? ": " : "", j->text ? j->text : "",
		 *server ? " from " : "", server);
}

/* Turns the message into the sentinel's answer, an empty SERVFAIL. */
static void withhold(struct message *m)
{
	m->security = SECURITY_SECURE_SENTINEL_FAIL;
	m->rcode = RCODE_SERVFAIL;
	m->made_up = true;
	m->reason = REASON_bogus;
	memset(m->count, 0, sizeof(m->count));
}

static void conclude(struct query *q, const struct validator *v, const struct validity *j)
{
	struct message *m;

	if (j->security == SECURITY_SECURE) {
		m = answer_validity_purify(&v->validity, !conf_of(q)->val_clean_additional, &q->arena,
				 q->env->time->now_s);
		teach_sets(q, &v->validity, true);
		teach_negative(q, &v->validity);
	} else {
		m = answer_validity_limit(&v->validity, &q->arena, q->env->time->now_s);
		if (j->security != SECURITY_BOGUS)
			teach_sets(q, &v->validity, false);
	}
	m->security = (uint8_t)j->security;
	if (m->reason != REASON_other || j->security != SECURITY_BOGUS || j->spent) {
		/* otherwise something was removed from it, which explains why it is bogus */
		m->reason = j->reason;
		m->reason_text = j->text;
	}
	if (j->security == SECURITY_SECURE && sentinel_denies(q))
		withhold(m);
	if (j->spent) {
		q->lookup_refused = true;
		store_limit_bogus(STORE_SPENT_S, m, &q->arena, q->env->time->now_s);
	} else if (j->security == SECURITY_BOGUS) {
		store_limit_bogus(j->passing ? MIN(conf_of(q)->val_bogus_ttl, CHAIN_UNHEARD_S)
					     : conf_of(q)->val_bogus_ttl,
				  m, &q->arena, q->env->time->now_s);
		count_bogus(q, &v->validity);
		log_bogus(q, j);
	}
	if (j->security == SECURITY_BOGUS) {
		if (conf_of(q)->val_permissive_mode || (q->view && q->view->permissive)) {
			m->security = SECURITY_INDETERMINATE;
			m->reason = REASON_none;
			m->reason_text = NULL;
		}
	}
	q->reply = m;
}

/* Good signatures in a bogus answer have led to nothing either: they count half as much as bad ones, so that answers
 * of that kind do not cost the same over and over. False: there is not enough for another one. */
static bool pay_for_failed_checks(struct query *q, const struct answer_validity *j)
{
	int cost = j->good_spent / 2;

	q->budget->signatures -= cost;
	return q->budget->signatures > cost;
}

/* Whether to resolve a bogus answer again: if so, the server it came from is asked last, and the
 * cache is bypassed. */
static bool may_retry(struct query *q, struct validator *v, const struct validity *j)
{
	struct addr *list;

	if (j->security != SECURITY_BOGUS || j->chain_failed ||
	    v->restarts >= conf_of(q)->val_max_restart || !pay_for_failed_checks(q, &v->validity))
		return false;
	v->restarts++;
	list = arena_array(&q->arena, struct addr, q->avoid_count + 1);
	if (q->avoid_count)
		memcpy(list, q->avoid, q->avoid_count * sizeof(*list));
	if (q->answered_by.family)
		list[q->avoid_count++] = q->answered_by;
	q->avoid = list;
	q->kind |= QUERY_NO_CACHE;
	return true;
}

static void trace_result(const struct query *q, const struct validity *j)
{
	static const char *const words[] = {
		[SECURITY_UNCHECKED] = "not validated",
		[SECURITY_BOGUS] = "bogus",
		[SECURITY_INDETERMINATE] = "under no trust anchor",
		[SECURITY_INSECURE] = "insecure",
		[SECURITY_SECURE_SENTINEL_FAIL] = "withheld by root-key-sentinel",
		[SECURITY_SECURE] = "secure",
	};
	const char *why = j->text ? j->text : j->reason ? reason_text(j->reason) : NULL;
	const char *word = j->spent ? "not validated" : words[j->security];

	tell(q, "the answer is %s%s%s", word, why ? ": " : "", why ? why : "");
}

static enum step validate(struct query *q, struct validator *v)
{
	struct validity j;

	if (!answer_validity_message(&v->validity, &j)) {
		if (!mesh_children(q))
			mesh_yield(q);
		return STEP_WAIT;
	}
	v->validating = false;
	if (j.security == SECURITY_BOGUS)
		reject_sets(q, &v->validity);
	if (may_retry(q, v, &j)) {
		tell(q, "bogus, asking another server: %s", j.text ? j.text : reason_text(j.reason));
		log_query("bogus, asking another server: %s", j.text ? j.text : reason_text(j.reason));
		return STEP_DOWN;
	}
	trace_result(q, &j);
	conclude(q, v, &j);
	return STEP_UP;
}

static enum step on_answer(struct query *q, struct validator *v)
{
	if (UNLIKELY(q->ecs.need == ECS_REQUIRED))
		return STEP_UP; /* there is no single answer for all clients */
	if (v->pass || is_decided(q->reply)) {
		if (!v->pass && q->reply->security == SECURITY_UNCHECKED) {
			q->reply = arena_copy(&q->arena, q->reply, sizeof(*q->reply));
			q->reply->security = SECURITY_INDETERMINATE;
		}
		if (!v->pass && q->reply->security == SECURITY_SECURE && sentinel_denies(q)) {
			q->reply = arena_copy(&q->arena, q->reply, sizeof(*q->reply));
			withhold(q->reply);
		}
		return STEP_UP;
	}
	if (v->restarts == 0)
		trust_chain_begin(&v->chain, q, q->snapshot->trust);
	checked_sigs_turn(&v->chain.sigs);
	answer_validity_begin(&v->validity, &v->chain, q->reply, !conf_of(q)->minimal_responses);
	v->validating = true;
	return validate(q, v);
}

static enum step go_on(struct query *q, struct validator *v, const struct event *ev)
{

	switch (ev->kind) {
	case EVENT_ASK:
		v->pass = is_for_others(q);
		q->want_signatures = !v->pass;
		return STEP_DOWN;
	case EVENT_ANSWER:
		return on_answer(q, v);
	case EVENT_CHILD:
		if (!v->validating)
			return STEP_STUCK;
		trust_chain_arrived(&v->chain, ev);
		checked_sigs_turn(&v->chain.sigs);
		return validate(q, v);
	case EVENT_TURN:
		if (!v->validating)
			return STEP_STUCK;
		checked_sigs_turn(&v->chain.sigs);
		return validate(q, v);
	default:
		return STEP_STUCK;
	}
}

/* Counts what the event cost, by the difference in the query's budget. */
static enum step operate(struct query *q, void *state, const struct event *ev)
{
	int checks = checked_sigs_checks_left(q), hashes = q->budget->hashes;
	struct stats *s = q->env->stats;
	enum step step = go_on(q, state, ev);

	checks -= checked_sigs_checks_left(q);
	hashes -= q->budget->hashes;
	if (checks > 0)
		stat_bump(&s->valops, (uint64_t)checks);
	/* A turn's share of work covers both kinds. */
	if (hashes > 0)
		q->env->checks += (unsigned)(hashes * CHECKED_CHECKS / CHECKED_HASHES);
	return step;
}

/* Apart from children and turns, which the mesh knows of, it waits for nothing. */
static bool waits(const void *state)
{
	(void)state;
	return false;
}

static const char *state_name(const void *state)
{
	const struct validator *v = state;

	return v->validating ? "validating" : "resolving";
}

/* ---- outside of queries ---- */

#define CONFIRM_CHECKS 4

/* Whether the signer may have a say about the set: not from above an anchor, or a zone that is known to be signed. */
static bool may_speak(const struct env *env, const uint8_t *signer, const struct rrset *set)
{
	const struct anchor *a = anchors_find(env->snapshot->trust->anchors, env->snapshot->domain_insecure,
					      rrset_owner(set), set->type == TYPE_DS);

	return a && dname_is_under(signer, a->owner) &&
	       !keycache_cuts_off(env->keys, signer, rrset_owner(set), env->time->now_s);
}

const struct rrset *validator_confirm(const struct env *env, const struct rrset *set,
				      struct arena *a)
{
	const struct trust_store *trust = env->snapshot->trust;
	const uint8_t *signer = verify_signer(set);
	const struct key_entry *e;
	int purse = CONFIRM_CHECKS;
	struct verify_how how = { .arena = a, .signatures = &purse };
	uint32_t now_s = env->time->now_s;
	struct sig_result v;
	struct rrset *secure;

	if (!trust || !signer || set->security != SECURITY_UNCHECKED || !may_speak(env, signer, set))
		return set;
	e = keycache_find(env->keys, signer, now_s);
	if (!e || e->kind != KEYS_TRUSTED)
		return set;
	how.rules = &trust->rules;
	how.now = rules_now(&trust->rules, env->time->wall_s);
	how.dates_open = clock_leaves_dates_open(env, trust);
	verify_set(set, e->keys, &how, &v);
	if (!v.verified || verified_is_expanded(v.verified))
		return set;
	secure = verified_copy(v.verified, a, now_s);
	(void)rrsetcache_put(env->rrsets, secure, now_s, a);
	return secure;
}

static const uint8_t *trust_point(const struct query *q, const uint8_t *name, uint16_t type)
{
	const struct trust_store *t = q->snapshot->trust;
	const struct anchor *a = t ? trust_chain_anchor(t, q, name, type == TYPE_DS) : NULL;

	return a ? a->owner : NULL;
}

static bool needs_keys(const struct query *q, const struct rrset *ds)
{
	const struct trust_store *t = q->snapshot->trust;
	const uint8_t *name = rrset_owner(ds);
	const struct anchor *a = t ? trust_chain_anchor(t, q, name, false) : NULL;

	if (!a || !ds_is_believed(ds, &t->rules))
		return false;
	while (dname_is_strictly_under(name, a->owner)) {
		const struct key_entry *e;

		name = dname_parent(name);
		e = keycache_find(q->cache.keys, name, q->env->time->now_s);
		if (e && e->kind != KEYS_NO_CUT)
			return e->kind != KEYS_NONE;
	}
	return true;
}

static void unpin_keys(void *keys)
{
	keyset_unpin(keys);
}

static bool init(struct env *env, struct fault *f)
{
	(void)f;
	env->key_pins.unpin = unpin_keys;
	env->trust_point = trust_point;
	env->needs_keys = needs_keys;
	env->clock = clock_watch_new(env);
	if (env->leads)
		env->roll = roll_new(env);
	return true;
}

static void renewed(struct env *env)
{
	clock_watch_renew(env->clock);
	if (env->leads)
		roll_renew(env->roll);
}

static void deinit(struct env *env)
{
	roll_free(env->roll);
	clock_watch_free(env->clock);
	pins_clear(&env->key_pins);
	env->roll = NULL;
	env->clock = NULL;
}

const struct module validator_module = {
	.name = "validator",
	.init = init,
	.renewed = renewed,
	.deinit = deinit,
	.state_size = sizeof(struct validator),
	.wakes = WAKE_CHILD | WAKE_TURN,
	.operate = operate,
	.waits = waits,
	.state_name = state_name,
};
