/* Claims about which of a zone's keys are asked to vouch, and which cannot.
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

/* The DS set for all keys of a set. */
static struct rrset *ds_of_all(struct fixture *c)
{
	struct slice records[2];
	struct rrset_parts parts = { .type = TYPE_DS, .class_ = CLASS_IN, .records = records,
				     .owner = keyset_zone(c->keys) };

	for (unsigned i = 0; i < c->keys->count; i++) {
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

/* Where one has vouched, nothing is spent on the others, unless all algorithms have to. */
static void one_matching_ds_or_anchor_is_enough(void **state)
{
	(void)state;
	for (unsigned way = 0; way < 8; way++) {
		bool turned = way & 1, by_ds = way & 2, every = way & 4;
		struct fixture c;

		fixture_open(&c, "p256");
		lay_two_keys(&c, turned);
		c.rules.every_algorithm = every;
		verify_keys(c.keys, by_ds ? ds_of_all(&c) : NULL, by_ds ? NULL : c.keys->dnskeys, &c.how, &c.v);
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
		cmocka_unit_test(a_cut_ds_record_says_nothing),
	};

	return cmocka_run_group_tests_name("vouch_which", claims, NULL, NULL);
}
