/* Claims about address families that are silent.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/cache/families.h"

#include "services/tests/made.h"

#define PROBE FAMILY_PROBE_MS

/* "4+": an answer over IPv4; "6-": a timeout over IPv6; "//": an outage is over. One every 100 ms. */
static uint32_t play(struct families *f, const char *story)
{
	uint32_t now_ms = UINT32_MAX - 250; /* the clock may wrap */

	for (const char *at = story; *at; at += 2) {
		unsigned family = (unsigned)(at[0] - '0');

		now_ms += 100;
		if (*at == '/')
			families_forgive(f);
		else if (at[1] == '+')
			families_heard(f, family, now_ms);
		else
			families_missed(f, family, now_ms - 50, now_ms);
	}
	return now_ms;
}

static void one_family_is_silent_while_the_other_answers(void **state)
{
	(void)state;
	static const struct {
		const char *why, *story;
		bool v4, v6;
	} rows[] = {
		{ "nothing known", "", false, false },
		{ "two timeouts", "6-4+6-4+", false, false },
		{ "three", "6-6-6-4+", false, true },
		{ "more", "6-6-4+6-6-4+6-", false, true },
		{ "the other way round", "4-4-4-6+", true, false },
		{ "nobody answers", "6-6-6-", false, false },
		{ "nor has of late", "4+6-6-6-", false, false },
		{ "both", "6-6-6-4-4-4-", false, false },
		{ "both, though the other has answered meanwhile", "6-6-6-4+4-4-4-", false, false },
		{ "an answer in between", "6-6-4+6+6-6-4+", false, false },
		{ "an answer in the end", "6-6-6-4+6+", false, false },
		{ "and silence again", "6-6-6-4+6+6-6-6-4+", false, true },
		{ "after an outage", "6-6-6-4+//", false, false },
		{ "others are no family", "0-0-0-4+6+", false, false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct families f;
		uint32_t now_ms;

		memset(&f, 0, sizeof(f));
		now_ms = play(&f, rows[i].story);
		if (families_is_silent(&f, 4, now_ms) != rows[i].v4)
			fail_msg("%s: IPv4", rows[i].why);
		if (families_is_silent(&f, 6, now_ms) != rows[i].v6)
			fail_msg("%s: IPv6", rows[i].why);
	}
}

/* What others of the family answered after the question had been sent. */
static void a_timeout_among_answers_says_nothing(void **state)
{
	(void)state;
	struct families f;

	memset(&f, 0, sizeof(f));
	families_heard(&f, 4, 5000);
	families_heard(&f, 6, 5000);
	for (unsigned i = 0; i < 10; i++)
		families_missed(&f, 6, 5000 - 100, 5000 + i);
	families_heard(&f, 4, 5100);
	assert_false(families_is_silent(&f, 6, 5100));
	assert_false(families_is_doubtful(&f, 6));
	for (unsigned i = 0; i < 3; i++)
		families_missed(&f, 6, 5001, 5400);
	families_heard(&f, 4, 5500);
	assert_true(families_is_silent(&f, 6, 5500));
	assert_true(families_is_doubtful(&f, 6));
	assert_false(families_is_doubtful(&f, 4));
}

static void it_is_probed_more_and_more_rarely(void **state)
{
	(void)state;
	uint32_t due = 1000 + PROBE;
	struct families f;

	memset(&f, 0, sizeof(f));
	for (unsigned i = 0; i < 3; i++)
		families_missed(&f, 6, 900, 1000);
	families_heard(&f, 4, 1000);
	for (unsigned probe = 1; probe <= 6; probe++) {
		assert_true(families_is_silent(&f, 6, due - 1));
		families_asked(&f, 6, due - 1); /* there was no other */
		families_asked(&f, 4, due);
		assert_false(families_is_silent(&f, 6, due));
		families_asked(&f, 6, due);
		assert_true(families_is_silent(&f, 6, due));
		families_missed(&f, 6, due, due + 400);
		due += PROBE << (probe < 4 ? probe : 4);
	}
	families_heard(&f, 6, due);
	assert_false(families_is_silent(&f, 6, due));
	for (unsigned i = 0; i < 3; i++)
		families_missed(&f, 6, due + 1, due + 300);
	families_heard(&f, 4, due + 300);
	assert_true(families_is_silent(&f, 6, due + 300 + PROBE - 1));
	assert_false(families_is_silent(&f, 6, due + 300 + PROBE));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_family_is_silent_while_the_other_answers),
		cmocka_unit_test(a_timeout_among_answers_says_nothing),
		cmocka_unit_test(it_is_probed_more_and_more_rarely),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
