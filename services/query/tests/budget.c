/* Claims about what one client question may cost in connections.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/query/budget.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "util/base/mem.h"

static void two_connections_without_an_answer_are_enough(void **state)
{
	struct budget b = { .refs = 1 };

	(void)state;
	assert_true(budget_may_connect(&b, 7));
	budget_connects(&b, 7);
	assert_true(budget_may_connect(&b, 7));
	budget_connects(&b, 7);
	assert_false(budget_may_connect(&b, 7));
	/* another server has its own */
	assert_true(budget_may_connect(&b, 8));
	budget_connects(&b, 8);
	assert_true(budget_may_connect(&b, 8));
	budget_answered(&b, 8);
	assert_false(budget_may_connect(&b, 7));
	/* one that answers was worth it */
	budget_answered(&b, 7);
	assert_true(budget_may_connect(&b, 7));
	budget_connects(&b, 7);
	assert_true(budget_may_connect(&b, 7));
}

static void answers_over_other_connections_free_nothing(void **state)
{
	struct budget b = { .refs = 1 };

	(void)state;
	budget_answered(&b, 1);
	budget_connects(&b, 2);
	budget_connects(&b, 2);
	budget_answered(&b, 1);
	assert_false(budget_may_connect(&b, 2));
}

static void only_so_many_servers_may_be_of_no_use(void **state)
{
	struct budget b = { .refs = 1 };

	(void)state;
	for (uint64_t server = 1; server <= BUDGET_SERVERS; server++) {
		assert_true(budget_may_connect(&b, server));
		budget_connects(&b, server);
	}
	assert_false(budget_may_connect(&b, 99));
	budget_connects(&b, 99); /* forgotten, and harmless */
	assert_true(budget_may_connect(&b, 5)); /* its second one */
	budget_answered(&b, 3);
	assert_true(budget_may_connect(&b, 99));
}

static void a_budget_is_freed_by_its_last_holder(void **state)
{
	struct budget *b = mem_zero(sizeof(*b));

	(void)state;
	b->refs = 1;
	assert_ptr_equal(budget_pin(b), b);
	assert_int_equal(b->refs, 2);
	budget_drop(b);
	assert_int_equal(b->refs, 1);
	budget_drop(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_connections_without_an_answer_are_enough),
		cmocka_unit_test(answers_over_other_connections_free_nothing),
		cmocka_unit_test(only_so_many_servers_may_be_of_no_use),
		cmocka_unit_test(a_budget_is_freed_by_its_last_holder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
