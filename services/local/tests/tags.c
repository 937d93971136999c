/* Claims about tags: how they are named, and which two sets have in common.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/local/tags.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#include "util/base/fault.h"
#include "util/conf/options.h"

/* In two lines; forty in all: t0 … t39, but for the names of a few. */
static struct conf_item lines[] = {
	{ .text = (char *)(uintptr_t)"  red green\tblue " },
	{ .text = (char *)(uintptr_t)"greenish t4 t5 t6 t7 t8 t9 t10 t11 t12 t13 t14 t15 t16 t17 t18 t19 t20 t21 t22 t23 t24 t25 t26 t27 t28 t29 "
				     "t30 t31 t32 t33 t34 t35 t36 t37 t38 t39" },
};
static const struct conf_list defined = { .items = lines, .count = 2 };

static void a_tag_is_known_by_its_place(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		int want;
	} rows[] = { { "red", 0 }, { "green", 1 }, { "blue", 2 }, { "greenish", 3 }, { "t4", 4 }, { "t39", 39 }, { "t40", -1 }, { "gree", -1 },
		     { "greens", -1 }, { "RED", -1 }, { "", -1 } };

	for (size_t i = 0; i < COUNT(rows); i++)
		assert_int_equal(tag_find(&defined, rows[i].text, strlen(rows[i].text)), rows[i].want);
	assert_int_equal(tag_find(&defined, "redgreen", 3), 0);
}

static void sets_have_their_first_tag_in_common(void **state)
{
	(void)state;
	static const struct {
		const char *a, *b;
		int want;
	} rows[] = {
		{ "red", "red", 0 },          { "red", "green", -1 },        { "", "red", -1 },           { "", "", -1 },
		{ "red blue", "blue", 2 },    { "blue red", "red blue", 0 }, { "t7 t9", "t8 t9", 9 },     { "t39", "t39", 39 },
		{ "t39", "t31", -1 },         { "t16 t39", "t39 t17", 39 },  { "red t39", "red t8", 0 },  { " t8\t t15 ", "t15", 15 },
		{ "t8 red t24 t23", "t23", 23 }, { "t4 t4", "t4", 4 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct tagset a = { 0 }, b = { 0 };
		struct fault f = { 0 };

		assert_true(tagset_add(&a, &defined, rows[i].a, &f));
		assert_true(tagset_add(&b, &defined, rows[i].b, &f));
		if (tagset_common(&a, &b) != rows[i].want || tagset_common(&b, &a) != rows[i].want)
			fail_msg("'%s' and '%s': %d", rows[i].a, rows[i].b, tagset_common(&a, &b));
		assert_int_equal(tagset_is_empty(&a), !*rows[i].a);
		/* more may be added to what is there */
		assert_true(tagset_add(&a, &defined, rows[i].b, &f));
		assert_int_equal(tagset_common(&a, &b) >= 0, *rows[i].b != 0);
		tagset_clear(&a);
		tagset_clear(&b);
		assert_true(tagset_is_empty(&a));
	}
}

static void an_unknown_tag_is_refused(void **state)
{
	struct tagset s = { 0 };
	struct fault f = { 0 };

	(void)state;
	assert_false(tagset_add(&s, &defined, "red  purple blue", &f));
	assert_string_equal(f.text, "'purple' is no tag of define-tag");
	tagset_clear(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_tag_is_known_by_its_place),
		cmocka_unit_test(sets_have_their_first_tag_in_common),
		cmocka_unit_test(an_unknown_tag_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
