/* Claims about numbered copies of a line.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/dns/text_series.h"

#include <stdio.h>
#include <string.h>

#include "util/tests/wire.h"

static void a_range_and_a_line_make_lines(void **state)
{
	(void)state;
	static const struct {
		const char *text; /* behind $GENERATE */
		const char *want; /* the lines, or NULL: it cannot be read, or "wrong" */
	} rows[] = {
		{ " 1-3 h$ A 192.0.2.$", "h1 A 192.0.2.1|h2 A 192.0.2.2|h3 A 192.0.2.3|" },
		{ " 0-9/4 h$ x", "h0 x|h4 x|h8 x|" },
		{ " 5-5 h$ x", "h5 x|" },
		{ "\t7-8\th$\tx", "h7\tx|h8\tx|" },
		{ " 2147483647-2147483647 $", "2147483647|" },
		{ " 9-10 ${0,3} ${0,3,d}", "009 009|010 010|" },
		{ " 9-10 ${10}", "19|20|" },
		{ " 9-10 ${-9}", "0|1|" },
		{ " 9-10 ${+1,0}", "10|11|" },
		{ " 9-9 ${-10}", "wrong" },
		{ " 10-10 ${0,0,x} ${0,4,X} ${1,0,o} ${0,0,d}", "a 000A 13 10|" },
		{ " 10-10 ${0,0,n} ${0,0,N} ${0,3,n} ${0,8,N}", "a A a.0 A.0.0.0.|" },
		{ " 4660-4660 ${0,0,n}.${0,15,n}", "4.3.2.1.4.3.2.1.0.0.0.0|" },
		{ " 1-1 a$$b\\$c\\\\$", "a\\$b\\$c\\\\1|" },
		{ " 1-1 none", "none|" },
		{ " 1-1 ${", "wrong" },
		{ " 1-1 ${}", "wrong" },
		{ " 1-1 ${0", "wrong" },
		{ " 1-1 ${0,}", "wrong" },
		{ " 1-1 ${0,1,}", "wrong" },
		{ " 1-1 ${0,1,q}", "wrong" },
		{ " 1-1 ${0,1,d,}", "wrong" },
		{ " 1-1 ${0,256}", "wrong" },
		{ " 1-1 ${0,-1}", "wrong" },
		{ " 1-1 ${99999999999}", "wrong" },
		{ " 3-1 x", NULL },
		{ " 1-3/0 x", NULL },
		{ " 1-3/ x", NULL },
		{ " -1-3 x", NULL },
		{ " 1- x", NULL },
		{ " 1 x", NULL },
		{ " 1-3", NULL },
		{ " 1-3 ", NULL },
		{ " 1-3x x", NULL },
		{ " 1-2147483648 x", NULL },
		{ " a-b x", NULL },
		{ "", NULL },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct text_series s;
		const char *line = text_series_parse(&s, rows[i].text);
		char got[400] = "", one[300];
		bool good = true;

		if (!line || !rows[i].want) {
			if (line || rows[i].want)
				fail_msg("'%s': %s", rows[i].text, line ? "read" : "not read");
			continue;
		}
		for (uint32_t n = 0; good && n < s.count && n < 10; n++) {
			good = text_series_write(&s, n, line, one, sizeof(one));
			snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s|", one);
		}
		if (strcmp(good ? got : "wrong", rows[i].want) != 0)
			fail_msg("'%s': '%s', not '%s'", rows[i].text, good ? got : "wrong", rows[i].want);
	}
}

static void a_line_fits_or_it_is_none(void **state)
{
	(void)state;
	struct text_series s;
	const char *line = text_series_parse(&s, " 10-11 h$");
	char to[8];

	assert_non_null(line);
	assert_int_equal(s.count, 2);
	assert_true(text_series_write(&s, 0, line, to, 4));
	assert_string_equal(to, "h10");
	assert_false(text_series_write(&s, 0, line, to, 3));
	assert_false(text_series_write(&s, 0, line, to, 0));
	assert_non_null(text_series_parse(&s, " 0-2147483647 h$"));
	assert_int_equal(s.count, 2147483648);
}

int main(void)
{
	const struct CMUnitTest claims[] = {
		cmocka_unit_test(a_range_and_a_line_make_lines),
		cmocka_unit_test(a_line_fits_or_it_is_none),
	};

	return cmocka_run_group_tests(claims, NULL, NULL);
}
