/* Claims about how the negative cache keeps its records: what takes long is done in small steps.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/cache/ranges.h"

#include <stdio.h>

#include "services/tests/made.h"
#include "util/tests/turn.h"

#define NOW 1000

enum { MANY = 10 * RANGES_STEPS };

static struct arena arena;
static struct ranges *ranges;
static struct ranges_at at;

static int begin(void **state)
{
	arena_init(&arena);
	ranges = ranges_new(64 << 20, 1);
	at = (struct ranges_at){ .zone = N("d.test."), .now_s = NOW, .most_s = 3600 };
	at.class_ = CLASS_IN;
	return in_a_turn(state);
}

static int end(void **state)
{
	ranges_free(ranges);
	after_a_turn(state);
	arena_clear(&arena);
	return 0;
}

static void put_nsec3(unsigned number, const char *salt)
{
	char text[160];
	struct rrset *set;
	struct nsec3 read;

	snprintf(text, sizeof text, "%032u.d.test. 300 NSEC3 1 0 0 %s %032u A", number, salt,
		 number + 1);
	set = made_set(&arena, NOW, text);
	assert_true(nsec3_read(set, at.zone, &read));
	ranges_put_nsec3(ranges, &at, set, &read);
}

static void put_many_nsec(void)
{
	for (unsigned i = 0; i < MANY; i++) {
		char text[80];

		snprintf(text, sizeof text, "n%04u.d.test. 300 NSEC n%04u.d.test. A", i, i + 1);
		ranges_put_nsec(ranges, &at, made_set(&arena, NOW, text));
	}
}

static void a_big_zone_changes_its_parameters_in_small_steps(void **state)
{
	struct ranges_facts facts;

	(void)state;
	for (unsigned i = 0; i < MANY; i++)
		put_nsec3(i, "AA");
	assert_int_equal(ranges_counted(ranges).records, MANY);
	for (unsigned i = 1; i < 10; i++) {
		put_nsec3(0, "BB");
		assert_int_equal(ranges_counted(ranges).records, MANY - i * RANGES_STEPS);
	}
	assert_true(ranges_know(ranges, &at, &facts));
	assert_int_equal(facts.salt[0], 0xaa);
	put_nsec3(0, "BB");
	assert_true(ranges_know(ranges, &at, &facts));
	assert_int_equal(facts.salt[0], 0xbb);
	assert_int_equal(ranges_counted(ranges).records, 1);
	assert_int_equal(ranges_counted(ranges).longest, RANGES_STEPS);
}

/* Who looks for a denial meanwhile waits for no more than a few of them to go. */
static void much_is_forgotten_in_small_steps(void **state)
{
	(void)state;
	put_many_nsec();
	assert_int_equal(ranges_counted(ranges).records, MANY);
	assert_int_equal(ranges_forget(ranges, at.zone), MANY);
	assert_int_equal(ranges_counted(ranges).zones, 0);
	put_many_nsec();
	assert_int_equal(ranges_drop_under(ranges, &at, at.zone), MANY);
	assert_int_equal(ranges_counted(ranges).records, 0);
	assert_int_equal(ranges_counted(ranges).longest, RANGES_STEPS);
	put_many_nsec();
	ranges_resize(ranges, 16 << 10);
	assert_in_range(ranges_counted(ranges).bytes, 1, 16 << 10);
	assert_int_equal(ranges_counted(ranges).longest, RANGES_STEPS);
}

/* What ranges_know says of the zone: nothing, or whether it has a proof beside those with opt-out. */
enum said { NOTHING, OPT_OUT, MORE };

static enum said said(bool no_opt_out)
{
	struct ranges_facts facts;
	struct ranges_at ask = at;

	ask.no_opt_out = no_opt_out;
	if (!ranges_know(ranges, &ask, &facts))
		return NOTHING;
	return facts.has_nsec || (facts.has_nsec3 && !facts.opts_out) ? MORE : OPT_OUT;
}

static void put_opt_out(unsigned number)
{
	char text[160];
	struct rrset *set;
	struct nsec3 read;

	snprintf(text, sizeof text, "%032u.d.test. 300 NSEC3 1 1 7 aabb %032u NS", number, number + 1);
	set = made_set(&arena, NOW, text);
	assert_true(nsec3_read(set, at.zone, &read));
	ranges_put_nsec3(ranges, &at, set, &read);
}

/* What is told without a lock is what the records say, whichever come and go. */
static void what_a_zone_has_is_known_from_its_records(void **state)
{
	(void)state;
	struct ranges_facts facts;
	struct ranges_at other = at;

	assert_int_equal(said(true), NOTHING);
	put_opt_out(1);
	assert_int_equal(said(true), OPT_OUT);
	assert_int_equal(said(false), OPT_OUT);
	assert_true(ranges_know(ranges, &at, &facts));
	assert_int_equal(facts.iterations, 7);
	assert_int_equal(facts.salt_len, 2);
	other.zone = N("e.test.");
	assert_false(ranges_know(ranges, &other, &facts));
	other = at;
	other.class_ = 3;
	assert_false(ranges_know(ranges, &other, &facts));

	ranges_put_nsec(ranges, &at, made_set(&arena, NOW, "a.d.test. 300 NSEC c.d.test. A"));
	assert_int_equal(said(true), MORE);
	ranges_drop_nsec(ranges, &at, N("b.d.test."));
	assert_int_equal(said(true), OPT_OUT);
	put_nsec3(5, "-"); /* the zone has given up opt-out, and its salt */
	assert_int_equal(said(true), MORE);
	assert_int_equal(ranges_forget(ranges, N("d.test.")), 1);
	assert_int_equal(said(true), NOTHING);
	assert_int_equal(said(false), NOTHING);
	put_opt_out(1);
	assert_int_equal(said(true), OPT_OUT);
}

int main(void)
{
#undef CLAIM
#define CLAIM(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest claims[] = {
		CLAIM(a_big_zone_changes_its_parameters_in_small_steps),
		CLAIM(much_is_forgotten_in_small_steps),
		CLAIM(what_a_zone_has_is_known_from_its_records),
	};

	return RUN_CLAIMS(claims, NULL, NULL);
}
