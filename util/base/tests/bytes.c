/* Claims about readers and writers of bytes.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/base/bytes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static const uint8_t eight[] = { 1, 2, 3, 4, 5, 6, 7, 8 };

static void numbers_are_big_endian(void **state)
{
	(void)state;
	struct reader r = reader_over(eight, sizeof(eight));
	uint8_t out[7];
	struct writer w = writer_over(out, sizeof(out));

	assert_int_equal(read_u8(&r), 1);
	assert_int_equal(read_u16(&r), 0x0203);
	assert_int_equal(read_u32(&r), 0x04050607);
	assert_int_equal(reader_offset(&r), 7);
	assert_int_equal(reader_left(&r), 1);
	assert_false(r.bad);

	write_u8(&w, 1);
	write_u16(&w, 0x0203);
	write_u32(&w, 0x04050607);
	assert_false(w.bad);
	assert_int_equal(writer_len(&w), 7);
	assert_memory_equal(out, eight, 7);
	assert_int_equal(get_u32((const uint8_t[]){ 0xff, 0xfe, 0xfd, 0xfc }), 0xfffefdfc);
}

static void a_reader_stays_bad_after_its_first_error(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		size_t len, ask;
		bool bad;
	} rows[] = {
		{ "nothing of nothing", 0, 0, false },
		{ "one of nothing", 0, 1, true },
		{ "all there is", 8, 8, false },
		{ "one more than there is", 8, 9, true },
		{ "more than any memory", 8, SIZE_MAX, true },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct reader r = reader_over(eight, rows[i].len);
		const uint8_t *p = read_bytes(&r, rows[i].ask);

		if (r.bad != rows[i].bad || (p == NULL) != rows[i].bad)
			fail_msg("%s: bad is %d", rows[i].why, r.bad);
		if (!rows[i].bad)
			continue;
		assert_int_equal(reader_left(&r), 0);
		assert_int_equal(read_u8(&r), 0);
		assert_null(read_bytes(&r, 0));
		assert_true(r.bad);
	}
}

static void a_writer_writes_nothing_past_its_end(void **state)
{
	(void)state;
	uint8_t out[8] = { 0 };
	struct writer w = writer_over(out, 5);

	write_u32(&w, 0x01020304);
	write_u16(&w, 0xffff);
	assert_true(w.bad);
	assert_int_equal(writer_left(&w), 0);
	write_u8(&w, 0xff);
	write_bytes(&w, "x", 1);
	assert_null(write_room(&w, 0));
	assert_int_equal(writer_len(&w), 4);
	assert_memory_equal(out, "\1\2\3\4\0\0\0\0", 8);
}

int main(void)
{
	const struct CMUnitTest claims[] = {
		cmocka_unit_test(numbers_are_big_endian),
		cmocka_unit_test(a_reader_stays_bad_after_its_first_error),
		cmocka_unit_test(a_writer_writes_nothing_past_its_end),
	};

	return cmocka_run_group_tests(claims, NULL, NULL);
}
