/* The chain of trust from an anchor down: DS sets, keys, and proofs that there is no zone cut.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "validator/trust_chain.h"

#include <stdio.h>
#include <string.h>

#include "services/cache/aggressive.h"
#include "services/cache/rrset.h"
#include "services/mesh/mesh.h"
#include "services/policy/rpz_match.h"
#include "services/policy/views.h"
#include "services/query/snapshot.h"
#include "services/query/trace.h"
#include "util/base/log.h"
#include "util/base/timebase.h"
#include "util/conf/options.h"
#include "util/dns/denial.h"
#include "util/dns/dname.h"
#include "util/dns/rr.h"
#include "validator/keycache.h"
#include "validator/roll.h"
#include "validator/trust.h"

static const struct conf_server *conf_of(const struct trust_chain *c)
{
	return &c->q->snapshot->conf->server;
}

static uint32_t now_of(const struct trust_chain *c)
{
	return c->q->env->time->now_s;
}

void trust_chain_begin(struct trust_chain *c, struct query *q, const struct trust_store *trust)
{
	*c = (struct trust_chain){ .q = q, .trust = trust };
	checked_sigs_begin(&c->sigs, q, trust);
}

/* ---- the key cache ---- */

struct kept_keys {
	struct pins *pins;
	struct keyset *keys;
};

static void unpin_keys(void *kept)
{
	struct kept_keys *k = kept;

	if (pins_drop(k->pins, k->keys))
		keyset_unpin(k->keys);
}

static const struct keyset *keep(struct trust_chain *c, struct keyset *keys)
{
	struct kept_keys *k = arena_new(&c->q->arena, struct kept_keys);

	*k = (struct kept_keys){ &c->q->env->key_pins, keys };
	if (pins_take(k->pins, keys))
		(void)keyset_pin(keys);
	arena_on_clear(&c->q->arena, unpin_keys, k);
	return keys;
}

static void tell_keys(const struct trust_chain *c, const struct key_news *n)
{
	static const char *const words[] = { [KEYS_TRUSTED] = "is secure (DNSKEY RRset validated)",
					     [KEYS_NONE] = "is insecure",
					     [KEYS_NO_CUT] = "is not a zone cut",
					     [KEYS_BOGUS] = "is bogus",
					     [KEYS_UNHEARD] = "cannot be validated now" };
	char name[DNAME_TEXT];

	tell(c->q, "%s %s%s%s", dname_print(n->name, name), words[n->kind], n->text ? ": " : "",
	     n->text ? n->text : "");
}

static void learn(struct trust_chain *c, const struct key_news *news)
{
	struct key_news n = *news;
	char name[DNAME_TEXT];

	/* for a second at least: this chain, too, reads it from there */
	n.ttl_s = MAX(MIN(n.ttl_s, conf_of(c)->cache_max_ttl), 1);
	tell_keys(c, &n);
	if (n.kind == KEYS_BOGUS || n.kind == KEYS_UNHEARD)
		log_detail("the chain of trust is broken at %s: %s", dname_print(n.name, name),
			   n.text ? n.text : reason_text(n.reason));
	keycache_put(c->q->cache.keys, &n, now_of(c));
}

/* The text `what` with the zone's name in front, in the query's arena. */
static const char *about(const struct trust_chain *c, const uint8_t *zone, const char *what)
{
	char name[DNAME_TEXT];

	return arena_textf(&c->q->arena, "%s %s", dname_print(zone, name), what);
}

static void learn_no_cut(struct trust_chain *c, const uint8_t *name, uint32_t ttl_s)
{
	learn(c, &(struct key_news){ .name = name, .kind = KEYS_NO_CUT, .ttl_s = MAX(ttl_s, 1) });
}

static void learn_insecure(struct trust_chain *c, const uint8_t *name, enum reason reason,
			   const char *text, uint32_t ttl_s)
{
	learn(c, &(struct key_news){ .name = name, .kind = KEYS_NONE, .reason = reason,
				     .text = text, .ttl_s = MAX(ttl_s, 1) });
}

static void learn_bogus(struct trust_chain *c, const uint8_t *name, enum reason reason, const char *text)
{
	learn(c, &(struct key_news){ .name = name, .kind = KEYS_BOGUS, .reason = reason,
				     .text = text,
				     .ttl_s = MAX((uint32_t)conf_of(c)->val_bogus_ttl, 1) });
}

/* The keys of `name` do not hold. Under an anchor the operator may prefer to go on without. */
static void learn_failed(struct trust_chain *c, const uint8_t *name, const struct anchor *anchor,
			 enum reason reason, const char *text)
{
	if (anchor && !conf_of(c)->harden_dnssec_stripped)
		learn_insecure(c, name, reason, text, conf_of(c)->val_bogus_ttl);
	else
		learn_bogus(c, name, reason, text);
}

static bool is_last_try(const struct trust_chain *c)
{
	return c->tries > conf_of(c)->val_max_restart;
}

/* The set needed could not be had: it may be available the next time. Nothing is learned if that was
 * for want of a budget. */
static void miss(struct trust_chain *c, enum reason reason, const char *what, const struct message *m)
{
	const char *why = m->reason_text ? m->reason_text : reason_text(m->reason);
	const char *text = arena_textf(&c->q->arena, "%s could not be fetched: %s",
				       about(c, c->at, what), why);

	if (!c->brought_poor)
		learn(c, &(struct key_news){ .name = c->at, .kind = KEYS_UNHEARD, .reason = reason,
					     .text = text, .ttl_s = CHAIN_UNHEARD_S });
	else
		c->stuck = text;
}

/* ---- children ---- */

/* Starts the query for what is missing. False: it cannot be started, so nothing can be learned. */
static bool send_out(struct trust_chain *c, enum chain_fetch fetch, const uint8_t *name)
{
	bool again = c->fetch == fetch && dname_equals(c->at, name);
	unsigned kind = QUERY_CD | QUERY_NO_VALIDATE | (again ? (unsigned)QUERY_NO_CACHE : 0);

	c->tries = again ? c->tries + 1 : 1;
	c->fetch = fetch;
	if (fetch == FETCH_DS)
		c->ds = NULL;
	c->at = arena_copy(&c->q->arena, name, dname_len(name));
	return mesh_child(c->q, c->at, fetch == FETCH_DS ? TYPE_DS : TYPE_DNSKEY, CLASS_IN, kind);
}

/* RFC 8145 5.1: tells the anchor's zone, by the query name, the tags of our trust anchor keys. */
static void tell_anchor(struct trust_chain *c, const struct anchor *a)
{
	uint16_t tags[32];
	size_t count = anchor_tags(a, tags, COUNT(tags)), at;
	char label[5 * COUNT(tags) + 8] = "_ta";
	uint8_t name[DNAME_MAX];

	if (c->anchor_signalled || !conf_of(c)->trust_anchor_signaling || count == 0 ||
	    count > LABEL_MAX / 5 - 1)
		return;
	c->anchor_signalled = true;
	at = strlen(label);
	for (size_t i = 0; i < count; i++)
		at += (size_t)snprintf(label + at, sizeof(label) - at, "-%04x", tags[i]);
	name[0] = (uint8_t)at;
	memcpy(name + 1, label, at);
	if (dname_len(a->owner) + at + 1 > DNAME_MAX)
		return;
	memcpy(name + 1 + at, a->owner, dname_len(a->owner));
	if (mesh_side(c->q, name, TYPE_NULL, CLASS_IN, QUERY_CD))
		log_detail("key tags of the trust anchor signaled (RFC 8145): %s", label);
}

/* ---- keys ---- */

/* Validates the keys of `name`, which its anchor or else the verified `ds` authenticates. True: the key cache has them,
 * or that none are believed in. */
static bool validate_keys(struct trust_chain *c, const uint8_t *name, const struct rrset *dnskeys,
		       const struct verified *ds, const struct anchor *anchor, bool last_try)
{
	struct keyset *keys = keyset_new(dnskeys);
	struct sig_result v;
	uint32_t ttl_s = time_left(now_of(c), dnskeys->expires_s);

	verify_keys(keys, anchor ? anchor->ds : ds ? verified_set(ds) : NULL, anchor ? anchor->keys : NULL, &c->sigs.how, &v);
	if (v.security == SECURITY_SECURE)
		learn(c, &(struct key_news){ .name = name, .kind = KEYS_TRUSTED, .keys = keys,
					     .ttl_s = MAX(MIN(ttl_s, v.ttl_s), 1) });
	else if (v.security == SECURITY_INSECURE)
		learn_insecure(c, name, v.reason, v.text, ttl_s);
	else if (last_try && v.security == SECURITY_BOGUS)
		learn_failed(c, name, anchor, v.reason, v.text);
	keyset_unpin(keys);
	return v.security == SECURITY_SECURE || v.security == SECURITY_INSECURE;
}

/* Gets the keys of `name`, which `ds` or its anchor authenticates: those in the cache, or by a query. */
static void want_keys(struct trust_chain *c, const uint8_t *name, const struct verified *ds,
		      const struct anchor *anchor)
{
	const struct rrset *cached = rrsetcache_find(c->q->cache.rrsets, name, TYPE_DNSKEY, CLASS_IN,
						     0, now_of(c));

	c->ds = ds;
	if (cached && validate_keys(c, name, cached, ds, anchor, false))
		return;
	if (cached)
		rrsetcache_reject(c->q->cache.rrsets, cached);
	if (send_out(c, FETCH_DNSKEY, name) && anchor)
		tell_anchor(c, anchor);
}

static const struct anchor *anchor_at(const struct trust_chain *c, const uint8_t *name)
{
	return anchors_find_at(c->trust->anchors, name);
}

/* Has the server avoided by later queries: it gave data that failed. */
static void avoid(struct trust_chain *c, const struct addr *server)
{
	struct query *q = c->q;
	struct addr *list;

	if (server->family == 0)
		return;
	list = arena_array(&q->arena, struct addr, q->avoid_count + 1);
	if (q->avoid_count)
		memcpy(list, q->avoid, q->avoid_count * sizeof(*list));
	list[q->avoid_count++] = *server;
	q->avoid = list;
}

/* False: put off to a later turn. */
static bool keys_arrived(struct trust_chain *c, const struct message *m)
{
	const struct rrset *set = message_find(m, SECTION_ANSWER, c->at, TYPE_DNSKEY, CLASS_IN);
	const struct anchor *anchor = anchor_at(c, c->at); /* none where there is a DS set: it would be the closest */
	bool last = is_last_try(c), rolls = anchor && anchor->rolls;

	if (checked_sigs_is_tired(&c->sigs))
		return false;
	if (set && (validate_keys(c, c->at, set, c->ds, anchor, last && !rolls) || !rolls))
		return true;
	if (set) {
		if (c->q->env->roll)
			roll_hear(c->q->env->roll, c->q->snapshot, set);
		anchor = anchor_at(c, c->at);
		if (anchor)
			validate_keys(c, c->at, set, NULL, anchor, last);
		return true;
	}
	if (!last && m->rcode != RCODE_SERVFAIL)
		return true;
	if (m->rcode == RCODE_SERVFAIL && (!anchor || conf_of(c)->harden_dnssec_stripped))
		miss(c, REASON_dnskey_missing, "DNSKEY RRset", m);
	else
		learn_failed(c, c->at, anchor, REASON_dnskey_missing, about(c, c->at, "has no DNSKEY RRset"));
	return true;
}

/* ---- DS sets ---- */

/* Keeps the set as secure. Returns for how many seconds. */
static uint32_t keep_secure(struct trust_chain *c, const struct verified *v)
{
	struct rrset *secure = verified_copy(v, &c->q->arena, now_of(c));

	(void)rrsetcache_put(c->q->cache.rrsets, secure, now_of(c), &c->q->arena);
	return time_left(now_of(c), secure->expires_s);
}

/* Takes a secure DS set: gets the zone's keys, or learns that no algorithm of it is supported. */
static void take_ds(struct trust_chain *c, const uint8_t *name, const struct verified *ds)
{
	const struct rules *rules = c->sigs.how.rules;
	uint32_t ttl_s = keep_secure(c, ds);

	if (!ds_is_believed(verified_set(ds), rules))
		learn_insecure(c, name, ds_disbelief(verified_set(ds), rules),
			       about(c, name, "has a DS RRset without a supported algorithm and digest type"), ttl_s);
	else
		want_keys(c, name, ds, NULL);
}

static unsigned iteration_limit(const struct trust_chain *c, const struct keyset *keys)
{
	return rules_nsec3_limit(c->sigs.how.rules, keyset_bits(keys));
}

/* Keeps a proof for other names, which it may cover too. */
static void remember(struct trust_chain *c, const struct verified *proof)
{
	if (!c->q->no_store && c->q->cache.negative)
		aggressive_learn(c->q->cache.negative, &proof, 1, c->q->snapshot->conf, now_of(c),
			       &c->q->arena);
}

/* Forgets a denial that the zone should have signed, and has not. */
static void reject_denial(struct trust_chain *c, const struct rrset *set, const uint8_t *zone)
{
	if (!c->q->no_store && (!verify_signer(set) || verify_names_signer(set, zone)))
		rrsetcache_reject(c->q->cache.rrsets, set);
}

/* Collects the NSEC and NSEC3 sets of the message signed by these keys; *ttl_s becomes how long all are valid, if that
 * is less. `bad` (or NULL) receives why another failed. False: put off. */
static bool gather(struct trust_chain *c, const struct message *m, const struct keyset *keys,
		   struct denial_evidence *e, uint32_t *ttl_s, struct sig_result *bad)
{
	unsigned count;
	const struct rrset **sets = message_section(m, SECTION_AUTHORITY, &count);

	denial_begin(e, keyset_zone(keys), iteration_limit(c, keys), &c->q->budget->hashes);
	for (unsigned i = 0; i < count; i++) {
		struct sig_result v;

		if ((sets[i]->type != TYPE_NSEC && sets[i]->type != TYPE_NSEC3) ||
		    e->nsec_count + e->nsec3_count >= DENIAL_SETS)
			continue;
		if (!checked_sigs_verify(&c->sigs, sets[i], keys, &v))
			return false;
		if (v.security == SECURITY_BOGUS && bad)
			*bad = v;
		if (v.security == SECURITY_BOGUS)
			reject_denial(c, sets[i], keyset_zone(keys));
		if (v.security != SECURITY_SECURE || v.expanded || !denial_add(e, sets[i]))
			continue;
		*ttl_s = MIN(*ttl_s, MIN(time_left(now_of(c), sets[i]->expires_s), v.ttl_s));
		remember(c, v.verified);
	}
	return true;
}

/* Learns from a denial of the DS set at `name`, or that it costs too much. False: it proves nothing. */
static bool learn_cut(struct trust_chain *c, const uint8_t *name, enum denial_cut cut, uint32_t ttl_s)
{
	switch (cut) {
	case CUT_INSECURE:
		learn_insecure(c, name, REASON_none, about(c, name, "is an insecure delegation (no DS)"),
			       ttl_s);
		return true;
	case CUT_OPTOUT:
		learn_insecure(c, name, REASON_none, about(c, name, "is in an NSEC3 opt-out span"), ttl_s);
		return true;
	case CUT_COSTLY:
		learn_insecure(c, name, REASON_nsec3_iterations,
			       about(c, name, "is below a zone with too many NSEC3 iterations"), ttl_s);
		return true;
	case CUT_NONE:
		learn_no_cut(c, name, ttl_s);
		return true;
	case CUT_EXHAUSTED: /* by this query and what it asked before: not the name's fault */
		c->stuck = about(c, name, "is not validated: limit of NSEC3 hashes for one query reached");
		return true;
	case CUT_UNKNOWN:
		break;
	}
	return false;
}

/* `about_it`: the message is of this name. Of another's NSEC3 records that cost too much nothing follows: the DS set may
 * be there (RFC 9276 3.2 lets a response be insecure, not the zones below). */
static bool is_denied_in(struct trust_chain *c, const struct message *m, const uint8_t *name,
			 const struct keyset *above, bool about_it)
{
	struct denial_evidence e;
	uint32_t ttl_s = UINT32_MAX;
	enum denial_cut cut;

	if (!m)
		return false;
	if (!gather(c, m, above, &e, &ttl_s, NULL) || e.nsec_count + e.nsec3_count == 0)
		return false;
	cut = denial_of_ds(&e, name);
	return (about_it || cut != CUT_COSTLY) && learn_cut(c, name, cut, ttl_s);
}

/* Whether the DS set is denied by the answer being validated, by what was proven before, or by the
 * referral to the name. */
static bool is_denied_already(struct trust_chain *c, const uint8_t *name, const struct keyset *above)
{
	struct aggressive *negative = c->q->cache.negative;
	struct question ds = { .name = name, .name_len = (uint16_t)dname_len(name),
			       .type = TYPE_DS, .class_ = CLASS_IN };
	struct aggressive_cut known;

	if (is_denied_in(c, c->in_answer, name, above, false))
		return true;
	if (!negative)
		return false;
	known = aggressive_ds(negative, keyset_zone(above), name, CLASS_IN, now_of(c));
	return learn_cut(c, name, known.cut, known.ttl_s) ||
	       is_denied_in(c, aggressive_heard(negative, &ds, &c->q->arena, now_of(c)), name, above,
			    true);
}

/* False: put off. */
static bool denial_of_ds_arrived(struct trust_chain *c, const struct message *m)
{
	struct sig_result bad = { .text = NULL };
	struct denial_evidence e;
	uint32_t ttl_s = UINT32_MAX;

	if (!gather(c, m, c->above, &e, &ttl_s, &bad))
		return false;
	if (learn_cut(c, c->at, denial_of_ds(&e, c->at), ttl_s))
		return true;
	if (checked_sigs_is_spent(&c->sigs))
		return true; /* nothing is known of sets that were not checked */
	if (m->rcode == RCODE_SERVFAIL)
		miss(c, m->reason ? m->reason : REASON_bogus, "DS RRset", m);
	else if (is_last_try(c) && bad.text)
		learn_bogus(c, c->at, bad.reason, bad.text);
	else if (is_last_try(c))
		learn_bogus(c, c->at, e.nsec_count + e.nsec3_count ? REASON_bogus : REASON_nsec_missing,
			    about(c, c->at, "has no DS RRset, and no NSEC or NSEC3 proves that"));
	return true;
}

/* A CNAME instead of the DS set: there is no zone cut at the name, if that is the CNAME's own and not
 * any name that a wildcard was expanded to. False: put off. */
static bool cname_arrived(struct trust_chain *c, const struct message *m, const struct rrset *set)
{
	struct sig_result v;

	if (!checked_sigs_verify(&c->sigs, set, c->above, &v))
		return false;
	if (v.security == SECURITY_BOGUS && !c->q->no_store)
		rrsetcache_reject(c->q->cache.rrsets, set);
	if (v.security == SECURITY_SECURE && v.expanded)
		return denial_of_ds_arrived(c, m);
	if (v.security == SECURITY_SECURE)
		learn_no_cut(c, c->at, MIN(time_left(now_of(c), set->expires_s), v.ttl_s));
	else if (is_last_try(c) && v.security == SECURITY_BOGUS)
		learn_bogus(c, c->at, v.reason, v.text);
	return true;
}

/* False: put off. */
static bool ds_arrived(struct trust_chain *c, const struct message *m)
{
	const struct rrset *set = message_find(m, SECTION_ANSWER, c->at, TYPE_DS, CLASS_IN);
	const struct rrset *alias = message_find(m, SECTION_ANSWER, c->at, TYPE_CNAME, CLASS_IN);
	struct sig_result v;

	if (!set)
		return alias ? cname_arrived(c, m, alias) : denial_of_ds_arrived(c, m);
	if (set->count > RRSET_RECORDS_MOST) {
		if (is_last_try(c))
			learn_bogus(c, c->at, REASON_bogus, about(c, c->at, "has more DS records than the limit"));
		return true;
	}
	if (!checked_sigs_verify(&c->sigs, set, c->above, &v))
		return false;
	if (v.security == SECURITY_SECURE) {
		c->ds = v.verified; /* for the walk that follows */
		(void)keep_secure(c, v.verified);
	} else if (is_last_try(c) && v.security == SECURITY_BOGUS)
		learn_bogus(c, c->at, v.reason, v.text);
	return true;
}

/* A copy in the query's arena: validating it may take more than this turn. */
static const struct message *copy_of(struct trust_chain *c, const struct message *m)
{
	struct message *copy = arena_copy(&c->q->arena, m, sizeof(*m));
	unsigned count = message_set_count(m);

	copy->sets = arena_array(&c->q->arena, const struct rrset *, count + 1);
	for (unsigned i = 0; i < count; i++)
		copy->sets[i] = rrset_copy(&c->q->arena, m->sets[i]);
	if (m->reason_text)
		copy->reason_text = arena_textf(&c->q->arena, "%s", m->reason_text);
	return copy;
}

void trust_chain_arrived(struct trust_chain *c, const struct event *ev)
{
	const struct query *child = ev->child;
	uint16_t type = c->fetch == FETCH_DS ? TYPE_DS : TYPE_DNSKEY;

	if (c->fetch == FETCH_NONE || child->question.type != type ||
	    !dname_equals(child->question.name, c->at))
		return;
	c->brought = copy_of(c, child->reply);
	c->brought_by = child->answered_by;
	c->brought_poor = child->no_store || query_lookup_was_refused(child);
}

/* Whether another query waiting for the same answer has been served first and done the checks. */
static bool is_decided(const struct trust_chain *c)
{
	const struct key_entry *e = keycache_find(c->q->cache.keys, c->at, now_of(c));

	return e && (e->kind != KEYS_NO_CUT || c->fetch == FETCH_DS);
}

/* Forgets the DS or DNSKEY set of the reply unless it was of use: it may be forged. */
static void reject(struct trust_chain *c, const struct message *m)
{
	const struct key_entry *e = keycache_find(c->q->cache.keys, c->at, now_of(c));
	uint16_t type = c->fetch == FETCH_DS ? TYPE_DS : TYPE_DNSKEY;
	const struct rrset *set = message_find(m, SECTION_ANSWER, c->at, type, CLASS_IN);

	if (set && !c->q->no_store && !(c->fetch == FETCH_DS && c->ds) && (!e || e->kind == KEYS_BOGUS))
		rrsetcache_reject(c->q->cache.rrsets, set);
}

/* Learns from the child's reply. False: put off. */
static bool take_in(struct trust_chain *c)
{
	const struct message *m = c->brought;

	if (!m)
		return true;
	if (!is_decided(c) && !(c->fetch == FETCH_DS ? ds_arrived(c, m) : keys_arrived(c, m)))
		return false;
	c->brought = NULL;
	if (!(c->fetch == FETCH_DS && c->ds) && !is_decided(c))
		avoid(c, &c->brought_by);
	reject(c, m);
	return true;
}

/* The DS set a fetch brought, which may be too short-lived for the cache, or the cached one if it is
 * valid under the keys above, whatever was thought of it before. NULL: no such set, or its check is put off. */
static const struct verified *known_ds(struct trust_chain *c, const uint8_t *name, const struct keyset *above)
{
	const struct rrset *set;
	struct sig_result v;

	if (c->ds && rrset_is(verified_set(c->ds), name, TYPE_DS, CLASS_IN) &&
	    dname_equals(verified_zone(c->ds), keyset_zone(above)))
		return c->ds;
	set = rrsetcache_find(c->q->cache.rrsets, name, TYPE_DS, CLASS_IN, 0, now_of(c));
	if (!set)
		return NULL;
	set = rrset_copy(&c->q->arena, set);
	if (!checked_sigs_verify(&c->sigs, set, above, &v))
		return NULL;
	if (v.security == SECURITY_BOGUS)
		rrsetcache_reject(c->q->cache.rrsets, set);
	return v.verified;
}

/* ---- the walk ---- */

static struct trust_chain_found found_broken(struct trust_chain *c, enum reason reason, const char *text)
{
	return (struct trust_chain_found){ .end = CHAIN_BOGUS, .reason = reason,
				     .text = arena_textf(&c->q->arena, "%s", text) };
}

/* True: the walk ends here, as `out` says. False: it goes on below; `above` is set to the zone's
 * keys, unless there is no zone cut. */
static bool ends_at(struct trust_chain *c, const struct key_entry *e, const struct keyset **above,
		    struct trust_chain_found *out)
{
	switch ((enum key_kind)e->kind) {
	case KEYS_TRUSTED:
		*above = keep(c, e->keys);
		return false;
	case KEYS_NO_CUT:
		return false;
	case KEYS_NONE:
		*out = (struct trust_chain_found){ .end = CHAIN_INSECURE,
					     .reason = (enum reason)e->reason,
					     .text = arena_textf(&c->q->arena, "%s",
								 key_entry_text(e)) };
		return true;
	case KEYS_BOGUS:
	case KEYS_UNHEARD:
		break;
	}
	*out = found_broken(c, (enum reason)e->reason, key_entry_text(e));
	if (e->kind == KEYS_UNHEARD)
		out->end = CHAIN_UNHEARD;
	return true;
}

/* What is known of the name. That no zone begins there says nothing where there is an anchor for it. */
static const struct key_entry *entry_at(const struct trust_chain *c, const uint8_t *name, const struct anchor *anchor)
{
	const struct key_entry *e = keycache_find(c->q->cache.keys, name, now_of(c));

	return e && anchor && e->kind == KEYS_NO_CUT ? NULL : e;
}

/* Takes what is in the caches or at hand for the name, or sends for it. */
static void step_down(struct trust_chain *c, const uint8_t *name, const struct keyset *above, const struct anchor *anchor)
{
	const struct verified *ds;

	c->above = above;
	if (anchor) {
		want_keys(c, name, NULL, anchor);
		return;
	}
	ds = known_ds(c, name, above);
	if (ds)
		take_ds(c, name, ds);
	else if (!is_denied_already(c, name, above) && !checked_sigs_is_tired(&c->sigs))
		(void)send_out(c, FETCH_DS, name);
}

/* One step down: the key cache entry for `name`; or NULL, and `out` says why. */
static const struct key_entry *look(struct trust_chain *c, const uint8_t *name,
				    const struct keyset *above, const struct anchor *anchor,
				    struct trust_chain_found *out)
{
	const struct key_entry *e = entry_at(c, name, anchor);

	if (e)
		return e;
	if (!c->stuck && checked_sigs_is_spent(&c->sigs))
		c->stuck = "limit of signature verifications for one query reached";
	if (!c->stuck && !checked_sigs_is_tired(&c->sigs)) {
		step_down(c, name, above, anchor);
		e = entry_at(c, name, anchor);
	}
	if (e)
		return e;
	*out = (struct trust_chain_found){ .end = CHAIN_WAIT };
	if (c->stuck || !(mesh_children(c->q) || checked_sigs_is_tired(&c->sigs)))
		*out = (struct trust_chain_found){ .end = CHAIN_SPENT, .reason = REASON_budget_validation,
					     .text = c->stuck ? c->stuck : "limit of work on the chain of trust" };
	return NULL;
}

const struct anchor *trust_chain_anchor(const struct trust_store *t, const struct query *q,
				  const uint8_t *name, bool above)
{
	const struct view *v = q->view;

	if (v && v->proves_nothing)
		return NULL;
	return anchors_find(t->anchors,
			    v && v->insecure ? v->insecure : q->snapshot->domain_insecure, name,
			    above);
}

bool trust_chain_reaches(const struct trust_chain *c, const uint8_t *name, bool is_ds)
{
	return trust_chain_anchor(c->trust, c->q, name, is_ds);
}

struct trust_chain_found trust_chain_find(struct trust_chain *c, const uint8_t *name)
{
	struct trust_chain_found out = { .end = CHAIN_UNTRUSTED };
	const struct anchor *anchor;
	const struct keyset *above = NULL;
	const struct key_entry *e;
	unsigned labels, most = dname_labels(name);

	if (!take_in(c))
		return (struct trust_chain_found){ .end = CHAIN_WAIT };
	anchor = trust_chain_anchor(c->trust, c->q, name, false); /* as of now: it may have rolled */
	if (!anchor)
		return out;
	/* the usual case: the keys of the zone itself are known */
	e = keycache_find(c->q->cache.keys, name, now_of(c));
	if (e && e->kind != KEYS_NO_CUT) {
		if (!ends_at(c, e, &above, &out))
			out = (struct trust_chain_found){ .end = CHAIN_KEYS, .keys = above };
		return out;
	}
	for (labels = dname_labels(anchor->owner); labels <= most; labels++) {
		const uint8_t *here = dname_suffix(name, labels);

		if (UNLIKELY(above && rpz_match_hides(c->q, here)))
			return (struct trust_chain_found){ .end = CHAIN_INSECURE };
		e = look(c, here, above, above ? NULL : anchor, &out);
		if (!e || ends_at(c, e, &above, &out))
			return out;
	}
	return (struct trust_chain_found){ .end = CHAIN_KEYS, .keys = above };
}

struct trust_chain_found trust_chain_known(struct trust_chain *c, const uint8_t *zone)
{
	struct trust_chain_found out = { .end = CHAIN_UNTRUSTED };
	const struct keyset *keys = NULL;
	const struct key_entry *e = keycache_find(c->q->cache.keys, zone, now_of(c));

	if (e && e->kind != KEYS_NO_CUT && !ends_at(c, e, &keys, &out))
		out = (struct trust_chain_found){ .end = CHAIN_KEYS, .keys = keys };
	return out;
}
