/* Claims about ${…} in scenarios.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/replay/macro.h"

#include "util/base/arena.h"
#include "util/base/fault.h"
#include "util/tests/wire.h"

static void text_is_replaced_from_the_inside_out(void **state)
{
	(void)state;
	static const struct {
		const char *why, *text, *want;
	} rows[] = {
		{ "no macro", "plain text", "plain text" },
		{ "a number", "${5}", "5" },
		{ "a sum", "${2 + 3}", "5" },
		{ "no blanks", "${2+3}", "5" },
		{ "left to right, no precedence", "${2 + 3 * 4}", "20" },
		{ "brackets", "${2 + ${3 * 4}}", "14" },
		{ "a difference below zero", "${3 - 5}", "-2" },
		{ "a negative number", "${-2 + 5}", "3" },
		{ "a fraction", "${1 / 8}", "0.125" },
		{ "a variable", "${$two}", "2" },
		{ "variables and numbers", "${7 * $two + $three / 2}", "8.5" },
		{ "variables inside brackets inside", "${60 / ${$two + $three}}", "12" },
		{ "the last value counts", "${$again}", "new" },
		{ "numbers side by side", "${4 5 66 5 4}", "4 5 66 5 4" },
		{ "words among numbers", "${7 sheep 2 + 5}", "7 sheep 7" },
		{ "text around", "it is ${1 + 1} now", "it is 2 now" },
		{ "several", "${1 + 1}${2 + 2}", "24" },
		{ "a big number", "${1250000000 + 86400}", "1250086400" },
		{ "the clock in whole seconds", "${time}", "90061" },
		{ "the earliest timer in whole seconds", "${timeout}", "4800" },
		{ "a date", "${ctime 90061}", "Fri Jan  2 01:01:01 1970" },
		{ "a date from a sum", "${ctime ${time} - 1}", "Fri Jan  2 01:01:00 1970" },
		{ "inside its range", "${range 10 15 20}", "15" },
		{ "at the end of its range", "${range 10 ${4 * 5} 20}", "20" },
	};
	struct arena a;
	struct macro_env env = { .time_s = 90061.75, .timeout_s = 4800.5, .arena = &a };

	arena_init(&a);
	macro_assign(&env, "two", "2");
	macro_assign(&env, "three", "3");
	macro_assign(&env, "again", "old");
	macro_assign(&env, "again", "new");
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct fault f = { 0 };
		const char *got = macro_expand(&env, rows[i].text, &f);

		if (!got || strcmp(got, rows[i].want) != 0)
			fail_msg("%s: \"%s\", not \"%s\" %s", rows[i].why, got ? got : "(none)",
				 rows[i].want, f.text);
	}
	arena_clear(&a);
}

static void what_cannot_be_replaced_is_a_failure(void **state)
{
	(void)state;
	static const struct {
		const char *why, *text;
	} rows[] = {
		{ "a variable nobody set", "${$four}" },
		{ "a dollar and no name", "${5 + $}" },
		{ "no end", "${1 + 1" },
		{ "an inner one without end", "${1 + ${2 + 3}" },
		{ "below its range", "${range 10 9 20}" },
		{ "above its range", "${range 10 21 20}" },
		{ "a range of two numbers", "${range 10 20}" },
	};
	struct arena a;
	struct macro_env env = { .arena = &a };

	arena_init(&a);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct fault f = { 0 };
		const char *got = macro_expand(&env, rows[i].text, &f);

		if (got || !f.set)
			fail_msg("%s: \"%s\"", rows[i].why, got ? got : "(no reason)");
	}
	arena_clear(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_is_replaced_from_the_inside_out),
		cmocka_unit_test(what_cannot_be_replaced_is_a_failure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
