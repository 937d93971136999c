/* Claims about lines on their way to the thread that writes them.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/base/log_ring.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { HEAD = sizeof(struct log_ring_head) };

static void expect(struct log_ring *r, const char *want, uint8_t want_priority)
{
	char text[100];
	uint8_t priority = 0;
	size_t len = log_ring_take(r, text, sizeof text, &priority);

	assert_int_equal(len, strlen(want));
	assert_memory_equal(text, want, len);
	if (len)
		assert_int_equal(priority, want_priority);
}

static bool put(struct log_ring *r, const char *text)
{
	return log_ring_put(r, 3, text, strlen(text));
}

static void lines_leave_as_they_came(void **state)
{
	(void)state;
	struct log_ring r;
	char text[32];

	log_ring_init(&r, 64);
	assert_true(log_ring_is_empty(&r));
	expect(&r, "", 0);
	assert_true(log_ring_put(&r, 7, "one", 3) && log_ring_put(&r, 2, "three", 5));
	assert_false(log_ring_is_empty(&r));
	expect(&r, "one", 7);
	for (int i = 0; i < 200; i++) { /* never empty, so that they go round */
		snprintf(text, sizeof text, "line %d of many", i);
		assert_true(log_ring_put(&r, (uint8_t)(i % 8), text, strlen(text)));
		if (i == 0) {
			expect(&r, "three", 2);
			continue;
		}
		snprintf(text, sizeof text, "line %d of many", i - 1);
		expect(&r, text, (uint8_t)((i - 1) % 8));
	}
	expect(&r, "line 199 of many", 199 % 8);
	assert_true(log_ring_is_empty(&r));
	log_ring_clear(&r);
}

static void a_line_stays_until_there_is_room_for_it(void **state)
{
	(void)state;
	struct log_ring r;
	uint8_t priority;
	char small[4];

	log_ring_init(&r, 64);
	assert_true(put(&r, "12345"));
	assert_int_equal(log_ring_take(&r, small, 4, &priority), 0);
	assert_false(log_ring_is_empty(&r));
	expect(&r, "12345", 3);
	log_ring_clear(&r);
}

static void what_does_not_fit_is_counted_until_it_is_half_empty(void **state)
{
	(void)state;
	struct log_ring r;

	log_ring_init(&r, 4 * (HEAD + 10));
	for (int i = 0; i < 4; i++)
		assert_true(put(&r, "0123456789")); /* to the last byte */
	assert_int_equal(log_ring_told(&r), 0);
	assert_false(put(&r, ""));
	assert_false(put(&r, "0123456789"));
	expect(&r, "0123456789", 3);
	assert_false(put(&r, "0123456789")); /* there would be room */
	assert_int_equal(log_ring_told(&r), 0);
	expect(&r, "0123456789", 3);
	assert_int_equal(log_ring_told(&r), 3);
	assert_int_equal(log_ring_told(&r), 0);
	assert_true(put(&r, "0123456789"));
	assert_true(put(&r, "0123456789"));
	assert_false(put(&r, "x"));
	for (int i = 0; i < 2; i++)
		expect(&r, "0123456789", 3);
	assert_true(put(&r, "y")); /* even if nobody asked how many */
	assert_int_equal(log_ring_told(&r), 1);
	for (int i = 0; i < 2; i++)
		expect(&r, "0123456789", 3);
	expect(&r, "y", 3);
	assert_true(log_ring_is_empty(&r));
	assert_false(log_ring_put(&r, 1, "", UINT16_MAX + (size_t)1));
	log_ring_clear(&r);
}

int main(void)
{
	const struct CMUnitTest claims[] = {
		cmocka_unit_test(lines_leave_as_they_came),
		cmocka_unit_test(a_line_stays_until_there_is_room_for_it),
		cmocka_unit_test(what_does_not_fit_is_counted_until_it_is_half_empty),
	};

	return cmocka_run_group_tests(claims, NULL, NULL);
}
