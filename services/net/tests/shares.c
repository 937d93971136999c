/* Claims about whose the places are that all clients share.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/net/shares.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#include "util/net/addr.h"

enum { PLACES = 64 };

static struct addr addr_of(const char *text)
{
	struct addr a;

	assert_true(addr_parse(&a, text, 53, NULL));
	return a;
}

static void a_client_is_an_address_or_a_64(void **state)
{
	static const struct {
		const char *one, *other;
		bool same;
	} rows[] = {
		{ "192.0.2.1", "192.0.2.1", true },
		{ "192.0.2.1", "192.0.2.2", false },
		{ "2001:db8::1", "2001:db8::ffff:2", true },
		{ "2001:db8::1", "2001:db8:0:1::1", false },
		{ "192.0.2.1", "c000:201::", false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct addr one = addr_of(rows[i].one), other = addr_of(rows[i].other);
		struct shares *s = shares_new();
		struct holding h = { 0 };

		shares_give(s, &h, &one);
		assert_int_equal(shares_class(s, &one), 1);
		assert_int_equal(shares_class(s, &other), rows[i].same);
		shares_take_back(s, &h);
		assert_int_equal(shares_class(s, &one), 0);
		shares_free(s);
	}
}

static void classes_double(void **state)
{
	static const struct {
		unsigned count, class_;
	} rows[] = { { 0, 0 }, { 1, 1 }, { 2, 2 }, { 3, 2 }, { 4, 3 }, { 7, 3 }, { 8, 4 }, { 63, 6 } };
	struct addr a = addr_of("192.0.2.1");

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct shares *s = shares_new();
		struct holding h[PLACES] = { { 0 } };

		for (unsigned k = 0; k < rows[i].count; k++)
			shares_give(s, &h[k], &a);
		assert_int_equal(shares_class(s, &a), rows[i].class_);
		assert_int_equal(shares_highest_class(s), rows[i].class_);
		for (unsigned k = 0; k < rows[i].count; k++)
			shares_take_back(s, &h[k]);
		assert_int_equal(shares_highest_class(s), 0);
		assert_null(shares_of_largest(s));
		shares_free(s);
	}
}

static void the_largest_give_in_turn_their_oldest(void **state)
{
	struct addr a = addr_of("192.0.2.1"), b = addr_of("192.0.2.2"), c = addr_of("192.0.2.3");
	struct shares *s = shares_new();
	struct holding h[PLACES] = { { 0 } };

	(void)state;
	for (unsigned k = 0; k < 30; k++)
		shares_give(s, &h[k], k < 4 ? &a : k < 16 ? &b : &c);
	assert_int_equal(shares_class_with(s, &a), 3);
	assert_ptr_equal(shares_of_largest(s), &h[4]);
	assert_ptr_equal(shares_of_largest(s), &h[16]);
	assert_ptr_equal(shares_of_largest(s), &h[4]);
	assert_ptr_equal(holding_next(&h[4]), &h[5]);
	assert_null(holding_next(&h[15]));
	/* what goes to another is no longer his */
	shares_give(s, &h[4], &a);
	assert_ptr_equal(shares_of_largest(s), &h[16]);
	assert_ptr_equal(shares_of_largest(s), &h[5]);
	for (unsigned k = 0; k < 30; k++)
		shares_take_back(s, &h[k]);
	shares_free(s);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_client_is_an_address_or_a_64),
		cmocka_unit_test(classes_double),
		cmocka_unit_test(the_largest_give_in_turn_their_oldest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
