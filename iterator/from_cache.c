/* Answering a question from the caches, before any server is asked.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "iterator/from_cache.h"

#include "iterator/route_zone.h"
#include "iterator/scrub.h"
#include "services/cache/aggressive.h"
#include "services/cache/msg.h"
#include "services/cache/rrset.h"
#include "services/forward/forward.h"
#include "services/mesh/mesh.h"
#include "services/policy/rpz_match.h"
#include "services/query/query.h"
#include "services/query/snapshot.h"
#include "services/stats/stats.h"
#include "util/base/timebase.h"
#include "util/conf/options.h"
#include "util/dns/rr.h"

/* Usually it is the query's own question, whose hash is known. */
static uint64_t hash_of(const struct query *q, const struct question *wanted)
{
	return wanted->name == q->question.name && wanted->type == q->question.type
		       ? query_message_hash(q)
		       : msgcache_hash(wanted);
}

static const struct stored *find_stored(const struct query *q, const struct question *wanted)
{
	const struct stored *s =
		msgcache_find(q->env->messages, wanted, hash_of(q, wanted), q->scope, true);

	if (!s || s->fits & STORED_MADE || !stored_is_fresh(s, q->env->time->now_s))
		return NULL;
	/* a chain of trust looks for keys among RRsets, from which those that do not hold are gone */
	if (q->kind & QUERY_NO_VALIDATE && s->security == SECURITY_UNCHECKED && stored_is_good(s))
		return NULL;
	return q->kind & QUERY_CD && stored_is_bare_bogus(s) ? NULL : s;
}

static const struct rrset *find_set(const struct query *q, const uint8_t *owner, uint16_t type,
				    uint16_t class_)
{
	return rrsetcache_find(q->cache.rrsets, owner, type, class_, 0, q->env->time->now_s);
}

/* What has been validated of all its sets alike; else it is yet to be validated as a whole. */
static uint8_t common_security(const struct message *m)
{
	unsigned count = message_set_count(m);

	for (unsigned i = 1; i < count; i++)
		if (m->sets[i]->security != m->sets[0]->security)
			return SECURITY_UNCHECKED;
	return count ? m->sets[0]->security : (uint8_t)SECURITY_UNCHECKED;
}

static struct message *message_of(struct query *q, const struct question *wanted,
				  const struct rrset *const *sets, unsigned count)
{
	struct message *m = arena_new(&q->arena, struct message);

	m->q = *wanted;
	m->flags = FLAG_QR;
	m->sets = arena_array(&q->arena, const struct rrset *, count + 1);
	for (unsigned i = 0; i < count; i++)
		m->sets[i] = rrset_copy(&q->arena, sets[i]);
	m->count[SECTION_ANSWER] = (uint16_t)count;
	m->security = common_security(m);
	return m;
}

/* What is proven of a name above the one wanted holds for it if that is within the name returned: the
 * trust anchor closest to it, or a zone configured here at or below that. NULL where nothing is validated. */
static const uint8_t *proof_scope(struct query *q, const struct question *wanted)
{
	const struct env *e = q->env;
	const uint8_t *point =
		e->trust_point ? e->trust_point(q, wanted->name, wanted->type) : NULL;
	const uint8_t *zone = route_zone(q, route_look_name(wanted->name, wanted->type), NULL);

	return point && zone && dname_is_under(zone, point) ? zone : point;
}

/* What is kept for a moment, as it came. */
static const struct rrset *of_no_ttl(struct query *q, const struct rrset *set)
{
	struct rrset *s = rrset_copy(&q->arena, set);

	s->expires_s = q->env->time->now_s;
	return s;
}

/* From a DNAME above the name, but not above the scope of its proofs. One that is not secure serves only the
 * answer it came with (a forged one would take over a whole subtree), and one made from a wildcard none (RFC 6672 3.3). */
static struct message *by_dname(struct query *q, const struct question *wanted)
{
	const uint8_t *within;

	if (!rrsetcache_knows_dname(q->cache.rrsets) || !(within = proof_scope(q, wanted)))
		return NULL;
	for (const uint8_t *owner = wanted->name; dname_is_strictly_under(owner, within);) {
		owner = dname_parent(owner);
		const struct rrset *dname = find_set(q, owner, TYPE_DNAME, wanted->class_);
		if (dname == NULL || dname->security != SECURITY_SECURE || rrset_is_expanded(dname))
			continue;
		if (dname->ttl_s == 0)
			dname = of_no_ttl(q, dname);
		const struct rrset *cname = scrub_synthesize(&q->arena, dname, wanted->name);
		if (cname == NULL)
			return NULL;
		const struct rrset *both[] = { dname, cname };
		return message_of(q, wanted, both, COUNT(both));
	}
	return NULL;
}

bool from_cache_stands_beside_alias(uint16_t type)
{
	return type == TYPE_DS || type == TYPE_DNSKEY || type == TYPE_SOA || type == TYPE_NS ||
	       rr_flags(type) & RR_BESIDE;
}

static struct message *by_cname(struct query *q, const struct question *wanted)
{
	const struct rrset *set;

	if (from_cache_stands_beside_alias(wanted->type))
		return NULL;
	set = find_set(q, wanted->name, TYPE_CNAME, wanted->class_);
	return set && !rrset_is_expanded(set) ? message_of(q, wanted, &set, 1) : NULL;
}

/* From a DS or DNSKEY set that a referral or the validator brought along. */
static struct message *by_key_set(struct query *q, const struct question *wanted)
{
	const struct rrset *set;

	if (wanted->type != TYPE_DS && wanted->type != TYPE_DNSKEY)
		return NULL;
	set = find_set(q, wanted->name, wanted->type, wanted->class_);
	if (set == NULL || set->trust == TRUST_ADD_NOAA || set->trust == TRUST_ADD_AA)
		return NULL;
	if (wanted->type == TYPE_DNSKEY &&
	    (set->trust == TRUST_AUTH_NOAA || set->trust == TRUST_AUTH_AA))
		return NULL;
	return message_of(q, wanted, &set, 1);
}

/* That there is no such name. `apart`: what is above it is somebody else's, and so is what is said of its DS set. */
static const struct stored *find_denial(struct query *q, const uint8_t *name,
					const struct question *wanted, bool apart)
{
	const uint16_t types[] = { wanted->type, TYPE_A };
	struct question above = {
		.name = name,
		.name_len = (uint16_t)dname_len(name),
		.class_ = wanted->class_,
	};

	for (unsigned i = wanted->type == TYPE_A; i < COUNT(types); i++) {
		above.type = types[i];
		if (apart && above.type == TYPE_DS)
			continue;
		const struct stored *s = find_stored(q, &above);
		if (s && s->rcode == RCODE_NXDOMAIN && s->security == SECURITY_SECURE &&
		    get_u16(stored_wire(s) + 6) == 0)
			return s;
	}
	return NULL;
}

/* RFC 8020: nothing exists below a name that does not exist. Only if that is proven. */
static struct message *by_nothing_above(struct query *q, const struct question *wanted)
{
	const uint8_t *within = proof_scope(q, wanted);

	if (!q->snapshot->conf->server.harden_below_nxdomain || !within)
		return NULL;
	for (const uint8_t *name = wanted->name; dname_is_strictly_under(name, within);) {
		name = dname_parent(name);
		const struct stored *s = find_denial(q, name, wanted, dname_equals(name, within));
		struct message *m = s ? stored_unpack(s, &q->arena, q->env->time->now_s) : NULL;
		if (m == NULL)
			continue;
		m->q = *wanted;
		return m;
	}
	return NULL;
}

/* RFC 8198: from validated denials of other names that cover this one. */
static struct message *by_denials(struct query *q, const struct question *wanted)
{
	const struct conf_server *conf = &q->snapshot->conf->server;
	struct aggressive_ask ask = {
		.q = wanted,
		.rrsets = q->cache.rrsets,
		.arena = &q->arena,
		.now_s = q->env->time->now_s,
	};
	struct message *m;

	if (q->cache.negative == NULL || (!conf->aggressive_nsec && wanted->type != TYPE_DS))
		return NULL;
	ask.within = proof_scope(q, wanted);
	m = ask.within ? aggressive_answer(q->cache.negative, &ask) : NULL;
	if (m)
		stat_bump(m->rcode == RCODE_NXDOMAIN ? &q->env->stats->aggressive_nxdomain
						     : &q->env->stats->aggressive_noerror,
			  1);
	return m;
}

/* From a referral's denial of the DS set: enough for us, but it lacks the SOA that would tell a
 * client how long to cache it. */
static struct message *from_referral_ds(struct query *q, const struct question *wanted)
{
	struct message *m;

	if (q->cache.negative == NULL || wanted->type != TYPE_DS || q->depth == 0)
		return NULL;
	m = aggressive_heard(q->cache.negative, wanted, &q->arena, q->env->time->now_s);
	q->no_store |= m != NULL;
	return m;
}

/* Whether it is only an alias to follow, like a CNAME expanded from a wildcard. */
static bool is_alias(const struct message *m, const struct question *wanted)
{
	return wanted->type != TYPE_CNAME && wanted->type != TYPE_ANY &&
	       message_find(m, SECTION_ANSWER, wanted->name, TYPE_CNAME, wanted->class_);
}

/* Addresses among what is cached may be what we were told ourselves by servers that tell clients others,
 * by their subnets. */
static bool may_differ_by_subnet(const struct query *q)
{
	return q->kind & QUERY_ROUTED && q->env->subnet_index && q->snapshot->subnets;
}

/* ANY is answered by a subset of what the cache has (RFC 8482). Not by what a wildcard made: the proof is not
 * there. */
static struct message *by_parts(struct query *q, const struct question *wanted)
{
	static const uint16_t types[] = {
		TYPE_A, TYPE_AAAA, TYPE_MX, TYPE_SOA, TYPE_NS, TYPE_DNAME
	};
	const struct rrset *sets[COUNT(types)];
	unsigned count = 0;

	if (wanted->type != TYPE_ANY)
		return NULL;
	if (q->snapshot->conf->server.deny_any)
		return message_of(q, wanted, NULL, 0);
	if (may_differ_by_subnet(q))
		return NULL;
	for (unsigned i = 0; i < COUNT(types); i++) {
		const struct rrset *set = find_set(q, wanted->name, types[i], wanted->class_);
		if (set && set->ttl_s && set->trust >= TRUST_ANS_NOAA && !(set->flags & RRSET_SOA_NEGATIVE) &&
		    !rrset_is_expanded(set))
			sets[count++] = set;
	}
	return count ? message_of(q, wanted, sets, count) : NULL;
}

/* If it is the query's own answer, it need not be stored again, unless it is yet to be validated. */
static struct message *unpack(struct query *q, const struct question *wanted, const struct stored *s)
{
	struct message *m = stored_unpack(s, &q->arena, q->env->time->now_s);

	if (m && question_equals(wanted, &q->question) &&
	    (s->security != SECURITY_UNCHECKED || !stored_is_good(s) || !q->snapshot->trust))
		q->cached_answer = m;
	return m;
}

/* A policy zone may have a rule for the servers that gave a record, and the record does not tell which
 * they were. (What they deny may be denied as well.) */
static bool may_be_from_anybody(const struct query *q)
{
	return rpz_match_by_servers(q) && !(q->kind & QUERY_RPZ_PASSED);
}

struct cached_answer from_cache(struct query *q, const struct question *wanted)
{
	const struct stored *s = find_stored(q, wanted);
	bool whole = UNLIKELY(may_be_from_anybody(q));
	struct message *m = NULL;

	if (s)
		m = unpack(q, wanted, s);
	if (m)
		return (struct cached_answer){ .message = m };
	if (LIKELY(!whole))
		m = by_dname(q, wanted);
	if (m == NULL && LIKELY(!whole) && wanted->type != TYPE_ANY)
		m = by_cname(q, wanted);
	if (m)
		return (struct cached_answer){ .message = m, .alias = is_alias(m, wanted) };
	m = by_key_set(q, wanted);
	if (m == NULL)
		m = by_nothing_above(q, wanted);
	if (m == NULL)
		m = by_denials(q, wanted);
	if (m && is_alias(m, wanted))
		return (struct cached_answer){ .message = m, .alias = true };
	if (m == NULL)
		m = from_referral_ds(q, wanted);
	if (m == NULL && LIKELY(!whole))
		m = by_parts(q, wanted);
	if (m && wanted->type == TYPE_ANY)
		q->no_store = true;
	return (struct cached_answer){ .message = m };
}
