/* Claims about time.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/base/timebase.h"

#include <setjmp.h>
#include <stdarg.h>
#include <time.h>
#include <cmocka.h>

static void the_systems_time_goes_forward_together(void **state)
{
	(void)state;
	struct timebase t = { .played = false };
	uint64_t before;

	timebase_read(&t);
	before = t.now_us;
	assert_true(t.now_s > 0);
	assert_true(t.now_s == 1 || t.now_s == (uint32_t)(t.now_us / US_PER_S));
	assert_true(t.wall_s >= time(NULL) - 2 && t.wall_s <= time(NULL) + 2);
	nanosleep(&(struct timespec){ .tv_nsec = 2000000 }, NULL);
	timebase_read(&t);
	assert_true(t.now_us >= before + 2000);
}

static void a_played_clock_stands_where_it_was_put(void **state)
{
	(void)state;
	struct timebase t = { .played = false };

	timebase_play(&t, 0);
	assert_true(t.played && t.now_us == 0 && t.now_s == 0 && t.wall_s == 0);
	timebase_read(&t);
	assert_int_equal(t.now_us, 0);
	timebase_play(&t, 90 * US_PER_S + 999999);
	timebase_read(&t);
	assert_int_equal(t.now_us, 90999999);
	assert_int_equal(t.now_s, 90);
	assert_int_equal(t.wall_s, 90);
}

static void a_played_clock_jumps_unless_it_is_steady(void **state)
{
	(void)state;
	struct timebase t = { .played = false };

	assert_false(time_jumps(&t));
	timebase_play(&t, 0);
	assert_true(time_jumps(&t));
	t.steady = true;
	timebase_play(&t, 90 * US_PER_S);
	assert_true(t.steady && !time_jumps(&t));
}

static void expiry_holds_over_the_turn_of_the_counter(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		uint32_t now, expires;
		bool past;
		uint32_t left;
	} rows[] = {
		{ "to come", 100, 160, false, 60 },
		{ "reached", 100, 100, true, 0 },
		{ "long gone", 100, 1, true, 0 },
		{ "to come, past the turn", UINT32_MAX - 9, 10, false, 20 },
		{ "gone, before the turn", 5, UINT32_MAX, true, 0 },
		{ "farthest", 0, INT32_MAX, false, INT32_MAX },
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		if (time_is_past(rows[i].now, rows[i].expires) != rows[i].past ||
		    time_left(rows[i].now, rows[i].expires) != rows[i].left)
			fail_msg("%s: past %d, left %u", rows[i].why,
				 time_is_past(rows[i].now, rows[i].expires),
				 time_left(rows[i].now, rows[i].expires));
}

int main(void)
{
	const struct CMUnitTest claims[] = {
		cmocka_unit_test(the_systems_time_goes_forward_together),
		cmocka_unit_test(a_played_clock_stands_where_it_was_put),
		cmocka_unit_test(a_played_clock_jumps_unless_it_is_steady),
		cmocka_unit_test(expiry_holds_over_the_turn_of_the_counter),
	};

	return cmocka_run_group_tests(claims, NULL, NULL);
}
