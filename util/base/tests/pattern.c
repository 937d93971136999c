/* Claims about patterns: what they match, and what they do not understand.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/base/pattern.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

static void a_pattern_matches_from_the_beginning(void **state)
{
	(void)state;
	static const struct {
		const char *pattern, *text;
		bool want;
	} rows[] = {
		{ "abc", "abc", true },
		{ "abc", "abcd", true },
		{ "abc", "xabc", false },
		{ "abc$", "abcd", false },
		{ "abc$", "abc", true },
		{ "^abc$", "abc", true },
		{ "a^bc", "abc", false },
		{ "a$b", "ab", false },
		{ "ABC", "abc", true },
		{ "abc", "ABC", true },
		{ "a.c", "a.c", true },
		{ "a.c", "axc", true },
		{ "a\\.c", "axc", false },
		{ "a\\.c", "a.c", true },
		{ ".*\\.example\\.com$", "www.example.com", true },
		{ ".*\\.example\\.com$", "example.com", false },
		{ ".*\\.example\\.com$", "www.example.com.evil", false },
		{ "(.*\\.)?example\\.com$", "example.com", true },
		{ "(.*\\.)?example\\.com$", "a.b.example.com", true },
		{ "(.*\\.)?example\\.com$", "badexample.com", false },
		{ "(?:a|b)+c", "abbac", true },
		{ "(?:a|b)+c", "c", false },
		{ "(a|b)*c", "c", true },
		{ "x|y|z", "zebra", true },
		{ "x|y|z", "a", false },
		{ "(x|y$)z?", "y", true },
		{ "(x|y$)z?", "yz", false },
		{ "ads?[0-9]+\\.", "ad17.x", true },
		{ "ads?[0-9]+\\.", "ads.x", false },
		{ "[^.]+$", "localhost", true },
		{ "[^.]+$", "a.b", false },
		{ "[]a]b", "]b", true },
		{ "[a|b]c", "|c", true },
		{ "[A-C]x", "bx", true },
		{ "\\d\\w\\D", "1_x", true },
		{ "\\d\\w\\D", "1_2", false },
		{ ".*?b", "aab", true },
		{ "a+?$", "aaa", true },
		{ "", "a", false },
		{ "a||b", "b", true },
		{ "()", "x", true },
		{ "a()b", "ab", true },
		{ "((((a)))b)*c", "ababc", true },
		{ ".*localhost$", "my.localhost", true },
		{ "$^", "a", false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		unsigned unknown;
		struct pattern *p = pattern_new(rows[i].pattern, strlen(rows[i].pattern), &unknown);

		if (unknown)
			fail_msg("'%s' is not understood", rows[i].pattern);
		if (pattern_meets(p, rows[i].text, strlen(rows[i].text)) != rows[i].want)
			fail_msg("'%s' and '%s'", rows[i].pattern, rows[i].text);
		pattern_free(p);
	}
}

static void what_is_not_understood_is_left_out(void **state)
{
	(void)state;
	static const struct {
		const char *pattern;
		unsigned unknown;
	} rows[] = {
		{ "(?!a)b|c", 1 },    { "a{2}|c", 1 },     { "(a)\\1|c", 1 },  { "[a|c", 1 },
		{ "(a|c", 1 },        { "a)|c", 1 },       { "*a|c", 1 },      { "\\", 1 },      
		{ "[z-a]|c", 1 },     { "(?P<x>a)|c|\\b", 2 }, { "((((((((((((((((a))))))))))))))))|c", 1 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		unsigned unknown;
		struct pattern *p = pattern_new(rows[i].pattern, strlen(rows[i].pattern), &unknown);

		if (unknown != rows[i].unknown)
			fail_msg("'%s': %u left out", rows[i].pattern, unknown);
		if (pattern_meets(p, "b", 1))
			fail_msg("'%s' matches b", rows[i].pattern);
		pattern_free(p);
	}
}

/* A chain of nested stars takes a backtracking matcher ages. */
static void no_pattern_takes_long(void **state)
{
	(void)state;
	static const char pattern[] = "((((a*)*)*)*)*b";
	char text[254], many[1000] = "";
	unsigned unknown;
	struct pattern *p = pattern_new(pattern, strlen(pattern), &unknown);

	memset(text, 'a', sizeof(text));
	assert_int_equal(unknown, 0);
	for (int i = 0; i < 1000; i++)
		assert_false(pattern_meets(p, text, sizeof(text)));
	pattern_free(p);
	memset(many, 'a', sizeof(many) - 1);
	p = pattern_new(many, strlen(many), &unknown);
	assert_int_equal(unknown, 1); /* too long */
	pattern_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pattern_matches_from_the_beginning),
		cmocka_unit_test(what_is_not_understood_is_left_out),
		cmocka_unit_test(no_pattern_takes_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
