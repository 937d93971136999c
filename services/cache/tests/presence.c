/* Claims about telling without a lock which zones a table has.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/cache/presence.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

/* The slot is the lowest bits, the tag the upper ones. */
#define SLOT  UINT64_C(0x5)
#define HASH  (UINT64_C(0x123456789abc0000) | SLOT)
#define OTHER (UINT64_C(0xfedcba9876540000) | SLOT)
#define THIRD (UINT64_C(0x1111111111140000) | SLOT)

static void a_zone_is_there_from_its_first_record_to_its_last(void **state)
{
	(void)state;
	struct presences *p = presences_new(16);

	assert_int_equal(presences_look(p, HASH), PRESENCE_NONE);
	presences_say(p, HASH, PRESENCE_OPT_OUT); /* of a zone that is not there: nothing */
	assert_int_equal(presences_look(p, HASH), PRESENCE_NONE);
	presences_add(p, HASH);
	assert_int_equal(presences_look(p, HASH), PRESENCE_SOME);
	assert_int_equal(presences_look(p, OTHER), PRESENCE_NONE);
	assert_int_equal(presences_look(p, HASH + 1), PRESENCE_NONE);
	presences_say(p, HASH, PRESENCE_OPT_OUT);
	assert_int_equal(presences_look(p, HASH), PRESENCE_OPT_OUT);
	assert_int_equal(presences_look(p, OTHER), PRESENCE_NONE);
	presences_say(p, HASH, PRESENCE_SOME);
	assert_int_equal(presences_look(p, HASH), PRESENCE_SOME);
	presences_remove(p, HASH);
	assert_int_equal(presences_look(p, HASH), PRESENCE_NONE);
	presences_free(p);
}

/* Where a slot has several it says so of any name, and nothing in particular of either. */
static void zones_that_share_a_slot_are_never_denied(void **state)
{
	(void)state;
	struct presences *p = presences_new(16);

	presences_add(p, HASH);
	presences_say(p, HASH, PRESENCE_OPT_OUT);
	presences_add(p, OTHER);
	assert_int_equal(presences_look(p, HASH), PRESENCE_SOME);
	assert_int_equal(presences_look(p, OTHER), PRESENCE_SOME);
	presences_say(p, OTHER, PRESENCE_OPT_OUT);
	assert_int_equal(presences_look(p, HASH), PRESENCE_SOME);
	presences_add(p, THIRD);
	presences_remove(p, HASH);
	presences_remove(p, THIRD);
	assert_int_equal(presences_look(p, OTHER), PRESENCE_SOME);
	assert_int_equal(presences_look(p, HASH), PRESENCE_NONE);
	presences_remove(p, OTHER);
	assert_int_equal(presences_look(p, OTHER), PRESENCE_NONE);
	presences_free(p);
}

static void a_table_has_as_many_slots_as_it_was_asked_for(void **state)
{
	(void)state;
	static const struct {
		size_t least, slots;
	} rows[] = { { 0, 16 }, { 16, 16 }, { 17, 32 }, { 1000, 1024 } };

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct presences *p = presences_new(rows[i].least);

		assert_in_range(presences_bytes(p), rows[i].slots * 8, rows[i].slots * 12 + 120);
		presences_free(p);
	}
}

int main(void)
{
	const struct CMUnitTest claims[] = {
		cmocka_unit_test(a_zone_is_there_from_its_first_record_to_its_last),
		cmocka_unit_test(zones_that_share_a_slot_are_never_denied),
		cmocka_unit_test(a_table_has_as_many_slots_as_it_was_asked_for),
	};

	return cmocka_run_group_tests(claims, NULL, NULL);
}
