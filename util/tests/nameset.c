/* Claims about a great many names in few bytes.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/nameset.h"

#include <stdio.h>

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
		{ "a name", "example.", 0, 0 },
		{ "a name below it", "www.example.", 1, 1 },
		{ "in other letters", "WWW.Example.", 1, 1 },
		{ "below one of them", "ftp.www.example.", -1, 1 },
		{ "between two of them", "b.c.example.", -1, 0 },
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_found_exactly_and_by_their_suffixes),
		cmocka_unit_test(nothing_makes_no_set),
		cmocka_unit_test(the_root_and_the_longest_name_have_room),
		cmocka_unit_test(hundreds_of_thousands_take_twenty_bytes_each),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
