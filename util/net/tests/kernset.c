/* Claims about the names of sets in the kernel; testdata/e2e/test_ipset.py fills some.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/net/kernset.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#include "util/base/fault.h"

#define SIXTY_THREE "x23456789012345678901234567890123456789012345678901234567890123"

static void a_name_is_one_word_or_three(void **state)
{
	(void)state;
	static const struct {
		const char *why, *name, *fault; /* NULL: it is a name */
	} rows[] = {
		{ "an ipset", "vpn4", NULL },
		{ "a set of nftables", "inet fw4 vpn4", NULL },
		{ "blanks and tabs around", "  ip6 \t nat  tunnel ", NULL },
		{ "each family", "netdev t s", NULL },
		{ "an ipset whose name is a family's", "inet", NULL },
		{ "as long as may be", "bridge " SIXTY_THREE " " SIXTY_THREE, NULL },
		{ "nothing", "", "expected the name of an ipset" },
		{ "two words", "fw4 vpn4", "expected the name of an ipset" },
		{ "four words", "inet fw4 vpn4 more", "expected the name of an ipset" },
		{ "no family", "ipv4 fw4 vpn4", "'ipv4' is no family of nftables" },
		{ "half a family", "in fw4 vpn4", "'in' is no family" },
		{ "a set too long", SIXTY_THREE "4", "at most 63 characters" },
		{ "a table too long", "inet " SIXTY_THREE "4 vpn4", "at most 63 characters" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct fault f = { 0 };
		bool good = kernset_check(rows[i].name, &f);

		if (good != !rows[i].fault || (rows[i].fault && !strstr(f.text, rows[i].fault)))
			fail_msg("%s: %s", rows[i].why, good ? "it is a name" : f.text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_is_one_word_or_three),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
