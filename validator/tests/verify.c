/* Claims about signed sets: which signature proves them, to whom, until when, and at what cost.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "validator/tests/answer_fixture.h"

static void every_algorithm_proves_every_kind_of_set(void **state)
{
	(void)state;
	static const char *const zone_names[] = ZONE_NAMES;
	static const struct {
		const char *prefix;
		uint16_t type;
	} sets[] = { { "", TYPE_SOA }, { "", TYPE_NS }, { "", TYPE_MX }, { "", TYPE_DNSKEY },
		     { "www.", TYPE_A }, { "*.wild.", TYPE_TXT }, { "_s._tcp.", TYPE_SRV } };

	for (size_t i = 0; i < COUNT(zone_names); i++) {
		const char *zone = zone_names[i];
		/* what a check costs that fails */
		int failure = strcmp(zone, "p384") == 0 ? 4 : strcmp(zone, "ed448") == 0 ? 2 : 1;
		struct fixture c;

		fixture_open(&c, zone_names[i]);
		c.purse = 100;
		for (size_t j = 0; j < COUNT(sets); j++) {
			struct rrset *set = set_of(&c, sets[j].prefix, sets[j].type);

			verify_set(set, c.keys, &c.how, &c.v);
			if (c.v.security != SECURITY_SECURE)
				fail_msg("%s", c.v.text);
			assert_false(c.v.expanded || c.v.dates_passed);
			assert_null(c.v.text);
			assert_int_equal(c.v.ttl_s, 3600);
			assert_true(keyset_has_tag(c.keys, c.v.tag));
			/* One bit of the records, and it is not so. */
			((uint8_t *)rrset_record(set, 0).at)[rrset_record(set, 0).len - 2] ^= 1;
			verify_set(set, c.keys, &c.how, &c.v);
			assert_int_equal(c.v.security, SECURITY_BOGUS);
			assert_int_equal(c.v.reason, REASON_sig_wrong);
		}
		/* the keys are signed by both */
		assert_int_equal(c.purse, 100 - (int)COUNT(sets) - failure * (int)(COUNT(sets) + 1));
		assert_true(keyset_size(c.keys) > mem_size(c.keys));
		fixture_close(&c);
	}
}

/* Canonical form: order, case and doubles of what came make no difference (RFC 4034 6). */
static void it_does_not_matter_how_a_set_came(void **state)
{
	(void)state;
	struct fixture c;
	struct rrset *www, *mx;
	struct rrset_parts parts;
	struct slice records[4], sig = { NULL, 0 };
	struct rrset_walk w;

	fixture_open(&c, "p256");
	www = set_of(&c, "www.", TYPE_A);
	for (unsigned i = 0; i < 4; i++)
		records[i] = rrset_record(www, (2 * i + 1) % 3);
	w = rrset_sigs(www);
	assert_true(rrset_next(&w, &sig));
	parts = (struct rrset_parts){ .owner = N("WwW.P256.test."), .type = TYPE_A,
				      .class_ = CLASS_IN, .ttl_s = 17, .records = records,
				      .count = 4, .sigs = &sig, .sig_count = 1 };
	verify_set(rrset_build(&c.zone.arena, &parts), c.keys, &c.how, &c.v);
	assert_int_equal(c.v.security, SECURITY_SECURE);

	mx = set_of(&c, "", TYPE_MX);
	((uint8_t *)rrset_record(mx, 0).at)[3] ^= 0x20;
	verify_set(mx, c.keys, &c.how, &c.v);
	assert_int_equal(c.v.security, SECURITY_SECURE);
	fixture_close(&c);
}

/* The same records and signatures at another name. */
static struct rrset *moved(struct fixture *c, const struct rrset *set, const char *prefix)
{
	char owner[100];
	struct slice records[32], sigs[32];
	struct rrset_parts parts = { .type = set->type,
				     .class_ = set->class_, .ttl_s = set->ttl_s,
				     .records = records, .sigs = sigs };
	struct rrset_walk w = rrset_records(set);

	snprintf(owner, sizeof(owner), "%s%s", prefix, c->apex);
	parts.owner = N(owner);
	while (rrset_next(&w, &records[parts.count]))
		parts.count++;
	w = rrset_sigs(set);
	while (rrset_next(&w, &sigs[parts.sig_count]))
		parts.sig_count++;
	return rrset_build(&c->zone.arena, &parts);
}

static void a_wildcard_tells_where_it_stands(void **state)
{
	(void)state;
	static const struct {
		const char *prefix;
		bool good, expanded;
	} rows[] = {
		{ "*.wild.", true, false },
		{ "a.wild.", true, true },
		{ "a.b.c.wild.", true, true },
		{ "*.b.wild.", true, true },
		{ "wild.", false, false },
		{ "a.tame.", false, false },
	};
	struct fixture c;
	struct rrset *wild;

	fixture_open(&c, "ed25519");
	wild = set_of(&c, "*.wild.", TYPE_TXT);
	for (size_t i = 0; i < COUNT(rows); i++) {
		verify_set(moved(&c, wild, rows[i].prefix), c.keys, &c.how, &c.v);
		if ((c.v.security == SECURITY_SECURE) != rows[i].good ||
		    c.v.expanded != rows[i].expanded || (rows[i].good && c.v.labels != 3))
			fail_msg("%s", rows[i].prefix);
	}
	/* A denial from a wildcard tells so, too. */
	wild = moved(&c, set_of(&c, "*.wild.", TYPE_NSEC), "a.wild.");
	verify_set(wild, c.keys, &c.how, &c.v);
	assert_int_equal(c.v.security, SECURITY_SECURE);
	assert_true(c.v.expanded);
	fixture_close(&c);
}

/* Fields of a signature, one changed at a time. Arithmetic is pretended, so that only the rule
 * that is meant can refuse it. */
static void a_signature_must_fit_set_zone_and_time(void **state)
{
	(void)state;
	enum { COVERED = 0, ALGORITHM = 2, LABELS = 3, EXPIRATION = 8, INCEPTION = 12, TAG = 16,
	       SIGNER = 18 };
	static const struct {
		const char *why;
		size_t at;
		unsigned bytes;
		uint32_t value;
		enum reason want;       /* REASON_none: it is good */
		const char *says;
	} rows[] = {
		{ "as it is", LABELS, 1, 3, REASON_none, NULL },
		{ "covers another type", COVERED, 2, TYPE_AAAA, REASON_sig_signer, "malformed RRSIG" },
		{ "unknown algorithm", ALGORITHM, 1, 200, REASON_rrsigs_missing, "algorithm 200" },
		{ "no key has the algorithm", ALGORITHM, 1, 8, REASON_key_missing, "no such DNSKEY" },
		{ "no key has the tag", TAG, 2, 1, REASON_key_missing, "key 1 (ECDSAP256SHA256)" },
		{ "labels of the zone", LABELS, 1, 2, REASON_none, NULL },
		{ "labels above the zone", LABELS, 1, 1, REASON_sig_labels, "labels field of 1" },
		{ "labels of the root", LABELS, 1, 0, REASON_sig_labels, "labels field of 0" },
		{ "more labels than the name", LABELS, 1, 4, REASON_sig_labels, "labels field of 4" },
		{ "signed by a sibling", SIGNER, 1, 1, REASON_sig_signer, "signer is" },
		{ "expired a day ago, within the skew", EXPIRATION, 4, NOW - 86400, REASON_none, NULL },
		{ "expired two days ago", EXPIRATION, 4, NOW - 172800, REASON_sig_expired,
		  "2026-11-18 08:00:00 UTC, 2 days ago" },
		{ "begins in a day, within the skew", INCEPTION, 4, NOW + 86400, REASON_none, NULL },
		{ "begins in two days", INCEPTION, 4, NOW + 176400, REASON_sig_not_yet,
		  "2026-11-22 09:00:00 UTC, in 2 days 1 hour" },
		{ "expired a day and a second ago", EXPIRATION, 4, NOW - 86401, REASON_sig_expired, "1 day" },
		{ "begins in a day and a second", INCEPTION, 4, NOW + 86401, REASON_sig_not_yet, "in 1 day" },
		{ "expires before it begins", EXPIRATION, 4, 100, REASON_sig_bad_order,
		  "expiration before its inception" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct fixture c;
		struct rrset *set;
		uint8_t *sig;

		fixture_open(&c, "p256");
		octets_put(&c.rules.fake, 13);
		set = set_of(&c, "www.", TYPE_A);
		sig = first_sig(set);
		if (rows[i].at == SIGNER)
			sig[SIGNER + 1] ^= 1;
		else if (rows[i].bytes == 4)
			put_u32(sig + rows[i].at, rows[i].value);
		else if (rows[i].bytes == 2)
			put_u16(sig + rows[i].at, (uint16_t)rows[i].value);
		else
			sig[rows[i].at] = (uint8_t)rows[i].value;
		verify_set(set, c.keys, &c.how, &c.v);
		if (c.v.reason != rows[i].want ||
		    (c.v.security == SECURITY_SECURE) != (rows[i].want == REASON_none))
			fail_msg("%s: %s", rows[i].why, c.v.text);
		if (rows[i].says && !strstr(c.v.text, rows[i].says))
			fail_msg("%s: '%s' does not say '%s'", rows[i].why, c.v.text, rows[i].says);
		assert_true(!c.v.text || strncmp(c.v.text, "www.p256.test. A: ", 18) == 0);
		fixture_close(&c);
	}
}

static void a_signer_signs_for_its_own_zone_alone(void **state)
{
	(void)state;
	struct fixture c;
	struct rrset *set;

	fixture_open(&c, "p256");
	octets_put(&c.rules.fake, 13);
	set = set_of(&c, "www.", TYPE_A);
	set->type = TYPE_DS;
	first_sig(set)[1] = TYPE_DS;
	verify_set(set, c.keys, &c.how, &c.v);
	assert_int_equal(c.v.security, SECURITY_SECURE);
	set->type = TYPE_DNSKEY;                        /* that of a child is not its parent's */
	first_sig(set)[1] = TYPE_DNSKEY;
	verify_set(set, c.keys, &c.how, &c.v);
	assert_int_equal(c.v.reason, REASON_sig_signer);
	set = set_of(&c, "", TYPE_SOA);
	set->type = TYPE_DS;                            /* its own is its parent's */
	first_sig(set)[1] = TYPE_DS;
	verify_set(set, c.keys, &c.how, &c.v);
	assert_int_equal(c.v.reason, REASON_sig_signer);
	set = zone_set(&c.zone, "www.p256.test.", TYPE_A);
	set->sig_count = 0;
	verify_set(set, c.keys, &c.how, &c.v);
	assert_int_equal(c.v.reason, REASON_rrsigs_missing);
	assert_null(verify_signer(set));
	assert_name_is(verify_signer(set_of(&c, "", TYPE_SOA)), "p256.test.");
	fixture_close(&c);
}

static void time_to_live_ends_with_the_signature(void **state)
{
	(void)state;
	static const struct {
		uint32_t expiration, least_ttl_s, ttl_s;
	} rows[] = { { NOW + 100000, 0, 3600 }, { NOW + 100, 0, 100 },
		     { NOW, 0, 3600 },          { NOW - 86399, 0, 1 },
		     { NOW + 100000, 30, 3600 }, { NOW + 100000, 5000, 5000 },
		     { NOW + 100, 5000, 100 } };
	struct fixture c;

	fixture_open(&c, "p256");
	octets_put(&c.rules.fake, 13);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct rrset *set = set_of(&c, "www.", TYPE_A);

		put_u32(first_sig(set) + 8, rows[i].expiration);
		c.rules.least_ttl_s = rows[i].least_ttl_s;
		verify_set(set, c.keys, &c.how, &c.v);
		assert_int_equal(c.v.security, SECURITY_SECURE);
		assert_int_equal(c.v.ttl_s, rows[i].ttl_s);
		if (rows[i].expiration > NOW)
			assert_int_equal(verify_ttl_again(set, &c.how), rows[i].ttl_s);
	}
	fixture_close(&c);
}

static void dates_may_be_open_while_the_clock_is_wrong(void **state)
{
	(void)state;
	struct fixture c;
	struct rrset *set;

	fixture_open(&c, "ed448");
	set = set_of(&c, "www.", TYPE_A);
	c.how.now = 0;
	verify_set(set, c.keys, &c.how, &c.v);
	assert_int_equal(c.v.reason, REASON_sig_not_yet);
	c.how.dates_open = true;
	verify_set(set, c.keys, &c.how, &c.v);
	assert_int_equal(c.v.security, SECURITY_SECURE);
	assert_true(c.v.dates_passed);
	assert_int_equal(c.v.ttl_s, 3600);
	first_sig(set)[40] ^= 1;                        /* the sum is checked all the same */
	verify_set(set, c.keys, &c.how, &c.v);
	assert_int_equal(c.v.security, SECURITY_BOGUS);
	set = set_of(&c, "www.", TYPE_A);
	c.how.dates_open = false;
	c.how.now = get_u32(first_sig(set) + 8) - 1;
	verify_set(set, c.keys, &c.how, &c.v);
	assert_int_equal(c.v.ttl_s, 1);
	c.rules.date = DATE_ANY;
	verify_set(set, c.keys, &c.how, &c.v);
	assert_int_equal(c.v.security, SECURITY_SECURE);
	assert_int_equal(c.v.ttl_s, 3600);
	assert_false(c.v.dates_passed);
	fixture_close(&c);
}

/* What holds is paid from another purse than what does not. */
static void good_signatures_are_paid_for_apart(void **state)
{
	(void)state;
	static const struct {
		const char *why, *zone;
		int bad, good;          /* in the purses; good -1: there is none */
		bool flaw;
		enum security want;
		int left, good_left;
	} rows[] = {
		{ "one that holds", "p256", 5, 5, false, SECURITY_SECURE, 5, 4 },
		{ "a costly one that holds", "p384", 5, 5, false, SECURITY_SECURE, 5, 0 },
		{ "one that costs two", "ed448", 5, 5, false, SECURITY_SECURE, 5, 3 },
		{ "one that does not", "p256", 5, 5, true, SECURITY_BOGUS, 4, 5 },
		{ "a costly one that does not", "p384", 5, 5, true, SECURITY_BOGUS, 1, 5 },
		{ "the last that may fail holds", "p256", 1, 5, false, SECURITY_SECURE, 1, 4 },
		{ "the last that may hold", "p256", 5, 1, false, SECURITY_SECURE, 5, 0 },
		{ "none may fail any more", "p256", 0, 5, false, SECURITY_UNCHECKED, 0, 5 },
		{ "none may hold any more", "p256", 5, 0, false, SECURITY_UNCHECKED, 5, 0 },
		{ "one purse for both", "p256", 5, -1, false, SECURITY_SECURE, 4, -1 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct fixture c;
		struct rrset *set;
		int good = rows[i].good;

		fixture_open(&c, rows[i].zone);
		set = set_of(&c, "www.", TYPE_A);
		c.purse = rows[i].bad;
		c.how.good = good < 0 ? NULL : &good;
		if (rows[i].flaw)
			first_sig(set)[40] ^= 1;
		verify_set(set, c.keys, &c.how, &c.v);
		if (c.v.security != rows[i].want || c.purse != rows[i].left || good != rows[i].good_left)
			fail_msg("%s: %d, %d and %d are left", rows[i].why, c.v.security, c.purse, good);
		assert_int_equal(c.v.verified != NULL, rows[i].want == SECURITY_SECURE);
		fixture_close(&c);
	}
}

/* The set with this RRSIG added, before or behind its own; signer and labels are this, the rest is of no use. */
static struct rrset *with_sig(struct fixture *c, const struct rrset *set, const char *signer, uint8_t labels, bool first)
{
	uint8_t *fake = arena_take(&c->zone.arena, 18 + 255 + 64);
	struct slice records[32], sigs[32];
	struct rrset_parts p = { .owner = rrset_owner(set), .type = set->type, .class_ = set->class_,
				 .ttl_s = set->ttl_s, .expires_s = set->expires_s, .records = records, .sigs = sigs };
	struct rrset_walk w = rrset_records(set);
	struct slice rd;

	while (rrset_next(&w, &records[p.count]))
		p.count++;
	w = rrset_sigs(set);
	assert_true(rrset_next(&w, &rd));
	memset(fake, 0, 18 + 255 + 64);
	memcpy(fake, rd.at, 18);
	fake[3] = labels;
	memcpy(fake + 18, N(signer), dname_len(N(signer)));
	if (first)
		sigs[p.sig_count++] = (struct slice){ fake, 18 + dname_len(N(signer)) + 64 };
	sigs[p.sig_count++] = rd;
	if (!first)
		sigs[p.sig_count++] = (struct slice){ fake, 18 + dname_len(N(signer)) + 64 };
	return rrset_build(&c->zone.arena, &p);
}

static void what_was_verified_names_who_signed_it(void **state)
{
	(void)state;
	static const struct {
		const char *why, *signer;
		uint8_t labels;
	} rows[] = {
		{ "the zone above", "test.", 3 },
		{ "the root", ".", 3 },
		{ "a zone beside", "victim.", 3 },
		{ "the name itself", "www.p256.test.", 3 },
		{ "a wildcard's", "p256.test.", 2 },
		{ "the zone, too", "p256.test.", 3 },
	};

	for (size_t i = 0; i < 2 * COUNT(rows); i++) {
		const char *why = rows[i / 2].why;
		struct fixture c;
		const struct rrset *set, *kept;
		struct sig_result again;

		fixture_open(&c, "p256");
		set = with_sig(&c, set_of(&c, "www.", TYPE_A), rows[i / 2].signer, rows[i / 2].labels, i % 2);
		verify_set(set, c.keys, &c.how, &c.v);
		if (c.v.security != SECURITY_SECURE)
			fail_msg("%s, %zu: %s", why, i % 2, c.v.text);
		assert_ptr_equal(verified_set(c.v.verified), set);
		assert_true(dname_equals(verified_zone(c.v.verified), N("p256.test.")));
		assert_false(verified_is_expanded(c.v.verified));
		assert_int_equal(verified_labels(c.v.verified), 3);
		assert_int_equal(verified_tag(c.v.verified), c.v.tag);
		kept = verified_copy(c.v.verified, &c.zone.arena, 0);
		assert_int_equal(kept->sig_count, i / 2 == COUNT(rows) - 1 ? 2 : 1);
		/* seen once more as it is kept, nothing need be computed; as it came, it must be */
		assert_true(verify_again(kept, kept, false, c.keys, &c.how, &again));
		assert_true(dname_equals(verified_zone(again.verified), N("p256.test.")));
		assert_int_equal(verify_again(set, kept, false, c.keys, &c.how, &again),
				 i / 2 == COUNT(rows) - 1);
		assert_false(verify_again(set, set, false, c.keys, &c.how, &again));
		/* even if it were kept so: who signed it, and as what, would be open */
		((struct rrset *)(uintptr_t)set)->security = SECURITY_SECURE;
		assert_int_equal(verify_again(set, set, false, c.keys, &c.how, &again), i / 2 == COUNT(rows) - 1);
		fixture_close(&c);
	}
}

static void what_is_kept_is_good_for_its_zone_only(void **state)
{
	(void)state;
	struct fixture c, other;
	struct rrset *kept, *set;
	struct sig_result again;

	fixture_open(&c, "p256");
	fixture_open(&other, "p384");
	verify_set(set_of(&c, "www.", TYPE_A), c.keys, &c.how, &c.v);
	kept = verified_copy(c.v.verified, &c.zone.arena, 0);
	assert_true(verify_again(kept, kept, false, c.keys, &c.how, &again));
	assert_false(verify_again(kept, kept, true, c.keys, &c.how, &again));
	assert_false(verify_again(kept, kept, false, other.keys, &c.how, &again));
	set = set_of(&c, "www.", TYPE_A);
	assert_true(verify_again(set, kept, false, c.keys, &c.how, &again));
	first_sig(set)[40] ^= 1;
	assert_false(verify_again(set, kept, false, c.keys, &c.how, &again));
	kept->security = SECURITY_INSECURE;
	assert_false(verify_again(kept, kept, false, c.keys, &c.how, &again));
	kept->security = SECURITY_SECURE;
	c.how.now = NOW + 400000000; /* its signature has expired */
	assert_false(verify_again(kept, kept, false, c.keys, &c.how, &again));
	fixture_close(&other);
	fixture_close(&c);
}

/* Of several signatures that do not hold, the one that came farthest says why, wherever it stands. */
static void the_signature_that_came_farthest_is_told_of(void **state)
{
	(void)state;
	static const struct {
		const char *signer;
		uint8_t labels;
		bool late;              /* its own signature has expired; else it does not fit */
		enum reason want;
	} rows[] = {
		{ "p256.test.", 9, true, REASON_sig_expired },
		{ "test.", 3, true, REASON_sig_expired },
		{ "p256.test.", 9, false, REASON_sig_wrong },
		{ "test.", 3, false, REASON_sig_wrong },
	};

	for (size_t i = 0; i < 2 * COUNT(rows); i++) {
		struct fixture c;
		struct rrset *set;

		fixture_open(&c, "p256");
		set = set_of(&c, "www.", TYPE_A);
		if (rows[i / 2].late)
			put_u32(first_sig(set) + 8, NOW - 10 * 86400);
		else
			first_sig(set)[40] ^= 1;
		verify_set(with_sig(&c, set, rows[i / 2].signer, rows[i / 2].labels, i % 2), c.keys, &c.how, &c.v);
		if (c.v.security != SECURITY_BOGUS || c.v.reason != rows[i / 2].want)
			fail_msg("row %zu: %s (%s)", i, reason_text(c.v.reason), c.v.text);
		fixture_close(&c);
	}
}

/* An algorithm that the zone promises is missing, whatever else has signed. */
static void a_promised_algorithm_must_have_signed(void **state)
{
	(void)state;
	struct fixture c;

	fixture_open(&c, "p256");
	c.rules.every_algorithm = true;
	octets_put(&c.keys->wanted, 13);
	verify_set(set_of(&c, "www.", TYPE_A), c.keys, &c.how, &c.v);
	assert_int_equal(c.v.security, SECURITY_SECURE);
	c.keys->wanted = (struct octets){ { 0 } };
	c.purse = 32;
	octets_put(&c.keys->wanted, 15);
	verify_set(set_of(&c, "www.", TYPE_A), c.keys, &c.how, &c.v);
	assert_int_equal(c.v.security, SECURITY_BOGUS);
	assert_int_equal(c.v.reason, REASON_algorithm_missing);
	assert_int_equal(c.purse, 32); /* what is not wanted is not checked */
	fixture_close(&c);
}

/* Whose keys to ask for: of the signers the closest that can have the set, whatever stands beside it. */
static void the_signer_is_the_closest_that_can_have_the_set(void **state)
{
	(void)state;
	static const struct {
		const char *prefix;     /* of the owner */
		uint16_t type;
		uint8_t flags;
		const char *other;      /* signer beside p256.test. */
		const char *want;
	} rows[] = {
		{ "www.", TYPE_A, 0, "test.", "p256.test." },
		{ "www.", TYPE_A, 0, "www.p256.test.", "www.p256.test." },
		{ "www.", TYPE_A, 0, "a.www.p256.test.", "p256.test." },
		{ "www.", TYPE_A, 0, "victim.", "p256.test." },
		{ "www.", TYPE_DS, 0, "www.p256.test.", "p256.test." },
		{ "www.", TYPE_NSEC3, 0, "www.p256.test.", "p256.test." },
		{ "www.", TYPE_NSEC, 0, "www.p256.test.", "p256.test." },
		{ "www.", TYPE_NSEC, RRSET_NSEC_AT_APEX, "www.p256.test.", "www.p256.test." },
		{ "", TYPE_DS, 0, "test.", "test." },
		{ "", TYPE_NSEC, RRSET_NSEC_AT_APEX, "test.", "p256.test." },
	};

	for (size_t i = 0; i < 2 * COUNT(rows); i++) {
		struct fixture c;
		struct rrset *set;

		fixture_open(&c, "p256");
		set = with_sig(&c, moved(&c, set_of(&c, "www.", TYPE_A), rows[i / 2].prefix), rows[i / 2].other, 3, i % 2);
		set->type = rows[i / 2].type;
		set->flags = rows[i / 2].flags;
		if (!dname_equals(verify_signer(set), N(rows[i / 2].want)))
			fail_msg("row %zu", i);
		assert_true(verify_names_signer(set, N("p256.test.")));
		assert_true(verify_names_signer(set, N(rows[i / 2].other)));
		assert_false(verify_names_signer(set, N("nobody.")));
		fixture_close(&c);
	}
}

/* What is left of the time of a set verified before: of the signature that ends first, and of none that is not valid
 * now. */
static void what_was_verified_is_good_as_long_as_all_its_signatures(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		uint32_t begins, ends, ttl_s, least_ttl_s;
		enum rules_date date;
		bool open;
		uint32_t want;
	} rows[] = {
		{ "its TTL", NOW - 9, NOW + 9000, 3600, 0, DATE_CLOCK, false, 3600 },
		{ "its end", NOW - 9, NOW + 100, 3600, 0, DATE_CLOCK, false, 100 },
		{ "it ends now", NOW - 9, NOW, 3600, 0, DATE_CLOCK, false, 0 },
		{ "it ends in a second", NOW - 9, NOW + 1, 3600, 0, DATE_CLOCK, false, 1 },
		{ "it begins now", NOW, NOW + 9000, 3600, 0, DATE_CLOCK, false, 3600 },
		{ "it begins in a second", NOW + 1, NOW + 9000, 3600, 0, DATE_CLOCK, false, 0 },
		{ "whatever the date is", NOW + 1, NOW, 3600, 0, DATE_ANY, false, 3600 },
		{ "a longer TTL is wanted", NOW - 9, NOW + 9000, 3600, 5000, DATE_CLOCK, false, 5000 },
		{ "a shorter one is", NOW - 9, NOW + 9000, 3600, 50, DATE_CLOCK, false, 3600 },
		{ "while dates are open", NOW - 9, NOW + 9000, 3600, 0, DATE_CLOCK, true, 0 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct fixture c;
		struct rrset *set;

		fixture_open(&c, "p256");
		c.rules.date = rows[i].date;
		c.rules.least_ttl_s = rows[i].least_ttl_s;
		c.how.dates_open = rows[i].open;
		set = set_of(&c, "www.", TYPE_A);
		put_u32(first_sig(set) + 4, rows[i].ttl_s);
		put_u32(first_sig(set) + 8, rows[i].ends);
		put_u32(first_sig(set) + 12, rows[i].begins);
		if (verify_ttl_again(set, &c.how) != rows[i].want)
			fail_msg("%s: %u s", rows[i].why, verify_ttl_again(set, &c.how));
		set->sig_count = 0;
		assert_int_equal(verify_ttl_again(set, &c.how), 0);
		fixture_close(&c);
	}
}

/* Sets, keys and signatures of an attacker (KeyTrap): many signatures, many keys of one tag. */
static void work_is_bounded(void **state)
{
	(void)state;
	struct fixture c;
	struct rrset *set, *many, *twins;
	struct slice sigs[40], records[40], key = { NULL, 0 };
	struct rrset_parts parts;
	struct rrset_walk w;
	struct slice rd = { NULL, 0 };

	fixture_open(&c, "p256");
	set = set_of(&c, "www.", TYPE_A);
	w = rrset_sigs(set);
	assert_true(rrset_next(&w, &rd));
	for (size_t i = 0; i < COUNT(sigs); i++) {
		uint8_t *copy = arena_copy(&c.zone.arena, rd.at, rd.len);

		copy[rd.len - 1] = (uint8_t)(copy[rd.len - 1] + 1 + i);
		sigs[i] = (struct slice){ copy, rd.len };
	}
	parts = (struct rrset_parts){ .owner = rrset_owner(set), .type = TYPE_A,
				      .class_ = CLASS_IN, .records = records, .count = 1,
				      .sigs = sigs, .sig_count = COUNT(sigs) };
	records[0] = rrset_record(set, 0);
	many = rrset_build(&c.zone.arena, &parts);
	verify_set(many, c.keys, &c.how, &c.v);
	assert_int_equal(c.v.security, SECURITY_BOGUS);
	assert_int_equal(c.v.reason, REASON_budget_signatures);
	assert_int_equal(c.purse, 32 - 8);

	c.purse = 3;
	verify_set(many, c.keys, &c.how, &c.v);
	assert_int_equal(c.v.security, SECURITY_UNCHECKED);
	assert_int_equal(c.purse, 0);

	/* Forty keys with the tag of the one that signed: pairs of bytes change places. */
	c.purse = 32;
	for (unsigned i = 0; i < c.keys->count; i++)
		if (c.keys->key[i].tag == get_u16(rd.at + 16))
			key = c.keys->key[i].rdata;
	assert_non_null(key.at);
	for (size_t i = 0; i < COUNT(records); i++) {
		uint8_t *copy = arena_copy(&c.zone.arena, key.at, key.len), two[2];
		size_t a = 4 + 2 * (i % 15), b = 4 + 2 * (i % 15 + 1 + i / 15);

		memcpy(two, copy + a, 2);
		memcpy(copy + a, copy + b, 2);
		memcpy(copy + b, two, 2);
		assert_int_equal(rr_key_tag((struct slice){ copy, key.len }), rr_key_tag(key));
		records[i] = (struct slice){ copy, key.len };
	}
	parts = (struct rrset_parts){ .owner = N("p256.test."), .type = TYPE_DNSKEY,
				      .class_ = CLASS_IN, .records = records,
				      .count = COUNT(records) };
	keyset_unpin(c.keys);
	twins = rrset_build(&c.zone.arena, &parts);
	c.keys = keyset_new(twins);
	verify_set(set, c.keys, &c.how, &c.v);
	assert_int_equal(c.v.security, SECURITY_BOGUS);
	assert_int_equal(c.v.reason, REASON_key_broken);
	assert_int_equal(c.purse, 32 - 2);
	fixture_close(&c);
}

/* With a long owner the data to be hashed is much more than the records: that counts as more checks, but the
 * first is done whatever it costs. */
static void what_is_to_be_hashed_counts_as_work(void **state)
{
	(void)state;
	static const struct {
		unsigned records, checks, purse; /* of 32 */
	} rows[] = { { 10, 8, 32 - 8 }, { 1000, 2, 32 - 2 * 5 }, { 3000, 1, 32 - 13 } };
	struct fixture c;
	struct slice sigs[9], rd = { NULL, 0 };
	uint32_t addresses[3000];
	struct slice records[COUNT(addresses)];
	struct rrset_parts parts = { .type = TYPE_A, .class_ = CLASS_IN, .records = records,
				     .sigs = sigs, .sig_count = COUNT(sigs) };
	uint8_t owner[DNAME_MAX];
	char said[40];

	fixture_open(&c, "p256");
	for (size_t i = 0; i < COUNT(addresses); i++) {
		addresses[i] = (uint32_t)i;
		records[i] = (struct slice){ (uint8_t *)&addresses[i], 4 };
	}
	rd = (struct slice){ first_sig(set_of(&c, "www.", TYPE_A)), 0 };
	rd.len = 18 + dname_len(rd.at + 18) + 64;
	for (size_t i = 0; i < COUNT(sigs); i++) {
		uint8_t *copy = arena_copy(&c.zone.arena, rd.at, rd.len);

		copy[rd.len - 1] = (uint8_t)(copy[rd.len - 1] + 1 + i);
		copy[3] = 6; /* labels */
		sigs[i] = (struct slice){ copy, rd.len };
	}
	/* 3 labels of 63 bytes, one of 50: 253 with the zone's */
	for (unsigned i = 0; i < 4; i++) {
		owner[64 * i] = i < 3 ? 63 : 48;
		memset(owner + 64 * i + 1, 'a', owner[64 * i]);
	}
	memcpy(owner + 3 * 64 + 49, N("p256.test."), dname_len(N("p256.test.")));
	parts.owner = owner;
	for (size_t i = 0; i < COUNT(rows); i++) {
		c.purse = 32;
		parts.count = (uint16_t)rows[i].records;
		verify_set(rrset_build(&c.zone.arena, &parts), c.keys, &c.how, &c.v);
		assert_int_equal(c.v.security, SECURITY_BOGUS);
		assert_int_equal(c.v.reason, REASON_budget_signatures);
		snprintf(said, sizeof(said), "%u signature verifications failed", rows[i].checks);
		assert_non_null(strstr(c.v.text, said));
		assert_int_equal(c.purse, (int)rows[i].purse);
	}
	fixture_close(&c);
}

static void a_key_with_a_twin_is_found(void **state)
{
	(void)state;
	struct fixture c;
	struct slice records[4];
	struct rrset *keys;
	struct rrset_parts parts;

	fixture_open(&c, "p384");
	keys = set_of(&c, "", TYPE_DNSKEY);
	for (unsigned i = 0; i < keys->count; i++) {
		struct slice rd = rrset_record(keys, i);
		uint8_t *copy = arena_copy(&c.zone.arena, rd.at, rd.len), two[2];

		memcpy(two, copy + 4, 2);
		memcpy(copy + 4, copy + 10, 2);
		memcpy(copy + 10, two, 2);
		records[2 * i] = (struct slice){ copy, rd.len };
		records[2 * i + 1] = rd;
	}
	parts = (struct rrset_parts){ .owner = rrset_owner(keys), .type = TYPE_DNSKEY,
				      .class_ = CLASS_IN, .records = records, .count = 4 };
	keyset_unpin(c.keys);
	c.keys = keyset_new(rrset_build(&c.zone.arena, &parts));
	verify_set(set_of(&c, "www.", TYPE_A), c.keys, &c.how, &c.v);
	assert_int_equal(c.v.security, SECURITY_SECURE);
	fixture_close(&c);
}

/* RFC 8080 6.1 and RFC 6605 6.1: the standards' own examples. */
static void examples_of_the_standards_hold(void **state)
{
	(void)state;
	static const struct {
		const char *key, *ds, *record, *sig;
		uint16_t tag;
		uint32_t now;
	} rows[] = {
		{ "example.com. 3600 IN DNSKEY 257 3 15 l02Woi0iS8Aa25FQkUd9RMzZHJpBoRQwAQEX1SxZJA4=",
		  "example.com. 3600 IN DS 3613 15 2 3aa5ab37efce57f737fc1627013fee07bdf241bd10f3b1964"
		  "ab55c78e79a304b",
		  "example.com. 3600 IN MX 10 mail.example.com.",
		  "example.com. 3600 IN RRSIG MX 15 2 3600 1440021600 1438207200 3613 example.com. "
		  "oL9krJun7xfBOIWcGHi7mag5/hdZrKWw15jPGrHpjQeRAvTdszaPD+QLs3fx8A4M3e23mRZ9VrbpMngw"
		  "crqNAg==",
		  3613, 1439000000 },
		{ "example.net. 3600 IN DNSKEY 257 3 13 GojIhhXUN/u4v54ZQqGSnyhWJwaubCvTmeexv7bR6edb"
		  "krSqQpF64cYbcB7wNcP+e+MAnLr+Wi9xMWyQLc8NAA==",
		  "example.net. 3600 IN DS 55648 13 2 b4c8c1fe2e7477127b27115656ad6256f424625bf5c1e27"
		  "70ce6d6e37df61d17",
		  "www.example.net. 3600 IN A 192.0.2.1",
		  "www.example.net. 3600 IN RRSIG A 13 3 3600 20100909100439 20100812100439 55648 "
		  "example.net. qx6wLYqmh+l9oCKTN6qIc+bw6ya+KJ8oMz0YP107epXAyGmt+3SNruPFKG7tZoLBLlUz"
		  "GGus7ZwmwWep666VCw==",
		  55648, 1283000000 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct text_rr key, ds, record, sig;
		struct rrset_parts parts = { .class_ = CLASS_IN, .count = 1 };
		struct verify_how how;
		struct keyset *keys;
		struct rules rules;
		struct sig_result v;
		struct arena a;
		struct ds read;
		int purse = 9;

		arena_init(&a);
		rules_default(&rules);
		assert_true(text_rr_parse(&a, rows[i].key, NULL, &key, NULL));
		assert_true(text_rr_parse(&a, rows[i].ds, NULL, &ds, NULL));
		assert_true(text_rr_parse(&a, rows[i].record, NULL, &record, NULL));
		assert_true(text_rr_parse(&a, rows[i].sig, NULL, &sig, NULL));
		assert_int_equal(rr_key_tag(key.rdata), rows[i].tag);
		assert_true(ds_read(ds.rdata, &read) && ds_matches(&read, key.owner, key.rdata));
		parts.owner = key.owner;
		parts.type = TYPE_DNSKEY;
		parts.records = &key.rdata;
		keys = keyset_new(rrset_build(&a, &parts));
		parts.owner = record.owner;
		parts.type = record.type;
		parts.records = &record.rdata;
		parts.sigs = &sig.rdata;
		parts.sig_count = 1;
		how = (struct verify_how){ .rules = &rules, .arena = &a, .now = rows[i].now,
					   .signatures = &purse };
		verify_set(rrset_build(&a, &parts), keys, &how, &v);
		if (v.security != SECURITY_SECURE)
			fail_msg("%s", v.text);
		keyset_unpin(keys);
		arena_clear(&a);
	}
}

int main(void)
{
	const struct CMUnitTest claims[] = {
		cmocka_unit_test(every_algorithm_proves_every_kind_of_set),
		cmocka_unit_test(it_does_not_matter_how_a_set_came),
		cmocka_unit_test(a_wildcard_tells_where_it_stands),
		cmocka_unit_test(a_signature_must_fit_set_zone_and_time),
		cmocka_unit_test(a_signer_signs_for_its_own_zone_alone),
		cmocka_unit_test(time_to_live_ends_with_the_signature),
		cmocka_unit_test(dates_may_be_open_while_the_clock_is_wrong),
		cmocka_unit_test(good_signatures_are_paid_for_apart),
		cmocka_unit_test(what_was_verified_names_who_signed_it),
		cmocka_unit_test(what_is_kept_is_good_for_its_zone_only),
		cmocka_unit_test(the_signature_that_came_farthest_is_told_of),
		cmocka_unit_test(a_promised_algorithm_must_have_signed),
		cmocka_unit_test(the_signer_is_the_closest_that_can_have_the_set),
		cmocka_unit_test(what_was_verified_is_good_as_long_as_all_its_signatures),
		cmocka_unit_test(work_is_bounded),
		cmocka_unit_test(what_is_to_be_hashed_counts_as_work),
		cmocka_unit_test(a_key_with_a_twin_is_found),
		cmocka_unit_test(examples_of_the_standards_hold),
	};

	return cmocka_run_group_tests(claims, NULL, NULL);
}
