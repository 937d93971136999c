/* Claims about names with values that change while others look.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/names/nametable.h"

#include <pthread.h>
#include <stdio.h>

#include "util/base/mem.h"
#include "util/base/rcu.h"
#include "util/tests/wire.h"

#define SEED UINT64_C(77)

static const uint8_t *numbered(unsigned n)
{
	static _Thread_local uint8_t wire[DNAME_MAX];
	char text[40];

	snprintf(text, sizeof(text), "n%u.d%u.example.", n, n % 13);
	assert_true(dname_parse(wire, text, NULL));
	return wire;
}

static void what_was_put_is_there_until_removed(void **state)
{
	(void)state;
	static char values[2];
	struct nametable *t = nametable_new(SEED);

	assert_null(nametable_put(t, N("A.example."), &values[0]));
	assert_ptr_equal(nametable_find(t, N("a.EXAMPLE.")), &values[0]);
	assert_null(nametable_find(t, N("example.")));
	assert_ptr_equal(nametable_put(t, N("a.example."), &values[1]), &values[0]);
	assert_int_equal(nametable_count(t), 1);
	assert_ptr_equal(nametable_remove(t, N("a.example.")), &values[1]);
	assert_null(nametable_remove(t, N("a.example.")));
	assert_null(nametable_find(t, N("a.example.")));
	assert_int_equal(nametable_count(t), 0);
	assert_null(nametable_put(t, N("a.example."), &values[0]));
	assert_ptr_equal(nametable_find(t, N("a.example.")), &values[0]);
	nametable_free(t, NULL);
}

/* In pages of several sizes, as somebody reads who must not hold up the writer. */
static void pages_have_every_name_once_and_in_order(void **state)
{
	(void)state;
	static char value;
	enum { MANY = 500 };
	static const size_t sizes[] = { 1, 2, 7, 64, 499, 500, 501, 1000 };
	struct nametable *t = nametable_new(SEED);
	uint8_t *names[1000];
	char text[32];

	assert_int_equal(nametable_after(t, NULL, names, 10), 0);
	for (unsigned i = 0; i < MANY; i++) {
		snprintf(text, sizeof(text), "n%u.example.", i * 7919 % MANY);
		(void)nametable_put(t, N(text), &value);
	}
	(void)nametable_put(t, N("gone.example."), &value);
	(void)nametable_remove(t, N("gone.example."));
	assert_int_equal(nametable_after(t, NULL, names, 0), 0);
	for (size_t k = 0; k < COUNT(sizes); k++) {
		uint8_t last[DNAME_MAX] = "";
		size_t all = 0, count;

		do {
			count = nametable_after(t, all ? last : NULL, names, sizes[k]);
			assert_true(count <= sizes[k]);
			for (size_t i = 0; i < count; i++) {
				assert_true(all + i == 0 || dname_compare(last, names[i]) < 0);
				assert_non_null(nametable_find(t, names[i]));
				memcpy(last, names[i], dname_len(names[i]));
				mem_free(names[i]);
			}
			all += count;
		} while (count == sizes[k]);
		assert_int_equal(all, MANY);
	}
	nametable_free(t, NULL);
}

static bool in_order(const uint8_t *name, void *value, void *arg)
{
	uint8_t *last = arg;

	(void)value;
	assert_true(*last == 0 || dname_compare(last, name) < 0);
	memcpy(last, name, dname_len(name));
	return true;
}

static void many_come_and_go(void **state)
{
	(void)state;
	static char value;
	enum { MANY = 20000 };
	struct nametable *t = nametable_new(SEED);
	uint8_t last[DNAME_MAX] = "";

	for (unsigned i = 0; i < MANY; i++)
		nametable_put(t, numbered(i), &value);
	for (unsigned i = 0; i < MANY; i += 2)
		assert_ptr_equal(nametable_remove(t, numbered(i)), &value);
	for (unsigned i = 0; i < MANY; i++)
		assert_int_equal(nametable_find(t, numbered(i)) != NULL, i % 2);
	assert_int_equal(nametable_count(t), MANY / 2);
	nametable_each(t, in_order, last);
	nametable_free(t, NULL);
}

/* ---- readers beside the writer ---- */

struct shelf {
	struct nametable *t;
	_Atomic bool stop;
	_Atomic unsigned long looks;
	_Atomic bool broken;
};

struct book {
	struct rcu_slot retired;
	unsigned number, same;
};

static void burn(struct rcu_slot *slot)
{
	struct book *b = container_of(slot, struct book, retired);

	b->number = 0;
	mem_free(b);
}

static void *read_on(void *arg)
{
	struct shelf *s = arg;
	unsigned i = 0;

	rcu_thread_join();
	while (!atomic_load(&s->stop)) {
		rcu_turn_begin();
		for (unsigned k = 0; k < 100; k++, i++) {
			const struct book *b = nametable_find(s->t, numbered(i % 500));

			if (b ? b->number != i % 500 || b->same != b->number : i % 500 < 10)
				atomic_store(&s->broken, true);
		}
		rcu_turn_end();
		atomic_fetch_add(&s->looks, 100);
	}
	rcu_thread_leave();
	return NULL;
}

static struct book *book_new(unsigned number)
{
	struct book *b = mem_new(sizeof(*b));

	b->number = b->same = number;
	return b;
}

/* The first ten are always there, in one edition or another; the others come and go. */
static void who_looks_finds_what_is_whole(void **state)
{
	(void)state;
	struct shelf s = { .t = nametable_new(SEED) };
	pthread_t reader;

	rcu_thread_join();
	for (unsigned i = 0; i < 10; i++)
		nametable_put(s.t, numbered(i), book_new(i));
	nametable_publish(s.t);
	assert_int_equal(pthread_create(&reader, NULL, read_on, &s), 0);
	for (unsigned i = 0; i < 200000 || atomic_load(&s.looks) < 10000; i++) {
		unsigned n = i * 7919 % 500;
		struct book *old = n < 10 || i % 3 ? nametable_put(s.t, numbered(n), book_new(n))
						   : nametable_remove(s.t, numbered(n));

		if (old)
			rcu_retire(&old->retired, burn);
	}
	atomic_store(&s.stop, true);
	pthread_join(reader, NULL);
	rcu_flush();
	rcu_thread_leave();
	assert_false(atomic_load(&s.broken));
	nametable_free(s.t, mem_free);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_put_is_there_until_removed),
		cmocka_unit_test(pages_have_every_name_once_and_in_order),
		cmocka_unit_test(many_come_and_go),
		cmocka_unit_test(who_looks_finds_what_is_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
