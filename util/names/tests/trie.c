/* Claims about sets of names.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/names/trie.h"

#include "util/base/hash.h"
#include "util/base/mem.h"
#include "util/tests/wire.h"

static void an_empty_set_holds_nothing(void **state)
{
	(void)state;
	struct trie *t = trie_new();

	assert_int_equal(trie_count(t), 0);
	assert_null(trie_find(t, dname_root));
	assert_null(trie_find_closest(t, N("www.example.com.")));
	assert_null(trie_find_above(t, dname_root));
	assert_null(trie_remove(t, N("com.")));
	trie_free(t, NULL);
}

static void the_closest_name_at_or_above_is_found(void **state)
{
	(void)state;
	static char root[] = "root", com[] = "com", deep[] = "deep", wild[] = "wild";
	static const struct {
		const char *name;
		const char *exact, *closest, *above;
	} rows[] = {
		{ ".", root, root, NULL },
		{ "org.", NULL, root, root },
		{ "COM.", com, com, root },
		{ "example.com.", NULL, com, com },
		{ "a.b.Example.com.", deep, deep, com },
		{ "x.a.b.example.com.", NULL, deep, deep },
		{ "y.x.a.b.example.com.", NULL, deep, deep },
		{ "b.example.com.", NULL, com, com },
		{ "xa.b.example.com.", NULL, com, com },
		{ "*.org.", wild, wild, root },
		{ "www.org.", NULL, root, root },
	};
	struct trie *t = trie_new();

	assert_null(trie_put(t, dname_root, root));
	assert_null(trie_put(t, N("com."), com));
	assert_null(trie_put(t, N("A.b.example.COM."), deep));
	assert_null(trie_put(t, N("*.org."), wild));
	for (size_t i = 0; i < COUNT(rows); i++) {
		const uint8_t *name = N(rows[i].name);
		if (trie_find(t, name) != rows[i].exact)
			fail_msg("%s: exactly", rows[i].name);
		if (trie_find_closest(t, name) != rows[i].closest)
			fail_msg("%s: closest", rows[i].name);
		if (trie_find_above(t, name) != rows[i].above)
			fail_msg("%s: above", rows[i].name);
	}
	trie_free(t, NULL);
}

static void putting_again_replaces_and_hands_back(void **state)
{
	(void)state;
	int one, two;
	struct trie *t = trie_new();

	assert_null(trie_put(t, N("a.b."), &one));
	assert_ptr_equal(trie_put(t, N("A.B."), &two), &one);
	assert_int_equal(trie_count(t), 1);
	assert_ptr_equal(trie_remove(t, N("a.B.")), &two);
	assert_int_equal(trie_count(t), 0);
	assert_null(trie_find(t, N("a.b.")));
	trie_free(t, NULL);
}

static void freeing_a_set_frees_its_values(void **state)
{
	(void)state;
	struct trie *t = trie_new();

	for (int i = 0; i < 100; i++) {
		char text[32];
		snprintf(text, sizeof(text), "n%d.example.", i);
		assert_null(trie_put(t, N(text), mem_text(text)));
	}
	trie_free(t, mem_free);
	trie_free(NULL, NULL);
}

struct walk {
	uint8_t last[DNAME_MAX];
	size_t count, stop_at;
};

static bool check_order(const uint8_t *name, void *value, void *arg)
{
	struct walk *w = arg;

	assert_non_null(value);
	if (w->count)
		assert_true(dname_compare(w->last, name) < 0);
	memcpy(w->last, name, dname_len(name));
	return ++w->count != w->stop_at;
}

/* Against a plain list, through many puts and removals. */
static void a_set_agrees_with_looking_at_each_name(void **state)
{
	(void)state;
	static const char *const labels[] = { "a",       "B", "c",   "dd",
					      "example", "*", "x-y", "longer-label" };
	static uint8_t names[3000][DNAME_MAX];
	static bool in[3000];
	struct trie *t = trie_new();
	size_t count = 0;
	uint32_t seed = 7;

	for (size_t i = 0; i < COUNT(names); i++) {
		char text[256] = "";
		for (unsigned n = (seed = seed * 1664525 + 1013904223) >> 29; n > 0; n--) {
			seed = seed * 1664525 + 1013904223;
			strcat(strcat(text, labels[seed >> 29]), ".");
		}
		dname_parse(names[i], *text ? text : ".", NULL);
	}
	for (size_t round = 0; round < 6000; round++) {
		seed = seed * 1664525 + 1013904223;
		size_t i = (seed >> 8) % COUNT(names), same = i;
		for (size_t k = 0; k < COUNT(names); k++) {
			if (in[k] && dname_equals(names[k], names[i]))
				same = k;
		}
		if (round % 3 == 2) {
			assert_ptr_equal(trie_remove(t, names[i]), in[same] ? names[same] : NULL);
			count -= in[same];
			in[same] = false;
		} else if (!in[same]) {
			assert_null(trie_put(t, names[i], names[i]));
			in[i] = true;
			count++;
		}
		assert_int_equal(trie_count(t), count);
	}
	for (size_t i = 0; i < COUNT(names); i++) {
		const uint8_t *exact = NULL, *closest = NULL;
		for (size_t k = 0; k < COUNT(names); k++) {
			if (!in[k] || !dname_is_under(names[i], names[k]))
				continue;
			if (dname_equals(names[i], names[k]))
				exact = names[k];
			if (closest == NULL || dname_labels(names[k]) > dname_labels(closest))
				closest = names[k];
		}
		assert_ptr_equal(trie_find(t, names[i]), exact);
		assert_ptr_equal(trie_find_closest(t, names[i]), closest);
	}

	struct walk all = { .count = 0 }, some = { .stop_at = 5 };
	trie_each(t, check_order, &all);
	assert_int_equal(all.count, count);
	trie_each(t, check_order, &some);
	assert_int_equal(some.count, 5);
	trie_free(t, NULL);
}

int main(void)
{
	const struct CMUnitTest claims[] = {
		cmocka_unit_test(an_empty_set_holds_nothing),
		cmocka_unit_test(the_closest_name_at_or_above_is_found),
		cmocka_unit_test(putting_again_replaces_and_hands_back),
		cmocka_unit_test(freeing_a_set_frees_its_values),
		cmocka_unit_test(a_set_agrees_with_looking_at_each_name),
	};

	hash_start(true);
	return cmocka_run_group_tests(claims, NULL, NULL);
}
