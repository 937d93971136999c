/* Claims about a thread's share of counted references.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/base/pins.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

enum { MANY = 4 * PINS_ROOM };

static void only_the_first_and_the_last_are_for_the_object(void **state)
{
	struct pins p = { 0 };
	int one, other;

	(void)state;
	for (int round = 0; round < 3; round++) {
		assert_true(pins_take(&p, &one));
		assert_false(pins_take(&p, &one));
		assert_true(pins_take(&p, &other));
		assert_false(pins_drop(&p, &one));
		assert_true(pins_drop(&p, &other));
		assert_false(pins_take(&p, &one));
		assert_false(pins_drop(&p, &one));
		assert_true(pins_drop(&p, &one));
	}
}

static void what_is_taken_is_dropped_however_many_there_are(void **state)
{
	static char objects[MANY];
	struct pins p = { 0 };
	int own[MANY] = { 0 }; /* what each object would count itself */
	unsigned without_room = 0;

	(void)state;
	for (int round = 0; round < 5; round++)
		for (unsigned i = 0; i < MANY; i++)
			own[i] += pins_take(&p, &objects[i]);
	for (unsigned i = 0; i < MANY; i++) {
		assert_true(own[i] == 1 || own[i] == 5);
		without_room += own[i] == 5;
	}
	assert_in_range(without_room, MANY - PINS_ROOM, MANY - PINS_ROOM / 2);
	/* some that found no room at first would find some now */
	for (unsigned i = 0; i < MANY; i += 2)
		for (int round = 0; round < 5; round++)
			own[i] -= pins_drop(&p, &objects[i]);
	for (unsigned i = 1; i < MANY; i += 2)
		for (int round = 0; round < 3; round++) {
			own[i] += pins_take(&p, &objects[i]);
			assert_true(own[i] > 0);
		}
	for (unsigned i = 1; i < MANY; i += 2)
		for (int left = 8; left; left--) {
			own[i] -= pins_drop(&p, &objects[i]);
			assert_true(left == 1 || own[i] > 0);
		}
	for (unsigned i = 0; i < MANY; i++)
		assert_int_equal(own[i], 0);
	for (unsigned i = 0; i < PINS_ROOM; i++)
		assert_null(p.slot[i].object);
}

static int unpinned;

static void on_unpin(void *object)
{
	*(int *)object -= 1;
	unpinned++;
}

static void what_is_kept_is_unpinned_when_its_room_is_needed_or_all_is_over(void **state)
{
	struct pins p = { .unpin = on_unpin };
	int own[MANY] = { 0 };

	(void)state;
	unpinned = 0;
	own[0] += pins_take(&p, &own[0]);
	assert_false(pins_take(&p, &own[0]));
	assert_false(pins_drop(&p, &own[0]));
	assert_false(pins_drop(&p, &own[0]));
	assert_int_equal(own[0], 1); /* kept */
	assert_false(pins_take(&p, &own[0]));
	for (unsigned i = 1; i < MANY; i++) {
		own[i] += pins_take(&p, &own[i]);
		own[i] -= pins_drop(&p, &own[i]);
	}
	assert_int_equal(own[0], 1); /* held all the time */
	assert_in_range(unpinned, MANY - 1 - PINS_ROOM, MANY - 1 - PINS_ROOM / 2);
	assert_false(pins_drop(&p, &own[0]));
	pins_clear(&p);
	for (unsigned i = 0; i < MANY; i++)
		assert_int_equal(own[i], 0);
	assert_int_equal(unpinned, MANY);
}

static void without_room_each_drop_is_for_the_object_even_if_it_is_kept_later(void **state)
{
	struct pins p = { .unpin = on_unpin };
	int own[MANY] = { 0 };
	unsigned full = 0;

	(void)state;
	for (unsigned i = 0; i < MANY; i++) {
		own[i] += pins_take(&p, &own[i]);
		own[i] += pins_take(&p, &own[i]);
		full += own[i] == 2;
	}
	assert_true(full >= MANY - PINS_ROOM);
	for (unsigned i = 0; i < MANY; i++) { /* now those without room may find some */
		own[MANY - 1 - i] -= pins_drop(&p, &own[MANY - 1 - i]);
		own[i] += pins_take(&p, &own[i]);
	}
	for (unsigned i = 0; i < MANY; i++)
		for (int left = 2; left; left--)
			own[i] -= pins_drop(&p, &own[i]);
	pins_clear(&p);
	for (unsigned i = 0; i < MANY; i++)
		assert_int_equal(own[i], 0);
}

int main(void)
{
	const struct CMUnitTest claims[] = {
		cmocka_unit_test(only_the_first_and_the_last_are_for_the_object),
		cmocka_unit_test(what_is_taken_is_dropped_however_many_there_are),
		cmocka_unit_test(what_is_kept_is_unpinned_when_its_room_is_needed_or_all_is_over),
		cmocka_unit_test(without_room_each_drop_is_for_the_object_even_if_it_is_kept_later),
	};

	return cmocka_run_group_tests(claims, NULL, NULL);
}
