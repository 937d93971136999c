/* Claims about names in wire form.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/dns/dname.h"

#include "util/base/fault.h"
#include "util/tests/wire.h"

/* 63 bytes, 50 bytes: to build names of exact lengths. */
#define L63 "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijk"
#define L50 "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwx"

static void a_name_is_measured_only_when_whole(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		const uint8_t *at, *end;
		size_t want;
	} rows[] = {
		{ "nothing", WIRE(""), 0 },
		{ "the root", WIRE("\0"), 1 },
		{ "two labels", WIRE("\3www\2cz\0"), 8 },
		{ "bytes behind it", WIRE("\3www\2cz\0\3abc"), 8 },
		{ "cut inside a label", WIRE("\3ww"), 0 },
		{ "cut before the root", WIRE("\3www"), 0 },
		{ "pointer, not a label", WIRE("\300\014"), 0 },
		{ "pointer behind a label", WIRE("\1a\300\014"), 0 },
		{ "label of 63", WIRE("\77" L63 "\0"), 65 },
		{ "label of 64", WIRE("\100" L63 "l\0"), 0 },
		{ "255 bytes", WIRE("\77" L63 "\77" L63 "\77" L63 "\75" L50 "abcdefghijk\0"), 255 },
		{ "256 bytes", WIRE("\77" L63 "\77" L63 "\77" L63 "\76" L50 "abcdefghijkl\0"), 0 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		size_t got = dname_measure(rows[i].at, rows[i].end);
		if (got != rows[i].want)
			fail_msg("%s: %zu, not %zu", rows[i].why, got, rows[i].want);
		if (got && dname_len(rows[i].at) != got)
			fail_msg("%s: dname_len disagrees", rows[i].why);
	}
}

static void ascii_letters_and_nothing_else_lose_their_case(void **state)
{
	(void)state;

	for (unsigned c = 0; c < 256; c++) {
		uint8_t want = (uint8_t)(c >= 'A' && c <= 'Z' ? c + 32 : c);
		assert_int_equal(ascii_lower[c], want);
		for (unsigned place = 0; place < 8; place++) {
			uint8_t bytes[8];
			uint64_t word;
			memset(bytes, 0x5b, sizeof(bytes));
			bytes[place] = (uint8_t)c;
			memcpy(&word, bytes, 8);
			word = ascii_lower8(word);
			memcpy(bytes, &word, 8);
			for (unsigned k = 0; k < 8; k++)
				assert_int_equal(bytes[k], k == place ? want : 0x5b);
		}
	}
}

static void names_are_equal_whatever_their_case(void **state)
{
	(void)state;
	static const struct {
		const char *a, *b;
		bool want;
	} rows[] = {
		{ ".", ".", true },
		{ ".", "a.", false },
		{ "www.example.com.", "WWW.eXample.COM.", true },
		{ "www.example.com.", "www.example.con.", false },
		{ "www.example.com.", "example.com.", false },
		{ "a.bc.", "ab.c.", false },
		{ "a-long-label-of-many-bytes.", "A-LONG-LABEL-OF-MANY-BYTES.", true },
		{ "a-long-label-of-many-bytes.", "a-long-label-of-many-byteS.", true },
		{ "a-long-label-of-many-bytes.", "a-long-label-of-many-bytez.", false },
		{ "\\@a.", "`a.", false },
		{ "[.", "{.", false },
		{ "eight--[", "eight--{", false },
		{ "\\193a.", "\\225a.", false },
		{ "\\000.", "\\032.", false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		uint8_t *a = N(rows[i].a), *b = N(rows[i].b);
		if (dname_equals(a, b) != rows[i].want || dname_equals(b, a) != rows[i].want)
			fail_msg("%s and %s", rows[i].a, rows[i].b);
		if (dname_equals_len(a, dname_len(a), b, dname_len(b)) != rows[i].want)
			fail_msg("%s and %s, lengths known", rows[i].a, rows[i].b);
	}
}

static void names_stand_in_canonical_order(void **state)
{
	(void)state;
	/* The order of RFC 4034 6.1's example, and some corners. */
	static const char *const sorted[] = {
		".",
		"example.",
		"a.example.",
		"yljkjljk.a.example.",
		"Z.a.example.",
		"zABC.a.EXAMPLE.",
		"z.example.",
		"\\001.z.example.",
		"*.z.example.",
		"\\200.z.example.",
		"za.example.",
		"examples.",
	};

	for (size_t i = 0; i < COUNT(sorted); i++) {
		for (size_t k = 0; k < COUNT(sorted); k++) {
			int got = dname_compare(N(sorted[i]), N(sorted[k]));
			if ((got < 0) != (i < k) || (got > 0) != (i > k))
				fail_msg("%s and %s: %d", sorted[i], sorted[k], got);
		}
	}
	assert_int_equal(dname_compare(N("A.b."), N("a.B.")), 0);
}

static void what_is_under_a_name_ends_in_its_labels(void **state)
{
	(void)state;
	static const struct {
		const char *name, *top;
		bool under, strictly;
	} rows[] = {
		{ ".", ".", true, false },
		{ "com.", ".", true, true },
		{ ".", "com.", false, false },
		{ "example.com.", "COM.", true, true },
		{ "example.com.", "Example.Com.", true, false },
		{ "notexample.com.", "example.com.", false, false },
		{ "com.", "example.com.", false, false },
		{ "a.b.c.d.", "c.d.", true, true },
		{ "a.b.c.d.", "b.d.", false, false },
		{ "x\\003com.", "com.", false, false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		if (dname_is_under(N(rows[i].name), N(rows[i].top)) != rows[i].under)
			fail_msg("%s under %s", rows[i].name, rows[i].top);
		if (dname_is_strictly_under(N(rows[i].name), N(rows[i].top)) != rows[i].strictly)
			fail_msg("%s strictly under %s", rows[i].name, rows[i].top);
	}
}

static void labels_are_counted_from_the_root(void **state)
{
	(void)state;
	static const struct {
		const char *a, *b;
		unsigned labels, common;
		const char *suffix; /* of `a`, with as many labels as are common */
	} rows[] = {
		{ ".", "com.", 0, 0, "." },
		{ "www.example.com.", "ftp.Example.com.", 3, 2, "example.com." },
		{ "www.example.com.", "www.example.com.", 3, 3, "www.example.com." },
		{ "www.example.com.", "www.example.net.", 3, 0, "." },
		{ "a.com.", "b.c.a.com.", 2, 2, "a.com." },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const uint8_t *a = N(rows[i].a);
		assert_int_equal(dname_labels(a), rows[i].labels);
		assert_int_equal(dname_common(a, N(rows[i].b)), rows[i].common);
		assert_name_is(dname_suffix(a, rows[i].common), rows[i].suffix);
	}
	assert_name_is(dname_suffix(N("a.b."), 7), "a.b.");
	assert_name_is(dname_parent(N("a.b.")), "b.");
	assert_name_is(dname_parent(dname_root), ".");
	assert_true(dname_is_wildcard(N("*.a.")));
	assert_false(dname_is_wildcard(N("**.a.")));
}

static void lowering_keeps_all_but_case(void **state)
{
	(void)state;
	uint8_t to[DNAME_MAX];

	assert_int_equal(dname_copy_lower(to, N("WWW.Ex-4mple.\\193Z.")), 17);
	assert_name_is(to, "www.ex-4mple.\\193z.");
	uint8_t *name = N("ABC.D.");
	dname_lower(name);
	assert_name_is(name, "abc.d.");
}

static void joining_stops_at_255_bytes(void **state)
{
	(void)state;
	uint8_t to[DNAME_MAX];
	uint8_t *long_name = N(L63 "." L63 "." L63 "." L50 "."); /* 244 bytes */

	assert_int_equal(dname_join(to, N("www."), 4, N("cz.")), 8);
	assert_name_is(to, "www.cz.");
	assert_int_equal(dname_join(to, N("1234567890."), 11, long_name), 255);
	assert_int_equal(dname_join(to, N("12345678901."), 12, long_name), 0);
	assert_int_equal(dname_join(to, NULL, 0, N("cz.")), 4);
	assert_name_is(to, "cz.");
}

static void a_name_moves_to_another_parent(void **state)
{
	(void)state;
	static const struct {
		const char *owner, *from, *onto, *want;
	} rows[] = {
		{ "www.a.com.", "a.com.", "b.org.", "www.b.org." },
		{ "x.y.A.com.", "a.com.", ".", "x.y." },
		{ "a.com.", "a.com.", "b.", "b." },
		{ "a.com.", ".", "b.", "a.com.b." },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		uint8_t to[DNAME_MAX];
		size_t len =
			dname_transplant(to, N(rows[i].owner), N(rows[i].from), N(rows[i].onto));
		assert_int_equal(len, dname_len(to));
		assert_name_is(to, rows[i].want);
	}
	uint8_t to[DNAME_MAX];
	assert_int_equal(dname_transplant(to, N(L63 "." L63 ".a."), N("a."), N(L63 "." L63 ".b.")),
			 0);
}

static void text_becomes_a_name_and_text_again(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		const uint8_t *wire;
		size_t len;
		const char *again;
	} rows[] = {
		{ ".", BYTES("\0"), "." },
		{ "com", BYTES("\3com\0"), "com." },
		{ "Www.cz.", BYTES("\3Www\2cz\0"), "Www.cz." },
		{ "a\\.b.c", BYTES("\3a.b\1c\0"), "a\\.b.c." },
		{ "\\065\\\\.", BYTES("\2A\\\0"), "A\\\\." },
		{ "\\000\\255 .", BYTES("\3\0\377 \0"), "\\000\\255\\032." },
		{ "a\\;b\\(.", BYTES("\4a;b(\0"), "a\\;b\\(." },
		{ "\\@", BYTES("\1@\0"), "\\@." },
		{ "*.a", BYTES("\1*\1a\0"), "*.a." },
		{ "_sip._tcp", BYTES("\4_sip\4_tcp\0"), "_sip._tcp." },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		uint8_t name[DNAME_MAX];
		size_t len = dname_parse(name, rows[i].text, NULL);
		if (len != rows[i].len || memcmp(name, rows[i].wire, len) != 0)
			fail_msg("%s: read wrong", rows[i].text);
		assert_name_is(name, rows[i].again);
	}
}

static void what_is_no_name_is_refused_with_a_sentence(void **state)
{
	(void)state;
	static const struct {
		const char *text, *says;
	} rows[] = {
		{ "", "empty" },
		{ "..", "empty label" },
		{ ".com", "empty label" },
		{ "a..b", "empty label" },
		{ "a\\", "backslash" },
		{ "a\\2", "backslash" },
		{ "a\\25x", "backslash" },
		{ "a\\256", "backslash" },
		{ L63 "x", "63" },
		{ L63 "." L63 "." L63 "." L50 ".12345678901", "255" },
		{ L63 "." L63 "." L63 "." L50 ".12345678901.", "255" },
		{ L63 "." L63 "." L63 "." L50 ".123456789.a", "255" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		uint8_t name[DNAME_MAX];
		struct fault f = { 0 };
		if (dname_parse(name, rows[i].text, &f) != 0 || !f.set)
			fail_msg("'%s' is taken", rows[i].text);
		if (strstr(f.text, rows[i].says) == NULL)
			fail_msg("'%s': %s", rows[i].text, f.text);
	}
	uint8_t name[DNAME_MAX];
	assert_int_equal(dname_parse(name, L63 "." L63 "." L63 "." L50 ".1234567890", NULL), 255);
	assert_int_equal(dname_parse(name, L63 "." L63 "." L63 "." L50 ".1234567890.", NULL), 255);
}

static void the_longest_text_has_room(void **state)
{
	(void)state;
	uint8_t name[DNAME_MAX], again[DNAME_MAX];
	char text[DNAME_TEXT];
	size_t at = 0;

	for (unsigned i = 0; i < 4; i++) {
		name[at] = i < 3 ? 63 : 61;
		memset(name + at + 1, 200, name[at]);
		at += 1u + name[at];
	}
	name[at++] = 0;
	assert_int_equal(at, DNAME_MAX);
	dname_print(name, text);
	assert_true(strlen(text) < DNAME_TEXT);
	assert_int_equal(dname_parse(again, text, NULL), DNAME_MAX);
	assert_memory_equal(name, again, DNAME_MAX);
}

int main(void)
{
	const struct CMUnitTest claims[] = {
		cmocka_unit_test(a_name_is_measured_only_when_whole),
		cmocka_unit_test(ascii_letters_and_nothing_else_lose_their_case),
		cmocka_unit_test(names_are_equal_whatever_their_case),
		cmocka_unit_test(names_stand_in_canonical_order),
		cmocka_unit_test(what_is_under_a_name_ends_in_its_labels),
		cmocka_unit_test(labels_are_counted_from_the_root),
		cmocka_unit_test(lowering_keeps_all_but_case),
		cmocka_unit_test(joining_stops_at_255_bytes),
		cmocka_unit_test(a_name_moves_to_another_parent),
		cmocka_unit_test(text_becomes_a_name_and_text_again),
		cmocka_unit_test(what_is_no_name_is_refused_with_a_sentence),
		cmocka_unit_test(the_longest_text_has_room),
	};

	return cmocka_run_group_tests(claims, NULL, NULL);
}
