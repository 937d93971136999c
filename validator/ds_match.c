/* Whether a zone's keys may be believed: DS records and trust anchors against them.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "validator/verify_private.h"

#include <stdio.h>
#include <string.h>

#include "util/dns/rr.h"
#include "validator/crypto.h"

struct ds_match {
	struct check check;
	const struct rules *rules;
	struct octets wanted, done; /* algorithms that must authenticate (every_algorithm; else none), and that have */
	unsigned failures;          /* DS records with a key's tag, but not its digest */
	unsigned matched;           /* matches of a record and a key, whether that signed or not */
	bool believed;              /* some record has a supported algorithm (and digest) */
};

/* Reads a DS record. True: its algorithm and digest are supported. */
static bool ds_counts(struct slice rdata, const struct rules *r, struct ds *ds)
{
	return ds_read(rdata, ds) && octets_hold(&r->algorithms, ds->algorithm) &&
	       octets_hold(&r->digests, ds->digest_type);
}

/* Whether the key, which is authenticated, has signed the set it is in. */
static bool key_signs(struct ds_match *v, unsigned i)
{
	const struct zonekey *z = &v->check.keys->key[i];

	v->matched++;
	v->check.only = (int)i;
	if (!check_signatures(&v->check, NULL))
		return false;
	octets_put(&v->done, z->algorithm);
	return true;
}

static bool is_finished(const struct ds_match *v)
{
	for (unsigned i = 0; i < 8; i++)
		if (v->wanted.bits[i] & ~v->done.bits[i])
			return false;
	return true;
}

/* Tries one DS record. True: the result is final. One for a key that is not there costs nothing: it may
 * be for a key to come. */
static bool try_ds(struct ds_match *v, const struct ds *ds)
{
	const struct keyset *keys = v->check.keys;
	struct tag_walk w = { .keys = keys, .tag = ds->tag };
	unsigned tried = 0, fitted = 0;

	if (octets_hold(&v->done, ds->algorithm))
		return false;
	for (int i; tried < v->rules->keys_per_tag && (i = keyset_next(&w)) >= 0;) {
		const struct zonekey *z = &keys->key[i];

		if (z->algorithm != ds->algorithm || !zonekey_may_sign(z))
			continue;
		tried++;
		if (!ds_matches(ds, keyset_zone(keys), z->rdata))
			continue;
		fitted++;
		if (key_signs(v, (unsigned)i))
			return is_finished(v);
		if (v->check.stage == STAGE_WORK)
			return true;
	}
	if (tried && fitted == 0 && ++v->failures >= v->rules->ds_failures) {
		check_fail(&v->check, STAGE_WORK, REASON_dnskey_missing,
			   "%u DS records match no DNSKEY, more are not tried", v->failures);
		return true;
	}
	return false;
}

/* Tries SHA-1 digests after all others, and with every_algorithm only if there are no others. True:
 * the result is final. */
static bool try_ds_set(struct ds_match *v, const struct rrset *set)
{
	struct rrset_walk all = rrset_records(set);
	bool strong = false;
	struct ds ds;

	for (struct slice rd; rrset_next(&all, &rd);)
		if (ds_counts(rd, v->rules, &ds)) {
			v->believed = true;
			strong |= ds.digest_type != DIGEST_SHA1;
		}
	for (unsigned pass = 0; pass < 2; pass++) {
		bool sha1 = pass == 1;
		struct rrset_walk w = rrset_records(set);

		if (sha1 && strong && v->rules->every_algorithm)
			break;
		for (struct slice rd; rrset_next(&w, &rd);)
			if (ds_counts(rd, v->rules, &ds) &&
			    (ds.digest_type == DIGEST_SHA1) == sha1 && try_ds(v, &ds))
				return true;
	}
	return false;
}

/* Sets what every_algorithm requires: the algorithms of all records that are supported. */
static void want_algorithms(struct ds_match *v, const struct rrset *ds_set,
			    const struct rrset *anchors)
{
	bool strong = false;
	struct rrset_walk w;
	struct slice rd;
	struct dnskey key;
	struct ds ds;

	for (w = rrset_records_if(ds_set); rrset_next(&w, &rd);)
		strong |= ds_counts(rd, v->rules, &ds) && ds.digest_type != DIGEST_SHA1;
	for (w = rrset_records_if(ds_set); rrset_next(&w, &rd);)
		if (ds_counts(rd, v->rules, &ds) &&
		    (!strong || ds.digest_type != DIGEST_SHA1))
			octets_put(&v->wanted, ds.algorithm);
	for (w = rrset_records_if(anchors); rrset_next(&w, &rd);)
		if (dnskey_read(rd, &key) && octets_hold(&v->rules->algorithms, key.algorithm))
			octets_put(&v->wanted, key.algorithm);
}

static bool try_anchors(struct ds_match *v, const struct rrset *anchors)
{
	const struct keyset *keys = v->check.keys;
	struct rrset_walk w = rrset_records(anchors);
	struct dnskey key;

	for (struct slice rd; rrset_next(&w, &rd);) {
		if (!dnskey_read(rd, &key) || !octets_hold(&v->rules->algorithms, key.algorithm))
			continue;
		v->believed = true;
		if (octets_hold(&v->done, key.algorithm))
			continue;
		for (unsigned i = 0; i < keys->count; i++) {
			const struct zonekey *z = &keys->key[i];

			if (z->rdata.len != rd.len || memcmp(z->rdata.at, rd.at, rd.len) != 0 ||
			    !zonekey_may_sign(z))
				continue;
			if (key_signs(v, i) && is_finished(v))
				return true;
			break;
		}
	}
	return false;
}

/* Whether a trusted key not in the set has signed it (RFC 5011 4.2: MISSING). */
static bool is_signed_by_anchor(const struct keyset *keys, const struct rrset *anchors,
				const struct verify_how *how, struct sig_result *out)
{
	struct keyset *trusted = keyset_new(anchors);
	struct sig_result v;

	verify_set(keys->dnskeys, trusted, how, &v);
	keyset_unpin(trusted);
	if (v.security == SECURITY_SECURE)
		*out = v;
	return v.security == SECURITY_SECURE;
}

/* Prints the tags of the keys authenticated: "12, 34 and more". */
static void print_tags(const struct rrset *set, char *to, size_t room)
{
	struct rrset_walk w = rrset_records_if(set);
	size_t len = 0;
	struct slice rd;

	*to = '\0';
	for (unsigned i = 0; i < 4 && rrset_next(&w, &rd); i++) {
		unsigned tag =
			set->type == TYPE_DS ? (rd.len >= 2 ? get_u16(rd.at) : 0) : rr_key_tag(rd);

		len += (size_t)snprintf(to + len, room - len, "%s%u", i ? ", " : "", tag);
	}
	if (set && set->count > 4)
		snprintf(to + len, room - len, " and more");
}

static void fail_match(struct ds_match *v, const struct rrset *ds, const struct rrset *anchors)
{
	const struct keyset *keys = v->check.keys;
	unsigned zone_keys = 0, flagged = 0;
	char tags[64];

	for (unsigned i = 0; i < keys->count; i++) {
		zone_keys += zonekey_is_one(&keys->key[i]);
		flagged += (keys->key[i].flags & DNSKEY_ZONE) != 0;
	}
	print_tags(ds ? ds : anchors, tags, sizeof(tags));
	if (flagged == 0)
		check_fail(&v->check, STAGE_START, REASON_no_zone_key,
			   "none of its %u DNSKEYs is a zone key", keys->count);
	else if (zone_keys == 0)
		check_fail(&v->check, STAGE_START, REASON_dnskey_missing,
			   "none of its %u DNSKEYs has protocol 3", keys->count);
	else
		check_fail(&v->check, STAGE_START, ds ? REASON_dnskey_missing : REASON_bogus,
			   "none of its %u DNSKEYs matches the %s (key tag %s)",
			   keys->count, ds ? "DS RRset of the parent zone" : "trust anchor", tags);
}

/* As verify_keys. */
static void find_matching_keys(struct ds_match *v, struct keyset *keys, const struct rrset *ds,
			      const struct rrset *anchors)
{
	struct octets missing;
	enum reason why;

	if (keys->dnskeys->count > RRSET_RECORDS_MOST) {
		check_fail(&v->check, STAGE_WORK, REASON_bogus, "its %u DNSKEYs are more than the limit",
			   keys->dnskeys->count);
		return;
	}
	if (v->rules->every_algorithm)
		want_algorithms(v, ds, anchors);
	if (!(anchors && try_anchors(v, anchors)) && ds)
		try_ds_set(v, ds);

	if (!v->believed) {
		why = ds ? ds_disbelief(ds, v->rules) : REASON_algorithm_unknown;
		check_fail(&v->check, STAGE_START, why, "%s, so the zone is insecure",
			   why == REASON_digest_unknown ? "no DS record has a supported digest type"
					    : "no DNSKEY has a supported algorithm");
		v->check.out->security = SECURITY_INSECURE;
		return;
	}
	if (v->check.stage != STAGE_WORK && octets_empty(&v->done) && anchors && v->matched == 0 &&
	    is_signed_by_anchor(keys, anchors, v->check.how, v->check.out))
		return;
	if (v->check.stage == STAGE_WORK || octets_empty(&v->done)) {
		if (v->matched == 0 && v->check.stage != STAGE_WORK)
			fail_match(v, ds, anchors);
		check_finish(&v->check, false);
		return;
	}
	if (v->rules->every_algorithm && !is_finished(v)) {
		for (unsigned i = 0; i < 8; i++)
			missing.bits[i] = v->wanted.bits[i] & ~v->done.bits[i];
		check_fail_algorithm(&v->check, &missing);
		check_finish(&v->check, false);
		return;
	}
	keys->wanted = v->wanted;
}

void verify_keys(struct keyset *keys, const struct rrset *ds, const struct rrset *anchors,
		 const struct verify_how *how, struct sig_result *out)
{
	struct ds_match v = { .rules = how->rules };

	check_begin(&v.check, keys->dnskeys, keys, how, out);
	find_matching_keys(&v, keys, ds, anchors);
	check_end(&v.check);
}

bool ds_is_believed(const struct rrset *ds_set, const struct rules *rules)
{
	struct rrset_walk w = rrset_records(ds_set);
	struct ds ds;

	for (struct slice rd; rrset_next(&w, &rd);)
		if (ds_counts(rd, rules, &ds))
			return true;
	return false;
}

enum reason ds_disbelief(const struct rrset *ds_set, const struct rules *rules)
{
	struct rrset_walk w = rrset_records(ds_set);
	struct ds ds;

	for (struct slice rd; rrset_next(&w, &rd);)
		if (ds_read(rd, &ds) &&
		    octets_hold(&rules->algorithms, ds.algorithm))
			return REASON_digest_unknown;
	return REASON_algorithm_unknown;
}
