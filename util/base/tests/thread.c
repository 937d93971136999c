/* Claims about threads.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/base/thread.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <sys/resource.h>

static void *step_back(void *priority)
{
	thread_step_back();
	*(int *)priority = getpriority(PRIO_PROCESS, 0);
	return NULL;
}

static void only_the_thread_that_asks_steps_back(void **state)
{
	(void)state;
	int before = getpriority(PRIO_PROCESS, 0), there = before;
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, step_back, &there), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(getpriority(PRIO_PROCESS, 0), before);
	assert_true(there >= before);
#ifdef __linux__
	assert_true(there > before || before == 19);
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_the_thread_that_asks_steps_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
