/* Claims about the engine of the caches.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/cache/slab.h"

#include <pthread.h>
#include <time.h>

#include "util/base/hash.h"
#include "util/base/mem.h"
#include "util/tests/wire.h"

struct item {
	struct slab_entry link;
	uint32_t key, version, check, expires_s;
	uint8_t ballast[64];
};

static const struct item *item_of(const struct slab_entry *e)
{
	return (const struct item *)(const void *)e;
}

static bool same_key(const struct slab_entry *newer, const struct slab_entry *standing)
{
	return item_of(newer)->key == item_of(standing)->key;
}

static bool has_expired(const struct slab_entry *e, uint32_t now_s)
{
	return (int32_t)(item_of(e)->expires_s - now_s) <= 0;
}

static uint64_t hash_of(uint32_t key)
{
	return hash_bytes(&key, sizeof(key));
}

/* All keys in four chains. */
static uint64_t crowded(uint32_t key)
{
	return (uint64_t)(key & 3) << 32;
}

static struct slab *slab_of(size_t budget, unsigned slabs)
{
	return slab_new(&(struct slab_how){ .name = "test",
					    .budget = budget,
					    .slabs = slabs,
					    .typical = sizeof(struct item),
					    .same = same_key,
					    .is_stale = has_expired });
}

static struct item *item_new(uint32_t key, uint32_t version, uint32_t expires_s)
{
	struct item *i = mem_zero(sizeof(*i));

	i->key = key;
	i->version = version;
	i->check = key ^ version ^ 0x5a5a5a5a;
	i->expires_s = expires_s;
	return i;
}

static const struct item *look(struct slab *s, uint64_t hash, uint32_t key, bool see)
{
	for (struct slab_entry *e = slab_first(s, hash); e; e = slab_next(e, hash)) {
		if (item_of(e)->key != key)
			continue;
		if (see)
			(void)slab_saw(s, e);
		return item_of(e);
	}
	return NULL;
}

static void the_newest_of_a_key_is_found(void **state)
{
	(void)state;
	static uint64_t (*const hashes[])(uint32_t) = { hash_of, crowded };

	for (size_t h = 0; h < COUNT(hashes); h++) {
		struct slab *s = slab_of(1 << 20, 4);

		for (uint32_t version = 1; version <= 3; version++) {
			for (uint32_t key = 0; key < 500; key++)
				slab_put(s, hashes[h](key), &item_new(key, version, 100)->link, 1);
		}
		for (uint32_t key = 0; key < 600; key++) {
			const struct item *i = look(s, hashes[h](key), key, true);

			assert_int_equal(i != NULL, key < 500);
			if (i)
				assert_int_equal(i->version, 3);
		}
		assert_int_equal(slab_counted(s).entries, 500);
		slab_free(s);
		rcu_flush();
	}
}

static void the_table_grows_with_its_entries(void **state)
{
	(void)state;
	static const unsigned slabs[] = { 1, 4, 256 };

	for (size_t i = 0; i < COUNT(slabs); i++) {
		struct slab *s = slab_of(16 << 20, slabs[i]);
		size_t empty = slab_counted(s).bytes;

		assert_true(empty < 4096);
		for (uint32_t key = 0; key < 20000; key++) {
			slab_put(s, hash_of(key), &item_new(key, 1, 100)->link, 1);
			if (key % 997 == 0)
				assert_non_null(look(s, hash_of(key / 2), key / 2, false));
		}
		for (uint32_t key = 0; key < 20000; key++)
			assert_non_null(look(s, hash_of(key), key, false));
		assert_int_equal(slab_counted(s).entries, 20000);
		slab_clear(s);
		assert_int_equal(slab_counted(s).entries, 0);
		slab_free(s);
		rcu_flush();
	}
}

static bool not_older(const struct slab_entry *old, void *arg)
{
	uint32_t *least = arg;

	return !old || item_of(old)->version >= *least;
}

static void what_may_not_replace_is_released(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		uint32_t least;
		bool want;
	} rows[] = {
		{ "nothing stands there", 9, true },
		{ "the standing one is let go", 1, true },
		{ "the standing one stays", 9, false },
	};
	struct slab *s = slab_of(1 << 20, 1);

	for (size_t i = 0; i < COUNT(rows); i++) {
		uint32_t least = rows[i].least;
		bool got = slab_put_if(s, hash_of(7), &item_new(7, (uint32_t)i + 1, 100)->link, 1,
				       not_older, &least);

		if (got != rows[i].want)
			fail_msg("%s: %d", rows[i].why, got);
	}
	assert_int_equal(look(s, hash_of(7), 7, false)->version, 2);
	assert_int_equal(slab_counted(s).entries, 1);
	slab_free(s);
	rcu_flush();
}

static void the_budget_is_kept(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		size_t budget;
		unsigned slabs;
	} rows[] = {
		{ "one slab", 64 << 10, 1 },
		{ "four slabs", 256 << 10, 4 },
		{ "a number that is no power of two", 256 << 10, 3 },
		{ "next to nothing", 4000, 1 },
		{ "nothing", 0, 1 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct slab *s = slab_of(rows[i].budget, rows[i].slabs);
		struct slab_count c;

		for (uint32_t key = 0; key < 10000; key++) {
			slab_put(s, hash_of(key), &item_new(key, 1, 100)->link, 1);
			c = slab_counted(s);
			if (c.bytes > MAX(c.budget, 4096))
				fail_msg("%s: %zu bytes of %zu", rows[i].why, c.bytes, c.budget);
		}
		if (rows[i].budget > 100000 && c.bytes < c.budget / 2)
			fail_msg("%s: only %zu bytes of %zu used", rows[i].why, c.bytes, c.budget);
		if (rows[i].budget && c.entries == 0)
			fail_msg("%s: nothing is kept", rows[i].why);
		slab_free(s);
		rcu_flush();
	}
}

static void what_is_asked_for_outlives_a_flood(void **state)
{
	(void)state;
	struct slab *s = slab_of(128 << 10, 1);
	unsigned left = 0;

	for (uint32_t key = 0; key < 100; key++)
		slab_put(s, hash_of(key), &item_new(key, 1, 100)->link, 1);
	for (uint32_t key = 1000; key < 50000; key++) {
		slab_put(s, hash_of(key), &item_new(key, 1, 100)->link, 1);
		look(s, hash_of(key % 100), key % 100, true);
	}
	for (uint32_t key = 0; key < 100; key++)
		left += look(s, hash_of(key), key, false) != NULL;
	assert_int_equal(left, 100);
	slab_free(s);
	rcu_flush();
}

static void stale_entries_go_first(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		uint32_t grace_s;
		bool stale_stay;
	} rows[] = {
		{ "expired is stale", 0, false },
		{ "kept for an hour longer", 3600, true },
		{ "kept for ever", SLAB_FOREVER, true },
	};

	for (size_t r = 0; r < COUNT(rows); r++) {
		struct slab *s = slab_of(256 << 10, 1);
		struct slab_count empty = slab_counted(s);
		unsigned good = 0, stale = 0;
		uint32_t room;

		slab_keep_stale(s, rows[r].grace_s);
		/* Good and stale ones in turns, the stale ones asked for; then as many more as have
		 * room when the stale ones have gone. */
		for (uint32_t key = 0; key < 1000; key++) {
			slab_put(s, hash_of(key), &item_new(key, 1, key % 2 ? 50 : 5000)->link, 1);
			if (key % 2 || rows[r].stale_stay)
				look(s, hash_of(key), key, true);
		}
		room = (uint32_t)((empty.budget - empty.bytes) /
				  ((slab_counted(s).bytes - empty.bytes) / 1000));
		for (uint32_t key = 1000; key < room + 400; key++)
			slab_put(s, hash_of(key), &item_new(key, 1, 5000)->link, 100);
		for (uint32_t key = 0; key < 1000; key++) {
			bool there = look(s, hash_of(key), key, false) != NULL;

			*(key % 2 ? &stale : &good) += there;
		}
		if (rows[r].stale_stay ? stale < 100 : stale > 150 || good < 495)
			fail_msg("%s: %u stale, %u good", rows[r].why, stale, good);
		slab_free(s);
		rcu_flush();
	}
}

static bool is_key(const struct slab_entry *e, void *arg)
{
	return item_of(e)->key == *(uint32_t *)arg;
}

static bool keep_even(const struct slab_entry *e, void *arg)
{
	++*(unsigned *)arg;
	return item_of(e)->key % 2 == 0;
}

static void note_shown(const struct slab_entry *e, void *arg)
{
	unsigned *shown = arg;

	shown[item_of(e)->key]++;
}

static void a_walk_shows_everything_in_strides(void **state)
{
	(void)state;
	enum { THERE = 5000, MORE = 5000 };
	struct slab *s = slab_of(8 << 20, 4);
	unsigned *shown = mem_array(THERE + MORE, sizeof(*shown)), strides = 0;
	struct slab_walk walk = { 0 };
	uint32_t next = THERE;
	bool more;

	for (uint32_t i = 0; i < THERE; i++)
		slab_put(s, hash_of(i), &item_new(i, 1, UINT32_MAX / 2)->link, 1);
	do {
		more = slab_walk(s, &walk, note_shown, shown);
		strides++;
		/* The table grows meanwhile, and then becomes another one. */
		for (int i = 0; i < 500 && next < THERE + MORE; i++, next++)
			slab_put(s, hash_of(next), &item_new(next, 1, UINT32_MAX / 2)->link, 1);
		if (strides == 5)
			slab_resize(s, 16 << 20);
	} while (more);
	assert_true(strides > 10);
	for (uint32_t i = 0; i < THERE; i++)
		if (!shown[i])
			fail_msg("%u was not shown", i);
	mem_free(shown);
	slab_free(s);
}

static void entries_are_taken_out_one_by_one_and_by_sweeps(void **state)
{
	(void)state;
	struct slab *s = slab_of(1 << 20, 4);
	unsigned shown = 0;
	uint32_t key = 10, absent = 5000;

	for (uint32_t k = 0; k < 1000; k++)
		slab_put(s, crowded(k), &item_new(k, 1, 100)->link, 1);
	assert_int_equal(slab_remove(s, crowded(key), is_key, &key), 1);
	assert_int_equal(slab_remove(s, crowded(key), is_key, &key), 0);
	assert_int_equal(slab_remove(s, crowded(absent), is_key, &absent), 0);
	assert_null(look(s, crowded(key), key, false));

	assert_int_equal(slab_sweep(s, keep_even, &shown), 500);
	assert_int_equal(shown, 999);
	assert_null(look(s, crowded(11), 11, false));
	assert_non_null(look(s, crowded(12), 12, false));
	assert_int_equal(slab_counted(s).entries, 499);
	slab_clear(s);
	assert_int_equal(slab_counted(s).entries, 0);
	slab_free(s);
	rcu_flush();
}

static void another_size_keeps_what_fits(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		size_t budget;
		size_t least, most;
	} rows[] = {
		{ "eight times as large", 8 << 20, 3000, 3000 },
		{ "as large as before", 1 << 20, 3000, 3000 },
		{ "a tenth", 100 << 10, 300, 900 },
		{ "nothing", 0, 0, 0 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct slab *s = slab_of(1 << 20, 2);
		size_t found = 0;

		for (uint32_t key = 0; key < 3000; key++)
			slab_put(s, hash_of(key), &item_new(key, 1, 100)->link, 1);
		slab_resize(s, rows[i].budget);
		for (uint32_t key = 0; key < 3000; key++)
			found += look(s, hash_of(key), key, false) != NULL;
		if (found != slab_counted(s).entries || found < rows[i].least ||
		    found > rows[i].most)
			fail_msg("%s: %zu found, %zu counted", rows[i].why, found,
				 slab_counted(s).entries);
		for (uint32_t key = 5000; key < 5100; key++)
			slab_put(s, hash_of(key), &item_new(key, 1, 100)->link, 1);
		assert_int_equal(look(s, hash_of(5099), 5099, false) != NULL, rows[i].budget != 0);
		slab_free(s);
		rcu_flush();
	}
}

/* ---- threads ---- */

#define KEYS   4000
#define RUN_MS 1000

struct riot {
	struct slab *slab;
	_Atomic bool over;
	_Atomic unsigned long found, torn;
};

static uint32_t step(uint32_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 17;
	*seed ^= *seed << 5;
	return *seed;
}

static void *reader(void *arg)
{
	struct riot *r = arg;
	uint32_t seed = 0x1234567;
	unsigned long found = 0, torn = 0;

	rcu_thread_join();
	while (!atomic_load(&r->over)) {
		rcu_turn_begin();
		for (int n = 0; n < 64; n++) {
			uint32_t key = step(&seed) % KEYS;
			const struct item *i = look(r->slab, hash_of(key), key, true);

			found += i != NULL;
			torn += i && i->check != (i->key ^ i->version ^ 0x5a5a5a5a);
		}
		rcu_turn_end();
	}
	rcu_thread_leave();
	atomic_fetch_add(&r->found, found);
	atomic_fetch_add(&r->torn, torn);
	return NULL;
}

static bool keep_most(const struct slab_entry *e, void *arg)
{
	(void)arg;
	return item_of(e)->key % 16 != 3;
}

static void *writer(void *arg)
{
	struct riot *r = arg;
	uint32_t seed = (uint32_t)(uintptr_t)&seed | 1, version = 0;

	rcu_thread_join();
	while (!atomic_load(&r->over)) {
		for (int n = 0; n < 1000; n++) {
			uint32_t key = step(&seed) % KEYS;

			version++;
			if (n % 16 == 0)
				slab_remove(r->slab, hash_of(key), is_key, &key);
			else
				slab_put(r->slab, hash_of(key),
					 &item_new(key, version, key % 3 * 100)->link,
					 version % 200);
		}
		slab_resize(r->slab, step(&seed) % 2 ? 512 << 10 : 64 << 10);
		slab_sweep(r->slab, keep_most, NULL);
		/* Let the freeing catch up, so that memory stays small whatever the machine. */
		rcu_flush();
	}
	rcu_thread_leave();
	return NULL;
}

static void readers_see_whole_entries_while_all_changes(void **state)
{
	(void)state;
	struct riot r = { .slab = slab_of(256 << 10, 4) };
	struct timespec run = { .tv_sec = RUN_MS / 1000, .tv_nsec = RUN_MS % 1000 * 1000000 };
	void *(*const jobs[])(void *) = { reader, reader, writer, writer };
	pthread_t threads[COUNT(jobs)];

	for (size_t i = 0; i < COUNT(jobs); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, jobs[i], &r), 0);
	nanosleep(&run, NULL);
	atomic_store(&r.over, true);
	for (size_t i = 0; i < COUNT(jobs); i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(atomic_load(&r.torn), 0);
	assert_true(atomic_load(&r.found) > 0);
	slab_free(r.slab);
	rcu_flush();
}

/* ---- what no longer counts ---- */

static bool is_odd(const struct slab_entry *e, const void *asked)
{
	(*(unsigned *)(uintptr_t)asked)++;
	return item_of(e)->key % 2;
}

static unsigned count_found(struct slab *s, uint32_t from, uint32_t to)
{
	unsigned found = 0;

	for (uint32_t key = from; key < to; key++)
		for (struct slab_entry *e = slab_first(s, hash_of(key)); e; e = slab_next(e, hash_of(key)))
			found += item_of(e)->key == key && slab_saw(s, e);
	return found;
}

static void fill(struct slab *s, uint32_t from, uint32_t to, uint32_t version)
{
	for (uint32_t key = from; key < to; key++)
		slab_put(s, hash_of(key), &item_new(key, version, 100)->link, 1);
}

static bool never(const struct slab_entry *old, void *arg)
{
	(void)arg;
	return old == NULL;
}

static void what_a_rule_forbids_is_not_found_from_the_generation_on(void **state)
{
	(void)state;
	struct slab *s = slab_of(1 << 20, 4);
	unsigned asked = 0;
	const struct slab_rule rule = { is_odd, &asked };
	atomic_bool stop = true;

	fill(s, 0, 100, 1);
	slab_forget_begin(s, &rule);
	assert_int_equal(count_found(s, 0, 100), 100); /* who is in the old generation */
	assert_int_equal(asked, 0);
	slab_enter(1);
	assert_int_equal(count_found(s, 0, 100), 50);
	fill(s, 51, 52, 2); /* new, so that it counts whatever it is */
	assert_int_equal(count_found(s, 51, 52), 1);
	/* an entry that does not count is not in the way, one that does is */
	assert_true(slab_put_if(s, hash_of(53), &item_new(53, 2, 100)->link, 1, never, NULL));
	assert_false(slab_put_if(s, hash_of(54), &item_new(54, 2, 100)->link, 1, never, NULL));
	assert_int_equal(count_found(s, 53, 54), 1);
	assert_int_equal(slab_forget(s, 1, &stop), 0);
	stop = false;
	assert_int_equal(slab_forget(s, 1, &stop), 48);
	assert_int_equal(slab_counted(s).entries, 52);
	asked = 0;
	assert_int_equal(slab_forget(s, 1, &stop), 0); /* all are of this generation now */
	assert_int_equal(count_found(s, 0, 100), 52);
	assert_int_equal(asked, 0);
	slab_forget_end(s);
	slab_enter(2); /* without a rule, everything counts */
	assert_int_equal(count_found(s, 0, 100), 52);
	slab_forget_begin(s, &rule);
	assert_int_equal(count_found(s, 0, 100), 50);
	slab_enter(0);
	slab_free(s);
}

static void eviction_knows_what_was_seen_in_any_generation(void **state)
{
	(void)state;
	for (uint8_t generation = 0; generation <= SLAB_GENERATIONS; generation += 63) {
		struct slab *s = slab_of(64 << 10, 1);

		slab_enter(generation);
		fill(s, 0, 10, 1);
		slab_enter((uint8_t)(generation ? 0 : 5));
		assert_int_equal(count_found(s, 0, 10), 10);
		fill(s, 1000, 1000 + (uint32_t)((64 << 10) / sizeof(struct item)) - 20, 1);
		assert_int_equal(count_found(s, 0, 10), 10);
		slab_enter(0);
		slab_free(s);
	}
}

int main(void)
{
	const struct CMUnitTest claims[] = {
		cmocka_unit_test(the_newest_of_a_key_is_found),
		cmocka_unit_test(the_table_grows_with_its_entries),
		cmocka_unit_test(what_may_not_replace_is_released),
		cmocka_unit_test(the_budget_is_kept),
		cmocka_unit_test(what_is_asked_for_outlives_a_flood),
		cmocka_unit_test(stale_entries_go_first),
		cmocka_unit_test(entries_are_taken_out_one_by_one_and_by_sweeps),
		cmocka_unit_test(a_walk_shows_everything_in_strides),
		cmocka_unit_test(another_size_keeps_what_fits),
		cmocka_unit_test(what_a_rule_forbids_is_not_found_from_the_generation_on),
		cmocka_unit_test(eviction_knows_what_was_seen_in_any_generation),
		cmocka_unit_test(readers_see_whole_entries_while_all_changes),
	};

	hash_start(true);
	rcu_thread_join();
	int failed = cmocka_run_group_tests(claims, NULL, NULL);
	rcu_thread_leave();
	return failed;
}
