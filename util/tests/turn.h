/* Tests of rooms that lend what they hold for a turn (util/base/rcu.h): each case runs in one of its own.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_TESTS_TURN_H
#define UTIL_TESTS_TURN_H

#include "util/base/hash.h"
#include "util/base/rcu.h"
#include "util/tests/wire.h"

static inline int in_a_turn(void **state)
{
	(void)state;
	rcu_turn_begin();
	return 0;
}

static inline int after_a_turn(void **state)
{
	(void)state;
	rcu_turn_end();
	rcu_flush();
	return 0;
}

#define CLAIM(name) cmocka_unit_test_setup_teardown(name, in_a_turn, after_a_turn)

/* main's return value. `load` and `unload` are for the whole group, or NULL. */
#define RUN_CLAIMS(claims, load, unload)                                       \
	(hash_start(true), rcu_thread_join(),                                  \
	 leave_after(cmocka_run_group_tests(claims, load, unload)))

static inline int leave_after(int failed)
{
	rcu_thread_leave();
	return failed;
}

#endif
