/* Claims about the keyed hash.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/base/hash.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static int play(void **state)
{
	(void)state;
	hash_start(true);
	return 0;
}

static void case_does_not_matter_and_nothing_else_is_lost(void **state)
{
	(void)state;
	static const struct {
		const char *why, *a, *b;
		bool same;
	} rows[] = {
		{ "letters", "\3WwW\7ExAmPlE\3cOm", "\3www\7example\3com", true },
		{ "a long run", "\32ABCDEFGHIJKLMNOPQRSTUVWXYZ", "\32abcdefghijklmnopqrstuvwxyz",
		  true },
		{ "@ and `", "\1@", "\1`", false },
		{ "[ and {", "\1[", "\1{", false },
		{ "a high byte that is a letter but for its bit 7", "\1\301", "\1\341", false },
		{ "another cut", "\1a\1b", "\3a\1b", false },
		{ "a digit", "\2a1", "\2a2", false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		bool same = hash_dname((const uint8_t *)rows[i].a, strlen(rows[i].a) + 1, 1) ==
			    hash_dname((const uint8_t *)rows[i].b, strlen(rows[i].b) + 1, 1);

		if (same != rows[i].same)
			fail_msg("%s: the same is %d", rows[i].why, same);
	}
}

static void every_byte_at_every_place_is_lowered_as_tolower_would(void **state)
{
	(void)state;
	uint8_t name[20], lowered[20];

	for (size_t at = 0; at < sizeof(name); at++) {
		for (int c = 0; c < 256; c++) {
			uint64_t want, got;

			memset(name, 'Q', sizeof(name));
			memset(lowered, 'q', sizeof(lowered));
			name[at] = (uint8_t)c;
			lowered[at] = (uint8_t)(c < 128 ? tolower(c) : c);
			got = hash_dname(name, sizeof(name), 9);
			want = hash_dname(lowered, sizeof(lowered), 9);
			if (got != want)
				fail_msg("byte %d at %zu", c, at);
			lowered[at] ^= 1;
			assert_true(got != hash_dname(lowered, sizeof(lowered), 9));
		}
	}
}

static void salt_and_length_tell_apart(void **state)
{
	(void)state;
	const uint8_t name[255] = { 1, 'a' };

	assert_true(hash_dname(name, 3, 1) != hash_dname(name, 3, 2));
	assert_true(hash_dname(name, 3, 0x100) != hash_dname(name, 3, 0x10000));
	assert_true(hash_dname(name, 254, 1) != hash_dname(name, 255, 1));
	assert_true(hash_bytes("ab", 2) != hash_bytes("ab", 1));
}

static void the_played_key_gives_the_same_everywhere(void **state)
{
	(void)state;
	uint64_t first = hash_bytes("resolver", 8);

	hash_start(true);
	assert_true(hash_bytes("resolver", 8) == first);
	hash_start(false);
	assert_true(hash_bytes("resolver", 8) != first);
	hash_start(true);
}

/* Names as they come in a zone must not crowd any bucket. */
static void names_spread_over_buckets(void **state)
{
	(void)state;
	enum { BUCKETS = 1024, NAMES = BUCKETS * 16 };
	static unsigned bucket[BUCKETS];

	for (unsigned i = 0; i < NAMES; i++) {
		uint8_t name[] = "\5aaa-x\3com";

		for (unsigned k = 1, rest = i; k <= 3; k++, rest /= 26)
			name[k] = (uint8_t)('a' + rest % 26);
		bucket[hash_dname(name, sizeof(name), 1) % BUCKETS]++;
	}
	for (unsigned i = 0; i < BUCKETS; i++)
		if (bucket[i] > 48)
			fail_msg("bucket %u holds %u of %d", i, bucket[i], NAMES);
}

int main(void)
{
	const struct CMUnitTest claims[] = {
		cmocka_unit_test(case_does_not_matter_and_nothing_else_is_lost),
		cmocka_unit_test(every_byte_at_every_place_is_lowered_as_tolower_would),
		cmocka_unit_test(salt_and_length_tell_apart),
		cmocka_unit_test(the_played_key_gives_the_same_everywhere),
		cmocka_unit_test(names_spread_over_buckets),
	};

	return cmocka_run_group_tests(claims, play, NULL);
}
