/* Claims about the signature checks of one query: each is made once, and only so many in a turn.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "validator/checked_sigs.h"

#include "services/cache/rrset.h"
#include "services/mesh/mesh.h"
#include "services/query/query.h"
#include "util/base/loop.h"
#include "util/base/timebase.h"
#include "validator/tests/answer_fixture.h"
#include "validator/trust.h"

struct desk {
	struct fixture fixture;
	struct timebase time;
	struct env env;
	struct budget budget;
	struct query q;
	struct trust_store trust;
	struct checked_sigs sigs;
};

static void desk_open(struct desk *d)
{
	*d = (struct desk){ .budget = { .signatures = 32, .good_signatures = 384, .hashes = 100 } };
	fixture_open(&d->fixture, "p256");
	timebase_play(&d->time, 1000 * US_PER_S);
	d->env.time = &d->time;
	d->env.loop = loop_new_played();
	d->q.env = &d->env;
	d->q.budget = &d->budget;
	d->q.cache.rrsets = rrsetcache_new(1 << 20, 1);
	arena_init(&d->q.arena);
	d->trust.rules = d->fixture.rules;
	checked_sigs_begin(&d->sigs, &d->q, &d->trust);
	d->sigs.how.now = NOW;
	d->sigs.how.dates_open = false;
}

static void desk_close(struct desk *d)
{
	arena_clear(&d->q.arena);
	rrsetcache_free(d->q.cache.rrsets);
	loop_free(d->env.loop);
	fixture_close(&d->fixture);
}

/* Which budget has how much left of its share of the turn, one check or hash either way. */
static void checks_and_hashes_of_a_turn_are_limited(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		int signatures, good, hashes; /* that are spent in this turn */
		unsigned checks;              /* of all queries */
		bool want;
	} rows[] = {
		{ "nothing", 0, 0, 0, 0, false },
		{ "checks that failed", CHECKED_CHECKS - 1, 0, 0, 0, false },
		{ "one more", CHECKED_CHECKS, 0, 0, 0, true },
		{ "of both kinds", 1, CHECKED_CHECKS - 2, 0, 0, false },
		{ "of both kinds, one more", 1, CHECKED_CHECKS - 1, 0, 0, true },
		{ "hashes", 0, 0, CHECKED_HASHES - 1, 0, false },
		{ "one more", 0, 0, CHECKED_HASHES, 0, true },
		{ "all of them, which is not this turn's share", 0, 0, 100, 0, false },
		{ "by others", 0, 0, 0, MESH_CHECKS - 1, false },
		{ "one more by others", 0, 0, 0, MESH_CHECKS, true },
		{ "none may fail any more", 32, 0, 0, MESH_CHECKS, false },
		{ "all but one of those", 31, 0, 0, 0, true },
		{ "none may hold any more", 0, 384, 0, 0, false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct desk d;

		desk_open(&d);
		d.budget.signatures -= rows[i].signatures;
		d.budget.good_signatures -= rows[i].good;
		d.budget.hashes -= rows[i].hashes;
		d.env.checks = rows[i].checks;
		if (checked_sigs_is_tired(&d.sigs) != rows[i].want)
			fail_msg("%s", rows[i].why);
		checked_sigs_turn(&d.sigs);
		d.env.checks = 0;
		assert_false(checked_sigs_is_tired(&d.sigs));
		desk_close(&d);
	}
}

/* A set is checked once, whatever came of it; another one, or by other keys, is another check. */
static void what_was_checked_is_not_checked_again(void **state)
{
	(void)state;
	for (unsigned good = 0; good < 2; good++) {
		struct keyset *others;
		struct rrset *set, *twin;
		struct sig_result v, again;
		struct desk d;

		desk_open(&d);
		set = set_of(&d.fixture, "www.", TYPE_A);
		twin = rrset_copy(&d.fixture.zone.arena, set);
		others = keyset_new(zone_set(&d.fixture.zone, d.fixture.apex, TYPE_DNSKEY));
		if (!good)
			first_sig(set)[40] ^= 1;
		assert_true(checked_sigs_verify(&d.sigs, set, d.fixture.keys, &v));
		assert_int_equal(v.security, good ? SECURITY_SECURE : SECURITY_BOGUS);
		assert_int_equal(d.env.checks, 1);
		assert_true(checked_sigs_verify(&d.sigs, set, d.fixture.keys, &again));
		assert_int_equal(d.env.checks, 1);
		assert_ptr_equal(again.verified, v.verified);
		assert_int_equal(again.reason, v.reason);
		assert_true(checked_sigs_verify(&d.sigs, twin, d.fixture.keys, &again));
		assert_int_equal(again.security, SECURITY_SECURE);
		assert_int_equal(d.env.checks, 2);
		assert_true(checked_sigs_verify(&d.sigs, set, others, &again));
		assert_int_equal(d.env.checks, 3);
		/* nor does it matter that the turn is full */
		d.env.checks = MESH_CHECKS;
		assert_true(checked_sigs_verify(&d.sigs, set, d.fixture.keys, &again));
		assert_false(checked_sigs_verify(&d.sigs, set_of(&d.fixture, "", TYPE_SOA), d.fixture.keys, &again));
		keyset_unpin(others);
		desk_close(&d);
	}
}

int main(void)
{
	const struct CMUnitTest claims[] = {
		cmocka_unit_test(checks_and_hashes_of_a_turn_are_limited),
		cmocka_unit_test(what_was_checked_is_not_checked_again),
	};

	return cmocka_run_group_tests(claims, NULL, NULL);
}
