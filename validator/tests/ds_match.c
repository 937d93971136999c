/* Claims about a zone's keys, how they are read, and those who authenticate them: DS records and trust anchors.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/dns/rr.h"
#include "validator/crypto.h"
#include "validator/tests/answer_fixture.h"

/* Nobody has so many; looking for the key of each signature among them costs more than checking it. */
static void too_many_keys_are_not_believed(void **state)
{
	(void)state;
	for (unsigned count = RRSET_RECORDS_MOST; count <= RRSET_RECORDS_MOST + 1; count++) {
		bool too_many = count > RRSET_RECORDS_MOST;
		uint8_t made[RRSET_RECORDS_MOST][6];
		struct slice records[RRSET_RECORDS_MOST + 1];
		struct rrset_parts parts = { .type = TYPE_DNSKEY, .class_ = CLASS_IN, .records = records };
		struct rrset *keys, *ds;
		struct rrset_walk w;
		struct fixture c;

		fixture_open(&c, "p256");
		keys = set_of(&c, "", TYPE_DNSKEY);
		ds = set_of(&c, "", TYPE_DS);
		w = rrset_sigs(keys);
		for (unsigned i = 0; i < keys->count; i++)
			records[parts.count++] = rrset_record(keys, i);
		for (size_t i = 0; parts.count < count; i++) {
			memcpy(made[i], "\1\0\3\15", 4);
			put_u16(made[i] + 4, (uint16_t)i);
			records[parts.count++] = (struct slice){ made[i], 6 };
		}
		keyset_unpin(c.keys);
		parts.owner = rrset_owner(keys);
		parts.sigs = arena_array(&c.zone.arena, struct slice, keys->sig_count);
		while (rrset_next(&w, (struct slice *)(uintptr_t)&parts.sigs[parts.sig_count]))
			parts.sig_count++;
		c.keys = keyset_new(rrset_build(&c.zone.arena, &parts));
		verify_keys(c.keys, ds, NULL, &c.how, &c.v);
		assert_int_equal(c.v.security, SECURITY_BOGUS); /* at best its signature does not fit */
		assert_int_equal(strstr(c.v.text, "its 257 DNSKEYs are more") != NULL, too_many);
		assert_int_equal(c.purse == 32, too_many);
		/* of pretended arithmetic, what is not too much holds */
		octets_put(&c.rules.fake, 13);
		verify_keys(c.keys, ds, NULL, &c.how, &c.v);
		assert_int_equal(c.v.security == SECURITY_SECURE, !too_many);
		fixture_close(&c);
	}
}

/* One record of the DS set alone, or all but it. */
static struct rrset *some_ds(struct fixture *c, unsigned which, bool alone)
{
	struct rrset *ds = set_of(c, "", TYPE_DS);
	struct slice records[4];
	struct rrset_parts parts = { .owner = rrset_owner(ds), .type = TYPE_DS,
				     .class_ = CLASS_IN, .records = records };

	for (unsigned i = 0; i < ds->count; i++)
		if ((i == which) == alone)
			records[parts.count++] = rrset_record(ds, i);
	return rrset_build(&c->zone.arena, &parts);
}

static void keys_are_believed_by_ds_of_every_digest(void **state)
{
	(void)state;
	static const char *const zone_names[] = ZONE_NAMES;

	for (size_t i = 0; i < COUNT(zone_names); i++) {
		struct fixture c;

		fixture_open(&c, zone_names[i]);
		for (unsigned digest = 0; digest < 3; digest++) {
			struct rrset *ds = some_ds(&c, digest, true);

			c.purse = 32;
			assert_true(ds_is_believed(ds, &c.rules));
			verify_keys(c.keys, ds, NULL, &c.how, &c.v);
			if (c.v.security != SECURITY_SECURE)
				fail_msg("%s", c.v.text);
			((uint8_t *)rrset_record(ds, 0).at)[10] ^= 1;
			verify_keys(c.keys, ds, NULL, &c.how, &c.v);
			assert_int_equal(c.v.security, SECURITY_BOGUS);
			assert_int_equal(c.v.reason, REASON_dnskey_missing);
			assert_non_null(strstr(c.v.text, "DS RRset of the parent zone (key tag "));
		}
		verify_keys(c.keys, NULL, set_of(&c, "", TYPE_DNSKEY), &c.how, &c.v);
		assert_int_equal(c.v.security, SECURITY_SECURE);
		fixture_close(&c);
	}
}

static void what_is_not_believed_in_is_insecure(void **state)
{
	(void)state;
	struct fixture c;
	struct rrset *ds;

	fixture_open(&c, "rsasha1");
	rules_default(&c.rules);                        /* RFC 9905 */
	ds = set_of(&c, "", TYPE_DS);
	assert_false(ds_is_believed(ds, &c.rules));
	verify_keys(c.keys, ds, NULL, &c.how, &c.v);
	assert_int_equal(c.v.security, SECURITY_INSECURE);
	assert_int_equal(c.v.reason, REASON_algorithm_unknown);
	fixture_close(&c);

	fixture_open(&c, "p256");
	ds = some_ds(&c, 0, true);
	((uint8_t *)rrset_record(ds, 0).at)[3] = 200;
	assert_false(ds_is_believed(ds, &c.rules));
	verify_keys(c.keys, ds, NULL, &c.how, &c.v);
	assert_int_equal(c.v.security, SECURITY_INSECURE);
	assert_int_equal(c.v.reason, REASON_digest_unknown);
	fixture_close(&c);
}

/* RFC 4509 3, and harden-algo-downgrade. */
static void ds_records_with_sha1_are_used_last(void **state)
{
	(void)state;
	struct fixture c;
	struct rrset *ds;

	fixture_open(&c, "p256");
	ds = set_of(&c, "", TYPE_DS);
	for (unsigned i = 0; i < ds->count; i++) {
		uint8_t *rd = (uint8_t *)rrset_record(ds, i).at;

		if (rd[3] != 1)
			rd[20] ^= 1;                    /* all but SHA-1 are wrong */
	}
	verify_keys(c.keys, ds, NULL, &c.how, &c.v);
	assert_int_equal(c.v.security, SECURITY_SECURE);
	c.rules.every_algorithm = true;
	verify_keys(c.keys, ds, NULL, &c.how, &c.v);
	assert_int_equal(c.v.security, SECURITY_BOGUS);
	assert_int_equal(c.v.reason, REASON_dnskey_missing);
	fixture_close(&c);
}

static void with_hardening_every_algorithm_must_have_signed(void **state)
{
	(void)state;
	struct fixture c;
	struct rrset *ds;

	fixture_open(&c, "p256");
	c.rules.every_algorithm = true;
	ds = set_of(&c, "", TYPE_DS);
	verify_keys(c.keys, ds, NULL, &c.how, &c.v);
	assert_int_equal(c.v.security, SECURITY_SECURE);
	assert_true(octets_hold(&c.keys->wanted, 13));
	verify_set(set_of(&c, "www.", TYPE_A), c.keys, &c.how, &c.v);
	assert_int_equal(c.v.security, SECURITY_SECURE);

	/* The one that there is does not hold: what is wrong with it is the reason. */
	c.how.now = NOW + 20 * 365 * 86400u;
	verify_set(set_of(&c, "www.", TYPE_A), c.keys, &c.how, &c.v);
	assert_int_equal(c.v.security, SECURITY_BOGUS);
	assert_int_equal(c.v.reason, REASON_sig_expired);
	c.how.now = NOW;

	/* The parent promises another algorithm as well. */
	((uint8_t *)rrset_record(ds, 1).at)[2] = 15;
	verify_keys(c.keys, ds, NULL, &c.how, &c.v);
	assert_int_equal(c.v.security, SECURITY_BOGUS);
	assert_int_equal(c.v.reason, REASON_algorithm_missing);
	assert_null(c.v.verified);
	assert_non_null(strstr(c.v.text, "ED25519"));
	octets_put(&c.keys->wanted, 15);
	verify_set(set_of(&c, "www.", TYPE_A), c.keys, &c.how, &c.v);
	assert_int_equal(c.v.reason, REASON_algorithm_missing);
	assert_null(c.v.verified);
	c.rules.every_algorithm = false;
	verify_keys(c.keys, ds, NULL, &c.how, &c.v);
	assert_int_equal(c.v.security, SECURITY_SECURE);
	fixture_close(&c);
}

static void a_revoked_dnskey_signs_only_its_own_revocation(void **state)
{
	(void)state;
	struct fixture c;
	struct rrset *set;
	unsigned signer = 0;

	fixture_open(&c, "p256");
	octets_put(&c.rules.fake, 13);
	for (unsigned i = 0; i < c.keys->count; i++)
		if (c.keys->key[i].flags & DNSKEY_SEP)
			signer = i;
	set = zone_set(&c.zone, "p256.test.", TYPE_DNSKEY);
	((uint8_t *)rrset_record(set, signer).at)[1] |= DNSKEY_REVOKE;
	keyset_unpin(c.keys);
	c.keys = keyset_new(set);
	for (struct rrset_walk w = rrset_sigs(set); w.left;) {
		struct slice rd = { NULL, 0 };

		assert_true(rrset_next(&w, &rd));
		put_u16((uint8_t *)rd.at + 16, c.keys->key[signer].tag);
	}
	assert_false(keyset_has_tag(c.keys, c.keys->key[signer].tag));
	verify_set(set, c.keys, &c.how, &c.v);
	assert_int_equal(c.v.reason, REASON_key_missing);
	assert_non_null(strstr(c.v.text, "revoked"));
	verify_set_by(set, c.keys, signer, &c.how, &c.v);
	assert_int_equal(c.v.security, SECURITY_SECURE);
	fixture_close(&c);
}

static void failing_ds_records_are_bounded(void **state)
{
	(void)state;
	struct fixture c;
	struct slice records[8];
	struct rrset *ds;
	struct rrset_parts parts;

	fixture_open(&c, "p256");
	ds = some_ds(&c, 1, true);
	for (size_t i = 0; i < COUNT(records); i++) {
		struct slice rd = rrset_record(ds, 0);

		records[i] = (struct slice){ arena_copy(&c.zone.arena, rd.at, rd.len), rd.len };
		if (i < 7)
			((uint8_t *)records[i].at)[8] ^= (uint8_t)(i + 1);
	}
	parts = (struct rrset_parts){ .owner = rrset_owner(ds), .type = TYPE_DS,
				      .class_ = CLASS_IN, .records = records, .count = 8 };
	verify_keys(c.keys, rrset_build(&c.zone.arena, &parts), NULL, &c.how, &c.v);
	assert_int_equal(c.v.security, SECURITY_BOGUS);
	assert_non_null(strstr(c.v.text, "4 DS records match no DNSKEY"));
	assert_int_equal(c.purse, 32);
	fixture_close(&c);
}

/* Keys whose flags or protocol are not those of a zone's sign nothing, whoever authenticates them. */
static void only_zone_keys_count(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		size_t at;
		uint8_t value;
		enum reason want;
		const char *says;
	} rows[] = {
		{ "protocol 2", 2, 2, REASON_dnskey_missing, "has protocol 3" },
		{ "no zone key", 0, 0, REASON_no_zone_key, "is a zone key" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct fixture c;
		struct rrset *set;

		fixture_open(&c, "p256");
		octets_put(&c.rules.fake, 13);
		set = set_of(&c, "", TYPE_DNSKEY);
		for (unsigned k = 0; k < set->count; k++)
			((uint8_t *)rrset_record(set, k).at)[rows[i].at] = rows[i].value;
		keyset_unpin(c.keys);
		c.keys = keyset_new(set);
		for (unsigned k = 0; k < c.keys->count; k++)
			assert_false(keyset_has_tag(c.keys, c.keys->key[k].tag));
		assert_int_equal(keyset_bits(c.keys), 0);
		verify_keys(c.keys, set_of(&c, "", TYPE_DS), NULL, &c.how, &c.v);
		assert_int_equal(c.v.security, SECURITY_BOGUS);
		if (c.v.reason != rows[i].want || !strstr(c.v.text, rows[i].says))
			fail_msg("%s: %s", rows[i].why, c.v.text);
		fixture_close(&c);
	}
}

/* A trust anchor that is a key, in whatever place of the set; with hardening all of its algorithms must have signed. */
static void anchors_that_are_keys_are_found_where_they_stand(void **state)
{
	(void)state;
	struct slice records[2], other;
	struct rrset_parts parts = { .type = TYPE_DNSKEY, .class_ = CLASS_IN, .records = records, .count = 1 };
	struct fixture c;
	struct rrset *keys;
	uint8_t *copy;

	fixture_open(&c, "p256");
	keys = set_of(&c, "", TYPE_DNSKEY);
	parts.owner = rrset_owner(keys);
	for (unsigned i = 0; i < c.keys->count; i++) {
		records[0] = c.keys->key[i].rdata;
		verify_keys(c.keys, NULL, rrset_build(&c.zone.arena, &parts), &c.how, &c.v);
		if (c.v.security != SECURITY_SECURE)
			fail_msg("key %u of %u: %s", i, c.keys->count, c.v.text);
	}
	/* Another one that the zone has not published, and one of another algorithm. */
	records[0] = c.keys->key[0].rdata;
	copy = arena_copy(&c.zone.arena, records[0].at, records[0].len);
	other = (struct slice){ copy, records[0].len };
	copy[3] = 15;
	records[1] = other;
	parts.count = 2;
	verify_keys(c.keys, NULL, rrset_build(&c.zone.arena, &parts), &c.how, &c.v);
	assert_int_equal(c.v.security, SECURITY_SECURE);
	c.rules.every_algorithm = true;
	verify_keys(c.keys, NULL, rrset_build(&c.zone.arena, &parts), &c.how, &c.v);
	assert_int_equal(c.v.security, SECURITY_BOGUS);
	assert_int_equal(c.v.reason, REASON_algorithm_missing);
	/* A revoked one is no anchor any more. */
	c.rules.every_algorithm = false;
	copy[3] = 13;
	copy[1] |= DNSKEY_REVOKE;
	records[0] = other;
	parts.count = 1;
	verify_keys(c.keys, NULL, rrset_build(&c.zone.arena, &parts), &c.how, &c.v);
	assert_int_equal(c.v.security, SECURITY_BOGUS);
	fixture_close(&c);
}

/* The zone's own DS record of SHA-256 between others, each with one byte changed: the third byte of the digest, the
 * tag, the algorithm, or the digest type. */
static struct rrset *ds_among(struct fixture *c, const char *others)
{
	struct rrset *ds = some_ds(c, 1, true);
	struct slice records[16], own = rrset_record(ds, 0);
	struct rrset_parts parts = { .owner = rrset_owner(ds), .type = TYPE_DS, .class_ = CLASS_IN, .records = records };

	for (; *others; others++) {
		uint8_t *copy = arena_copy(&c->zone.arena, own.at, own.len);

		if (*others == 'd')
			copy[6] = (uint8_t)(copy[6] + 1 + parts.count);
		if (*others == 't')
			copy[0] = (uint8_t)(copy[0] + 1 + parts.count);
		if (*others == 'a')
			copy[2] = (uint8_t)(200 + parts.count);
		if (*others == 'y')
			copy[3] = (uint8_t)(200 + parts.count);
		if (*others == 'A')
			copy[2] = 15;
		records[parts.count++] = (struct slice){ copy, own.len };
	}
	return rrset_build(&c->zone.arena, &parts);
}

/* "=": the right one; "d", "t", "a", "y": another digest, tag, unknown algorithm, unknown digest type. */
static void which_ds_records_count(void **state)
{
	(void)state;
	static const struct {
		const char *ds;
		bool believed;
		enum security want;
		enum reason reason;
		const char *says;
	} rows[] = {
		{ "=", true, SECURITY_SECURE, REASON_none, NULL },
		{ "ddd=", true, SECURITY_SECURE, REASON_none, NULL },
		{ "dddd=", true, SECURITY_BOGUS, REASON_dnskey_missing, "4 DS records match no DNSKEY" },
		{ "ddd", true, SECURITY_BOGUS, REASON_dnskey_missing, "matches the DS RRset of the parent zone (key tag " },
		{ "tttttttt=", true, SECURITY_SECURE, REASON_none, NULL },
		{ "tttttttt", true, SECURITY_BOGUS, REASON_dnskey_missing, " and more)" },
		{ "aaaa=", true, SECURITY_SECURE, REASON_none, NULL },
		{ "yyyyy=", true, SECURITY_SECURE, REASON_none, NULL },
		{ "a", false, SECURITY_INSECURE, REASON_algorithm_unknown, "no DNSKEY has a supported algorithm" },
		{ "ay", false, SECURITY_INSECURE, REASON_digest_unknown, "no DS record has a supported digest type" },
		{ "ya", false, SECURITY_INSECURE, REASON_digest_unknown, "no DS record has a supported digest type" },
		{ "yd", true, SECURITY_BOGUS, REASON_dnskey_missing, NULL },
		{ "A", true, SECURITY_BOGUS, REASON_dnskey_missing, NULL },
		{ "A=", true, SECURITY_SECURE, REASON_none, NULL },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct fixture c;
		struct rrset *ds;

		fixture_open(&c, "p256");
		ds = ds_among(&c, rows[i].ds);
		assert_int_equal(ds_is_believed(ds, &c.rules), rows[i].believed);
		if (!rows[i].believed)
			assert_int_equal(ds_disbelief(ds, &c.rules), rows[i].reason);
		verify_keys(c.keys, ds, NULL, &c.how, &c.v);
		if (c.v.security != rows[i].want || c.v.reason != rows[i].reason ||
		    (rows[i].says && !strstr(c.v.text, rows[i].says)))
			fail_msg("%s: %d %s (%s)", rows[i].ds, c.v.security, reason_text(c.v.reason), c.v.text);
		fixture_close(&c);
	}
}

/* With harden-algo-downgrade the algorithms of all records that count must have signed, but for SHA-1 digests beside
 * better ones. */
static void which_algorithms_must_have_signed(void **state)
{
	(void)state;
	enum { SHA1_ONLY, SHA1_STRANGE, STRONG_STRANGE, UNKNOWN_STRANGE };
	static const struct {
		const char *why;
		int way;
		enum security want;
	} rows[] = {
		{ "a SHA-1 digest, and no better one", SHA1_ONLY, SECURITY_SECURE },
		{ "another algorithm, by SHA-1", SHA1_STRANGE, SECURITY_SECURE },
		{ "another algorithm, by SHA-256", STRONG_STRANGE, SECURITY_BOGUS },
		{ "another algorithm, that nobody knows", UNKNOWN_STRANGE, SECURITY_SECURE },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct fixture c;
		struct rrset *ds;

		fixture_open(&c, "p256");
		c.rules.every_algorithm = true;
		ds = rows[i].way == SHA1_ONLY ? some_ds(&c, 0, true) : set_of(&c, "", TYPE_DS);
		for (unsigned k = 0; k < ds->count; k++) {
			uint8_t *rd = (uint8_t *)(uintptr_t)rrset_record(ds, k).at;

			if (rows[i].way == SHA1_ONLY)
				assert_int_equal(rd[3], DIGEST_SHA1);
			if ((rd[3] == DIGEST_SHA1 && rows[i].way == SHA1_STRANGE) ||
			    (rd[3] == DIGEST_SHA256 && rows[i].way == STRONG_STRANGE))
				rd[2] = 15;
			if (rd[3] == DIGEST_SHA256 && rows[i].way == UNKNOWN_STRANGE)
				rd[2] = 200;
		}
		verify_keys(c.keys, ds, NULL, &c.how, &c.v);
		if (c.v.security != rows[i].want)
			fail_msg("%s: %d (%s)", rows[i].why, c.v.security, c.v.text);
		assert_int_equal(octets_hold(&c.keys->wanted, 13), rows[i].want == SECURITY_SECURE);
		assert_false(octets_hold(&c.keys->wanted, 15));
		fixture_close(&c);
	}
}

/* Of the keys with a DS record's tag two are tried. */
static void a_ds_record_is_tried_with_two_keys_of_its_tag(void **state)
{
	(void)state;
	for (unsigned twins = 0; twins < 4; twins++) {
		struct fixture c;
		struct slice records[8], own = { NULL, 0 };
		struct rrset *keys;
		struct rrset_parts parts;
		struct rrset_walk w;

		fixture_open(&c, "p256");
		octets_put(&c.rules.fake, 13);
		keys = set_of(&c, "", TYPE_DNSKEY);
		for (unsigned i = 0; i < c.keys->count; i++)
			if (c.keys->key[i].flags & DNSKEY_SEP)
				own = c.keys->key[i].rdata;
		for (unsigned i = 0; i < twins; i++) {
			uint8_t *copy = arena_copy(&c.zone.arena, own.at, own.len), two[2];

			memcpy(two, copy + 4, 2);
			memcpy(copy + 4, copy + 6 + 2 * i, 2);
			memcpy(copy + 6 + 2 * i, two, 2);
			records[i] = (struct slice){ copy, own.len };
		}
		records[twins] = own;
		w = rrset_sigs(keys);
		parts = (struct rrset_parts){ .owner = rrset_owner(keys), .type = TYPE_DNSKEY, .class_ = CLASS_IN,
					      .records = records, .count = (uint16_t)(twins + 1) };
		parts.sigs = arena_array(&c.zone.arena, struct slice, keys->sig_count);
		while (rrset_next(&w, (struct slice *)(uintptr_t)&parts.sigs[parts.sig_count]))
			parts.sig_count++;
		keys = rrset_build(&c.zone.arena, &parts);
		keyset_unpin(c.keys);
		c.keys = keyset_new(keys);
		assert_int_equal(c.keys->count, twins + 1);
		verify_keys(c.keys, some_ds(&c, 1, true), NULL, &c.how, &c.v);
		if ((c.v.security == SECURITY_SECURE) != (twins < 2))
			fail_msg("%u twins before it: %d (%s)", twins, c.v.security, c.v.text);
		fixture_close(&c);
	}
}

/* RFC 5011 4.2: an anchor's key that is not in the set any more may have signed it; one that is there has to, or the
 * other one that is. */
static void an_anchor_that_is_missing_speaks_for_the_rest(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		bool shown, flaw, other; /* OTHER: an anchor is a key, too, that is in the set and has not signed it */
		enum security want;
		enum reason reason;
	} rows[] = {
		{ "in the set", true, false, false, SECURITY_SECURE, REASON_none },
		{ "not in the set", false, false, false, SECURITY_SECURE, REASON_none },
		{ "in the set, falsely", true, true, false, SECURITY_BOGUS, REASON_sig_wrong },
		{ "not in the set, falsely", false, true, false, SECURITY_BOGUS, REASON_bogus },
		{ "not in the set, where another is", false, false, true, SECURITY_BOGUS, REASON_key_missing },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct fixture c;
		struct slice records[2], all[4], sigs[4];
		struct rrset_parts anchor = { .type = TYPE_DNSKEY, .class_ = CLASS_IN, .records = records, .count = 1 }, parts;
		struct rrset *keys;
		struct rrset_walk w;
		unsigned signer = 0;

		fixture_open(&c, "p256");
		keys = set_of(&c, "", TYPE_DNSKEY);
		anchor.owner = rrset_owner(keys);
		for (unsigned k = 0; k < c.keys->count; k++)
			if (c.keys->key[k].flags & DNSKEY_SEP)
				signer = k;
		records[0] = c.keys->key[signer].rdata;
		if (rows[i].other)
			records[anchor.count++] = c.keys->key[!signer].rdata;
		if (!rows[i].shown) {
			/* a set that this key has signed, and is not in: made by pretending */
			octets_put(&c.rules.fake, 13);
			parts = (struct rrset_parts){ .owner = rrset_owner(keys), .type = TYPE_DNSKEY, .class_ = CLASS_IN,
						      .ttl_s = keys->ttl_s, .records = all, .sigs = sigs };
			for (unsigned k = 0; k < c.keys->count; k++)
				if (k != signer)
					all[parts.count++] = c.keys->key[k].rdata;
			w = rrset_sigs(keys);
			while (rrset_next(&w, &sigs[parts.sig_count]))
				if (get_u16(sigs[parts.sig_count].at + 16) == c.keys->key[signer].tag)
					parts.sig_count++;
			assert_int_equal(parts.sig_count, 1);
			if (rows[i].flaw)
				put_u16((uint8_t *)(uintptr_t)sigs[0].at + 16, 1);
			keys = rrset_build(&c.zone.arena, &parts);
		} else if (rows[i].flaw) {
			w = rrset_sigs(keys);
			for (struct slice rd; rrset_next(&w, &rd);)
				((uint8_t *)(uintptr_t)rd.at)[rd.len - 1] ^= 1;
		}
		struct rrset *trusted = rrset_build(&c.zone.arena, &anchor);
		keyset_unpin(c.keys);
		c.keys = keyset_new(keys);
		verify_keys(c.keys, NULL, trusted, &c.how, &c.v);
		if (c.v.security != rows[i].want || c.v.reason != rows[i].reason)
			fail_msg("%s: %d %s (%s)", rows[i].why, c.v.security, reason_text(c.v.reason), c.v.text);
		c.rules.every_algorithm = true; /* it has but the one */
		verify_keys(c.keys, NULL, trusted, &c.how, &c.v);
		assert_int_equal(c.v.security, rows[i].want);
		fixture_close(&c);
	}
}

/* With harden-algo-downgrade, trust anchors of two algorithms: both have to have signed, and it is enough that they have,
 * in whatever order they stand. */
static void anchors_of_two_algorithms_are_both_asked(void **state)
{
	(void)state;
	for (unsigned way = 0; way < 4; way++) {
		bool first = way & 1, both = way & 2;
		struct fixture c;
		struct slice records[2], sigs[8];
		struct rrset_parts parts = { .type = TYPE_DNSKEY, .class_ = CLASS_IN, .records = records, .count = 2, .sigs = sigs };
		const struct rrset *keys;
		struct rrset_walk w;
		struct slice rd;
		uint8_t *key, *sig;
		unsigned signer = 0;

		fixture_open(&c, "p256");
		octets_put(&c.rules.fake, 13);
		octets_put(&c.rules.fake, 15);
		c.rules.every_algorithm = true;
		keys = set_of(&c, "", TYPE_DNSKEY);
		for (unsigned k = 0; k < c.keys->count; k++)
			if (c.keys->key[k].flags & DNSKEY_SEP)
				signer = k;
		rd = c.keys->key[signer].rdata;
		key = arena_copy(&c.zone.arena, rd.at, rd.len);
		key[3] = 15;
		records[first] = rd;
		records[!first] = (struct slice){ key, rd.len };
		parts.owner = rrset_owner(keys);
		parts.ttl_s = keys->ttl_s;
		for (w = rrset_sigs(keys); rrset_next(&w, &rd);)
			if (get_u16(rd.at + 16) == c.keys->key[signer].tag)
				sigs[parts.sig_count++] = rd;
		assert_int_equal(parts.sig_count, 1);
		if (both) {
			sig = arena_copy(&c.zone.arena, sigs[0].at, sigs[0].len);
			sig[2] = 15;
			put_u16(sig + 16, rr_key_tag(records[!first]));
			sigs[parts.sig_count++] = (struct slice){ sig, sigs[0].len };
		}
		keys = rrset_build(&c.zone.arena, &parts);
		keyset_unpin(c.keys);
		c.keys = keyset_new(keys);
		verify_keys(c.keys, NULL, keys, &c.how, &c.v);
		if (c.v.security != (both ? SECURITY_SECURE : SECURITY_BOGUS))
			fail_msg("way %u: %d %s (%s)", way, c.v.security, reason_text(c.v.reason), c.v.text);
		fixture_close(&c);
	}
}

/* The set with one RRSIG that ends with its signer. */
static struct rrset *with_empty_sig(struct fixture *c, const struct rrset *set)
{
	struct slice records[32], sig = { NULL, 0 };
	struct rrset_parts p = { .owner = rrset_owner(set), .type = set->type, .class_ = set->class_,
				 .records = records, .sigs = &sig, .sig_count = 1 };
	struct rrset_walk w = rrset_records(set);

	while (rrset_next(&w, &records[p.count]))
		p.count++;
	w = rrset_sigs(set);
	assert_true(rrset_next(&w, &sig));
	sig.len = 18 + dname_len(sig.at + 18);
	return rrset_build(&c->zone.arena, &p);
}

/* What no zone file could have in it. */
static void records_that_cannot_be_read_say_nothing(void **state)
{
	(void)state;
	static const uint8_t zeros[24];
	struct fixture c;
	struct rrsig sig;
	struct slice key;
	struct ds ds;
	uint8_t *rd;

	/* Of a signature that ends before its signer does, what is left may look like a name. */
	for (size_t len = 0; len < 24; len++)
		assert_int_equal(rrsig_read((struct slice){ zeros, len }, &sig), len > 18);
	fixture_open(&c, "p256");
	rd = first_sig(set_of(&c, "www.", TYPE_A));
	for (size_t len = 0; len < 18 + 11; len++)
		assert_false(rrsig_read((struct slice){ rd, len }, &sig));
	assert_true(rrsig_read((struct slice){ rd, 18 + 11 }, &sig)); /* "p256.test." */
	assert_int_equal(sig.signature.len, 0);
	key = rrset_record(set_of(&c, "", TYPE_DNSKEY), 0);
	for (unsigned i = 0; i < c.keys->count; i++)
		if (c.keys->key[i].flags & DNSKEY_SEP)
			key = c.keys->key[i].rdata;
	assert_true(ds_read(rrset_record(set_of(&c, "", TYPE_DS), 1), &ds));
	assert_true(ds_matches(&ds, N(c.apex), key));
	assert_false(ds_matches(&ds, N("p384.test."), key));
	ds.tag++;
	assert_false(ds_matches(&ds, N(c.apex), key));
	ds.tag--;
	ds.algorithm++;
	assert_false(ds_matches(&ds, N(c.apex), key));
	ds.algorithm--;
	ds.digest.len--;
	assert_false(ds_matches(&ds, N(c.apex), key));
	/* Nothing at all is the digest of everything, were it counted. */
	ds.digest.len = 0;
	ds.digest_type = 200;
	assert_false(ds_matches(&ds, N(c.apex), key));
	/* A signature without a signature, and a set that is signed by nothing else. */
	octets_put(&c.rules.fake, 13);
	verify_set(with_empty_sig(&c, set_of(&c, "www.", TYPE_A)), c.keys, &c.how, &c.v);
	assert_int_equal(c.v.security, SECURITY_BOGUS);
	assert_int_equal(c.v.reason, REASON_sig_signer);
	fixture_close(&c);
}

/* What is known of keys without computing: their sizes, tags, and how many are cut. */
static void keys_are_read_from_their_records(void **state)
{
	(void)state;
	static const struct {
		const char *zone;
		unsigned bits;
	} rows[] = { { "p256", 256 }, { "p384", 384 }, { "ed25519", 256 }, { "ed448", 456 } };
	static const uint8_t dnskey[] = { 1, 1, 3, 13, 9 }, ds[] = { 1, 2, 13, 2, 9 };
	struct dnskey key;
	struct ds read;

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct fixture c;
		struct slice records[3];
		struct rrset_parts parts = { .type = TYPE_DNSKEY, .class_ = CLASS_IN, .records = records, .count = 3 };

		fixture_open(&c, rows[i].zone);
		assert_int_equal(keyset_bits(c.keys), rows[i].bits);
		/* a cut one is left out; one that is no zone key does not count */
		records[0] = (struct slice){ dnskey, 3 };
		records[1] = c.keys->key[0].rdata;
		records[2] = (struct slice){ dnskey, 4 };
		parts.owner = N(c.apex);
		struct keyset *few = keyset_new(rrset_build(&c.zone.arena, &parts));
		assert_int_equal(few->count, 2);
		assert_int_equal(keyset_bits(few), rows[i].bits);
		assert_true(keyset_has_tag(few, c.keys->key[0].tag));
		assert_false(keyset_has_tag(few, (uint16_t)(c.keys->key[0].tag + 1)));
		assert_ptr_equal(keyset_pin(few), few);
		keyset_unpin(few);
		assert_int_equal(few->count, 2);
		keyset_unpin(few);
		keyset_unpin(NULL);
		fixture_close(&c);
	}
	for (unsigned first = 0; first < 2; first++) { /* wherever the largest stands */
		struct fixture c;
		struct slice records[2];
		struct rrset_parts parts = { .type = TYPE_DNSKEY, .class_ = CLASS_IN, .records = records, .count = 2 };
		uint8_t *copy;
		struct keyset *k;

		fixture_open(&c, "p384");
		copy = arena_copy(&c.zone.arena, c.keys->key[0].rdata.at, c.keys->key[0].rdata.len);
		records[first] = c.keys->key[0].rdata;
		records[!first] = (struct slice){ copy, 4 + 64 };
		copy[3] = 13;
		parts.owner = N(c.apex);
		k = keyset_new(rrset_build(&c.zone.arena, &parts));
		assert_int_equal(keyset_bits(k), 384);
		copy[1] = copy[0] = 0;
		keyset_unpin(k);
		/* of a key that cannot be parsed the reason is told once, and its size is nothing */
		c.how.good = NULL;
		for (unsigned i = 0; i < c.keys->count; i++)
			memset((uint8_t *)(uintptr_t)c.keys->key[i].public_key.at, 0xff, c.keys->key[i].public_key.len);
		for (unsigned times = 0; times < 2; times++) {
			verify_set(set_of(&c, "www.", TYPE_A), c.keys, &c.how, &c.v);
			assert_int_equal(c.v.reason, REASON_key_broken);
			assert_non_null(strstr(c.v.text, times ? "is unusable: malformed" :
							       "is unusable: the point is not on the curve"));
			assert_int_equal(keyset_size(c.keys), mem_size(c.keys));
		}
		fixture_close(&c);
	}
	for (size_t len = 0; len <= sizeof(dnskey); len++) {
		assert_int_equal(dnskey_read((struct slice){ dnskey, len }, &key), len >= 4);
		assert_int_equal(ds_read((struct slice){ ds, len }, &read), len >= 4);
	}
	assert_int_equal(key.flags, 0x0101);
	assert_int_equal(key.protocol, 3);
	assert_int_equal(key.algorithm, 13);
	assert_int_equal(key.public_key.len, 1);
	assert_int_equal(read.tag, 0x0102);
	assert_int_equal(read.digest.len, 1);
}

int main(void)
{
	const struct CMUnitTest claims[] = {
		cmocka_unit_test(too_many_keys_are_not_believed),
		cmocka_unit_test(keys_are_believed_by_ds_of_every_digest),
		cmocka_unit_test(what_is_not_believed_in_is_insecure),
		cmocka_unit_test(ds_records_with_sha1_are_used_last),
		cmocka_unit_test(with_hardening_every_algorithm_must_have_signed),
		cmocka_unit_test(a_revoked_dnskey_signs_only_its_own_revocation),
		cmocka_unit_test(failing_ds_records_are_bounded),
		cmocka_unit_test(only_zone_keys_count),
		cmocka_unit_test(which_ds_records_count),
		cmocka_unit_test(which_algorithms_must_have_signed),
		cmocka_unit_test(a_ds_record_is_tried_with_two_keys_of_its_tag),
		cmocka_unit_test(an_anchor_that_is_missing_speaks_for_the_rest),
		cmocka_unit_test(anchors_of_two_algorithms_are_both_asked),
		cmocka_unit_test(records_that_cannot_be_read_say_nothing),
		cmocka_unit_test(keys_are_read_from_their_records),
		cmocka_unit_test(anchors_that_are_keys_are_found_where_they_stand),
	};

	return cmocka_run_group_tests(claims, NULL, NULL);
}
