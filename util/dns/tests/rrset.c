/* Claims about record sets.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/dns/rrset.h"

#include "util/base/arena.h"
#include "util/base/hash.h"
#include "util/dns/rr.h"
#include "util/tests/wire.h"

static const struct slice records[] = {
	{ BYTES("\0\1\1a\0") },
	{ BYTES("\0\2\2bb\0") },
	{ BYTES("\0\3\0") },
};
static const struct slice sigs[] = { { BYTES("a signature") }, { BYTES("") } };

static struct rrset *build(struct arena *a)
{
	struct rrset_parts parts = {
		.owner = N("Example.com."),
		.type = TYPE_MX,
		.class_ = CLASS_IN,
		.ttl_s = 300,
		.expires_s = 1300,
		.records = records,
		.count = COUNT(records),
		.sigs = sigs,
		.sig_count = COUNT(sigs),
		.trust = TRUST_ANS_AA,
		.security = SECURITY_SECURE,
		.flags = RRSET_FROM_POLICY,
	};

	return rrset_build(a, &parts);
}

static void check_slices(struct rrset_walk w, const struct slice *want, size_t count)
{
	size_t n = 0;

	for (struct slice rd; rrset_next(&w, &rd); n++) {
		assert_true(n < count);
		assert_int_equal(rd.len, want[n].len);
		assert_memory_equal(rd.at, want[n].at, rd.len);
	}
	assert_int_equal(n, count);
}

static void a_set_holds_what_it_was_built_from(void **state)
{
	(void)state;
	struct arena a;
	arena_init(&a);
	const struct rrset *built = build(&a);
	const struct rrset *both[] = { built, rrset_copy(&a, built) };

	for (size_t i = 0; i < COUNT(both); i++) {
		const struct rrset *s = both[i];
		assert_name_is(rrset_owner(s), "Example.com.");
		assert_int_equal(s->owner_len, 13);
		assert_int_equal(s->ttl_s, 300);
		assert_int_equal(s->expires_s, 1300);
		assert_int_equal(s->trust, TRUST_ANS_AA);
		assert_int_equal(s->security, SECURITY_SECURE);
		assert_int_equal(s->flags, RRSET_FROM_POLICY);
		check_slices(rrset_records(s), records, COUNT(records));
		check_slices(rrset_sigs(s), sigs, COUNT(sigs));
		assert_int_equal(s->size, sizeof(*s) + 13 + 7 + 8 + 5 + 13 + 2);
		assert_memory_equal(rrset_record(s, 1).at, "\0\2\2bb\0", 6);
		assert_name_is(rrset_target(s, 0), "a.");
		assert_name_is(rrset_target(s, 1), "bb.");
		assert_name_is(rrset_target(s, 2), ".");
		assert_true(rrset_is(s, N("eXample.com."), TYPE_MX, CLASS_IN));
		assert_false(rrset_is(s, N("example.com."), TYPE_MX, CLASS_CH));
		assert_false(rrset_is(s, N("example.com."), TYPE_A, CLASS_IN));
		assert_false(rrset_is(s, N("com."), TYPE_MX, CLASS_IN));
	}
	arena_clear(&a);
}

static struct rrset *numbers(struct arena *a, unsigned from, unsigned count, bool backwards)
{
	static uint8_t bytes[256][2];
	struct slice each[256];

	for (unsigned i = 0; i < count; i++) {
		unsigned n = from + (backwards ? count - 1 - i : i);
		put_u16(bytes[i], (uint16_t)n);
		each[i] = (struct slice){ bytes[i], 2 };
	}
	return rrset_build(a, &(struct rrset_parts){ .owner = dname_root,
						     .type = 65280,
						     .class_ = CLASS_IN,
						     .records = each,
						     .count = count });
}

static void sets_are_compared_whatever_their_order(void **state)
{
	(void)state;
	static const unsigned counts[] = { 0, 1, 2, 31, 32, 33, 200 };
	struct arena a;
	arena_init(&a);

	for (size_t i = 0; i < COUNT(counts); i++) {
		unsigned n = counts[i];
		struct rrset *s = numbers(&a, 0, n, false);
		assert_true(rrset_same_records(s, s));
		assert_true(rrset_same_records(s, numbers(&a, 0, n, true)));
		assert_false(rrset_same_records(s, numbers(&a, 0, n + 1, true)));
		if (n)
			assert_false(rrset_same_records(s, numbers(&a, 1, n, true)));
	}
	arena_clear(&a);
}

/* Numbers that another process, another machine and a later version find as well. */
static void a_checksum_tells_sets_apart_by_their_data_alone(void **state)
{
	(void)state;
	struct slice upper = { N("NS.Example."), 12 }, lower = { N("ns.example."), 12 };
	struct rrset_parts parts = { .owner = N("a."), .type = TYPE_NS, .class_ = CLASS_IN, .records = &upper,
				     .count = 1 };
	struct arena a;
	uint64_t sum;

	arena_init(&a);
	sum = rrset_checksum(rrset_build(&a, &parts));
	assert_true(sum == UINT64_C(0xa9f3455e3edabec6));
	parts.records = &lower;
	parts.owner = N("b.");
	assert_true(rrset_checksum(rrset_build(&a, &parts)) == sum);
	parts.sigs = &upper;
	parts.sig_count = 1;
	assert_false(rrset_checksum(rrset_build(&a, &parts)) == sum);
	/* of equal sums: 0 + 3 and 1 + 2, of every prefix */
	for (uint16_t high = 0; high < 256; high++) {
		uint8_t bytes[4][2];
		struct slice each[4];

		for (uint8_t i = 0; i < 4; i++) {
			put_u16(bytes[i], (uint16_t)(high << 8 | i));
			each[i] = (struct slice){ bytes[i], 2 };
		}
		struct slice outer[2] = { each[0], each[3] }, inner[2] = { each[1], each[2] };
		struct rrset_parts x = { .owner = N("a."), .type = 65280, .class_ = CLASS_IN, .records = outer, .count = 2 };

		sum = rrset_checksum(rrset_build(&a, &x));
		x.records = inner;
		assert_false(rrset_checksum(rrset_build(&a, &x)) == sum);
	}
	assert_true(rrset_checksum(numbers(&a, 0, 9, false)) == rrset_checksum(numbers(&a, 0, 9, true)));
	assert_false(rrset_checksum(numbers(&a, 0, 9, false)) == rrset_checksum(numbers(&a, 1, 9, false)));
	arena_clear(&a);
}

int main(void)
{
	const struct CMUnitTest claims[] = {
		cmocka_unit_test(a_set_holds_what_it_was_built_from),
		cmocka_unit_test(sets_are_compared_whatever_their_order),
		cmocka_unit_test(a_checksum_tells_sets_apart_by_their_data_alone),
	};

	hash_start(true);
	return cmocka_run_group_tests(claims, NULL, NULL);
}
