/* Claims about lines that wait for a reader.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/history/linering.h"

#include "util/base/mem.h"
#include "util/tests/wire.h"

static unsigned put(struct linering *l, const char *line)
{
	return linering_put(l, line, strlen(line));
}

static void assert_next(const struct linering *l, size_t most, const char *want)
{
	char bytes[4096];
	size_t len = linering_look(l, bytes, most);

	assert_int_equal(len, strlen(want));
	assert_memory_equal(bytes, want, len);
}

static void lines_come_out_whole(void **state)
{
	(void)state;
	struct linering l = { 0 };

	assert_next(&l, 100, "");
	assert_int_equal(put(&l, "one\n"), 0);
	assert_int_equal(put(&l, "two\n"), 0);
	assert_int_equal(put(&l, "three\n"), 0);
	assert_next(&l, 100, "one\ntwo\nthree\n");
	assert_next(&l, 13, "one\ntwo\n");
	linering_take(&l, 8);
	assert_int_equal(l.count, 1);
	assert_next(&l, 4, "thre"); /* there is no room for the whole */
	linering_take(&l, 4);
	assert_next(&l, 100, "e\n");
	assert_int_equal(l.count, 1);
	linering_take(&l, 2);
	assert_next(&l, 100, "");
	linering_clear(&l);
}

static void the_rest_of_a_line_goes_with_its_reader(void **state)
{
	(void)state;
	struct linering l = { 0 };

	put(&l, "one\n");
	put(&l, "two\n");
	assert_int_equal(linering_mend(&l), 0);
	linering_take(&l, 2);
	assert_int_equal(linering_mend(&l), 1);
	assert_next(&l, 100, "two\n");
	linering_clear(&l);
}

static void of_too_many_lines_the_newest_are_kept(void **state)
{
	(void)state;
	struct linering l = { 0 };
	unsigned lost = 0;
	char line[32];

	for (unsigned i = 0; i < LINERING_LINES + 5000; i++) {
		snprintf(line, sizeof line, "%u\n", i);
		lost += put(&l, line);
	}
	assert_int_equal(lost, 5000);
	assert_int_equal(l.count, LINERING_LINES);
	for (unsigned i = 5000; i < LINERING_LINES + 5000; i++) {
		snprintf(line, sizeof line, "%u\n", i);
		assert_next(&l, strlen(line), line);
		linering_take(&l, strlen(line));
	}
	assert_int_equal(l.count, 0);
	assert_true(l.room <= 1 << 16); /* its memory has been given back */
	linering_clear(&l);
}

/* But not the rest of one that has been begun: the reader would take two for one. */
static void a_line_that_was_begun_is_not_lost(void **state)
{
	(void)state;
	struct linering l = { 0 };

	for (unsigned i = 0; i < LINERING_LINES; i++)
		assert_int_equal(put(&l, "line\n"), 0);
	linering_take(&l, 2);
	assert_int_equal(put(&l, "newest\n"), 1);
	assert_next(&l, 3, "ne\n");
	linering_take(&l, 3);
	assert_int_equal(put(&l, "newest\n"), 0);
	assert_int_equal(l.count, LINERING_LINES);
	linering_clear(&l);
}

static void long_lines_are_bounded_in_bytes(void **state)
{
	(void)state;
	struct linering l = { 0 };
	enum { LEN = 1500, COUNT_ = LINERING_BYTES / (LEN + 2) };
	char line[LEN];
	unsigned lost = 0;

	memset(line, 'x', sizeof line);
	line[LEN - 1] = '\n';
	for (unsigned i = 0; i < COUNT_ + 100; i++)
		lost += linering_put(&l, line, LEN);
	assert_int_equal(lost, 100);
	assert_int_equal(l.count, COUNT_);
	assert_int_equal(l.room, LINERING_BYTES);
	linering_clear(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_come_out_whole),
		cmocka_unit_test(the_rest_of_a_line_goes_with_its_reader),
		cmocka_unit_test(of_too_many_lines_the_newest_are_kept),
		cmocka_unit_test(a_line_that_was_begun_is_not_lost),
		cmocka_unit_test(long_lines_are_bounded_in_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
