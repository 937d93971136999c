/* Claims about reasons.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/reason.h"

#include "util/tests/wire.h"

static void every_reason_is_a_phrase_with_a_registered_code(void **state)
{
	(void)state;

	for (enum reason r = REASON_none; r < REASONS; r++) {
		const char *text = reason_text(r);
		int code = reason_ede(r);
		assert_in_range(code + 1, 0, 31);
		if (r == REASON_none) {
			assert_int_equal(code, -1);
			assert_string_equal(text, "");
			continue;
		}
		assert_true(*text && text[strlen(text) - 1] != '.');
		for (enum reason other = REASON_none; other < r; other++)
			assert_string_not_equal(text, reason_text(other));
	}
	assert_int_equal(reason_ede(REASON_bogus), 6);
	assert_int_equal(reason_ede(REASON_nsec3_iterations), 27);
}

int main(void)
{
	const struct CMUnitTest claims[] = {
		cmocka_unit_test(every_reason_is_a_phrase_with_a_registered_code),
	};

	return cmocka_run_group_tests(claims, NULL, NULL);
}
