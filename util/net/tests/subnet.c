/* Claims about the client subnet option.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/net/subnet.h"

#include "util/tests/wire.h"

static void an_option_is_read_only_when_it_is_well_formed(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		struct slice data;
		bool good;
	} rows[] = {
		{ "24 bits of IPv4", { BYTES("\0\1\30\0\300\0\2") }, true },
		{ "17 bits: the last byte is half used", { BYTES("\0\1\21\0\177\1\200") }, true },
		{ "17 bits, and an eighteenth", { BYTES("\0\1\21\0\177\1\100") }, false },
		{ "all of IPv4", { BYTES("\0\1\40\0\300\0\2\1") }, true },
		{ "more than all", { BYTES("\0\1\41\0\300\0\2\1\0") }, false },
		{ "a scope beyond all", { BYTES("\0\1\30\41\300\0\2") }, false },
		{ "too few bytes", { BYTES("\0\1\30\0\300\0") }, false },
		{ "too many bytes", { BYTES("\0\1\20\0\300\0\2") }, false },
		{ "56 bits of IPv6", { BYTES("\0\2\70\0\40\1\15\270\0\0\1") }, true },
		{ "nothing of IPv4", { BYTES("\0\1\0\0") }, true },
		{ "nothing of anything", { BYTES("\0\0\0\0") }, true },
		{ "eight bits of anything", { BYTES("\0\0\10\0\12") }, false },
		{ "a family nobody knows", { BYTES("\0\3\0\0") }, false },
		{ "cut in its head", { BYTES("\0\1\0") }, false },
		{ "empty", { BYTES("") }, false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct subnet_option o;
		uint8_t again[SUBNET_OPTION_MAX];

		if (subnet_read(&o, &rows[i].data) != rows[i].good)
			fail_msg("%s", rows[i].why);
		if (rows[i].good && (subnet_write(&o, again) != rows[i].data.len ||
				     memcmp(again, rows[i].data.at, rows[i].data.len) != 0))
			fail_msg("%s: written otherwise", rows[i].why);
	}
}

static void no_more_is_shown_than_may_be(void **state)
{
	(void)state;
	static const struct {
		const char *address;
		unsigned bits;
		const char *net;
	} rows[] = {
		{ "192.0.2.77", 24, "192.0.2.0/24" },
		{ "192.0.2.77", 32, "192.0.2.77/32" },
		{ "192.0.2.77", 128, "192.0.2.77/32" },
		{ "192.0.2.77", 0, "0.0.0.0/0" },
		{ "127.255.255.255", 17, "127.255.128.0/17" },
		{ "2001:db8:1:2:3:4:5:6", 56, "2001:db8:1::/56" },
		{ "2001:db8:1:2:3:4:5:6", 128, "2001:db8:1:2:3:4:5:6/128" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char text[ADDR_TEXT];
		struct netblock n, want;
		struct addr a;

		assert_true(addr_parse(&a, rows[i].address, 53, NULL));
		assert_true(netblock_parse(&want, rows[i].net, NULL));
		n = subnet_of(&a, rows[i].bits);
		if (n.bits != want.bits || !addr_equals(&n.net, &want.net))
			fail_msg("%s/%u: %s, not %s", rows[i].address, rows[i].bits,
				 netblock_print(&n, text), rows[i].net);
	}
}

static void ecs_in_the_response_must_match_the_query(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		struct slice data;
		bool echoes;
	} rows[] = {
		{ "the same, a scope", { BYTES("\0\1\30\20\300\0\2") }, true },
		{ "another address", { BYTES("\0\1\30\20\300\0\3") }, false },
		{ "fewer bits", { BYTES("\0\1\20\20\300\0") }, false },
		{ "another family", { BYTES("\0\2\30\20\300\0\2") }, false },
		{ "nothing", { BYTES("\0\1\0\0") }, false },
	};
	struct netblock told;

	assert_true(netblock_parse(&told, "192.0.2.0/24", NULL));
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct subnet_option o;

		assert_true(subnet_read(&o, &rows[i].data));
		if (subnet_echoes(&o, &told) != rows[i].echoes)
			fail_msg("%s", rows[i].why);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_option_is_read_only_when_it_is_well_formed),
		cmocka_unit_test(no_more_is_shown_than_may_be),
		cmocka_unit_test(ecs_in_the_response_must_match_the_query),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
