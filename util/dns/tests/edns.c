/* Claims about the OPT record and its options.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/dns/edns.h"

#include "util/tests/wire.h"

static void options_are_walked_until_one_is_malformed(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		struct slice options;
		unsigned count;
		bool whole;
	} rows[] = {
		{ "none", { BYTES("") }, 0, true },
		{ "one, empty", { BYTES("\0\3\0\0") }, 1, true },
		{ "two", { BYTES("\0\12\0\2ab\0\3\0\1c") }, 2, true },
		{ "cut in its head", { BYTES("\0\12\0") }, 0, false },
		{ "cut in its data", { BYTES("\0\3\0\0\0\12\0\2a") }, 1, false },
		{ "a stray byte", { BYTES("\0\3\0\0x") }, 1, false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct edns e = { .present = true, .options = rows[i].options };
		struct reader r = reader_over(e.options.at, e.options.len);
		struct slice value;
		uint16_t code;
		unsigned count = 0;
		while (edns_next_option(&r, &code, &value))
			count++;
		if (count != rows[i].count || r.bad == rows[i].whole ||
		    edns_is_whole(&e) != rows[i].whole)
			fail_msg("%s", rows[i].why);
	}
}

static void an_option_is_found_by_its_code(void **state)
{
	(void)state;
	struct edns e = { .options = SLICE("\0\3\0\0\0\12\0\2ab\0\12\0\1c") };
	struct slice value;

	assert_true(edns_find_option(&e, EDNS_COOKIE, &value));
	assert_int_equal(value.len, 2);
	assert_memory_equal(value.at, "ab", 2);
	assert_true(edns_find_option(&e, EDNS_NSID, &value));
	assert_int_equal(value.len, 0);
	assert_false(edns_find_option(&e, EDNS_EDE, &value));
}

static void more_options_than_a_hundred_are_passed_over(void **state)
{
	(void)state;
	static uint8_t bytes[(EDNS_OPTIONS_MAX + 1) * 4];
	struct edns e = { .options = { bytes, EDNS_OPTIONS_MAX * 4 } };
	struct slice value;

	assert_true(edns_is_whole(&e));
	e.options.len -= 1; /* the hundredth is cut */
	assert_false(edns_is_whole(&e));
	e.options.len += 1;
	e.options.len += 3; /* the next is */
	assert_true(edns_is_whole(&e));
	e.options.len += 1;
	put_u16(bytes + (size_t)EDNS_OPTIONS_MAX * 4, EDNS_COOKIE);
	assert_false(edns_find_option(&e, EDNS_COOKIE, &value));
}

static void an_opt_record_is_written_as_rfc_6891_says(void **state)
{
	(void)state;
	static const char want[] = "\0\0\51\4\320\1\0\200\0\0\6\0\12\0\2ab";
	uint8_t options[16], out[64];
	struct writer o = writer_over(options, sizeof(options));
	struct writer w = writer_over(out, sizeof(out));

	edns_write_option(&o, EDNS_COOKIE, "ab", 2);
	struct edns e = { .present = true,
			  .udp_size = 1232,
			  .ext_rcode = 1,
			  .flags = EDNS_DO,
			  .options = { options, writer_len(&o) } };
	edns_write(&w, &e);
	assert_false(w.bad);
	assert_int_equal(writer_len(&w), sizeof(want) - 1);
	assert_int_equal(writer_len(&w), OPT_FIXED_LEN + 6);
	assert_memory_equal(out, want, sizeof(want) - 1);

	w = writer_over(out, sizeof(want) - 2);
	edns_write(&w, &e);
	assert_true(w.bad);
}

int main(void)
{
	const struct CMUnitTest claims[] = {
		cmocka_unit_test(options_are_walked_until_one_is_malformed),
		cmocka_unit_test(an_option_is_found_by_its_code),
		cmocka_unit_test(more_options_than_a_hundred_are_passed_over),
		cmocka_unit_test(an_opt_record_is_written_as_rfc_6891_says),
	};

	return cmocka_run_group_tests(claims, NULL, NULL);
}
