/* Claims about options that speak of one connection.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/net/edns_conn.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#include "util/dns/edns.h"
#include "util/dns/msg.h"
#include "util/dns/rr.h"

/* A question for a.test, with an OPT of these options, or none. */
static size_t question(uint8_t *to, size_t room, bool with_opt, const uint8_t *options, size_t len)
{
	static const uint8_t name[] = "\1a\4test";
	struct question q = {
		.name = name, .name_len = sizeof name, .type = TYPE_A, .class_ = CLASS_IN
	};
	struct edns opt = { .present = with_opt, .udp_size = 1232, .options = { options, len } };
	struct writer w = writer_over(to, room);

	msg_write_query(&w, 77, FLAG_RD, &q, &opt);
	assert_false(w.bad);
	return writer_len(&w);
}

static void a_client_says_what_it_wants(void **state)
{
	(void)state;
	static const uint8_t padding[] = { 0, EDNS_PADDING, 0, 1, 0 };
	static const uint8_t keepalive[] = { 0, EDNS_KEEPALIVE, 0, 0 };
	static const uint8_t both[] = { 0, EDNS_KEEPALIVE, 0, 0, 0, EDNS_PADDING, 0, 0 };
	static const struct {
		const char *why;
		bool with_opt;
		const uint8_t *options;
		size_t len;
		unsigned want;
	} rows[] = {
		{ "no OPT", false, NULL, 0, 0 },
		{ "no options", true, NULL, 0, 0 },
		{ "padding", true, padding, sizeof padding, EDNS_CONN_PADDING },
		{ "keepalive", true, keepalive, sizeof keepalive, EDNS_CONN_KEEPALIVE },
		{ "both", true, both, sizeof both, EDNS_CONN_PADDING | EDNS_CONN_KEEPALIVE },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		uint8_t wire[512];
		size_t len =
			question(wire, sizeof wire, rows[i].with_opt, rows[i].options, rows[i].len);

		if (edns_conn_asked(wire, len) != rows[i].want)
			fail_msg("%s: %u", rows[i].why, edns_conn_asked(wire, len));
		assert_int_equal(edns_conn_asked(wire, 11), 0);
	}
}

/* Options of what is no good query count for nothing. */
static void who_asks_badly_wants_nothing(void **state)
{
	static const uint8_t padding[] = { 0, EDNS_PADDING, 0, 1, 0 };
	static const uint8_t other[] = "\0\0\20\0\1\0\0\0\0\0\0"; /* a record for the root, of type TXT */
	uint8_t wire[512];
	size_t len = question(wire, sizeof wire, true, padding, sizeof padding);

	(void)state;
	assert_int_equal(edns_conn_asked(wire, len), EDNS_CONN_PADDING);
	assert_int_equal(edns_conn_asked(wire, len - 1), 0); /* cut */
	wire[7] = 1;                                          /* an answer, in a query */
	assert_int_equal(edns_conn_asked(wire, len), 0);
	wire[7] = 0;
	wire[2] |= 0x28; /* another opcode */
	assert_int_equal(edns_conn_asked(wire, len), 0);
	len = question(wire, sizeof wire, false, NULL, 0);
	memcpy(wire + len, other, sizeof other - 1);
	wire[11] = 1;
	assert_int_equal(edns_conn_asked(wire, len + sizeof other - 1), 0);
	assert_int_equal(edns_conn_asked(wire, MSG_HEAD_LEN), 0);
}

/* Options are added to an OPT record that is the last, and to nothing else. */
static void only_the_last_record_may_be_the_opt(void **state)
{
	static const uint8_t other[] = "\0\0\20\0\1\0\0\0\0\0\0";
	static const uint8_t told[] = { 0, EDNS_KEEPALIVE, 0, 2, 0, 45 };
	struct edns_conn add = { .options = EDNS_CONN_PADDING, .pad_block = 468 };
	uint8_t wire[1024];
	uint32_t ms = 0;
	size_t len = question(wire, sizeof wire, true, told, sizeof told);

	(void)state;
	assert_true(edns_conn_keepalive(wire, len, &ms));
	assert_false(edns_conn_keepalive(wire, len + 1, &ms)); /* something behind it */
	assert_false(edns_conn_keepalive(wire, len - 1, &ms));
	assert_int_equal(edns_conn_add(wire, len + 1, sizeof wire, &add), len + 1);
	memcpy(wire + len, other, sizeof other - 1);
	wire[11] = 2; /* another record is the last */
	assert_false(edns_conn_keepalive(wire, len + sizeof other - 1, &ms));
	assert_int_equal(edns_conn_add(wire, len + sizeof other - 1, sizeof wire, &add), len + sizeof other - 1);
	wire[11] = 3; /* or would be, were it there */
	assert_false(edns_conn_keepalive(wire, len + sizeof other - 1, &ms));
	len = question(wire, sizeof wire, false, NULL, 0);
	memcpy(wire + len, other, sizeof other - 1);
	wire[11] = 1; /* or the only one */
	assert_false(edns_conn_keepalive(wire, len + sizeof other - 1, &ms));
	assert_int_equal(edns_conn_add(wire, len + sizeof other - 1, sizeof wire, &add), len + sizeof other - 1);
}

static void answers_get_what_was_asked_for(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		bool with_opt;
		unsigned options;
		size_t block, room, want; /* want 0: as it was */
	} rows[] = {
		{ "nothing", true, 0, 468, 65535, 0 },
		{ "no OPT to put it in", false, EDNS_CONN_PADDING, 468, 65535, 0 },
		{ "padding", true, EDNS_CONN_PADDING, 468, 65535, 468 },
		{ "a block of one", true, EDNS_CONN_PADDING, 1, 65535, 39 },
		{ "keepalive", true, EDNS_CONN_KEEPALIVE, 468, 65535, 41 },
		{ "both", true, EDNS_CONN_PADDING | EDNS_CONN_KEEPALIVE, 468, 65535, 468 },
		{ "as far as there is room", true, EDNS_CONN_PADDING, 468, 100, 100 },
		{ "hardly any room", true, EDNS_CONN_PADDING, 468, 37, 0 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		static uint8_t wire[65535];
		size_t was = question(memset(wire, 7, sizeof wire), sizeof wire, rows[i].with_opt, NULL, 0);
		size_t len = edns_conn_add(wire, was, rows[i].room,
				     &(struct edns_conn){ .options = rows[i].options,
						    .pad_block = rows[i].block,
						    .keepalive_ms = 30000 });
		struct request r;
		struct slice value;

		/* nothing of what was there before is told */
		if (len != (rows[i].want ? rows[i].want : was))
			fail_msg("%s: %zu from %zu", rows[i].why, len, was);
		assert_int_equal(msg_read_request(wire, len, &r), REQUEST_GOOD);
		assert_true(!r.edns.present || edns_is_whole(&r.edns));
		if (rows[i].options & EDNS_CONN_PADDING && rows[i].want) {
			assert_true(edns_find_option(&r.edns, EDNS_PADDING, &value));
			for (size_t n = 0; n < value.len; n++)
				assert_int_equal(value.at[n], 0);
		}
		if (rows[i].options & EDNS_CONN_KEEPALIVE) {
			assert_true(edns_find_option(&r.edns, EDNS_KEEPALIVE, &value));
			assert_int_equal(value.len, 2);
			assert_int_equal(get_u16(value.at), 300);
		}
	}
}

static void a_server_says_how_long_to_rest(void **state)
{
	(void)state;
	static const uint8_t told[] = { 0, EDNS_KEEPALIVE, 0, 2, 0, 45 };
	static const uint8_t second[] = { 0, 3, 0, 1, 'x', 0, EDNS_KEEPALIVE, 0, 2, 0, 0 };
	static const uint8_t empty[] = { 0, EDNS_KEEPALIVE, 0, 0 };
	static const uint8_t cut[] = { 0, EDNS_KEEPALIVE, 0, 2, 1 };
	static const uint8_t longer[] = { 0, EDNS_KEEPALIVE, 0, 3, 0, 45, 0 };
	static const struct {
		const char *why;
		bool with_opt;
		const uint8_t *options;
		size_t len;
		bool want;
		uint32_t ms;
	} rows[] = {
		{ "no OPT", false, NULL, 0, false, 0 },
		{ "no options", true, NULL, 0, false, 0 },
		{ "four and a half seconds", true, told, sizeof told, true, 4500 },
		{ "not at all, behind another", true, second, sizeof second, true, 0 },
		{ "no time in it", true, empty, sizeof empty, false, 0 },
		{ "cut", true, cut, sizeof cut, false, 0 },
		{ "more than a time in it", true, longer, sizeof longer, false, 0 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		uint8_t wire[512];
		uint32_t ms = 0;
		size_t len =
			question(wire, sizeof wire, rows[i].with_opt, rows[i].options, rows[i].len);

		if (edns_conn_keepalive(wire, len, &ms) != rows[i].want || ms != rows[i].ms)
			fail_msg("%s: %u", rows[i].why, ms);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_client_says_what_it_wants),
		cmocka_unit_test(who_asks_badly_wants_nothing),
		cmocka_unit_test(only_the_last_record_may_be_the_opt),
		cmocka_unit_test(a_server_says_how_long_to_rest),
		cmocka_unit_test(answers_get_what_was_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
