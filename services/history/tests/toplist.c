/* Claims about what comes most often.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/history/toplist.h"

#include "util/base/hash.h"
#include "util/base/mem.h"
#include "util/tests/wire.h"

static void count(struct toplist *t, unsigned key, unsigned times)
{
	while (times--)
		toplist_count(t, &key, sizeof key);
}

static unsigned key_of(const struct toprow *row)
{
	unsigned key;

	assert_int_equal(row->len, sizeof key);
	memcpy(&key, row->key, sizeof key);
	return key;
}

static void few_keys_are_counted_exactly(void **state)
{
	struct toplist *t = toplist_new(10, 16);
	struct toprows rows = { 0 };

	(void)state;
	for (unsigned i = 1; i <= 10; i++)
		count(t, i, i * 7);
	toprows_take(&rows, t);
	toprows_join(&rows);
	assert_int_equal(rows.count, 10);
	for (unsigned i = 0; i < 10; i++) {
		assert_int_equal(key_of(&rows.at[i]), 10 - i);
		assert_int_equal(rows.at[i].count, (10 - i) * 7);
		assert_int_equal(rows.at[i].over, 0);
	}
	toprows_clear(&rows);
	toplist_free(t);
}

/* Theorems 1 and 2 of the paper: counts are never too low, too high by `over` at most, and whoever
 * came more often than N / counters is there. */
static void the_frequent_are_found_among_many(void **state)
{
	enum { COUNTERS = 100, KEYS = 20000, FREQUENT = 20 };
	static unsigned came[KEYS + FREQUENT + 1];
	struct toplist *t = toplist_new(COUNTERS, 16);
	struct toprows rows = { 0 };
	uint32_t dice = 1;
	unsigned all = 0, found = 0;

	(void)state;
	for (unsigned i = 0; i < 60000; i++) {
		unsigned key;

		dice = dice * 1664525 + 1013904223;
		key = i % 3 ? FREQUENT + 1 + (dice >> 8) % KEYS : 1 + (dice >> 16) % FREQUENT;
		came[key]++;
		all++;
		count(t, key, 1);
	}
	toprows_take(&rows, t);
	toprows_join(&rows);
	assert_int_equal(rows.count, COUNTERS);
	for (size_t i = 0; i < rows.count; i++) {
		unsigned key = key_of(&rows.at[i]);

		assert_true(rows.at[i].count >= came[key]);
		assert_true(rows.at[i].count - rows.at[i].over <= came[key]);
		found += key <= FREQUENT && came[key] > all / COUNTERS;
	}
	assert_int_equal(found, FREQUENT);
	for (size_t i = 0; i < FREQUENT; i++)
		assert_true(key_of(&rows.at[i]) <= FREQUENT);
	toprows_clear(&rows);
	toplist_free(t);
}

static void threads_are_added_up(void **state)
{
	struct toplist *one = toplist_new(4, 16), *other = toplist_new(4, 16);
	struct toprows rows = { 0 };

	(void)state;
	count(one, 1, 5);
	count(one, 2, 1);
	count(other, 2, 9);
	count(other, 3, 2);
	toprows_take(&rows, one);
	toprows_take(&rows, other);
	toprows_join(&rows);
	assert_int_equal(rows.count, 3);
	assert_int_equal(key_of(&rows.at[0]), 2);
	assert_int_equal(rows.at[0].count, 10);
	assert_int_equal(key_of(&rows.at[1]), 1);
	toprows_clear(&rows);
	toplist_clear(one);
	toprows_take(&rows, one);
	assert_int_equal(rows.count, 0);
	toprows_clear(&rows);
	toplist_free(one);
	toplist_free(other);
}

static void the_memory_is_fixed(void **state)
{
	struct toplist *t = toplist_new(8, 16);
	size_t bytes = toplist_bytes(t);

	(void)state;
	for (unsigned i = 0; i < 10000; i++)
		count(t, i, 1 + i % 3);
	assert_int_equal(toplist_bytes(t), bytes);
	toplist_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(few_keys_are_counted_exactly),
		cmocka_unit_test(the_frequent_are_found_among_many),
		cmocka_unit_test(threads_are_added_up),
		cmocka_unit_test(the_memory_is_fixed),
	};

	hash_start(true);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
