/* Claims about arenas.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/base/arena.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#include "util/base/mem.h"

static void pieces_are_aligned_apart_and_stay_as_written(void **state)
{
	(void)state;
	static const size_t lens[] = { 0, 1, 2, 15, 16, 17, 100, 2000, 2048, 4000, 9000, 100000 };
	uint8_t *pieces[COUNT(lens) * 20];
	struct arena a;

	arena_init(&a);
	for (int round = 0; round < 3; round++) {
		for (size_t i = 0; i < COUNT(pieces); i++) {
			pieces[i] = arena_take(&a, lens[i % COUNT(lens)]);
			assert_non_null(pieces[i]);
			assert_int_equal((uintptr_t)pieces[i] % _Alignof(max_align_t), 0);
			memset(pieces[i], (int)(i & 0xff), lens[i % COUNT(lens)]);
		}
		for (size_t i = 0; i < COUNT(pieces); i++)
			for (size_t at = 0; at < lens[i % COUNT(lens)]; at++)
				assert_int_equal(pieces[i][at], i & 0xff);
		assert_true(a.taken >= 20 * (100000 + 9000));
		arena_clear(&a);
		assert_int_equal(a.taken, 0);
	}
}

struct pair {
	uint64_t a, b;
};

static void new_things_are_zero_even_in_used_memory(void **state)
{
	(void)state;
	struct arena a;

	arena_init(&a);
	memset(arena_take(&a, 1000), 0xff, 1000);
	arena_clear(&a);
	struct pair *p = arena_new(&a, struct pair);
	struct pair *many = arena_array(&a, struct pair, 50);

	assert_true(p->a == 0 && p->b == 0);
	for (size_t i = 0; i < 50; i++)
		assert_true(many[i].a == 0 && many[i].b == 0);
	arena_clear(&a);
}

static void copies_and_texts_live_in_the_arena(void **state)
{
	(void)state;
	struct arena a;
	char from[] = "fox";

	arena_init(&a);
	char *copy = arena_copy(&a, from, sizeof(from)),
	     *text = arena_textf(&a, "%s-%03d", from, 7);

	from[0] = 'b';
	assert_string_equal(copy, "fox");
	assert_string_equal(text, "fox-007");
	assert_int_equal(strlen(arena_textf(&a, "%20000s", "x")), 20000);
	arena_clear(&a);
}

static char diary[8];

static void note(void *arg)
{
	size_t len = strlen(diary);

	diary[len] = *(const char *)arg;
	diary[len + 1] = 0;
}

static void note_and_ask_again(void *arg)
{
	struct arena *a = arg;

	note((void *)(uintptr_t) "n");
	arena_on_clear(a, note, arena_copy(a, "z", 1));
}

static void duties_run_newest_first_and_once(void **state)
{
	(void)state;
	struct arena a;

	arena_init(&a);
	diary[0] = 0;
	arena_on_clear(&a, note, arena_copy(&a, "a", 1));
	arena_on_clear(&a, note, arena_copy(&a, "b", 1));
	arena_on_clear(&a, note_and_ask_again, &a);
	arena_on_clear(&a, note, arena_copy(&a, "c", 1));
	arena_clear(&a);
	assert_string_equal(diary, "cnzba");
	arena_clear(&a);
	assert_string_equal(diary, "cnzba");
}

/* Not under a sanitizer, where every piece is a block of its own. */
static void small_pieces_share_a_block(void **state)
{
	(void)state;
	struct arena a;
	size_t first;

	arena_init(&a);
	(void)!arena_take(&a, 1);
	first = a.taken;
	for (int i = 0; i < 100; i++)
		(void)!arena_take(&a, 16);
	if (a.taken != first)
		assert_true(a.taken > 100 * 16); /* one by one: each counted */
	else
		assert_true(first >= 101 * 16);
	arena_clear(&a);
}

static void *use_some(void *arg)
{
	struct arena a[3];

	(void)arg;
	for (int round = 0; round < 10; round++) {
		for (size_t i = 0; i < COUNT(a); i++) {
			arena_init(&a[i]);
			for (int k = 0; k < 100; k++)
				memset(arena_take(&a[i], 300), k, 300);
		}
		for (size_t i = 0; i < COUNT(a); i++)
			arena_clear(&a[i]);
	}
	return NULL;
}

/* A leak checker sees it when the blocks a thread kept are not freed with it. */
static void a_thread_leaves_nothing_behind(void **state)
{
	(void)state;
	pthread_t threads[4];

	for (size_t i = 0; i < COUNT(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, use_some, NULL), 0);
	for (size_t i = 0; i < COUNT(threads); i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
}

/* A rare peak must not stay in memory for good. */
static void a_thread_keeps_little_of_a_peak(void **state)
{
	(void)state;
	struct arena a[100];
	size_t before = mem_in_use(), peak;

	if (before == 0) /* no allocator that counts */
		return;
	for (size_t i = 0; i < COUNT(a); i++) {
		arena_init(&a[i]);
		(void)!arena_take(&a[i], 1000);
	}
	peak = mem_in_use();
	for (size_t i = 0; i < COUNT(a); i++)
		arena_clear(&a[i]);
	assert_true(peak >= before + COUNT(a) * 1000);
	assert_true(mem_in_use() <= before + 160 * 1024);
}

int main(void)
{
	const struct CMUnitTest claims[] = {
		cmocka_unit_test(pieces_are_aligned_apart_and_stay_as_written),
		cmocka_unit_test(new_things_are_zero_even_in_used_memory),
		cmocka_unit_test(copies_and_texts_live_in_the_arena),
		cmocka_unit_test(duties_run_newest_first_and_once),
		cmocka_unit_test(small_pieces_share_a_block),
		cmocka_unit_test(a_thread_keeps_little_of_a_peak),
		cmocka_unit_test(a_thread_leaves_nothing_behind),
	};

	return cmocka_run_group_tests(claims, NULL, NULL);
}
