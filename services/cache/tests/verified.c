/* Claims about what was verified: how the RRset is kept that a signature was found to hold for.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/cache/verified_private.h"

#include "services/tests/made.h"
#include "util/tests/turn.h"

#define NOW 1000

#define SIG(labels, zone) \
	"www.a.test. 300 RRSIG A 13 " labels " 300 20300101000000 20200101000000 1 " zone " AA==\n"

static struct arena arena;

static int begin(void **state)
{
	arena_init(&arena);
	return in_a_turn(state);
}

static int end(void **state)
{
	arena_clear(&arena);
	return after_a_turn(state);
}

static void only_signatures_that_can_hold_are_kept(void **state)
{
	(void)state;
	static const struct {
		const char *why, *sigs;
		unsigned kept;
	} rows[] = {
		{ "one", SIG("3", "a.test."), 1 },
		{ "two of the zone", SIG("3", "a.test.") SIG("3", "A.test."), 2 },
		{ "one by the zone above", SIG("3", "test.") SIG("3", "a.test."), 1 },
		{ "one by a zone beside", SIG("3", "a.test.") SIG("3", "b.test."), 1 },
		{ "one by the root", SIG("3", "a.test.") SIG("3", "."), 1 },
		{ "one as of a wildcard", SIG("3", "a.test.") SIG("2", "a.test."), 1 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct rrset *set =
			made_set(&arena, NOW, arena_textf(&arena, "www.a.test. 300 A 192.0.2.1\n%s", rows[i].sigs));
		struct verified v = { .set = set, .zone = N("a.test."), .ttl_s = 100, .labels = 3 };
		const struct rrset *kept = verified_copy(&v, &arena, NOW + 10);

		if (kept->sig_count != rows[i].kept)
			fail_msg("%s: %u signatures", rows[i].why, kept->sig_count);
		assert_true(rrset_same_records(kept, set));
		assert_true(rrset_is(kept, rrset_owner(set), TYPE_A, CLASS_IN));
		assert_int_equal(kept->security, SECURITY_SECURE);
		assert_int_equal(kept->trust, TRUST_VALIDATED);
		assert_int_equal(set->security, SECURITY_UNCHECKED);
	}
}

static void it_is_kept_no_longer_than_its_signature_lets_it(void **state)
{
	(void)state;
	static const struct {
		uint32_t now_s, ttl_s, expires_s, shown_s;
	} rows[] = {
		{ NOW, 100, NOW + 100, 100 },
		{ NOW, 300, NOW + 300, 300 },
		{ NOW, 400, NOW + 300, 300 },
		{ NOW + 250, 100, NOW + 300, 100 },
		{ NOW + 250, 20, NOW + 270, 20 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct verified v = { .set = made_set(&arena, NOW, "www.a.test. 300 A 192.0.2.1\n" SIG("3", "a.test.")),
				      .zone = N("a.test."),
				      .ttl_s = rows[i].ttl_s,
				      .labels = 3 };
		const struct rrset *made = made_set(&arena, NOW, "x.www.a.test. 300 CNAME y.test.\n");
		const struct rrset *kept = verified_copy(&v, &arena, rows[i].now_s);

		assert_int_equal(kept->expires_s, rows[i].expires_s);
		assert_int_equal(kept->ttl_s, rows[i].shown_s);
		kept = verified_copy_made(&v, made, &arena, rows[i].now_s);
		assert_int_equal(kept->expires_s, rows[i].expires_s);
		assert_int_equal(kept->type, TYPE_CNAME);
		assert_int_equal(kept->security, SECURITY_SECURE);
	}
}

static void it_tells_what_it_was_made_of(void **state)
{
	(void)state;
	const struct rrset *set = made_set(&arena, NOW, "www.a.test. 300 A 192.0.2.1\n" SIG("2", "a.test."));
	struct verified v = { .set = set, .zone = N("a.test."), .ttl_s = 7, .tag = 5, .labels = 2, .expanded = true };
	const struct verified *w = verified_new(&arena, &v);

	assert_ptr_equal(verified_set(w), set);
	assert_ptr_equal(verified_zone(w), v.zone);
	assert_int_equal(verified_ttl_s(w), 7);
	assert_int_equal(verified_tag(w), 5);
	assert_int_equal(verified_labels(w), 2);
	assert_true(verified_is_expanded(w));
}

int main(void)
{
#undef CLAIM
#define CLAIM(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest claims[] = {
		CLAIM(only_signatures_that_can_hold_are_kept),
		CLAIM(it_is_kept_no_longer_than_its_signature_lets_it),
		CLAIM(it_tells_what_it_was_made_of),
	};

	return RUN_CLAIMS(claims, NULL, NULL);
}
