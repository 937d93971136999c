/* Claims about finding the keys of a zone by tag.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/base/arena.h"
#include "util/dns/rr.h"
#include "validator/tests/answer_fixture.h"
#include "validator/verify_private.h"

/* The RDATA of a key whose tag is that number (RFC 4034 B): two octets of key make up for the rest; the last one
 * tells it from others of the tag. */
static struct slice key_of_tag(struct arena *a, uint16_t tag, uint8_t which)
{
	uint8_t rd[7] = { 0x01, 0x00, 3, 13, 0, 0, which };

	for (unsigned n = 0; rr_key_tag((struct slice){ rd, sizeof(rd) }) != tag; n++) {
		assert_in_range(n, 0, 0xffff);
		put_u16(rd + 4, (uint16_t)n);
	}
	return (struct slice){ arena_copy(a, rd, sizeof(rd)), sizeof(rd) };
}

/* A key set of these tags, in this order; the last octet of each key is its index. */
static struct keyset *keys_of_tags(struct arena *a, const uint16_t *tags, unsigned count)
{
	struct slice *records = arena_array(a, struct slice, count + 1);
	struct rrset_parts parts = { .owner = (const uint8_t *)"\1k\0", .type = TYPE_DNSKEY, .class_ = CLASS_IN,
				     .records = records, .count = count };

	for (unsigned i = 0; i < count; i++)
		records[i] = key_of_tag(a, tags[i], (uint8_t)i);
	return keyset_new(rrset_build(a, &parts));
}

static void expect(const struct keyset *k, uint16_t tag, const uint16_t *tags, unsigned count)
{
	struct tag_walk w = { .keys = k, .tag = tag };
	int got;

	for (unsigned i = 0; i < count; i++) {
		if (tags[i] != tag)
			continue;
		got = keyset_next(&w);
		assert_int_equal(got, i);
		assert_int_equal(k->key[got].tag, tag);
		assert_int_equal(k->key[got].rdata.at[6], i);
	}
	/* And no more, however often one asks. */
	assert_int_equal(keyset_next(&w), -1);
	assert_int_equal(keyset_next(&w), -1);
}

static void keys_are_found_by_tag_in_the_order_of_the_set(void **state)
{
	(void)state;
	static const uint16_t one[] = { 7 }, equal[] = { 9, 9, 9 },
			      ends[] = { 65535, 1, 300, 65535, 7, 300, 1, 12, 300, 65535 };
	static const struct { const char *why; const uint16_t *tags; unsigned count; } rows[] = {
		{ "no key",                      NULL,  0 },
		{ "one",                         one,   COUNT(one) },
		{ "all alike",                   equal, COUNT(equal) },
		{ "the least and the greatest",  ends,  COUNT(ends) },
	};
	static const uint16_t asked[] = { 0, 1, 2, 6, 7, 8, 9, 12, 300, 301, 65534, 65535 };

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct keyset *k;
		struct arena a;

		arena_init(&a);
		k = keys_of_tags(&a, rows[i].tags, rows[i].count);
		assert_int_equal(k->count, rows[i].count);
		for (size_t n = 0; n < COUNT(asked); n++)
			expect(k, asked[n], rows[i].tags, rows[i].count);
		keyset_unpin(k);
		arena_clear(&a);
	}
}

int main(void)
{
	const struct CMUnitTest claims[] = {
		cmocka_unit_test(keys_are_found_by_tag_in_the_order_of_the_set),
	};

	return cmocka_run_group_tests(claims, NULL, NULL);
}
