/* Claims about a great many names in few bytes.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/names/nameset.h"

#include <stdio.h>

#include "util/tests/store.h"
#include "util/tests/wire.h"

#define SEED UINT64_C(0x0123456789abcdef)

static struct nameset *set_of(const char *const *names, size_t count)
{
	struct nameset_maker *m = nameset_maker_new();

	for (size_t i = 0; i < count; i++)
		nameset_put(m, N(names[i]), (uint8_t)i);
	return nameset_make(m, SEED);
}

static void names_are_found_exactly_and_by_their_suffixes(void **state)
{
	(void)state;
	static const char *const names[] = {
		"example.",       "www.example.",           "a.b.c.example.",
		"EXAMPLE.",       "xn--strae-oqa.example.", "aexample.",
		"a.example.org.",
	};
	static const struct {
		const char *why, *name;
		int want, closest; /* numbers; -1: none */
	} rows[] = {
		{ "a name, put again", "example.", 3, 3 },
		{ "a name below it", "www.example.", 1, 1 },
		{ "in other letters", "WWW.Example.", 1, 1 },
		{ "below one of them", "ftp.www.example.", -1, 1 },
		{ "between two of them", "b.c.example.", -1, 3 },
		{ "a deep one", "a.b.c.example.", 2, 2 },
		{ "whose end is alike, but not by labels", "bexample.", -1, -1 },
		{ "one label longer in front", "aexample.", 5, 5 },
		{ "of another parent", "example.org.", -1, -1 },
		{ "below it", "x.a.example.org.", -1, 6 },
		{ "the root", ".", -1, -1 },
	};
	struct nameset *s = set_of(names, COUNT(names));

	assert_int_equal(nameset_count(s), COUNT(names) - 1); /* EXAMPLE is one of them */
	for (size_t i = 0; i < COUNT(rows); i++) {
		const uint8_t *name = N(rows[i].name);
		struct suffixes q;
		int closest = -1, got = nameset_find(s, name);

		suffixes_find(&q, name, SEED, nameset_deepest(s));
		for (unsigned l = q.hashed + 1; l-- > 0 && closest < 0;)
			closest = nameset_at(s, &q, l);
		if (got != rows[i].want || closest != rows[i].closest)
			fail_msg("%s: %d, closest %d", rows[i].why, got, closest);
	}
	nameset_free(s);
}

static void nothing_makes_no_set(void **state)
{
	(void)state;
	assert_null(nameset_make(nameset_maker_new(), SEED));
	nameset_maker_free(NULL);
	nameset_free(NULL);
}

static void the_root_and_the_longest_name_have_room(void **state)
{
	(void)state;
	uint8_t longest[DNAME_MAX];
	struct nameset_maker *m = nameset_maker_new();
	struct nameset *s;

	for (unsigned i = 0; i < 127; i++)
		memcpy(longest + 2 * i, "\1x", 2);
	longest[254] = 0;
	nameset_put(m, longest, 7);
	nameset_put(m, dname_root, 9);
	s = nameset_make(m, SEED);
	assert_int_equal(nameset_find(s, longest), 7);
	assert_int_equal(nameset_find(s, dname_root), 9);
	assert_int_equal(nameset_find(s, longest + 2), -1);
	nameset_free(s);
}

/* Names as lists have them: few ends, many beginnings. */
static const uint8_t *made_name(unsigned n)
{
	static uint8_t wire[DNAME_MAX];
	static const char *const ends[] = { "com", "net", "org", "de", "co.uk", "info" };
	char text[100];

	snprintf(text, sizeof(text), "%s%u.track%u-%x.%s.", n % 3 ? "ad" : "metrics", n % 7, n / 11,
		 n * 2654435761u >> 16, ends[n % COUNT(ends)]);
	assert_true(dname_parse(wire, text, NULL));
	return wire;
}

static bool count_up(const uint8_t *name, uint8_t value, void *arg)
{
	size_t *count = arg;

	assert_int_equal(value, 9);
	assert_int_equal(dname_measure(name, name + DNAME_MAX), dname_len(name));
	return ++*count < 1000000;
}

static void hundreds_of_thousands_take_twenty_bytes_each(void **state)
{
	(void)state;
	enum { MANY = 417286 };
	struct nameset_maker *m = nameset_maker_new();
	struct nameset *s;
	size_t count = 0;

	for (unsigned i = 0; i < MANY; i++)
		nameset_put(m, made_name(i), 9);
	s = nameset_make(m, SEED);
	nameset_each(s, count_up, &count);
	assert_int_equal(nameset_count(s), count);
	assert_true(count > MANY - MANY / 100);
	if (nameset_bytes(s) > 20 * count)
		fail_msg("%zu bytes for %zu names", nameset_bytes(s), count);

	for (unsigned i = 0; i < MANY; i += 7)
		assert_int_equal(nameset_find(s, made_name(i)), 9);
	for (unsigned i = MANY; i < MANY + 50000; i++) {
		const uint8_t *name = made_name(i);

		assert_int_equal(nameset_find(s, dname_parent(name)), -1);
	}
	nameset_free(s);
}

static void of_names_put_again_the_bits_may_be_joined(void **state)
{
	(void)state;
	enum { NAMES = 40000 }; /* more than one piece */
	struct nameset_maker *joining = nameset_maker_joining(), *last = nameset_maker_new();
	struct nameset *s, *t;
	char text[40];

	for (unsigned round = 0; round < 3; round++) {
		for (unsigned i = 0; i < NAMES; i++) {
			snprintf(text, sizeof(text), "n%u.example.", i);
			nameset_put(joining, N(text), (uint8_t)(1u << round));
			nameset_put(last, N(text), (uint8_t)(1u << round));
		}
	}
	s = nameset_make(joining, SEED);
	t = nameset_make(last, SEED);
	assert_int_equal(nameset_count(s), NAMES);
	assert_int_equal(nameset_count(t), NAMES);
	for (unsigned i = 0; i < NAMES; i += 7) {
		snprintf(text, sizeof(text), "n%u.example.", i);
		assert_int_equal(nameset_find(s, N(text)), 7);
		assert_int_equal(nameset_find(t, N(text)), 4);
	}
	nameset_free(s);
	nameset_free(t);
}

static int count_kinds(const uint8_t *name, const struct nameset_kinds *kinds, void *calls)
{
	unsigned count = 0;

	(void)name;
	++*(unsigned *)calls;
	for (unsigned i = 0; i < 4; i++)
		count += (unsigned)__builtin_popcountll(kinds->has[i]);
	return kinds->has[3] >> 63 ? -1 : (int)count;
}

static void all_kinds_of_a_name_are_weighed_at_once(void **state)
{
	(void)state;
	enum { NAMES = 40000 }; /* more than one piece */
	static const uint8_t kinds[] = { 0, 1, 63, 64, 127, 254, 1, 0, 255 };
	unsigned calls = 0;
	struct nameset_maker *m = nameset_maker_weighing(count_kinds, &calls);
	struct nameset *s;
	char text[40];

	for (unsigned round = 0; round < COUNT(kinds); round++) {
		for (unsigned i = 0; i < NAMES; i++) {
			snprintf(text, sizeof(text), "n%u.example.", i);
			if (i % COUNT(kinds) >= round)
				nameset_put(m, N(text), kinds[round]);
			if (i < 20)
				nameset_put(m, N(text), kinds[0]);
		}
	}
	s = nameset_make(m, SEED);
	assert_int_equal(calls, NAMES);
	for (unsigned i = 0; i < NAMES; i += i < 40 ? 1 : 7) {
		unsigned last = i % COUNT(kinds);

		snprintf(text, sizeof(text), "n%u.example.", i);
		assert_int_equal(nameset_find(s, N(text)), last == 8 ? -1 : last < 6 ? (int)last + 1 : 6);
	}
	nameset_free(s);
}

static int leave_odd_ones(const uint8_t *name, uint8_t value, void *seen)
{
	(void)name;
	++*(unsigned *)seen;
	return value % 2 ? value + 1 : -1;
}

static void a_last_look_changes_names_and_leaves_some_out(void **state)
{
	(void)state;
	static const char *const names[] = { "a.example.", "b.example.", "c.example." };
	struct nameset_maker *m = nameset_maker_new();
	unsigned seen = 0;
	struct nameset *s;

	for (unsigned i = 0; i < 2 * COUNT(names); i++)
		nameset_put(m, N(names[i % COUNT(names)]), (uint8_t)(i < COUNT(names) ? 99 : 7 + i));
	nameset_review(m, leave_odd_ones, &seen);
	s = nameset_make(m, SEED);
	assert_int_equal(seen, 3);
	assert_int_equal(nameset_count(s), 1);
	assert_int_equal(nameset_find(s, N("b.example.")), 12);
	assert_int_equal(nameset_find(s, N("a.example.")), -1);
	nameset_free(s);
}

/* ---- in a file ---- */

static struct nameset *numbered(unsigned count)
{
	struct nameset_maker *m = nameset_maker_new();
	char text[40];

	for (unsigned i = 0; i < count; i++) {
		snprintf(text, sizeof(text), "n%u.example.", i);
		nameset_put(m, N(text), (uint8_t)i);
	}
	return nameset_make(m, SEED);
}

static void a_saved_set_is_the_same_again(void **state)
{
	(void)state;
	static struct store f;
	struct nameset *s = numbered(1000), *t;

	f.len = f.at = 0;
	assert_true(nameset_save(s, store_put, &f));
	t = nameset_load(store_get, &f, f.len);
	assert_non_null(t);
	assert_int_equal(nameset_count(t), 1000);
	assert_int_equal(nameset_seed(t), SEED);
	assert_int_equal(nameset_find(t, N("n999.example.")), 999 % 256);
	nameset_reseed(t, SEED + 1);
	assert_int_equal(nameset_find(t, N("n77.example.")), 77);
	assert_int_equal(nameset_find(t, N("n1000.example.")), -1);
	nameset_free(s);
	nameset_free(t);
}

static bool ask(const uint8_t *name, uint8_t value, void *arg)
{
	(void)value;
	(void)arg;
	return dname_measure(name, name + DNAME_MAX) > 0;
}

static void a_broken_one_is_refused_or_harmless(void **state)
{
	(void)state;
	static struct store f, g;
	struct nameset *s = numbered(100);

	f.len = f.at = 0;
	assert_true(nameset_save(s, store_put, &f));
	nameset_free(s);
	for (size_t i = 0; i < f.len; i++) {
		for (unsigned bit = 0; bit < 8; bit += 3) {
			g = f;
			g.bytes[i] ^= (uint8_t)(1u << bit);
			s = nameset_load(store_get, &g, g.len);
			if (!s)
				continue;
			(void)nameset_find(s, N("n50.example."));
			nameset_reseed(s, SEED + 9);
			(void)nameset_find(s, N("a.b.c.d.e.f.g.example."));
			nameset_each(s, ask, NULL);
			nameset_free(s);
		}
	}
	for (size_t len = 0; len < f.len; len++) {
		g = f;
		g.len = len;
		assert_null(nameset_load(store_get, &g, f.len));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_found_exactly_and_by_their_suffixes),
		cmocka_unit_test(nothing_makes_no_set),
		cmocka_unit_test(the_root_and_the_longest_name_have_room),
		cmocka_unit_test(hundreds_of_thousands_take_twenty_bytes_each),
		cmocka_unit_test(of_names_put_again_the_bits_may_be_joined),
		cmocka_unit_test(all_kinds_of_a_name_are_weighed_at_once),
		cmocka_unit_test(a_last_look_changes_names_and_leaves_some_out),
		cmocka_unit_test(a_saved_set_is_the_same_again),
		cmocka_unit_test(a_broken_one_is_refused_or_harmless),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
