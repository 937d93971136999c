/* Automated trust anchor updates: the states and timers of RFC 5011.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "validator/autotrust.h"

#include <stdio.h>

#include "util/base/arena.h"
#include "util/base/mem.h"
#include "util/base/random.h"
#include "util/conf/options.h"
#include "util/dns/dname.h"
#include "util/dns/rr.h"
#include "validator/autotrust_private.h"
#include "validator/date.h"
#include "validator/verify.h"

#define HOUR 3600
#define DAY  86400

/* A zone that keeps introducing keys must not make our file grow without bound. */
#define KEYS_MAX 64

/* How often a new key must have been seen, however short the hold-down time. */
#define PENDING_MIN 2

void autotrust_how_read(struct autotrust_how *how, const struct conf *conf)
{
	how->add_holddown_s = conf->server.add_holddown;
	how->del_holddown_s = conf->server.del_holddown;
	how->keep_missing_s = conf->server.keep_missing;
	how->small_holddown = conf->server.permit_small_holddown;
}

/* ---- keys ---- */

void autotrust_key_put(struct autotrust *p, const struct autotrust_key *key)
{
	p->keys = mem_grow(p->keys, (p->count + 1) * sizeof(*p->keys));
	memmove(p->keys + 1, p->keys, p->count * sizeof(*p->keys));
	p->keys[0] = *key;
	p->keys[0].rdata.at = mem_copy(key->rdata.at, key->rdata.len);
	p->count++;
}

static void key_drop(struct autotrust *p, size_t i)
{
	mem_free((void *)p->keys[i].rdata.at);
	p->count--;
	memmove(p->keys + i, p->keys + i + 1, (p->count - i) * sizeof(*p->keys));
}

void autotrust_free(struct autotrust *p)
{
	if (!p)
		return;
	while (p->count)
		key_drop(p, p->count - 1);
	mem_free(p->keys);
	mem_free(p->path);
	mem_free(p);
}

/* Of a DNSKEY record: those that are cut are neither in a keyset nor read from a file. */
static unsigned flags_of(struct slice rdata)
{
	return get_u16(rdata.at);
}

static bool is_ksk(const struct autotrust_key *k)
{
	return k->type == TYPE_DNSKEY && flags_of(k->rdata) & DNSKEY_SEP;
}

/* The same key, regardless of the REVOKE bit. */
static bool same_key(struct slice a, struct slice b)
{
	return a.len == b.len &&
	       (flags_of(a) | DNSKEY_REVOKE) == (flags_of(b) | DNSKEY_REVOKE) &&
	       memcmp(a.at + 2, b.at + 2, a.len - 2) == 0;
}

static bool is_trusted(const struct autotrust_key *k)
{
	return k->state == AUTOTRUST_valid || k->state == AUTOTRUST_missing;
}

static bool ds_is_of(const struct autotrust *p, const struct autotrust_key *k, struct slice dnskey)
{
	uint8_t *unrevoked;
	struct ds ds;
	bool matches;

	if (k->type != TYPE_DS || dnskey.len > DNSKEY_LONGEST || !ds_read(k->rdata, &ds))
		return false;
	unrevoked = mem_new(dnskey.len);
	memcpy(unrevoked, dnskey.at, dnskey.len);
	put_u16(unrevoked, (uint16_t)(flags_of(dnskey) & ~DNSKEY_REVOKE));
	matches = ds_matches(&ds, p->owner, (struct slice){ unrevoked, dnskey.len });
	mem_free(unrevoked);
	return matches;
}

/* The trusted records of one type as a set on the heap; NULL if none, or the point is revoked. */
static struct rrset *trusted_set(const struct autotrust *p, uint16_t type)
{
	struct slice *records = mem_array(p->count + 1, sizeof(*records));
	struct rrset_parts parts = {
		.owner = p->owner, .type = type, .class_ = CLASS_IN, .records = records
	};
	struct rrset *set = NULL;
	struct arena a;

	for (size_t i = 0; i < p->count; i++)
		if (p->keys[i].type == type && is_trusted(&p->keys[i])) {
			records[parts.count++] = p->keys[i].rdata;
			parts.ttl_s = p->keys[i].ttl_s;
		}
	if (parts.count && !p->revoked) {
		const struct rrset *built;

		arena_init(&a);
		built = rrset_build(&a, &parts);
		set = mem_copy(built, built->size);
		arena_clear(&a);
	}
	mem_free(records);
	return set;
}

struct rrset *autotrust_ds(const struct autotrust *p)
{
	return trusted_set(p, TYPE_DS);
}

struct rrset *autotrust_keys(const struct autotrust *p)
{
	return trusted_set(p, TYPE_DNSKEY);
}

/* ---- one step ---- */

struct stepping {
	struct autotrust *p;
	const struct autotrust_step *s;
	struct keyset *zone; /* the zone's current DNSKEY RRset */
	unsigned actions;
	bool began_without_ksk; /* the anchor had neither DS records nor keys with the SEP bit */
};

static const char *const state_names[] = {
#define X(name) #name,
	AUTOTRUST_STATES(X)
#undef X
};

static void change(struct stepping *t, struct autotrust_key *k, enum autotrust_state to)
{
	char name[DNAME_TEXT], sentence[DNAME_TEXT + 128];

	if (is_trusted(k) != (to == AUTOTRUST_valid || to == AUTOTRUST_missing))
		t->actions |= AUTOTRUST_KEYS;
	snprintf(sentence, sizeof(sentence), "trust anchor %s key %u: %s, was %s",
		 dname_print(t->p->owner, name), rr_key_tag(k->rdata), state_names[to], state_names[k->state]);
	t->s->say(t->s->arg, sentence);
	k->state = to;
	k->count = 0;
	k->last_change = t->s->now;
}

/* RFC 5011 2.1: a key that has signed its own revocation is revoked for good. Keys we do not hold
 * are skipped without verifying anything; so is one that is not trusted yet: the table of 4.1 knows no way from
 * AddPend to Revoked, so to it the revoked key is another one, and it has left the set (age_key). */
static void bury_revoked(struct stepping *t)
{
	struct sig_result v;

	for (unsigned i = 0; i < t->zone->count; i++) {
		const struct zonekey *z = &t->zone->key[i];

		if (!(z->flags & DNSKEY_REVOKE))
			continue;
		for (size_t j = 0; j < t->p->count; j++) {
			struct autotrust_key *k = &t->p->keys[j];
			bool is_ds = ds_is_of(t->p, k, z->rdata);

			if (!is_ds && (k->type != TYPE_DNSKEY || !same_key(k->rdata, z->rdata)))
				continue;
			if (k->state == AUTOTRUST_addpend)
				continue;
			if (k->state == AUTOTRUST_revoked) {
				k->last_seen = t->s->now;
				continue;
			}
			verify_set_by(t->s->dnskeys, t->zone, i, t->s->verify, &v);
			if (v.security != SECURITY_SECURE)
				break;
			change(t, k, AUTOTRUST_revoked);
			mem_free((void *)k->rdata.at);
			k->type = TYPE_DNSKEY;
			k->rdata =
				(struct slice){ mem_copy(z->rdata.at, z->rdata.len), z->rdata.len };
			k->ttl_s = t->s->dnskeys->ttl_s;
		}
	}
}

/* Whether the DNSKEY RRset is signed by a key trusted now. */
static bool set_is_believed(struct stepping *t)
{
	struct rrset *ds = autotrust_ds(t->p), *keys = autotrust_keys(t->p);
	struct sig_result v = { .security = SECURITY_BOGUS };
	char name[DNAME_TEXT];

	if (ds || keys)
		verify_keys(t->zone, ds, keys, t->s->verify, &v);
	mem_free(ds);
	mem_free(keys);
	if (v.security != SECURITY_SECURE) {
		const char *why = v.text ? v.text : "none of its DNSKEYs is trusted any more";
		char *sentence = mem_textf("trust anchor %s: DNSKEY RRset rejected: %s",
					   dname_print(t->p->owner, name), why);

		t->s->say(t->s->arg, sentence);
		mem_free(sentence);
	}
	return v.security == SECURITY_SECURE;
}

static struct autotrust_key *key_find(struct autotrust *p, struct slice rdata)
{
	for (size_t i = 0; i < p->count; i++)
		if (p->keys[i].type == TYPE_DNSKEY && same_key(p->keys[i].rdata, rdata))
			return &p->keys[i];
	return NULL;
}

/* Updates or adds a key found in the validated DNSKEY RRset. */
static void see_key(struct stepping *t, const struct zonekey *z)
{
	struct autotrust *p = t->p;
	struct autotrust_key *k = key_find(p, z->rdata);
	bool trusted_already = t->began_without_ksk;

	if (k && k->state == AUTOTRUST_revoked) {
		k->last_change = t->s->now; /* it is back without the REVOKE bit */
		return;
	}
	if (k && k->state == AUTOTRUST_addpend && k->count < UINT32_MAX)
		k->count++;
	if (k && k->state == AUTOTRUST_missing)
		change(t, k, AUTOTRUST_valid);
	if (k && k->state == AUTOTRUST_valid && k->last_change == 0)
		k->last_change = t->s->now; /* the operator's own, seen for the first time */
	if (k || p->count >= KEYS_MAX)
		return;
	for (size_t i = 0; i < p->count; i++)
		trusted_already |= is_trusted(&p->keys[i]) && ds_is_of(p, &p->keys[i], z->rdata);
	autotrust_key_put(p, &(struct autotrust_key){ .type = TYPE_DNSKEY,
						      .rdata = z->rdata,
						      .ttl_s = t->s->dnskeys->ttl_s });
	change(t, &p->keys[0], trusted_already ? AUTOTRUST_valid : AUTOTRUST_addpend);
	if (!trusted_already)
		p->keys[0].count = 1;
}

static bool is_shown(const struct stepping *t, const struct autotrust_key *k)
{
	for (unsigned i = 0; i < t->zone->count; i++) {
		const struct zonekey *z = &t->zone->key[i];

		if (z->rdata.len == k->rdata.len &&
		    memcmp(z->rdata.at, k->rdata.at, k->rdata.len) == 0)
			return true;
	}
	return false;
}

static bool has_valid(const struct autotrust *p)
{
	for (size_t i = 0; i < p->count; i++)
		if (p->keys[i].state == AUTOTRUST_valid && is_ksk(&p->keys[i]))
			return true;
	return false;
}

static bool has_passed(const struct stepping *t, const struct autotrust_key *k, uint32_t seconds)
{
	return t->s->now - k->last_change >= seconds;
}

/* Applies the transitions due to time and absence (RFC 5011 4.2). False: drop the key. */
static bool age_key(struct stepping *t, struct autotrust_key *k)
{
	const struct autotrust_how *how = t->s->how;
	uint32_t add = MAX(how->add_holddown_s, k->ttl_s);

	if (how->small_holddown)
		add = how->add_holddown_s;
	switch (k->state) {
	case AUTOTRUST_addpend:
		if (!is_shown(t, k)) {
			change(t, k, AUTOTRUST_start);
			return false;
		}
		if (k->count >= PENDING_MIN && has_passed(t, k, add))
			change(t, k, AUTOTRUST_valid);
		return true;
	case AUTOTRUST_valid:
		if (!is_shown(t, k))
			change(t, k, AUTOTRUST_missing);
		return true;
	case AUTOTRUST_missing:
		if (how->keep_missing_s && has_valid(t->p) &&
		    has_passed(t, k, how->keep_missing_s)) {
			change(t, k, AUTOTRUST_removed);
			return false;
		}
		return true;
	case AUTOTRUST_revoked:
		/* RFC 5011 4.1: that long it has been missing, not revoked */
		if (!has_passed(t, k, how->del_holddown_s) || t->s->now - k->last_seen < how->del_holddown_s)
			return true;
		change(t, k, AUTOTRUST_removed);
		return false;
	case AUTOTRUST_start:
	case AUTOTRUST_removed:
		break;
	}
	return false;
}

/* Whether an initial anchor is no longer needed: a DS record whose key is held now, or a key
 * without the SEP bit once one with it is valid. */
static bool has_served(struct stepping *t, const struct autotrust_key *k)
{
	if (k->type == TYPE_DNSKEY)
		return !is_ksk(k) && has_valid(t->p);
	for (size_t i = 0; i < t->p->count; i++)
		if (ds_is_of(t->p, k, t->p->keys[i].rdata)) /* a DS record has no key that digest fits */
			return true;
	return false;
}

static void update_keys(struct stepping *t)
{
	struct autotrust *p = t->p;

	for (unsigned i = 0; i < t->zone->count; i++) {
		const struct zonekey *z = &t->zone->key[i];

		if (z->flags & DNSKEY_SEP && z->flags & DNSKEY_ZONE && z->protocol == 3 &&
		    !(z->flags & DNSKEY_REVOKE) &&
		    octets_hold(&t->s->verify->rules->algorithms, z->algorithm))
			see_key(t, z);
	}
	for (size_t i = p->count; i-- > 0;)
		if (has_served(t, &p->keys[i])) {
			key_drop(p, i);
			t->actions |= AUTOTRUST_KEYS;
		}
	for (size_t i = p->count; i-- > 0;)
		if (is_ksk(&p->keys[i]) && !age_key(t, &p->keys[i]))
			key_drop(p, i);
}

/* RFC 5011 2.3: half (query interval) or a tenth (retry) of the lesser of original TTL and
 * remaining signature lifetime, within limits. */
static void set_intervals(struct stepping *t)
{
	struct rrset_walk w = rrset_sigs(t->s->dnskeys);
	int64_t least = t->s->how->small_holddown ? 1 : HOUR, span = UINT32_MAX;
	int64_t interval, retry;
	struct rrsig sig;

	for (struct slice rd; rrset_next(&w, &rd);) {
		if (rrsig_read(rd, &sig))
			span = MIN(span, MIN((int64_t)sig.original_ttl_s,
					     MAX((int32_t)(sig.expiration - t->s->verify->now), 0)));
	}
	interval = MIN(15 * DAY, span / 2);
	retry = MIN(DAY, span / 10);
	t->p->query_interval_s = (uint32_t)MAX(least, interval);
	t->p->retry_s = (uint32_t)MAX(least, retry);
}

/* Sets the time of the next probe, up to a tenth earlier so that resolvers do not ask in unison. */
static void set_probe(struct stepping *t, uint32_t after_s)
{
	uint32_t less = 0;

	if (t->s->random && after_s >= 10)
		less = random_below(t->s->random, after_s / 10);
	t->p->next_probe = t->s->now + after_s - less;
}

static bool is_dead(const struct autotrust *p)
{
	bool revoked = false;

	for (size_t i = 0; i < p->count; i++) {
		if (is_trusted(&p->keys[i]))
			return false;
		revoked |= p->keys[i].state == AUTOTRUST_revoked;
	}
	return revoked;
}

static void fail_step(struct stepping *t)
{
	struct autotrust *p = t->p;

	p->last_queried = t->s->now;
	set_probe(t, p->retry_s);
	t->actions |= AUTOTRUST_FAILED;
	/* that there was no answer is neither counted nor worth a write */
	if (!t->s->dnskeys)
		return;
	p->query_failed++;
	if (p->last_success)
		t->actions |= AUTOTRUST_WRITE;
}

static void die(struct stepping *t)
{
	t->p->revoked = true;
	t->p->next_probe = 0;
	/* keys that wait stay in the file: the operator sees what the last probe showed */
	for (size_t i = t->p->count; i-- > 0;)
		if (t->p->keys[i].type != TYPE_DNSKEY)
			key_drop(t->p, i);
	t->actions |= AUTOTRUST_GONE | AUTOTRUST_KEYS;
}

static bool begins_without_ksk(const struct autotrust *p)
{
	for (size_t i = 0; i < p->count; i++)
		if (p->keys[i].type == TYPE_DS || is_ksk(&p->keys[i]))
			return false;
	return true;
}

unsigned autotrust_step(struct autotrust *p, const struct autotrust_step *step)
{
	struct stepping t = { .p = p, .s = step };

	if (p->revoked)
		return 0;
	if (!step->dnskeys || step->dnskeys->type != TYPE_DNSKEY ||
	    !dname_equals(rrset_owner(step->dnskeys), p->owner)) {
		t.s = &(struct autotrust_step){ .verify = step->verify,
						.how = step->how,
						.random = step->random,
						.now = step->now };
		fail_step(&t);
		return t.actions;
	}
	t.zone = keyset_new(step->dnskeys);
	t.began_without_ksk = begins_without_ksk(p);
	bury_revoked(&t);
	if (is_dead(p) || set_is_believed(&t)) {
		p->last_queried = p->last_success = step->now;
		if (!is_dead(p)) {
			p->query_failed = 0;
			set_intervals(&t);
			set_probe(&t, p->query_interval_s);
			update_keys(&t);
		}
		if (is_dead(p))
			die(&t);
		t.actions |= AUTOTRUST_WRITE;
	} else {
		fail_step(&t);
		if (t.actions & AUTOTRUST_KEYS) /* one of them was revoked all the same */
			t.actions |= AUTOTRUST_WRITE;
	}
	keyset_unpin(t.zone);
	p->changed |= (t.actions & AUTOTRUST_WRITE) != 0;
	return t.actions;
}

/* ---- times ---- */

uint32_t autotrust_wait_s(const struct autotrust *p, int64_t now)
{
	int64_t wait = p->next_probe - now;

	/* A clock set far back must not delay the next probe for years. */
	wait = MIN(wait, 15 * DAY);
	return wait > 0 ? (uint32_t)wait : 0;
}

int64_t autotrust_newest_time(const struct autotrust *p)
{
	return p->last_success;
}
