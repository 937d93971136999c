/* Claims about which of a zone's keys are asked to authenticate others, and which cannot.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <openssl/err.h>

#include "util/dns/rr.h"
#include "validator/crypto.h"
#include "validator/tests/answer_fixture.h"
#include "validator/verify_private.h"

/* A key set of two keys, of algorithm 13 and 15 or the other way round, that both have signed; only the first of these
 * two algorithms is pretended. */
static void lay_two_keys(struct fixture *c, bool turned)
{
	static uint8_t key[200], sig[200];
	struct slice records[2], sigs[2] = { { NULL, 0 }, { NULL, 0 } }, own = { NULL, 0 }, rd;
	const struct rrset *keys = set_of(c, "", TYPE_DNSKEY);
	struct rrset_parts parts = { .type = TYPE_DNSKEY, .class_ = CLASS_IN, .records = records, .count = 2, .sigs = sigs,
				     .sig_count = 2, .owner = rrset_owner(keys), .ttl_s = keys->ttl_s };
	struct rrset_walk w;

	octets_put(&c->rules.fake, 13);
	for (unsigned k = 0; k < c->keys->count; k++)
		if (c->keys->key[k].flags & DNSKEY_SEP)
			own = c->keys->key[k].rdata;
	memcpy(key, own.at, own.len);
	key[3] = 15;
	records[turned] = own;
	records[!turned] = (struct slice){ key, own.len };
	for (w = rrset_sigs(keys); rrset_next(&w, &rd);)
		if (get_u16(rd.at + 16) == rr_key_tag(own))
			sigs[0] = rd;
	memcpy(sig, sigs[0].at, sigs[0].len);
	sig[2] = 15;
	put_u16(sig + 16, rr_key_tag(records[!turned]));
	sigs[1] = (struct slice){ sig, sigs[0].len };
	keys = rrset_build(&c->zone.arena, &parts);
	keyset_unpin(c->keys);
	c->keys = keyset_new(keys);
}

/* The DS set for the keys of a set, from number `first` on. */
static struct rrset *ds_from(struct fixture *c, unsigned first)
{
	struct slice records[2];
	struct rrset_parts parts = { .type = TYPE_DS, .class_ = CLASS_IN, .records = records,
				     .owner = keyset_zone(c->keys) };

	for (unsigned i = first; i < c->keys->count; i++) {
		uint8_t *rd = arena_take(&c->zone.arena, 4 + CRYPTO_DIGEST_MAX);
		struct slice pieces[2] = { { parts.owner, dname_len(parts.owner) }, c->keys->key[i].rdata };
		size_t len = crypto_digest(DIGEST_SHA256, pieces, 2, rd + 4);

		put_u16(rd, c->keys->key[i].tag);
		rd[2] = c->keys->key[i].algorithm;
		rd[3] = DIGEST_SHA256;
		records[parts.count++] = (struct slice){ rd, 4 + len };
	}
	return rrset_build(&c->zone.arena, &parts);
}

/* Where one has authenticated a key, nothing is spent on the others, unless all algorithms have to. */
static void one_matching_ds_or_anchor_is_enough(void **state)
{
	(void)state;
	for (unsigned way = 0; way < 8; way++) {
		bool turned = way & 1, by_ds = way & 2, every = way & 4;
		struct fixture c;

		fixture_open(&c, "p256");
		lay_two_keys(&c, turned);
		c.rules.every_algorithm = every;
		verify_keys(c.keys, by_ds ? ds_from(&c, 0) : NULL, by_ds ? NULL : c.keys->dnskeys, &c.how, &c.v);
		if (c.v.security != (every ? SECURITY_BOGUS : SECURITY_SECURE) || c.purse != 32 - (turned || every))
			fail_msg("way %u: %d (%s), %d checks left", way, c.v.security, c.v.text, c.purse);
		fixture_close(&c);
	}
}

/* RFC 5011 2.1: not even as an anchor, and in a set that it has signed. */
static void a_revoked_trust_anchor_authenticates_no_dnskey(void **state)
{
	(void)state;
	for (unsigned revoked = 0; revoked < 2; revoked++) {
		struct fixture c;
		struct rrset *set;
		struct slice sig;
		struct rrset_walk w;

		fixture_open(&c, "p256");
		octets_put(&c.rules.fake, 13);
		set = set_of(&c, "", TYPE_DNSKEY);
		for (unsigned i = 0; i < set->count && revoked; i++)
			((uint8_t *)(uintptr_t)rrset_record(set, i).at)[1] |= DNSKEY_REVOKE;
		keyset_unpin(c.keys);
		c.keys = keyset_new(set);
		w = rrset_sigs(c.keys->dnskeys);
		for (unsigned i = 0; rrset_next(&w, &sig); i++)
			put_u16((uint8_t *)(uintptr_t)sig.at + 16, c.keys->key[i % c.keys->count].tag);
		verify_keys(c.keys, NULL, set, &c.how, &c.v);
		assert_int_equal(c.v.security, revoked ? SECURITY_BOGUS : SECURITY_SECURE);
		fixture_close(&c);
	}
}

/* An anchor of an algorithm that nobody knows is as none: the zone counts as unsigned. */
static void an_anchor_of_no_algorithm_that_counts_is_none(void **state)
{
	(void)state;
	struct fixture c;
	struct slice record;
	struct rrset_parts parts = { .type = TYPE_DNSKEY, .class_ = CLASS_IN, .records = &record, .count = 1 };
	uint8_t *copy;

	fixture_open(&c, "p256");
	parts.owner = keyset_zone(c.keys);
	copy = arena_copy(&c.zone.arena, c.keys->key[0].rdata.at, c.keys->key[0].rdata.len);
	copy[3] = 200;
	record = (struct slice){ copy, c.keys->key[0].rdata.len };
	verify_keys(c.keys, NULL, rrset_build(&c.zone.arena, &parts), &c.how, &c.v);
	assert_int_equal(c.v.security, SECURITY_INSECURE);
	assert_int_equal(c.v.reason, REASON_algorithm_unknown);
	fixture_close(&c);
}

/* The size that a key set takes in the cache counts what was made of each key that was used. */
static void a_key_that_was_used_takes_room(void **state)
{
	(void)state;
	struct fixture c;
	size_t before;

	fixture_open(&c, "p256");
	for (unsigned i = 0; i < c.keys->count; i++) {
		const char *why;

		before = keyset_size(c.keys);
		assert_non_null(zonekey_parsed(&c.keys->key[i], &why));
		assert_true(keyset_size(c.keys) > before);
	}
	fixture_close(&c);
}

/* Where the limit of checks is reached before all algorithms have been tried, nothing is wrong with the zone, as far as is known. */
static void a_limit_is_no_missing_algorithm(void **state)
{
	(void)state;
	struct fixture c;

	fixture_open(&c, "p256");
	lay_two_keys(&c, false);
	c.rules.every_algorithm = true;
	c.purse = 0;
	verify_keys(c.keys, ds_from(&c, 0), NULL, &c.how, &c.v);
	assert_int_equal(c.v.security, SECURITY_UNCHECKED);
	assert_int_equal(c.v.reason, REASON_budget_signatures);
	assert_null(c.v.verified);
	fixture_close(&c);
}

/* A DS record for `key`, with that kind of digest. */
static struct slice ds_for(struct fixture *c, const struct zonekey *key, uint8_t digest)
{
	uint8_t *rd = arena_take(&c->zone.arena, 4 + CRYPTO_DIGEST_MAX);
	struct slice pieces[2] = { { keyset_zone(c->keys), dname_len(keyset_zone(c->keys)) }, key->rdata };

	put_u16(rd, key->tag);
	rd[2] = key->algorithm;
	rd[3] = digest;
	return (struct slice){ rd, 4 + crypto_digest(digest, pieces, 2, rd + 4) };
}

static struct rrset *ds_of(struct fixture *c, const struct slice *records, size_t count)
{
	return rrset_build(&c->zone.arena, &(struct rrset_parts){ .owner = keyset_zone(c->keys), .type = TYPE_DS, .class_ = CLASS_IN,
								  .records = records, .count = count });
}

/* With harden-algo-downgrade, an algorithm that has signed already does not speak for the others that are listed after it. */
static void each_algorithm_is_asked_however_often_it_is_listed(void **state)
{
	(void)state;
	for (unsigned second = 0; second < 2; second++) { /* whether the second algorithm has signed */
		struct slice records[3];
		struct fixture c;

		fixture_open(&c, "p256");
		lay_two_keys(&c, false);
		if (second)
			octets_put(&c.rules.fake, 15);
		c.rules.every_algorithm = true;
		records[0] = ds_for(&c, &c.keys->key[0], DIGEST_SHA256);
		records[1] = ds_for(&c, &c.keys->key[0], 4);
		records[2] = ds_for(&c, &c.keys->key[1], DIGEST_SHA256);
		verify_keys(c.keys, ds_of(&c, records, 3), NULL, &c.how, &c.v);
		if (c.v.security != (second ? SECURITY_SECURE : SECURITY_BOGUS))
			fail_msg("%u: %d (%s)", second, c.v.security, c.v.text);
		fixture_close(&c);
	}
}

/* A DS record for a key that is there, and has not signed, is none that fits no key. */
static void a_key_that_has_not_signed_is_still_a_key(void **state)
{
	(void)state;
	struct slice records[2], sigs[8], rd;
	struct rrset_parts parts = { .type = TYPE_DNSKEY, .class_ = CLASS_IN, .sigs = sigs };
	struct slice all[4];
	struct rrset *keys;
	struct rrset_walk w;
	struct fixture c;
	unsigned signer = 0;

	fixture_open(&c, "p256");
	octets_put(&c.rules.fake, 13);
	c.rules.ds_failures = 1;
	keys = set_of(&c, "", TYPE_DNSKEY);
	for (unsigned k = 0; k < c.keys->count; k++) {
		if (c.keys->key[k].flags & DNSKEY_SEP)
			signer = k;
		all[parts.count++] = c.keys->key[k].rdata;
	}
	assert_int_equal(c.keys->count, 2);
	parts.records = all;
	parts.owner = rrset_owner(keys);
	parts.ttl_s = keys->ttl_s;
	for (w = rrset_sigs(keys); rrset_next(&w, &rd);)
		if (get_u16(rd.at + 16) == c.keys->key[signer].tag)
			sigs[parts.sig_count++] = rd;
	keys = rrset_build(&c.zone.arena, &parts);
	keyset_unpin(c.keys);
	c.keys = keyset_new(keys);
	records[0] = ds_for(&c, &c.keys->key[!signer], DIGEST_SHA256);
	records[1] = ds_for(&c, &c.keys->key[signer], DIGEST_SHA256);
	verify_keys(c.keys, ds_of(&c, records, 2), NULL, &c.how, &c.v);
	if (c.v.security != SECURITY_SECURE)
		fail_msg("%s", c.v.text);
	verify_keys(c.keys, ds_of(&c, records, 1), NULL, &c.how, &c.v);
	assert_int_equal(c.v.security, SECURITY_BOGUS);
	fixture_close(&c);
}

/* Where there are both, an anchor or a DS record that matches is enough, whatever is wrong with the other; an anchor is the
 * whole key, and one of an algorithm that nobody knows asks for nothing. */
static void what_an_anchor_is(void **state)
{
	(void)state;
	enum { WHOLE, CUT, STRANGE, WRONG };
	static const struct {
		const char *why;
		int first, second; /* -1: there is one */
		int ds;            /* 1: right, 0: wrong, -1: none */
		bool every;
		enum security want;
	} rows[] = {
		{ "the key", WHOLE, -1, -1, false, SECURITY_SECURE },
		{ "its beginning", CUT, -1, -1, false, SECURITY_BOGUS },
		{ "the key, and a DS record for another", WHOLE, -1, 0, false, SECURITY_SECURE },
		{ "another key, and the right DS record", WRONG, -1, 1, false, SECURITY_SECURE },
		{ "another key, and a DS record for another", WRONG, -1, 0, false, SECURITY_BOGUS },
		{ "an algorithm that nobody knows beside it", STRANGE, WHOLE, -1, true, SECURITY_SECURE },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct slice records[2], ds;
		struct rrset_parts parts = { .type = TYPE_DNSKEY, .class_ = CLASS_IN, .records = records, .count = 1 };
		struct fixture c;
		unsigned signer = 0;

		fixture_open(&c, "p256");
		octets_put(&c.rules.fake, 13);
		c.rules.ds_failures = 1;
		c.rules.every_algorithm = rows[i].every;
		for (unsigned k = 0; k < c.keys->count; k++)
			if (c.keys->key[k].flags & DNSKEY_SEP)
				signer = k;
		for (unsigned n = 0; n < 2; n++) {
			struct slice own = c.keys->key[signer].rdata;
			uint8_t *copy = arena_copy(&c.zone.arena, own.at, own.len);
			int what = n ? rows[i].second : rows[i].first;

			if (what == STRANGE)
				copy[3] = 200;
			if (what == WRONG)
				copy[own.len - 1] ^= 1;
			records[n] = (struct slice){ copy, own.len - (what == CUT) };
		}
		parts.count = rows[i].second < 0 ? 1 : 2;
		parts.owner = keyset_zone(c.keys);
		ds = ds_for(&c, &c.keys->key[signer], DIGEST_SHA256);
		if (rows[i].ds == 0)
			((uint8_t *)(uintptr_t)ds.at)[10] ^= 1;
		verify_keys(c.keys, rows[i].ds < 0 ? NULL : ds_of(&c, &ds, 1), rrset_build(&c.zone.arena, &parts), &c.how, &c.v);
		if (c.v.security != rows[i].want)
			fail_msg("%s: %d (%s)", rows[i].why, c.v.security, c.v.text);
		fixture_close(&c);
	}
}

/* RFC 4035 5.2: tag, algorithm and digest have to be those of a zone key that is not revoked. Nobody else's is tried, so
 * that those before the right one, with its tag, keep it from nothing. */
static void a_ds_record_is_tried_with_keys_that_may_be_meant(void **state)
{
	(void)state;
	enum { OTHER_ALGORITHM, REVOKED, NO_ZONE_KEY, OTHER_PROTOCOL, WAYS };

	for (unsigned way = 0; way < WAYS; way++)
		for (unsigned alone = 0; alone < 2; alone++) {
			struct slice records[2], own = { NULL, 0 }, sigs[8], rd;
			struct rrset_parts parts = { .type = TYPE_DNSKEY, .class_ = CLASS_IN, .records = records, .sigs = sigs };
			struct fixture c;
			struct rrset *keys, *ds;
			uint8_t *other;
			struct rrset_walk w;

			fixture_open(&c, "p256");
			octets_put(&c.rules.fake, 13);
			c.rules.keys_per_tag = 1;
			c.rules.ds_failures = 1;
			keys = set_of(&c, "", TYPE_DNSKEY);
			for (unsigned k = 0; k < c.keys->count; k++)
				if (c.keys->key[k].flags & DNSKEY_SEP)
					own = c.keys->key[k].rdata;
			other = arena_copy(&c.zone.arena, own.at, own.len);
			if (way == OTHER_ALGORITHM)
				other[3] = 15;
			if (way == REVOKED)
				other[1] |= DNSKEY_REVOKE;
			if (way == NO_ZONE_KEY)
				other[0] &= (uint8_t)~1;
			if (way == OTHER_PROTOCOL)
				other[2] = 2;
			/* the tag is a sum of pairs of bytes: the last pair makes up for the change, and for what it carries */
			for (unsigned n = 0; n < 3; n++)
				put_u16(other + own.len - 2, (uint16_t)(get_u16(other + own.len - 2) + rr_key_tag(own) -
									rr_key_tag((struct slice){ other, own.len })));
			assert_int_equal(rr_key_tag((struct slice){ other, own.len }), rr_key_tag(own));
			records[parts.count++] = (struct slice){ other, own.len };
			if (!alone)
				records[parts.count++] = own;
			parts.owner = rrset_owner(keys);
			parts.ttl_s = keys->ttl_s;
			for (w = rrset_sigs(keys); rrset_next(&w, &rd);)
				sigs[parts.sig_count++] = rd;
			keys = rrset_build(&c.zone.arena, &parts);
			keyset_unpin(c.keys);
			c.keys = keyset_new(keys);
			ds = ds_from(&c, c.keys->count - 1);
			verify_keys(c.keys, ds, NULL, &c.how, &c.v);
			if (c.v.security != (alone ? SECURITY_BOGUS : SECURITY_SECURE))
				fail_msg("way %u, %s: %d (%s)", way, alone ? "alone" : "before the right one", c.v.security, c.v.text);
			fixture_close(&c);
		}
}

/* A DS record that ends with its algorithm says nothing of it. */
static void a_cut_ds_record_says_nothing(void **state)
{
	(void)state;
	const struct slice cut = { (const uint8_t *)"\1\2\15", 3 };
	struct rrset_parts parts = { .type = TYPE_DS, .class_ = CLASS_IN, .records = &cut, .count = 1 };
	struct fixture c;
	struct rrset *ds;

	fixture_open(&c, "p256");
	parts.owner = keyset_zone(c.keys);
	ds = rrset_build(&c.zone.arena, &parts);
	assert_false(ds_is_believed(ds, &c.rules));
	assert_int_equal(ds_disbelief(ds, &c.rules), REASON_algorithm_unknown);
	fixture_close(&c);
}

/* A larger key is counted as larger, and a check that fails leaves no error behind for who uses OpenSSL next. */
static void what_a_check_leaves(void **state)
{
	(void)state;
	static const char *const zones[] = { "p256", "p384", "rsasha256", "ed25519" };

	for (size_t i = 0; i < COUNT(zones); i++) {
		struct rrset *set;
		const char *why;
		struct fixture c;

		fixture_open(&c, zones[i]);
		set = set_of(&c, "www.", TYPE_A);
		memset(first_sig(set) + 18 + dname_len(N(c.apex)), 0xff, 32);
		verify_set(set, c.keys, &c.how, &c.v);
		assert_int_equal(c.v.reason, REASON_sig_wrong);
		assert_int_equal(ERR_peek_error(), 0);
		assert_true(crypto_key_size(zonekey_parsed(&c.keys->key[0], &why)) > 2000 + keyset_bits(c.keys) / 4);
		fixture_close(&c);
	}
}

int main(void)
{
	const struct CMUnitTest claims[] = {
		cmocka_unit_test(one_matching_ds_or_anchor_is_enough),
		cmocka_unit_test(what_a_check_leaves),
		cmocka_unit_test(a_revoked_trust_anchor_authenticates_no_dnskey),
		cmocka_unit_test(an_anchor_of_no_algorithm_that_counts_is_none),
		cmocka_unit_test(a_key_that_was_used_takes_room),
		cmocka_unit_test(a_ds_record_is_tried_with_keys_that_may_be_meant),
		cmocka_unit_test(a_limit_is_no_missing_algorithm),
		cmocka_unit_test(each_algorithm_is_asked_however_often_it_is_listed),
		cmocka_unit_test(a_key_that_has_not_signed_is_still_a_key),
		cmocka_unit_test(what_an_anchor_is),
		cmocka_unit_test(a_cut_ds_record_says_nothing),
	};

	return cmocka_run_group_tests_name("ds_match_which", claims, NULL, NULL);
}
