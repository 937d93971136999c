/* Claims about chance.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/base/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

static void a_played_generator_repeats_itself(void **state)
{
	(void)state;
	struct random a, b, other;
	uint8_t x[2000], y[2000];

	random_play(&a, 7);
	random_play(&b, 7);
	random_play(&other, 8);
	for (int i = 0; i < 300; i++) {
		uint64_t n = random_u64(&a);

		assert_true(n == random_u64(&b));
		assert_true(n != random_u64(&other));
		assert_int_equal(random_u16(&a), random_u16(&b));
	}
	random_bytes(&a, x, sizeof(x));
	random_bytes(&b, y, 1000);
	random_bytes(&b, y + 1000, 1000);
	assert_memory_equal(x, y, sizeof(x));
}

static void played_numbers_are_the_same_on_every_machine(void **state)
{
	(void)state;
	struct random r;

	random_play(&r, 0);
	assert_true(random_u64(&r) == UINT64_C(0xe220a8397b1dcdaf));
	assert_int_equal(random_u32(&r), 0x6e789e6a);
	assert_int_equal(random_u16(&r), 0xa1b9);
}

static void below_stays_below_and_meets_all(void **state)
{
	(void)state;
	static const uint32_t bounds[] = { 1, 2, 3, 7, 100 };
	struct random r;

	random_play(&r, 1);
	for (size_t i = 0; i < COUNT(bounds); i++) {
		uint32_t bound = bounds[i], met[100] = { 0 }, draws = bound * 1000;

		for (uint32_t k = 0; k < draws; k++) {
			uint32_t n = random_below(&r, bound);

			assert_true(n < bound);
			met[n]++;
		}
		for (uint32_t n = 0; n < bound; n++)
			if (met[n] < 850 || met[n] > 1150)
				fail_msg("%u of %u was drawn %u times of %u", n, bound, met[n],
					 draws);
	}
	for (int k = 0; k < 1000; k++)
		assert_true(random_below(&r, 0xc0000001) < 0xc0000001);
	assert_int_equal(random_below(&r, 0), 0);
	assert_int_equal(random_below(&r, 1), 0);
}

static void real_numbers_differ_and_leave_no_trace(void **state)
{
	(void)state;
	static const uint8_t zeros[64];
	struct random a, b;
	uint8_t x[64], y[64];

	random_init(&a);
	random_init(&b);
	random_bytes(&a, x, sizeof(x));
	random_bytes(&b, y, sizeof(y));
	assert_memory_not_equal(x, y, sizeof(x));
	assert_memory_equal(a.pool, zeros, sizeof(zeros));
	assert_memory_not_equal(a.pool + 64, zeros, sizeof(zeros));
}

static void a_generator_nobody_began_gives_no_zeros(void **state)
{
	(void)state;
	static const uint8_t zeros[32];
	struct random r = { .used = 0 };
	uint8_t x[32];

	random_bytes(&r, x, sizeof(x));
	assert_memory_not_equal(x, zeros, sizeof(x));
}

static void a_forked_child_draws_its_own(void **state)
{
	(void)state;
	struct random r;
	uint64_t ours, theirs;
	int fds[2], status;
	pid_t pid;

	random_init(&r);
	(void)random_u16(&r);
	assert_int_equal(pipe(fds), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		theirs = random_u64(&r);
		_exit(write(fds[1], &theirs, sizeof(theirs)) == sizeof(theirs) ? 0 : 1);
	}
	assert_int_equal(read(fds[0], &theirs, sizeof(theirs)), sizeof(theirs));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	ours = random_u64(&r);
	assert_true(ours != theirs);
	close(fds[0]);
	close(fds[1]);
}

int main(void)
{
	const struct CMUnitTest claims[] = {
		cmocka_unit_test(a_played_generator_repeats_itself),
		cmocka_unit_test(played_numbers_are_the_same_on_every_machine),
		cmocka_unit_test(below_stays_below_and_meets_all),
		cmocka_unit_test(real_numbers_differ_and_leave_no_trace),
		cmocka_unit_test(a_generator_nobody_began_gives_no_zeros),
		cmocka_unit_test(a_forked_child_draws_its_own),
	};

	return cmocka_run_group_tests(claims, NULL, NULL);
}
