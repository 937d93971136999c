/* Claims about freeing what a turn may still see.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/base/rcu.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "util/base/mem.h"

struct thing {
	int value;
	struct rcu_slot slot;
};

static _Atomic int freed;

static void thing_free(struct rcu_slot *slot)
{
	struct thing *t = container_of(slot, struct thing, slot);

	t->value = -1;
	mem_free(t);
	atomic_fetch_add(&freed, 1);
}

static struct thing *thing_new(int value)
{
	struct thing *t = mem_zero(sizeof(*t));

	t->value = value;
	return t;
}

static void what_is_retired_is_freed_once_by_the_flush(void **state)
{
	(void)state;
	atomic_store(&freed, 0);
	for (int i = 0; i < 1000; i++)
		rcu_retire(&thing_new(i)->slot, thing_free);
	rcu_flush();
	assert_int_equal(atomic_load(&freed), 1000);
	rcu_flush();
	assert_int_equal(atomic_load(&freed), 1000);
}

static void what_is_retired_idly_is_freed_by_the_hundred(void **state)
{
	static const int count[] = { 1, 255, 256, 257, 1000 };

	(void)state;
	for (size_t n = 0; n < COUNT(count); n++) {
		atomic_store(&freed, 0);
		for (int i = 0; i < count[n]; i++)
			rcu_retire_idly(&thing_new(i)->slot, thing_free);
		if (count[n] < 256)
			assert_int_equal(atomic_load(&freed), 0);
		rcu_flush();
		assert_int_equal(atomic_load(&freed), count[n]);
	}
}

static void nap(long ms)
{
	nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000 }, NULL);
}

static void an_open_turn_keeps_it_alive(void **state)
{
	(void)state;
	struct thing *t = thing_new(7);

	atomic_store(&freed, 0);
	rcu_thread_join();
	rcu_turn_begin();
	rcu_turn_begin();
	rcu_retire(&t->slot, thing_free);
	rcu_turn_end();
	nap(30);
	assert_int_equal(atomic_load(&freed), 0);
	assert_int_equal(t->value, 7);
	rcu_turn_end();
	rcu_flush();
	assert_int_equal(atomic_load(&freed), 1);
	rcu_thread_leave();
}

static _Atomic(struct thing *) published;
static _Atomic bool enough;

static void *read_much(void *arg)
{
	_Atomic int *wrong = arg;

	rcu_thread_join();
	rcu_thread_join(); /* joins nest */
	rcu_thread_leave();
	while (!atomic_load(&enough)) {
		rcu_turn_begin();
		if (RCU_READ(published)->value < 0)
			atomic_fetch_add(wrong, 1);
		rcu_turn_end();
		sched_yield();
	}
	rcu_thread_leave();
	return NULL;
}

static void readers_never_meet_a_freed_thing(void **state)
{
	(void)state;
	_Atomic int wrong = 0;
	pthread_t readers[2];

	atomic_store(&freed, 0);
	RCU_PUBLISH(published, thing_new(0));
	for (size_t i = 0; i < COUNT(readers); i++)
		assert_int_equal(pthread_create(&readers[i], NULL, read_much, &wrong), 0);
	for (int i = 1; i <= 2000; i++) {
		struct thing *old = RCU_READ(published);

		RCU_PUBLISH(published, thing_new(i));
		rcu_retire(&old->slot, thing_free);
		if (i % 500 == 0)
			rcu_wait();
	}
	atomic_store(&enough, true);
	for (size_t i = 0; i < COUNT(readers); i++)
		assert_int_equal(pthread_join(readers[i], NULL), 0);
	rcu_flush();
	assert_int_equal(atomic_load(&wrong), 0);
	assert_int_equal(atomic_load(&freed), 2000);
	mem_free(RCU_READ(published));
}

static void thing_free_and_retire(struct rcu_slot *slot)
{
	rcu_turn_begin();
	rcu_retire(&thing_new(1)->slot, thing_free);
	rcu_turn_end();
	thing_free(slot);
}

static void what_frees_may_open_a_turn_and_retire_more(void **state)
{
	(void)state;
	atomic_store(&freed, 0);
	rcu_retire(&thing_new(0)->slot, thing_free_and_retire);
	rcu_flush();
	rcu_flush();
	assert_int_equal(atomic_load(&freed), 2);
}

static void the_child_of_a_fork_frees_on(void **state)
{
	(void)state;
	int status;
	pid_t pid;

	atomic_store(&freed, 0);
	rcu_retire(&thing_new(0)->slot, thing_free);
	rcu_flush();
	pid = rcu_fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		alarm(20);
		rcu_retire(&thing_new(1)->slot, thing_free_and_retire);
		rcu_flush();
		rcu_flush();
		_exit(atomic_load(&freed) == 3 ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	rcu_retire(&thing_new(1)->slot, thing_free);
	rcu_flush();
	assert_int_equal(atomic_load(&freed), 2);
}

int main(void)
{
	const struct CMUnitTest claims[] = {
		cmocka_unit_test(what_is_retired_is_freed_once_by_the_flush),
		cmocka_unit_test(what_is_retired_idly_is_freed_by_the_hundred),
		cmocka_unit_test(an_open_turn_keeps_it_alive),
		cmocka_unit_test(readers_never_meet_a_freed_thing),
		cmocka_unit_test(what_frees_may_open_a_turn_and_retire_more),
		cmocka_unit_test(the_child_of_a_fork_frees_on),
	};

	return cmocka_run_group_tests(claims, NULL, NULL);
}
