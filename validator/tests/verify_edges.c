/* Claims about limits on what verifies a set: those that were reached, and those of time.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "validator/tests/answer_fixture.h"

/* The set with these signatures. */
static struct rrset *signed_by(struct fixture *c, const struct rrset *set, const struct slice *sigs, size_t count)
{
	struct slice records[32];
	struct rrset_parts p = { .owner = rrset_owner(set), .type = set->type, .class_ = set->class_, .ttl_s = set->ttl_s,
				 .records = records, .sigs = sigs, .sig_count = count };
	struct rrset_walk w = rrset_records(set);

	while (rrset_next(&w, &records[p.count]))
		p.count++;
	return rrset_build(&c->zone.arena, &p);
}

/* A good signature behind as many false ones as are tried is not tried any more (CVE-2023-50387); nor is one for which
 * the query has nothing left. */
static void a_limit_that_is_reached_is_the_end(void **state)
{
	(void)state;
	for (unsigned wrong = 0; wrong < 4; wrong++) {
		struct slice sigs[4], good = { NULL, 0 };
		struct rrset_walk w;
		struct rrset *set;
		struct fixture c;

		fixture_open(&c, "p256");
		c.rules.sigs_per_set = 2;
		set = set_of(&c, "www.", TYPE_A);
		w = rrset_sigs(set);
		assert_true(rrset_next(&w, &good));
		for (unsigned i = 0; i < wrong; i++) {
			uint8_t *copy = arena_copy(&c.zone.arena, good.at, good.len);

			copy[good.len - 1] = (uint8_t)(copy[good.len - 1] + 1 + i);
			sigs[i] = (struct slice){ copy, good.len };
		}
		sigs[wrong] = good;
		set = signed_by(&c, set, sigs, wrong + 1);
		verify_set(set, c.keys, &c.how, &c.v);
		assert_int_equal(c.v.security, wrong < 2 ? SECURITY_SECURE : SECURITY_BOGUS);
		assert_int_equal(c.v.reason, wrong < 2 ? REASON_none : REASON_budget_signatures);
		c.rules.sigs_per_set = 8;
		c.purse = (int)wrong;
		verify_set(set, c.keys, &c.how, &c.v);
		assert_int_equal(c.v.security, SECURITY_UNCHECKED);
		fixture_close(&c);
	}
}

/* A tenth of a signature's lifetime is allowed for, within the limits (val-sig-skew-min, val-sig-skew-max). */
static void the_skew_is_a_tenth_of_the_lifetime(void **state)
{
	(void)state;
	enum { HOUR = 3600, LIFETIME = 100 * HOUR };
	static const struct {
		unsigned least_s, most_s, skew_s;
	} rows[] = {
		{ 0, 1000 * HOUR, LIFETIME / 10 }, { HOUR, 24 * HOUR, LIFETIME / 10 }, { 0, 5 * HOUR, 5 * HOUR },
		{ 20 * HOUR, 24 * HOUR, 20 * HOUR },
	};

	for (size_t i = 0; i < COUNT(rows) * 4; i++) {
		unsigned skew_s = rows[i / 4].skew_s;
		bool late = i & 1, over = i & 2;
		struct rrset *set;
		struct fixture c;
		uint8_t *rd;

		fixture_open(&c, "p256");
		octets_put(&c.rules.fake, 13);
		c.rules.skew_min_s = rows[i / 4].least_s;
		c.rules.skew_max_s = rows[i / 4].most_s;
		set = set_of(&c, "www.", TYPE_A);
		rd = first_sig(set);
		put_u32(rd + 8, late ? NOW - skew_s - over : NOW + skew_s + LIFETIME);
		put_u32(rd + 12, late ? NOW - skew_s - over - LIFETIME : NOW + skew_s + over);
		if (!late)
			put_u32(rd + 8, NOW + skew_s + over + LIFETIME);
		verify_set(set, c.keys, &c.how, &c.v);
		if (c.v.reason != (!over ? REASON_none : late ? REASON_sig_expired : REASON_sig_not_yet))
			fail_msg("row %zu, %s: %s", i / 4, late ? "late" : "early", reason_text(c.v.reason));
		fixture_close(&c);
	}
}

/* What a key set is made of may go: it has a copy. */
static void keys_outlive_the_set_they_came_in(void **state)
{
	(void)state;
	struct fixture c;
	struct rrset *set;
	struct keyset *keys;

	fixture_open(&c, "p256");
	set = rrset_copy(&c.zone.arena, set_of(&c, "", TYPE_DNSKEY));
	keys = keyset_new(set);
	memset(set, 0, set->size);
	verify_set(set_of(&c, "www.", TYPE_A), keys, &c.how, &c.v);
	assert_int_equal(c.v.security, SECURITY_SECURE);
	keyset_unpin(keys);
	fixture_close(&c);
}

int main(void)
{
	const struct CMUnitTest claims[] = {
		cmocka_unit_test(a_limit_that_is_reached_is_the_end),
		cmocka_unit_test(the_skew_is_a_tenth_of_the_lifetime),
		cmocka_unit_test(keys_outlive_the_set_they_came_in),
	};

	return cmocka_run_group_tests_name("verify_edges", claims, NULL, NULL);
}
