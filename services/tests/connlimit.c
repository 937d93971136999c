/* Claims about how many connections a netblock may have.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/connlimit.h"

#include "services/tests/conf.h"
#include "util/addr.h"

static struct connlimits *limits_of(const char *text)
{
	struct conf *conf = conf_from(text);
	struct connlimits *l = connlimits_new(conf, NULL);

	assert_non_null(l);
	conf_free(conf);
	return l;
}

static void a_netblock_has_so_many_and_no_more(void **state)
{
	(void)state;
	static const struct {
		const char *why, *client;
		unsigned admitted; /* of ten */
	} rows[] = {
		{ "not mentioned", "198.51.100.1", 10 },
		{ "in the block", "192.0.2.77", 4 },
		{ "in a smaller one in it", "192.0.2.1", 1 },
		{ "none at all", "2001:db8::5", 0 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct connlimits *l = limits_of("server:\n tcp-connection-limit: 192.0.2.0/24 4\n"
						 " tcp-connection-limit: 192.0.2.1/32 1\n"
						 " tcp-connection-limit: 2001:db8::/32 0\n");
		struct connplace place[10];
		unsigned admitted = 0, again = 0;
		struct addr client;

		assert_true(addr_parse(&client, rows[i].client, 4711, NULL));
		for (unsigned n = 0; n < COUNT(place); n++)
			admitted += connlimits_admit(l, &client, &place[n]);
		if (admitted != rows[i].admitted)
			fail_msg("%s: %u", rows[i].why, admitted);
		for (unsigned n = 0; n < COUNT(place); n++)
			connplace_give_back(&place[n]);
		/* places come back, also when the limits are no longer the ones in use */
		for (unsigned n = 0; n < COUNT(place); n++)
			again += connlimits_admit(l, &client, &place[n]);
		assert_int_equal(again, admitted);
		connlimits_unpin(l);
		for (unsigned n = 0; n < COUNT(place); n++)
			connplace_give_back(&place[n]);
	}
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
		{ "where the netblock is full as well", "198.51.100.1", true },
		{ "it is", "198.51.100.2", false },
	};
	struct connlimits *l = limits_of("server:\n tcp-connections-per-client: 2\n"
					 " tcp-connection-limit: 198.51.100.0/24 1\n");
	struct connplace place[COUNT(rows)], more;
	struct addr client;

	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_true(addr_parse(&client, rows[i].client, 4711, NULL));
		if (connlimits_admit(l, &client, &place[i]) != rows[i].admitted)
			fail_msg("%s", rows[i].why);
	}
	for (size_t i = 0; i < COUNT(rows); i++)
		connplace_give_back(&place[i]);
	assert_true(addr_parse(&client, "192.0.2.1", 4711, NULL));
	assert_true(connlimits_admit(l, &client, &more));
	connlimits_unpin(l);
	connplace_give_back(&more);
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
		struct connlimits *l = limits_of(rows[i].text);
		struct addr proxy;

		assert_true(addr_parse(&proxy, rows[i].proxy, 4711, NULL));
		assert_int_equal(connlimits_may_speak_for(l, &proxy), rows[i].may);
		connlimits_unpin(l);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_netblock_has_so_many_and_no_more),
		cmocka_unit_test(each_client_has_a_limit_of_its_own),
		cmocka_unit_test(proxies_may_be_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
