/* Claims about addresses, netblocks and sets of them.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/net/addr.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "util/base/fault.h"
#include "util/base/random.h"

static struct addr addr_of(const char *text)
{
	struct fault f = { .set = false };
	struct addr a;

	if (!addr_parse(&a, text, 53, &f))
		fail_msg("%s", f.text);
	return a;
}

static struct netblock netblock_of(const char *text)
{
	struct fault f = { .set = false };
	struct netblock n;

	if (!netblock_parse(&n, text, &f))
		fail_msg("%s", f.text);
	return n;
}

static void private_addresses_are_not_public_however_they_are_written(void **state)
{
	(void)state;
	static const char *const not_public[] = {
		"0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.127.255.255",
		"127.0.0.1", "127.9.9.9", "169.254.169.254", "172.16.0.1", "172.31.255.255",
		"192.0.0.8", "192.168.1.1", "198.18.0.1", "198.19.255.255", "224.0.0.1",
		"239.255.255.250", "240.0.0.1", "255.255.255.255", "::", "::1", "::ffff:127.0.0.1",
		"::ffff:169.254.169.254", "::ffff:10.0.0.1", "::10.0.0.1", "::127.0.0.1",
		"64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b::192.168.0.1", "64:ff9b:1::1",
		"64:ff9b:1::808:808", "100::1", "2002:7f00:1::1", "2002:a9fe:a9fe::1", "2001:0:1::1",
		"2001:2::1", "2001:10::1", "2001:1f::1", "fc00::1", "fdff::1", "fe80::1", "febf::1",
		"fec0::1", "feff::1", "ff02::1", "ff0e::1",
	};
	static const char *const are_public[] = {
		"1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255",
		"128.0.0.1", "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0",
		"192.0.1.0", "192.0.2.1", "192.167.255.255", "192.169.0.0", "198.17.255.255",
		"198.20.0.0", "198.51.100.1", "203.0.113.1", "223.255.255.255", "::ffff:192.0.2.1",
		"64:ff9b::192.0.2.1", "2002:c000:201::1", "2001:db8::1", "2001:1::1", "2001:20::1",
		"2001:2:1::1", "2606:4700::1111", "fbff::1", "2000::1",
	};

	for (size_t i = 0; i < COUNT(not_public); i++) {
		struct addr a = addr_of(not_public[i]);

		if (addr_is_public(&a))
			fail_msg("%s", not_public[i]);
	}
	for (size_t i = 0; i < COUNT(are_public); i++) {
		struct addr a = addr_of(are_public[i]);

		if (!addr_is_public(&a))
			fail_msg("%s", are_public[i]);
	}
	assert_false(addr_is_public(&(struct addr){ .family = 0 }));
}

static void text_becomes_an_address_and_text_again(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		uint8_t family;
		uint16_t port;
		const char *printed; /* the usual port being 53 */
	} rows[] = {
		{ "192.0.2.1", 4, 53, "192.0.2.1" },
		{ "192.0.2.1@5353", 4, 5353, "192.0.2.1@5353" },
		{ "192.0.2.1@53", 4, 53, "192.0.2.1" },
		{ "0.0.0.0@0", 4, 0, "0.0.0.0@0" },
		{ "2001:DB8:0:0::1", 6, 53, "2001:db8::1" },
		{ "::@65535", 6, 65535, "::@65535" },
		{ "fe80::1%1", 6, 53, "fe80::1%lo" },
		{ "fe80::1%4000000000@853", 6, 853, "fe80::1%4000000000@853" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct addr a = addr_of(rows[i].text);
		char buf[ADDR_TEXT];

		/* Interface 1 is called lo on some systems only. */
		if (a.family != rows[i].family || a.port != rows[i].port ||
		    (strcmp(addr_print(&a, 53, buf), rows[i].printed) != 0 && a.scope != 1))
			fail_msg("%s: family %u, port %u, %s", rows[i].text, a.family, a.port, buf);
	}
}

static void what_is_no_address_is_refused_with_a_sentence(void **state)
{
	(void)state;
	static const struct {
		const char *text, *says;
	} rows[] = {
		{ "", "'' is not an IP address" },
		{ "localhost", "not an IP address" },
		{ "192.0.2", "not an IP address" },
		{ "192.0.2.256", "not an IP address" },
		{ " 192.0.2.1", "not an IP address" },
		{ "192.0.2.1%1", "not an IP address" },
		{ "192.0.2.1@", "the port of '192.0.2.1@'" },
		{ "192.0.2.1@65536", "0 to 65535" },
		{ "192.0.2.1@+53", "the port of" },
		{ "192.0.2.1@53@53", "the port of" },
		{ "@53", "not an IP address" },
		{ "fe80::1%", "not an IP address" },
		{ "fe80::1%0", "not an IP address" },
		{ "fe80::1%nosuchinterface", "not an IP address" },
		{ "1:2:3:4:5:6:7:8:9", "not an IP address" },
		{ "0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:"
		  "1",
		  "not an IP address" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct fault f = { .set = false };
		struct addr a;

		if (addr_parse(&a, rows[i].text, 53, &f) || !strstr(f.text, rows[i].says) ||
		    a.family)
			fail_msg("%s: %s", rows[i].text, f.text);
		assert_false(addr_parse(&a, rows[i].text, 53, NULL));
	}
}

static void a_socket_address_comes_back_as_it_went(void **state)
{
	(void)state;
	static const char *const rows[] = { "192.0.2.1@5353", "2001:db8::1@53", "fe80::1%7@1" };

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct addr a = addr_of(rows[i]), back;
		struct sockaddr_storage ss;
		socklen_t len = addr_to_sockaddr(&a, &ss);

		assert_true(addr_from_sockaddr(&back, (struct sockaddr *)&ss, len));
		assert_true(addr_equals(&a, &back));
		assert_int_equal(addr_hash(&a), addr_hash(&back));
		assert_false(addr_from_sockaddr(&back, (struct sockaddr *)&ss, len - 1));
		assert_int_equal(back.family, 0);
	}
}

static void equality_looks_at_what_it_says(void **state)
{
	(void)state;
	static const struct {
		const char *a, *b;
		bool same, same_ip;
	} rows[] = {
		{ "192.0.2.1", "192.0.2.1@53", true, true },
		{ "192.0.2.1", "192.0.2.1@54", false, true },
		{ "192.0.2.1", "192.0.2.2", false, false },
		{ "fe80::1%1", "fe80::1%2", false, false },
		{ "1.2.3.4", "102:304::", false, false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct addr a = addr_of(rows[i].a), b = addr_of(rows[i].b);

		if (addr_equals(&a, &b) != rows[i].same ||
		    addr_equals_ip(&a, &b) != rows[i].same_ip ||
		    (addr_hash(&a) == addr_hash(&b)) != rows[i].same)
			fail_msg("%s and %s", rows[i].a, rows[i].b);
	}
}

static void some_addresses_are_never_a_server(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		bool absurd, loopback;
	} rows[] = {
		{ "0.0.0.0", true, false },
		{ "0.1.2.3", false, false },
		{ "127.0.0.1", false, true },
		{ "127.255.0.9", false, true },
		{ "192.0.2.1", false, false },
		{ "223.255.255.255", false, false },
		{ "224.0.0.1", true, false },
		{ "239.255.255.255", true, false },
		{ "240.0.0.1", false, false },
		{ "255.255.255.255", true, false },
		{ "::", true, false },
		{ "::1", false, true },
		{ "::2", true, false },
		{ "::192.0.2.1", true, false },
		{ "::ffff:192.0.2.1", true, false },
		{ "ff02::1", true, false },
		{ "fe80::1", false, false },
		{ "2001:db8::1", false, false },
		{ "64:ff9b::192.0.2.1", false, false },
	};
	struct addr none = { .family = 0 };

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct addr a = addr_of(rows[i].text);

		if (addr_is_absurd(&a) != rows[i].absurd ||
		    addr_is_loopback(&a) != rows[i].loopback)
			fail_msg("%s: absurd %d, loopback %d", rows[i].text, addr_is_absurd(&a),
				 addr_is_loopback(&a));
	}
	assert_true(addr_is_absurd(&none));
}

static void some_addresses_stand_for_others(void **state)
{
	(void)state;
	static const struct {
		const char *text, *stands_for;
	} rows[] = {
		{ "192.0.2.1", NULL },
		{ "2001:db8::192.0.2.1", NULL },
		{ "::ffff:192.0.2.1", "192.0.2.1" },
		{ "::192.0.2.1", "192.0.2.1" },
		{ "::1", "0.0.0.1" },
		{ "2002:c000:201::9", "192.0.2.1" },
		{ "64:ff9b::192.0.2.1", "192.0.2.1" },
		{ "64:ff9b:1::192.0.2.1", "192.0.2.1" },
		{ "64:ff9b:1:fffe:7::192.0.2.1", "192.0.2.1" },
		{ "64:ff9b:2::192.0.2.1", NULL },
		{ "::ffff:0:192.0.2.1", "192.0.2.1" },
		{ "::1:ffff:0:192.0.2.1", NULL },
		{ "::fffe:192.0.2.1", NULL },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct addr a = addr_of(rows[i].text), ip4 = { .family = 0 };
		char text[ADDR_TEXT] = "";

		if (addr_stands_for(&a, &ip4))
			addr_print(&ip4, 0, text);
		if (strcmp(text, rows[i].stands_for ? rows[i].stands_for : "") != 0)
			fail_msg("%s: %s", rows[i].text, text);
	}
}

static void a_mapped_address_becomes_an_ipv4_one(void **state)
{
	(void)state;
	static const struct {
		const char *text, *is; /* NULL: as it was */
	} rows[] = {
		{ "::ffff:192.0.2.1@53", "192.0.2.1@53" }, { "::ffff:0.0.0.0@53", "0.0.0.0@53" },
		{ "::fffe:192.0.2.1@53", NULL },	   { "::192.0.2.1@53", NULL },
		{ "64:ff9b::192.0.2.1@53", NULL },	   { "192.0.2.1@53", NULL },
		{ "255.255.0.0@53", NULL },		   { "1::ffff:192.0.2.1@53", NULL },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct addr a, want;

		assert_true(addr_parse(&a, rows[i].text, 0, NULL));
		assert_true(addr_parse(&want, rows[i].is ? rows[i].is : rows[i].text, 0, NULL));
		if (addr_unmap(&a) != (rows[i].is != NULL) || !addr_equals(&a, &want))
			fail_msg("%s", rows[i].text);
	}
}

static void a_netblock_forgets_the_bits_past_its_length(void **state)
{
	(void)state;
	static const struct {
		const char *text, *printed; /* NULL: refused */
	} rows[] = {
		{ "10.0.0.0/8", "10.0.0.0/8" },
		{ "10.1.2.3/8", "10.0.0.0/8" },
		{ "10.1.2.255/31", "10.1.2.254/31" },
		{ "255.255.255.255/1", "128.0.0.0/1" },
		{ "255.255.255.255/0", "0.0.0.0/0" },
		{ "192.0.2.1", "192.0.2.1/32" },
		{ "::1", "::1/128" },
		{ "ffff::ffff/9", "ff80::/9" },
		{ "2001:db8::ffff/121", "2001:db8::ff80/121" },
		{ "10.0.0.0/33", NULL },
		{ "::/129", NULL },
		{ "10.0.0.0/", NULL },
		{ "10.0.0.0/-1", NULL },
		{ "10.0.0.0/8/8", NULL },
		{ "10.0.0/8", NULL },
		{ "fe80::%1/10", NULL },
		{ "fe80::/10%1", NULL },
		{ "10.0.0.0@53/8", NULL },
		{ "/8", NULL },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct fault f = { .set = false };
		char buf[ADDR_TEXT] = "";
		struct netblock n;
		bool good = netblock_parse(&n, rows[i].text, &f);

		if (good != (rows[i].printed != NULL) || good == f.set ||
		    (good && strcmp(netblock_print(&n, buf), rows[i].printed) != 0))
			fail_msg("%s: %s%s", rows[i].text, buf, f.text);
	}
}

static void a_netblock_holds_what_begins_as_it_does(void **state)
{
	(void)state;
	static const struct {
		const char *block, *addr;
		bool holds;
	} rows[] = {
		{ "10.0.0.0/8", "10.255.255.255", true },
		{ "10.0.0.0/8", "11.0.0.0", false },
		{ "10.0.0.0/9", "10.128.0.0", false },
		{ "0.0.0.0/0", "255.1.2.3", true },
		{ "0.0.0.0/0", "::", false },
		{ "::/0", "0.0.0.0", false },
		{ "::1", "::1", true },
		{ "::1", "::", false },
		{ "2001:db8::/63", "2001:db8:0:1::", true },
		{ "2001:db8::/64", "2001:db8:0:1::", false },
		{ "2001:db8::/65", "2001:db8::7fff:0:0:1", true },
		{ "2001:db8::/65", "2001:db8::8000:0:0:0", false },
		{ "fe80::/10", "fe80::1%3", true },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct netblock n = netblock_of(rows[i].block);
		struct addr a = addr_of(rows[i].addr);

		if (netblock_holds(&n, &a) != rows[i].holds)
			fail_msg("%s and %s", rows[i].block, rows[i].addr);
	}
}

static const char *const blocks[] = { "0.0.0.0/0",       "10.0.0.0/8",    "10.0.0.0/7",
				      "10.64.0.0/10",    "10.64.1.0/24",  "10.64.1.1",
				      "192.168.0.0/16",  "::1",           "2001:db8::/32",
				      "2001:db8:1::/48", "2001:db8::/64", "fe80::/10",
				      "10.64.1.128/25" };

static void the_longest_netblock_wins(void **state)
{
	(void)state;
	static const struct {
		const char *addr, *block; /* NULL: none */
	} rows[] = {
		{ "8.8.8.8", "0.0.0.0/0" },
		{ "10.0.0.1", "10.0.0.0/8" },
		{ "11.0.0.1", "10.0.0.0/7" },
		{ "10.127.0.1", "10.64.0.0/10" },
		{ "10.64.1.2", "10.64.1.0/24" },
		{ "10.64.1.1", "10.64.1.1" },
		{ "10.64.1.200", "10.64.1.128/25" },
		{ "192.168.255.255", "192.168.0.0/16" },
		{ "192.169.0.0", "0.0.0.0/0" },
		{ "::1", "::1" },
		{ "::2", NULL },
		{ "2001:db8:1:2::", "2001:db8:1::/48" },
		{ "2001:db8::9", "2001:db8::/64" },
		{ "2001:db8:0:1::", "2001:db8::/32" },
		{ "2001:db9::", NULL },
		{ "febf::1%2", "fe80::/10" },
	};

	/* Put in one order and in the other: the order must not matter. */
	for (int back = 0; back < 2; back++) {
		struct netset *s = netset_new();

		for (size_t i = 0; i < COUNT(blocks); i++) {
			size_t at = back ? COUNT(blocks) - 1 - i : i;
			struct netblock n = netblock_of(blocks[at]);

			netset_put(s, &n, (void *)(uintptr_t)blocks[at]);
		}
		assert_int_equal(netset_count(s), COUNT(blocks));
		for (size_t i = 0; i < COUNT(rows); i++) {
			struct addr a = addr_of(rows[i].addr);
			const char *got = netset_find(s, &a);

			if (!got != !rows[i].block || (got && strcmp(got, rows[i].block) != 0))
				fail_msg("%s: %s", rows[i].addr, got ? got : "none");
		}
		netset_free(s);
	}
}

static void an_equal_netblock_replaces(void **state)
{
	(void)state;
	struct netset *s = netset_new();
	struct netblock n = netblock_of("10.0.0.0/8"), longer = netblock_of("10.0.0.0/9"),
			shorter = netblock_of("10.0.0.0/7"), other = netblock_of("a00::/8");
	struct addr a = addr_of("10.0.0.1");
	int first, second;

	assert_null(netset_find(s, &a));
	netset_put(s, &n, &first);
	netset_put(s, &n, &second);
	assert_int_equal(netset_count(s), 1);
	assert_ptr_equal(netset_find(s, &a), &second);
	assert_ptr_equal(netset_find_exact(s, &n), &second);
	assert_null(netset_find_exact(s, &longer));
	assert_null(netset_find_exact(s, &shorter));
	assert_null(netset_find_exact(s, &other));
	netset_free(s);
	netset_free(NULL);
}

/* A bare fork between two netblocks is no netblock. */
static void where_two_netblocks_part_is_nothing(void **state)
{
	(void)state;
	struct netset *s = netset_new();
	struct netblock left = netblock_of("10.0.0.0/16"), right = netblock_of("10.1.0.0/16"),
			both = netblock_of("10.0.0.0/15");
	struct addr between = addr_of("10.2.0.0");

	netset_put(s, &left, s);
	netset_put(s, &right, s);
	assert_null(netset_find_exact(s, &both));
	assert_null(netset_find(s, &between));
	assert_int_equal(netset_count(s), 2);
	netset_put(s, &both, s);
	assert_ptr_equal(netset_find_exact(s, &both), s);
	assert_int_equal(netset_count(s), 3);
	netset_free(s);
}

static struct netblock draw_block(struct random *r)
{
	struct netblock n = { .bits = 0 };
	char text[ADDR_TEXT], full[ADDR_TEXT + 8];

	/* Few distinct bytes, so that many share a beginning. */
	n.net.family = random_below(r, 2) ? 4 : 6;
	for (size_t i = 0; i < (n.net.family == 4 ? 4u : 16u); i++)
		n.net.ip[i] = random_below(r, 3) ? 0 : (uint8_t)random_u16(r);
	addr_print(&n.net, 0, text);
	snprintf(full, sizeof(full), "%s/%u", text, random_below(r, n.net.family == 4 ? 33 : 129));
	return netblock_of(full);
}

static void a_set_agrees_with_looking_at_each_netblock(void **state)
{
	(void)state;
	static struct netblock put[400];
	struct random r;

	random_play(&r, 42);
	for (int round = 0; round < 10; round++) {
		struct netset *s = netset_new();

		for (size_t i = 0; i < COUNT(put); i++) {
			put[i] = draw_block(&r);
			netset_put(s, &put[i], &put[i]);
		}
		for (size_t i = 0; i < 2000; i++) {
			struct netblock ask = draw_block(&r);
			const struct netblock *want = NULL, *got = netset_find(s, &ask.net);

			for (size_t k = 0; k < COUNT(put); k++)
				if (netblock_holds(&put[k], &ask.net) &&
				    (!want || put[k].bits >= want->bits))
					want = &put[k];
			assert_ptr_equal(got, want);
			want = NULL;
			for (size_t k = 0; k < COUNT(put); k++)
				if (put[k].bits == ask.bits && addr_equals(&put[k].net, &ask.net))
					want = &put[k];
			assert_ptr_equal(netset_find_exact(s, &ask), want);
		}
		netset_free(s);
	}
}

int main(void)
{
	const struct CMUnitTest claims[] = {
		cmocka_unit_test(private_addresses_are_not_public_however_they_are_written),
		cmocka_unit_test(text_becomes_an_address_and_text_again),
		cmocka_unit_test(what_is_no_address_is_refused_with_a_sentence),
		cmocka_unit_test(a_socket_address_comes_back_as_it_went),
		cmocka_unit_test(equality_looks_at_what_it_says),
		cmocka_unit_test(some_addresses_are_never_a_server),
		cmocka_unit_test(some_addresses_stand_for_others),
		cmocka_unit_test(a_mapped_address_becomes_an_ipv4_one),
		cmocka_unit_test(a_netblock_forgets_the_bits_past_its_length),
		cmocka_unit_test(a_netblock_holds_what_begins_as_it_does),
		cmocka_unit_test(the_longest_netblock_wins),
		cmocka_unit_test(an_equal_netblock_replaces),
		cmocka_unit_test(where_two_netblocks_part_is_nothing),
		cmocka_unit_test(a_set_agrees_with_looking_at_each_netblock),
	};

	return cmocka_run_group_tests(claims, NULL, NULL);
}
