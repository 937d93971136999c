/* Which parts of an answer are cached, and for how long: RFCs 2181, 2308, 8767, 9077, 9520.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/mesh/cache_rules.h"

#include "services/cache/msg.h"
#include "services/cache/rrset.h"
#include "services/cache/verified.h"
#include "services/forward/forward.h"
#include "services/policy/views.h"
#include "services/query/query.h"
#include "services/query/snapshot.h"
#include "util/base/timebase.h"
#include "util/conf/options.h"
#include "util/dns/msg.h"
#include "util/dns/rr.h"

static bool is_data(const struct message *m)
{
	return m->rcode == RCODE_NOERROR || m->rcode == RCODE_NXDOMAIN ||
	       m->rcode == RCODE_YXDOMAIN;
}

bool store_is_sound(const struct message *m)
{
	return m->q.name_len && m->opcode == OPCODE_QUERY && m->reason == REASON_none &&
	       !(m->flags & (uint16_t)~FLAG_AA) && !m->edns.present &&
	       !(rr_flags(m->q.type) & RR_META && m->q.type != TYPE_ANY) && is_data(m);
}

/* RFC 2308 5: the lesser of the SOA's TTL and its MINIMUM field. */
static uint32_t soa_ttl(const struct rrset *soa, uint32_t now_s)
{
	struct slice rd = rrset_record(soa, 0);
	uint32_t left = time_left(now_s, soa->expires_s);

	return rd.len < 4 ? 0 : MIN(left, get_u32(rd.at + rd.len - 4));
}

static uint32_t negative_ttl(const struct conf *conf, const struct rrset *soa, uint32_t now_s)
{
	uint32_t ttl_s;

	if (soa->flags & RRSET_SOA_NEGATIVE)
		return time_left(now_s, soa->expires_s); /* already limited */
	ttl_s = soa_ttl(soa, now_s);
	if (!conf->server.cache_min_negative_ttl && !conf->server.serve_original_ttl)
		ttl_s = MAX(ttl_s, conf->server.cache_min_ttl);
	ttl_s = MIN(ttl_s, conf->server.cache_max_negative_ttl);
	ttl_s = MAX(ttl_s, conf->server.cache_min_negative_ttl);
	return conf->server.serve_original_ttl ? ttl_s : MIN(ttl_s, conf->server.cache_max_ttl);
}

/* ---- limits ---- */

/* How long a record may live: from now on, and from when it came, which is the TTL that is shown under
 * serve-original-ttl. */
struct life {
	uint32_t left_s, whole_s;
};

static struct life negative_life(const struct conf *conf, const struct rrset *soa, uint32_t now_s)
{
	return (struct life){ .left_s = negative_ttl(conf, soa, now_s),
			      .whole_s = negative_ttl(conf, soa, soa->expires_s - soa->ttl_s) };
}

/* `set` as if it had come with another TTL: it expires that much sooner or later. */
static const struct rrset *with_ttl(const struct rrset *set, uint32_t ttl_s, struct arena *a)
{
	struct rrset *s;

	if (set->ttl_s == ttl_s)
		return set;
	s = rrset_copy(a, set);
	s->expires_s += ttl_s - set->ttl_s;
	s->ttl_s = ttl_s;
	return s;
}

const struct rrset *store_limit_ttl(const struct conf *conf, const struct rrset *set,
				    struct arena *a)
{
	uint32_t ttl_s = MAX(set->ttl_s, conf->server.cache_min_ttl);

	if (conf->server.serve_original_ttl || set->flags & RRSET_SOA_NEGATIVE)
		return set; /* the latter is within the limits of denials already */
	return with_ttl(set, MIN(ttl_s, conf->server.cache_max_ttl), a);
}

/* The RRset, living no longer than that; or, if `flags` are given, exactly as long, with the flags set,
 * unless it has one of them already. */
static const struct rrset *no_longer_than(const struct rrset *set, const struct life *life, uint8_t flags,
					  struct arena *a, uint32_t now_s)
{
	struct rrset *s;

	if ((flags ? set->flags & flags : time_left(now_s, set->expires_s) <= life->left_s))
		return set;
	s = rrset_copy(a, set);
	s->expires_s = now_s + life->left_s;
	s->ttl_s = flags ? life->whole_s : MIN(s->ttl_s, life->whole_s);
	s->flags |= flags;
	return s;
}

static void limit_denial(struct message *m, const struct life *negative, struct arena *a, uint32_t now_s)
{
	unsigned count;
	const struct rrset **sets = message_section(m, SECTION_AUTHORITY, &count);

	for (unsigned i = 0; i < count; i++) {
		if (sets[i]->type == TYPE_SOA)
			sets[i] = no_longer_than(sets[i], negative, RRSET_SOA_NEGATIVE, a, now_s);
		else if (sets[i]->type == TYPE_NSEC || sets[i]->type == TYPE_NSEC3)
			sets[i] = no_longer_than(sets[i], negative, 0, a, now_s);
	}
}

void store_limit_denial(const struct conf *conf, struct message *m, struct arena *a, uint32_t now_s)
{
	const struct rrset *soa = message_soa(m);
	struct life negative;

	if (!soa || !message_is_denial(m))
		return;
	negative = negative_life(conf, soa, now_s);
	limit_denial(m, &negative, a, now_s);
}

void store_limit_ttls(const struct conf *conf, struct message *m, struct arena *a, uint32_t now_s)
{
	const struct rrset *soa = message_soa(m);
	/* Before cache-min-ttl may raise it: negative answers have their own limits. */
	struct life negative = soa ? negative_life(conf, soa, now_s) : (struct life){ .left_s = 0 };

	for (unsigned i = 0; i < message_set_count(m); i++)
		m->sets[i] = store_limit_ttl(conf, m->sets[i], a);
	if (soa && message_is_denial(m))
		limit_denial(m, &negative, a, now_s);
}

void store_limit_bogus(uint32_t most_s, struct message *m, struct arena *a, uint32_t now_s)
{
	unsigned count = message_set_count(m);
	const struct rrset **sets = arena_array(a, const struct rrset *, count + 1);
	const struct life most = { .left_s = most_s, .whole_s = most_s };

	for (unsigned i = 0; i < count; i++)
		sets[i] = no_longer_than(m->sets[i], &most, 0, a, now_s);
	m->sets = sets;
}

/* ---- storing ---- */

uint32_t store_ttl(const struct conf *conf, const struct message *m, uint32_t now_s)
{
	const struct rrset *soa;
	uint32_t ttl_s = UINT32_MAX;

	if (m->reason == REASON_budget_validation)
		return STORE_SPENT_S;
	if (!is_data(m))
		return m->security == SECURITY_BOGUS       ? conf->server.val_bogus_ttl
		       : m->reason == REASON_network_error ? STORE_OUTAGE_S
							   : STORE_FAILURE_S;
	soa = message_is_denial(m) ? message_soa(m) : NULL;
	for (unsigned i = 0; i < message_set_count(m); i++) {
		if (m->sets[i] != soa)
			ttl_s = MIN(ttl_s, time_left(now_s, m->sets[i]->expires_s));
	}
	if (soa)
		ttl_s = MIN(ttl_s, negative_ttl(conf, soa, now_s));
	else if (message_is_denial(m))
		ttl_s = MIN(ttl_s, STORE_FAILURE_S);
	if (ttl_s == UINT32_MAX)
		ttl_s = STORE_FAILURE_S;
	if (m->security == SECURITY_BOGUS) /* at least for a while (RFC 9520), whatever TTLs it has */
		ttl_s = MIN(MAX(ttl_s, STORE_FAILURE_S), conf->server.val_bogus_ttl);
	return ttl_s;
}

/* RFC 9520 3.2: the TTL doubles when a failure repeats soon after the last one expired; not before, as when
 * the same question was asked with and without CD. */
static uint32_t growing_ttl(struct msgcache *c, const struct message *m, const struct msg_keep *how)
{
	uint64_t hash = how->hash ? how->hash : msgcache_hash(&m->q);
	const struct stored *old = msgcache_find(c, &m->q, hash, how->scope, true);
	uint32_t was_s;

	if (!old || stored_is_good(old) || stored_is_fresh(old, how->now_s) ||
	    old->security == SECURITY_BOGUS)
		return how->ttl_s;
	was_s = old->expires_s - old->stored_s;
	if (was_s < how->ttl_s || how->now_s - old->stored_s > 2 * was_s)
		return how->ttl_s;
	return MIN(2 * was_s, STORE_FAILURE_MOST_S);
}

/* Of a bogus message nothing but that it is. */
static struct message bare_bogus(const struct message *m)
{
	return (struct message){ .q = m->q,
				 .flags = m->flags,
				 .rcode = RCODE_SERVFAIL,
				 .security = SECURITY_BOGUS,
				 .reason = m->reason };
}

/* Stores the message; of a bogus one that is too large for that, only that it is: else it is validated
 * every time. */
static const struct stored *keep(struct msgcache *c, const struct conf *conf, const struct message *m,
				 struct msg_keep *how)
{
	const struct stored *s = msgcache_store(c, m, how);
	struct message bare;

	if (s || m->security != SECURITY_BOGUS || !is_data(m))
		return s;
	bare = bare_bogus(m);
	how->ttl_s = store_ttl(conf, &bare, how->now_s);
	return msgcache_store(c, &bare, how);
}

const struct stored *store_message(struct msgcache *c, const struct conf *conf,
				   const struct message *m, const struct msg_keep *usual)
{
	struct msg_keep how = *usual;

	how.ttl_s = store_ttl(conf, m, how.now_s);
	how.whole = conf->server.serve_original_ttl;
	if (how.ttl_s == STORE_FAILURE_S && !is_data(m))
		how.ttl_s = growing_ttl(c, m, &how);
	if (conf->server.serve_expired) {
		how.keep_expired_s = conf->server.serve_expired_ttl ? conf->server.serve_expired_ttl
								    : SLAB_FOREVER;
		how.extend = conf->server.serve_expired_ttl_reset;
		/* An answer with TTL 0, or too large to be kept, supersedes an expired one all the
		 * same, unless it is bogus. */
		if ((how.ttl_s == 0 || !message_may_be_kept(m)) && is_data(m) && !how.place &&
		    m->security != SECURITY_BOGUS)
			msgcache_remove(c, &m->q);
	}
	return keep(c, conf, m, &how);
}

/* Types that resolving or validating other names looks up. */
static bool is_for_others(uint16_t type)
{
	switch (type) {
	case TYPE_NS:
	case TYPE_SOA:
	case TYPE_CNAME:
	case TYPE_DNAME:
	case TYPE_DS:
	case TYPE_DNSKEY:
		return true;
	default:
		return rr_flags(type) & (RR_DNSSEC | RR_META);
	}
}

static bool is_address(const struct rrset *s)
{
	return s->type == TYPE_A || s->type == TYPE_AAAA;
}

/* The cached answer for this RRset's name and type if it is good and fresh, or NULL. */
static const struct stored *find_answer(const struct query *q, const struct rrset *set,
					uint32_t now_s)
{
	const struct question asked = { .name = rrset_owner(set),
				    .name_len = set->owner_len,
				    .type = set->type,
				    .class_ = set->class_ };
	const struct stored *s = msgcache_find(q->env->messages, &asked,
					      msgcache_hash(&asked), q->scope, true);

	return s && stored_is_fresh(s, now_s) && stored_is_good(s) ? s : NULL;
}

static void bring_answer(const struct query *q, const struct rrset *referral_ds, uint32_t now_s,
			 struct arena *a)
{
	const uint8_t *name = rrset_owner(referral_ds);
	const struct forward_zone *z = views_forward(q->view, q->snapshot->forwards, name);
	const struct rrset *set;
	const struct stored *s;
	const struct message *m;
	struct rrset *copy;

	/* A forwarder's answer may itself be nothing but referral_ds. */
	if ((z && !z->is_stub) ||
	    rrsetcache_find(q->cache.rrsets, name, referral_ds->type, referral_ds->class_, 0, now_s))
		return;
	s = find_answer(q, referral_ds, now_s);
	m = s ? stored_unpack(s, a, now_s) : NULL;
	set = m ? message_find(m, SECTION_ANSWER, name, referral_ds->type, referral_ds->class_) : NULL;
	if (!set)
		return;
	copy = rrset_copy(a, set);
	copy->trust = TRUST_ANS_AA;
	(void)rrsetcache_put(q->cache.rrsets, copy, now_s, a);
}

/* A proven DNAME of TTL 0 makes aliases for a second more, so that many names below it are not as many
 * questions. Its TTL stays 0. */
static const struct rrset *keep_briefly(const struct query *q, const struct rrset *dname,
					uint32_t now_s, struct arena *a)
{
	struct rrset *brief;

	if (rrsetcache_find(q->cache.rrsets, rrset_owner(dname), TYPE_DNAME, dname->class_, 0, now_s))
		return dname;
	brief = rrset_copy(a, dname);
	brief->expires_s = now_s + STORE_DNAME_S;
	(void)rrsetcache_put(q->cache.rrsets, brief, now_s, a);
	return dname;
}

static bool is_alias(const struct rrset *s)
{
	return s->type == TYPE_CNAME || s->type == TYPE_DNAME;
}

const struct rrset *store_set(const struct query *q, const struct question *asked,
			      const struct rrset *set, uint32_t now_s, struct arena *a)
{
	if (UNLIKELY(q->ecs.need == ECS_OMITTED) && is_alias(set))
		return set; /* it would lead clients who would be told another (RFC 7871) */
	if (asked && set->type == asked->type && !is_for_others(set->type) &&
	    set->trust >= TRUST_ANS_AA && dname_equals(rrset_owner(set), asked->name))
		return rrsetcache_correct(q->cache.rrsets, set, now_s, a);
	if (set->type == TYPE_DNAME && set->ttl_s == 0 && set->security == SECURITY_SECURE)
		return keep_briefly(q, set, now_s, a);
	if (is_address(set) && set->trust < TRUST_ANS_AA)
		bring_answer(q, set, now_s, a);
	return rrsetcache_put(q->cache.rrsets, set, now_s, a);
}

void store_verified(const struct query *q, const struct question *asked, const struct verified *v,
		    uint32_t now_s, struct arena *a)
{
	(void)store_set(q, asked, verified_copy(v, a, now_s), now_s, a);
}
