/* Claims about records without an owner name: how they gather, and how many there may be.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/local/record_data.h"

#include <time.h>

#include "util/base/arena.h"
#include "util/base/fault.h"
#include "util/dns/rr.h"
#include "util/tests/wire.h"

static void records_gather_by_type(void **state)
{
	(void)state;
	struct record_data d = { .count = 0 };
	struct fault f = { 0 };
	struct arena a;

	arena_init(&a);
	assert_null(record_data_find(&d, TYPE_A));
	assert_true(record_data_add(&d, &a, "300 A 192.0.2.1", &f));
	assert_true(record_data_add(&d, &a, "TXT \"one\"", &f));
	assert_true(record_data_add(&d, &a, "60 A 192.0.2.2", &f));
	assert_int_equal(record_data_find(&d, TYPE_A)->count, 2);
	assert_int_equal(record_data_find(&d, TYPE_A)->ttl_s, 60);
	assert_int_equal(rrset_record(record_data_find(&d, TYPE_A), 0).at[3], 1);
	assert_int_equal(rrset_record(record_data_find(&d, TYPE_A), 1).at[3], 2);
	assert_int_equal(record_data_find(&d, TYPE_TXT)->count, 1);
	assert_null(record_data_find(&d, TYPE_AAAA));
	assert_false(record_data_add(&d, &a, "CNAME x.", &f));
	arena_clear(&a);

	d = (struct record_data){ .count = 0 };
	arena_init(&a);
	assert_true(record_data_add(&d, &a, "CNAME x.", &f));
	assert_int_equal(record_data_find(&d, TYPE_A)->type, TYPE_CNAME);
	assert_false(record_data_add(&d, &a, "A 192.0.2.1", &f));
	assert_false(record_data_add(&d, &a, "no type", &f));
	arena_clear(&a);
}

/* As with local data: time grows with their number, which ends where the format does. */
static void many_of_a_type_take_their_time_and_no_more(void **state)
{
	(void)state;
	struct record_data d = { .count = 0 };
	struct fault f = { 0 };
	struct arena a;
	clock_t begun = clock();
	char text[40];

	arena_init(&a);
	for (unsigned i = 0; i < 65535; i++) {
		snprintf(text, sizeof(text), "A 10.0.%u.%u", i >> 8, i & 255);
		assert_true(record_data_add(&d, &a, text, &f));
		if (clock() - begun > 5 * CLOCKS_PER_SEC)
			fail_msg("%u take too long", i);
	}
	assert_false(record_data_add(&d, &a, "A 10.0.255.255", &f));
	assert_int_equal(record_data_find(&d, TYPE_A)->count, 65535);
	arena_clear(&a);
}

int main(void)
{
	const struct CMUnitTest claims[] = {
		cmocka_unit_test(records_gather_by_type),
		cmocka_unit_test(many_of_a_type_take_their_time_and_no_more),
	};

	return cmocka_run_group_tests(claims, NULL, NULL);
}
