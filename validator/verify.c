/* Verifying the signatures of an RRset (RFC 4034 3.1.8.1, 4035 5.3), with a bound on all work.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "validator/verify_private.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "services/cache/verified_private.h"
#include "util/base/arena.h"
#include "util/base/mem.h"
#include "util/dns/dname.h"
#include "util/dns/rr.h"
#include "validator/crypto.h"
#include "validator/date.h"

void check_begin(struct check *c, const struct rrset *set, const struct keyset *keys,
		 const struct verify_how *how, struct sig_result *out)
{
	*out = (struct sig_result){ .security = SECURITY_BOGUS };
	*c = (struct check){ .set = set, .keys = keys, .how = how, .only = ANY_KEY, .out = out };
	arena_init(&c->scratch);
}

void check_end(struct check *c)
{
	arena_clear(&c->scratch);
}

void check_fail(struct check *c, enum stage stage, enum reason reason, const char *fmt, ...)
{
	char name[DNAME_TEXT], type[16], text[2 * DNAME_TEXT + 256];
	va_list ap;

	if (check_knows_more(c, stage))
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	c->stage = stage;
	c->out->reason = reason;
	c->out->text =
		arena_textf(c->how->arena, "%s %s: %s", dname_print(rrset_owner(c->set), name),
			    rr_type_name(c->set->type, type), text);
}

#define RRSIG_FIXED 18

/* ---- canonical form and order (RFC 4034 6.2, 6.3, 6840 5.1) ---- */

static int compare_rdata(const void *a, const void *b)
{
	const struct slice *x = a, *y = b;
	size_t len = MIN(x->len, y->len);
	int order = len ? memcmp(x->at, y->at, len) : 0;

	return order ? order : (x->len > y->len) - (x->len < y->len);
}

static bool has_names_to_lower(uint16_t type)
{
	return strpbrk(rr_shape(type), "Nn") != NULL;
}

static void make_canonical(struct check *c)
{
	bool lower = has_names_to_lower(c->set->type);
	struct rrset_walk w = rrset_records(c->set);
	size_t len = 0, kept = 0;

	if (c->rdata)
		return;
	c->rdata = arena_array(&c->scratch, struct slice, (size_t)c->set->count + 1);
	for (struct slice rd; rrset_next(&w, &rd);) {
		if (lower) {
			uint8_t *copy = arena_copy(&c->scratch, rd.at, rd.len);

			rr_canonical_rdata(c->set->type, copy, rd.len);
			rd.at = copy;
		}
		c->rdata[c->count++] = rd;
	}
	if (c->count > 1)
		qsort(c->rdata, c->count, sizeof(*c->rdata), compare_rdata);
	for (size_t i = 0; i < c->count; i++) {
		if (i && compare_rdata(&c->rdata[i], &c->rdata[kept - 1]) == 0)
			continue;
		c->rdata[kept++] = c->rdata[i];
		len += c->set->owner_len + 10u + c->rdata[i].len;
	}
	c->count = kept;
	c->room = RRSIG_FIXED + DNAME_MAX + len;
	c->data = arena_take(&c->scratch, c->room);
}

/* RFC 4034 3.1.8.1. If the signature counts fewer labels than the owner has, the owner signed is
 * "*." and those labels: never longer than the owner. */
static struct slice signed_data(struct check *c, const struct rrsig *sig)
{
	const uint8_t *owner = rrset_owner(c->set);
	const uint8_t *suffix = dname_suffix(owner, sig->labels);
	uint8_t name[DNAME_MAX];
	size_t name_len = dname_copy_lower(name, owner);
	struct writer w;

	make_canonical(c);
	if (suffix != owner && !(dname_is_wildcard(owner) && suffix == dname_parent(owner))) {
		name[0] = 1;
		name[1] = '*';
		name_len = 2 + dname_copy_lower(name + 2, suffix);
	}
	w = writer_over(c->data, c->room);
	write_bytes(&w, sig->head.at, RRSIG_FIXED);
	w.at += dname_copy_lower(w.at, sig->signer);
	for (size_t i = 0; i < c->count; i++) {
		write_bytes(&w, name, name_len);
		write_u16(&w, c->set->type);
		write_u16(&w, c->set->class_);
		write_u32(&w, sig->original_ttl_s);
		write_u16(&w, (uint16_t)c->rdata[i].len);
		write_bytes(&w, c->rdata[i].at, c->rdata[i].len);
	}
	PROMISE(!w.bad);
	return (struct slice){ c->data, writer_len(&w) };
}

/* ---- one signature ---- */

/* The owner's labels as counted in RRSIGs: without the root and a leading "*" (RFC 4034 3.1.3). */
static unsigned countable_labels(const uint8_t *owner)
{
	return dname_labels(owner) - dname_is_wildcard(owner);
}

static bool labels_fit(struct check *c, const struct rrsig *sig)
{
	unsigned owner = countable_labels(rrset_owner(c->set));
	unsigned zone = dname_labels(keyset_zone(c->keys));

	if (sig->labels > owner || sig->labels < zone) {
		check_fail(c, STAGE_LABELS, REASON_sig_labels,
			   "the RRSIG by key %u has a labels field of %u, but the owner name has %u labels "
			   "and the zone %u",
			   sig->tag, sig->labels, owner, zone);
		return false;
	}
	return true;
}

/* The clock skew allowed for, in seconds: a tenth of the signature's lifetime, within limits. */
static uint32_t skew_of(const struct rules *r, const struct rrsig *sig)
{
	uint32_t skew = (sig->expiration - sig->inception) / 10;

	skew = MAX(skew, r->skew_min_s);
	return MIN(skew, r->skew_max_s);
}

static void fail_date(struct check *c, const struct rrsig *sig, uint32_t date, enum reason reason)
{
	char when[DATE_TEXT], span[DATE_TEXT], zone[DNAME_TEXT];
	int64_t away = (int32_t)(date - c->how->now);

	date_print((int64_t)c->how->now + away, when);
	date_print_span(away < 0 ? -away : away, span);
	dname_print(keyset_zone(c->keys), zone);
	if (reason == REASON_sig_not_yet)
		check_fail(
			c, STAGE_DATE, reason,
			"the RRSIG by key %u of %s is valid from %s, in %s by this machine's clock",
			sig->tag, zone, when, span);
	else
		check_fail(c, STAGE_DATE, reason,
			   "the RRSIG by key %u of %s expired on %s, %s ago by this machine's "
			   "clock",
			   sig->tag, zone, when, span);
}

static bool is_in_time(struct check *c, const struct rrsig *sig)
{
	const struct rules *r = c->how->rules;
	uint32_t skew = skew_of(r, sig);

	if (r->date == DATE_ANY)
		return true;
	if (date_is_before(sig->expiration, sig->inception)) {
		check_fail(c, STAGE_DATE, REASON_sig_bad_order,
			   "the RRSIG by key %u has its expiration before its inception", sig->tag);
		return false;
	}
	if (date_is_before(c->how->now + skew, sig->inception)) {
		if (!c->how->dates_open)
			fail_date(c, sig, sig->inception, REASON_sig_not_yet);
		return false;
	}
	if (date_is_before(sig->expiration + skew, c->how->now)) {
		if (!c->how->dates_open)
			fail_date(c, sig, sig->expiration, REASON_sig_expired);
		return false;
	}
	return true;
}

/* The TTL limit of RFC 4035 5.3.3; past the expiration, the rest of the skew allowed for. */
static uint32_t ttl_of(const struct check *c, const struct rrsig *sig)
{
	uint32_t left = sig->expiration - c->how->now;
	uint32_t most_s = MAX(sig->original_ttl_s, c->how->rules->least_ttl_s);

	if (c->how->rules->date == DATE_ANY)
		return most_s;
	if ((int32_t)left <= 0)
		left += skew_of(c->how->rules, sig);
	return MIN(left, most_s);
}

/* The index of the next key that may have made the signature, or -1. */
static int next_candidate(const struct check *c, struct tag_walk *w, const struct rrsig *sig)
{
	int i;

	while ((i = keyset_next(w)) >= 0) {
		const struct zonekey *z = &c->keys->key[i];

		if (z->algorithm == sig->algorithm && zonekey_is_one(z) &&
		    (c->only == ANY_KEY ? zonekey_may_sign(z) : i == c->only))
			break;
	}
	return i;
}

static void fail_key(struct check *c, const struct rrsig *sig)
{
	struct tag_walk w = { .keys = c->keys, .tag = sig->tag };
	char zone[DNAME_TEXT], name[24];
	const char *what = "the zone has no such DNSKEY";

	if (check_knows_more(c, STAGE_KEY))
		return;
	for (int i; (i = keyset_next(&w)) >= 0;) {
		const struct zonekey *z = &c->keys->key[i];

		if (z->algorithm != sig->algorithm)
			continue;
		what = !zonekey_is_one(z)         ? "that DNSKEY is not a zone key"
		       : z->flags & DNSKEY_REVOKE ? "that DNSKEY is revoked"
						  : "that DNSKEY is not authenticated by a DS or trust anchor";
	}
	check_fail(c, STAGE_KEY, REASON_key_missing, "RRSIG by key %u (%s) of %s, but %s",
		   sig->tag, crypto_algorithm_name(sig->algorithm, name),
		   dname_print(keyset_zone(c->keys), zone), what);
}

#define CHECK_BYTES 65536 /* of signed data that count as one check */

/* Units of work that a check of this set is: with a long owner the data to be hashed is many times what
 * came over the wire. */
static unsigned work_of(struct check *c)
{
	make_canonical(c);
	return 1 + (unsigned)(c->room / CHECK_BYTES);
}

/* Takes the work of one check, of those that fail until it has not. False: none is left, and the check has
 * failed. */
static bool take_work(struct check *c)
{
	unsigned work;

	if (c->worked >= c->how->rules->sigs_per_set) {
		check_fail(c, STAGE_WORK, REASON_budget_signatures,
			   "%u signature verifications failed, the limit for one RRset", c->tried);
		return false;
	}
	if (*c->how->signatures <= 0 || (c->how->good && *c->how->good <= 0)) {
		c->broke = true;
		check_fail(c, STAGE_WORK, REASON_budget_signatures,
			   "limit of signature verifications for one query reached");
		return false;
	}
	work = work_of(c);
	c->tried++;
	c->worked += work;
	*c->how->signatures -= (int)work;
	return true;
}

/* A good signature is not paid for like a bad one: anybody can send bad ones for other people's zones, and
 * an answer may need many good ones. */
static void pay_for_success(struct check *c, const struct crypto_key *key)
{
	unsigned work = work_of(c), cost = crypto_key_cost(key);

	if (!c->how->good)
		return;
	*c->how->signatures += (int)work;
	*c->how->good -= (int)(work - 1 + cost + cost / 4); /* the slowest take nine times as long, and count as five */
}

/* Takes more work for a check that has failed, if it was a costly one: good signatures do not become
 * scarce by that. */
static void pay_for_failure(struct check *c, const struct crypto_key *key)
{
	unsigned more = crypto_key_cost(key) - 1;

	c->worked += more;
	*c->how->signatures -= (int)more;
}

static bool sum_holds(struct check *c, const struct zonekey *z, const struct rrsig *sig)
{
	char zone[DNAME_TEXT], name[24];
	const struct crypto_key *key;
	const char *why;

	if (octets_hold(&c->how->rules->fake, z->algorithm))
		return true;
	if (!take_work(c))
		return false;
	key = zonekey_parsed(z, &why);
	if (!key)
		check_fail(c, STAGE_SUM, REASON_key_broken, "DNSKEY %u (%s) of %s is unusable: %s",
			   z->tag, crypto_algorithm_name(z->algorithm, name),
			   dname_print(keyset_zone(c->keys), zone), why);
	if (!key)
		return false;
	if (crypto_verify(key, signed_data(c, sig), sig->signature)) {
		pay_for_success(c, key);
		return true;
	}
	pay_for_failure(c, key);
	check_fail(c, STAGE_SUM, REASON_sig_wrong,
		   "the RRSIG by key %u (%s) of %s does not verify", z->tag,
		   crypto_algorithm_name(z->algorithm, name), dname_print(keyset_zone(c->keys), zone));
	return false;
}

/* The sig_result on a set for which this signature holds. */
static struct sig_result secure(const struct rrset *set, const struct rrsig *sig, uint32_t ttl_s,
			     struct arena *a)
{
	struct verified v = { .set = set,
			      .zone = sig->signer,
			      .ttl_s = ttl_s,
			      .tag = sig->tag,
			      .labels = sig->labels,
			      .expanded = sig->labels < countable_labels(rrset_owner(set)) };

	return (struct sig_result){ .security = SECURITY_SECURE,
				 .verified = verified_new(a, &v),
				 .tag = sig->tag,
				 .algorithm = sig->algorithm,
				 .labels = sig->labels,
				 .expanded = v.expanded,
				 .ttl_s = ttl_s,
				 .expiration = sig->expiration };
}

static void succeed(struct check *c, const struct rrsig *sig, bool in_time)
{
	*c->out = secure(c->set, sig, ttl_of(c, sig), c->how->arena);
	c->out->dates_passed = !in_time;
}

static bool signature_holds(struct check *c, const struct rrsig *sig)
{
	struct tag_walk w = { .keys = c->keys, .tag = sig->tag };
	int i = next_candidate(c, &w, sig);
	bool in_time;

	if (i < 0) {
		fail_key(c, sig);
		return false;
	}
	in_time = is_in_time(c, sig);
	if (!in_time && (!c->how->dates_open || date_is_before(sig->expiration, sig->inception)))
		return false;
	for (unsigned keys = 0; i >= 0 && keys < c->how->rules->keys_per_tag; keys++) {
		if (sum_holds(c, &c->keys->key[i], sig)) {
			succeed(c, sig, in_time);
			return true;
		}
		i = next_candidate(c, &w, sig);
	}
	return false;
}

/* The checks of a signature that need no key. */
static bool signature_applies(struct check *c, struct slice rdata, struct rrsig *sig)
{
	char signer[DNAME_TEXT], zone[DNAME_TEXT], name[24];

	if (!rrsig_read(rdata, sig) || sig->covered != c->set->type || !sig->signature.len) {
		check_fail(c, STAGE_READ, REASON_sig_signer, "malformed RRSIG");
		return false;
	}
	if (!dname_equals(sig->signer, keyset_zone(c->keys))) {
		check_fail(c, STAGE_READ, REASON_sig_signer, "the RRSIG's signer is %s, not %s",
			   dname_print(sig->signer, signer),
			   dname_print(keyset_zone(c->keys), zone));
		return false;
	}
	if (!octets_hold(&c->how->rules->algorithms, sig->algorithm)) {
		check_fail(c, STAGE_ALGORITHM, REASON_rrsigs_missing,
			   "signed only with unsupported algorithm %s",
			   crypto_algorithm_name(sig->algorithm, name));
		return false;
	}
	return labels_fit(c, sig);
}

/* ---- one set ---- */

/* Whether the zone can be authoritative for the set at all (RFC 4035 2.4, 5.3.1). */
static bool zone_may_sign(struct check *c)
{
	const uint8_t *owner = rrset_owner(c->set), *zone = keyset_zone(c->keys);
	char text[DNAME_TEXT];
	bool may = c->set->type == TYPE_DS       ? dname_is_strictly_under(owner, zone)
		   : c->set->type == TYPE_DNSKEY ? dname_equals(owner, zone)
						 : dname_is_under(owner, zone);

	if (!may)
		check_fail(c, STAGE_READ, REASON_sig_signer, "%s is not authoritative for it",
			   dname_print(zone, text));
	return may;
}

bool check_signatures(struct check *c, struct octets *wanted)
{
	struct rrset_walk w = rrset_sigs(c->set);
	struct rrsig sig;

	if (c->set->sig_count == 0)
		check_fail(c, STAGE_START, REASON_rrsigs_missing, "no RRSIG");
	if (!zone_may_sign(c))
		return false;
	for (struct slice rd; rrset_next(&w, &rd);) {
		if (!signature_applies(c, rd, &sig) ||
		    (wanted && !octets_hold(wanted, sig.algorithm)))
			continue;
		if (!signature_holds(c, &sig)) {
			if (c->stage == STAGE_WORK)
				break;
			continue;
		}
		if (!wanted)
			return true;
		wanted->bits[sig.algorithm / 32] &= ~(UINT32_C(1) << (sig.algorithm % 32));
		if (octets_empty(wanted))
			return true;
	}
	return false;
}

void check_finish(struct check *c, bool good)
{
	if (good)
		return;
	c->out->security = c->broke ? SECURITY_UNCHECKED : SECURITY_BOGUS;
	c->out->verified = NULL;
	if (!c->out->text)
		check_fail(c, STAGE_START, REASON_bogus, "no valid RRSIG");
}

void check_fail_algorithm(struct check *c, const struct octets *missing)
{
	char name[24];

	/* One algorithm may have succeeded before another was found missing. */
	if (c->out->security == SECURITY_SECURE)
		*c->out = (struct sig_result){ .security = SECURITY_BOGUS };
	else if (c->out->text)
		return; /* the signature that failed says more */
	for (unsigned i = 0; i < 256; i++)
		if (octets_hold(missing, (uint8_t)i)) {
			check_fail(c, STAGE_SUM, REASON_algorithm_missing,
				   "the DS RRset or trust anchor lists algorithm %s, but no RRSIG of it is valid",
				   crypto_algorithm_name((uint8_t)i, name));
			return;
		}
}

void verify_set(const struct rrset *set, const struct keyset *keys, const struct verify_how *how,
		struct sig_result *out)
{
	struct octets wanted = keys->wanted;
	bool every = how->rules->every_algorithm && !octets_empty(&wanted);
	struct check c;
	bool good;

	check_begin(&c, set, keys, how, out);
	good = check_signatures(&c, every ? &wanted : NULL);
	if (!good && every)
		check_fail_algorithm(&c, &wanted);
	check_finish(&c, good);
	check_end(&c);
}

void verify_set_by(const struct rrset *set, const struct keyset *keys, unsigned i,
		   const struct verify_how *how, struct sig_result *out)
{
	struct check c;

	check_begin(&c, set, keys, how, out);
	c.only = (int)i;
	check_finish(&c, check_signatures(&c, NULL));
	check_end(&c);
}

uint32_t verify_ttl_again(const struct rrset *set, const struct verify_how *how)
{
	struct rrset_walk w = rrset_sigs(set);
	uint32_t ttl_s = set->sig_count && !how->dates_open ? UINT32_MAX : 0;
	struct rrsig sig;

	for (struct slice rd; rrset_next(&w, &rd);) {
		if (!rrsig_read(rd, &sig))
			return 0;
		ttl_s = MIN(ttl_s, MAX(sig.original_ttl_s, how->rules->least_ttl_s));
		if (how->rules->date == DATE_ANY)
			continue;
		if (date_is_before(how->now, sig.inception) ||
		    !date_is_before(how->now, sig.expiration))
			return 0;
		ttl_s = MIN(ttl_s, sig.expiration - how->now);
	}
	return ttl_s;
}

bool verify_again(const struct rrset *set, const struct rrset *kept, bool expanded,
		  const struct keyset *keys, const struct verify_how *how, struct sig_result *out)
{
	struct rrset_walk w = rrset_sigs(set);
	uint32_t ttl_s = verify_ttl_again(set, how);
	struct rrsig first = { .signer = NULL }, sig;

	if (kept->security != SECURITY_SECURE || ttl_s == 0 || !rrset_same_records(kept, set) ||
	    !rrset_same_signatures(kept, set))
		return false;
	for (struct slice rd; rrset_next(&w, &rd);) {
		if (!rrsig_read(rd, &sig) || !dname_equals(sig.signer, keyset_zone(keys)))
			return false;
		if (!first.signer)
			first = sig;
		if (sig.labels != first.labels)
			return false;
	}
	if (expanded != (first.labels < countable_labels(rrset_owner(set))))
		return false;
	*out = secure(set, &first, ttl_s, how->arena);
	return true;
}

/* Whether a zone of this name can be the one that has the set: not the zone at a cut what is its parent's, nor
 * one at an NSEC3 owner, which is directly below its zone. */
static bool may_hold(const uint8_t *zone, const struct rrset *set)
{
	bool below = set->type == TYPE_DS || set->type == TYPE_NSEC3 ||
		     (set->type == TYPE_NSEC && !(set->flags & RRSET_NSEC_AT_APEX));

	return below ? dname_is_strictly_under(rrset_owner(set), zone) : dname_is_under(rrset_owner(set), zone);
}

const uint8_t *verify_signer(const struct rrset *set)
{
	const uint8_t *any = NULL, *closest = NULL;
	struct rrset_walk w = rrset_sigs(set);
	struct rrsig sig;

	for (struct slice rd; rrset_next(&w, &rd);) {
		if (!rrsig_read(rd, &sig))
			continue;
		any = sig.signer;
		if (may_hold(sig.signer, set) && (!closest || dname_is_under(sig.signer, closest)))
			closest = sig.signer;
	}
	return closest ? closest : any;
}

bool verify_names_signer(const struct rrset *set, const uint8_t *zone)
{
	struct rrset_walk w = rrset_sigs(set);
	struct rrsig sig;

	for (struct slice rd; rrset_next(&w, &rd);)
		if (rrsig_read(rd, &sig) && dname_equals(sig.signer, zone))
			return true;
	return false;
}
