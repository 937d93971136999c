/* Claims about how many connections a netblock may have.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/net/connection_limits.h"

#include "services/tests/conf.h"
#include "util/base/fault.h"
#include "util/net/addr.h"

static struct connection_limits *limits_of(const char *text)
{
	struct conf *conf = conf_from(text);
	struct connection_limits *l = connection_limits_new(conf, NULL);

	assert_non_null(l);
	conf_free(conf);
	return l;
}

static void a_netblock_has_so_many_and_no_more(void **state)
{
	(void)state;
	static const struct {
		const char *why, *client;
		unsigned admitted; /* of twelve */
	} rows[] = {
		{ "not mentioned", "198.51.100.1", 12 },
		{ "ten", "203.0.113.1", 10 },
		{ "in the block", "192.0.2.77", 4 },
		{ "in a smaller one in it", "192.0.2.1", 1 },
		{ "none at all", "2001:db8::5", 0 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct connection_limits *l = limits_of("server:\n tcp-connection-limit: 192.0.2.0/24 4\n"
						 " tcp-connection-limit: 192.0.2.1/32 1\n"
						 " tcp-connection-limit: 203.0.113.0/24 10\n"
						 " tcp-connection-limit: 2001:db8::/32 0\n");
		struct connection_slot place[12];
		unsigned admitted = 0, again = 0;
		struct addr client;

		assert_true(addr_parse(&client, rows[i].client, 4711, NULL));
		for (unsigned n = 0; n < COUNT(place); n++)
			admitted += connection_limits_admit(l, &client, &place[n]);
		if (admitted != rows[i].admitted)
			fail_msg("%s: %u", rows[i].why, admitted);
		for (unsigned n = 0; n < COUNT(place); n++)
			connection_slot_give_back(&place[n]);
		/* places come back, also when the limits are no longer the ones in use */
		for (unsigned n = 0; n < COUNT(place); n++)
			again += connection_limits_admit(l, &client, &place[n]);
		assert_int_equal(again, admitted);
		connection_limits_unpin(l);
		for (unsigned n = 0; n < COUNT(place); n++)
			connection_slot_give_back(&place[n]);
	}
}

/* Whoever has checked an option before, it is read with care. */
static void what_is_no_netblock_is_named(void **state)
{
	static const char *const rows[] = { "192.0.2.0/33 5", "nobody 5",
					    "0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000/ 5",
					    "0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000/64 5" };

	(void)state;
	for (size_t i = 0; i < 2 * COUNT(rows); i++) {
		struct conf_item item = { .text = (char *)(uintptr_t)rows[i / 2] };
		struct conf *conf = conf_from("server:\n");
		struct conf_list *list = i % 2 ? &conf->server.proxy_protocol_from : &conf->server.tcp_connection_limit;
		const struct conf_list before = *list;
		const char *option = i % 2 ? "proxy-protocol-from: " : "tcp-connection-limit: ";
		struct fault f = { 0 };

		*list = (struct conf_list){ .items = &item, .count = 1 };
		assert_null(connection_limits_new(conf, &f));
		assert_int_equal(strncmp(f.text, option, strlen(option)), 0);
		if (i % 2 == 0 && i / 2 >= 2) /* longer than any netblock */
			assert_non_null(strstr(f.text, " 5' is no netblock"));
		*list = before;
		conf_free(conf);
	}
	connection_limits_unpin(NULL);
}

static void a_limit_may_be_the_only_one(void **state)
{
	struct connection_limits *l = limits_of("server:\n tcp-connections-per-client: 0\n tcp-connection-limit: 192.0.2.0/24 1\n");
	struct connection_slot one, more;
	struct addr client;

	(void)state;
	assert_true(addr_parse(&client, "192.0.2.1", 4711, NULL));
	assert_true(connection_limits_admit(l, &client, &one));
	assert_false(connection_limits_admit(l, &client, &more));
	connection_slot_give_back(&one);
	connection_limits_unpin(l);
}

static void limits_last_as_long_as_somebody_needs_them(void **state)
{
	struct connection_limits *one = limits_of("server:\n tcp-connections-per-client: 1\n");
	struct connection_limits *other = limits_of("server:\n tcp-connections-per-client: 2\n"), *here = NULL;
	struct connection_slot place, more;
	struct addr client;

	(void)state;
	assert_true(addr_parse(&client, "192.0.2.1", 4711, NULL));
	connection_limits_exchange(&here, one);
	assert_ptr_equal(here, one);
	connection_limits_unpin(one);
	assert_true(connection_limits_admit(here, &client, &place));
	assert_ptr_equal(place.home, one);
	assert_false(connection_limits_admit(here, &client, &more));
	assert_null(more.home);
	connection_limits_exchange(&here, other); /* from then on others count */
	connection_limits_unpin(other);
	assert_true(connection_limits_admit(here, &client, &more));
	connection_slot_give_back(&place);
	connection_slot_give_back(&place); /* is empty by now */
	assert_null(place.home);
	connection_limits_exchange(&here, NULL);
	assert_null(here);
	connection_slot_give_back(&more);
}

/* However many clients there are, and whoever shares a chain with whom. */
static void thousands_of_clients_are_told_apart(void **state)
{
	enum { CLIENTS = 3000 };
	static struct connection_slot places[2 * CLIENTS];
	struct connection_limits *l = limits_of("server:\n tcp-connections-per-client: 2\n");
	struct addr a = { .family = 4, .ip = { 10 } };
	struct connection_slot more;

	(void)state;
	for (unsigned round = 0; round < 2; round++) {
		for (unsigned i = 0; i < 2 * CLIENTS; i++) {
			put_u16(a.ip + 1, (uint16_t)(i % CLIENTS));
			assert_true(connection_limits_admit(l, &a, &places[i]));
		}
		for (unsigned i = 0; i < CLIENTS; i++) {
			put_u16(a.ip + 1, (uint16_t)i);
			assert_false(connection_limits_admit(l, &a, &more));
		}
		for (unsigned i = 0; i < 2 * CLIENTS; i++)
			connection_slot_give_back(&places[i * 7 % (2 * CLIENTS)]);
	}
	connection_limits_unpin(l);
}

static void each_client_has_a_limit_of_its_own(void **state)
{
	(void)state;
	static const struct {
		const char *why, *client;
		bool admitted;
	} rows[] = {
		{ "the first", "192.0.2.1", true },
		{ "the second", "192.0.2.1", true },
		{ "one too many", "192.0.2.1", false },
		{ "of another", "192.0.2.2", true },
		{ "IPv6", "2001:db8::1", true },
		{ "the same /64", "2001:db8::2", true },
		{ "and once more", "2001:db8::3", false },
		{ "another /64", "2001:db8:0:1::1", true },
		{ "a /64 of the same bytes as an address", "c000:201::", true },
		{ "where the netblock is full as well", "198.51.100.1", true },
		{ "it is", "198.51.100.2", false },
	};
	struct connection_limits *l = limits_of("server:\n tcp-connections-per-client: 2\n"
					 " tcp-connection-limit: 198.51.100.0/24 1\n");
	struct connection_slot place[COUNT(rows)], more;
	struct addr client;

	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_true(addr_parse(&client, rows[i].client, 4711, NULL));
		if (connection_limits_admit(l, &client, &place[i]) != rows[i].admitted)
			fail_msg("%s", rows[i].why);
	}
	connection_slot_give_back(&place[9]); /* and is no longer, though another was turned away */
	assert_true(connection_limits_admit(l, &client, &place[9]));
	assert_false(connection_limits_admit(l, &client, &place[10]));
	assert_true(addr_parse(&client, "192.0.2.1", 4711, NULL));
	connection_slot_give_back(&place[0]); /* one of two is still there */
	assert_true(connection_limits_admit(l, &client, &place[0]));
	assert_false(connection_limits_admit(l, &client, &more));
	for (size_t i = 0; i < COUNT(rows); i++)
		connection_slot_give_back(&place[i]);
	assert_true(connection_limits_admit(l, &client, &more));
	connection_limits_unpin(l);
	connection_slot_give_back(&more);
}

static void proxies_may_be_named(void **state)
{
	(void)state;
	static const struct {
		const char *text, *proxy;
		bool may;
	} rows[] = {
		{ "server:\n", "192.0.2.1", true },
		{ "server:\n proxy-protocol-from: 192.0.2.0/24\n", "192.0.2.1", true },
		{ "server:\n proxy-protocol-from: 192.0.2.0/24\n", "198.51.100.1", false },
		{ "server:\n proxy-protocol-from: 192.0.2.0/24\n", "2001:db8::1", false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct connection_limits *l = limits_of(rows[i].text);
		struct addr proxy;

		assert_true(addr_parse(&proxy, rows[i].proxy, 4711, NULL));
		assert_int_equal(connection_limits_may_speak_for(l, &proxy), rows[i].may);
		connection_limits_unpin(l);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_netblock_has_so_many_and_no_more),
		cmocka_unit_test(what_is_no_netblock_is_named),
		cmocka_unit_test(a_limit_may_be_the_only_one),
		cmocka_unit_test(limits_last_as_long_as_somebody_needs_them),
		cmocka_unit_test(thousands_of_clients_are_told_apart),
		cmocka_unit_test(each_client_has_a_limit_of_its_own),
		cmocka_unit_test(proxies_may_be_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
