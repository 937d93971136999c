/* Claims about the end of a process whose main thread stands still.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/process/stopper.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "daemon/process/daemon.h"
#include "util/base/rcu.h"

enum { STANDS_S = 30 };

/* The exit status of a process without workers that has `ms` for the rest, and takes them or not. */
static int end_of(unsigned ms, bool stands)
{
	pid_t child = rcu_fork();
	int status = -1;

	assert_true(child >= 0);
	if (child == 0) {
		struct daemon d = { .pidfile = { .fd = -1 } };
		struct stopper *s = stopper_start(&d);

		stopper_join(s);
		stopper_rest(s, ms);
		if (stands)
			(void)sleep(STANDS_S);
		stopper_end(s);
		_exit(stands ? 3 : 0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void a_main_thread_that_stands_still_is_left_behind(void **state)
{
	time_t began = time(NULL);

	(void)state;
	assert_int_equal(end_of(100, true), 1);
	assert_true(time(NULL) - began < STANDS_S / 2);
}

static void one_that_ends_in_time_is_not(void **state)
{
	(void)state;
	assert_int_equal(end_of(60000, false), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_main_thread_that_stands_still_is_left_behind),
		cmocka_unit_test(one_that_ends_in_time_is_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
