/* Claims about who is told where clients are.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/forward/subnets.h"

#include "services/tests/conf.h"
#include "util/base/fault.h"
#include "util/dns/dname.h"
#include "util/dns/edns.h"

#define MODULE "server:\n module-config: \"subnetcache validator iterator\"\n"
#define LISTED MODULE " send-client-subnet: 192.0.2.1\n"

static struct subnets *make(const char *text)
{
	struct conf *conf = conf_from(text);
	struct fault f = { 0 };
	struct subnets *s;

	if (!subnets_read(&s, conf, &f))
		fail_msg("%s", f.text);
	conf_free(conf);
	return s;
}

/* The module is one of those that module-config names, and there is somebody to be told. */
static void without_the_module_or_a_list_there_are_no_rules(void **state)
{
	(void)state;
	static const struct {
		const char *modules, *more;
		bool rules;
	} rows[] = {
		{ "validator iterator", " send-client-subnet: 192.0.2.1\n", false },
		{ "subnetcache iterator", "", false },
		{ "subnetcache iterator", " send-client-subnet: 192.0.2.1\n", true },
		{ "subnetcache iterator", " client-subnet-zone: example\n", true },
		{ "subnetcache iterator", " client-subnet-always-forward: yes\n", true },
		{ "  subnetcache\titerator", " send-client-subnet: 192.0.2.1\n", true },
		{ "validator \t subnetcache", " send-client-subnet: 192.0.2.1\n", true },
		{ "subnetcaches iterator", " send-client-subnet: 192.0.2.1\n", false },
		{ "subnetcach iterator", " send-client-subnet: 192.0.2.1\n", false },
		{ "subnetcachf iterator", " send-client-subnet: 192.0.2.1\n", false },
		{ " ", " send-client-subnet: 192.0.2.1\n", false },
		{ "", " send-client-subnet: 192.0.2.1\n", false },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char text[200];
		struct subnets *s = NULL;
		struct fault f = { 0 };
		struct conf *conf;
		char *own;

		snprintf(text, sizeof(text), "server:\n%s", rows[i].more);
		conf = conf_from(text);
		own = conf->server.module_config;
		conf->server.module_config = (char *)(uintptr_t)rows[i].modules;
		if (!subnets_read(&s, conf, &f) || (s != NULL) != rows[i].rules)
			fail_msg("'%s'%s: %s", rows[i].modules, rows[i].more, f.text);
		subnets_free(s);
		conf->server.module_config = own;
		conf_free(conf);
	}
}

/* As the options' own check would not let pass. */
static void what_is_no_server_or_zone_is_refused(void **state)
{
	(void)state;
	for (unsigned zone = 0; zone < 2; zone++) {
		struct conf *conf = conf_from(zone ? MODULE " client-subnet-zone: a\n client-subnet-zone: b\n"
						   : MODULE " send-client-subnet: 192.0.2.1\n send-client-subnet: 192.0.2.2\n");
		struct conf_item *last = zone ? &conf->server.client_subnet_zone.items[1] : &conf->server.send_client_subnet.items[1];
		char *own = last->text;
		struct fault f = { 0 };
		struct subnets *s = NULL;

		last->text = (char *)(uintptr_t)"a..b";
		assert_false(subnets_read(&s, conf, &f));
		assert_non_null(strstr(f.text, zone ? "client-subnet-zone: 'a..b' is not a name: " : "send-client-subnet: "));
		subnets_free(s);
		last->text = own;
		conf_free(conf);
	}
}

static void a_client_is_where_it_says_or_where_it_comes_from(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		struct slice options;
		enum client_subnet_end end;
		const char *shown;
	} rows[] = {
		{ "it says nothing", { BYTES("") }, CLIENT_SUBNET_GOOD, "192.0.2.0/21" },
		{ "less than we may tell", { BYTES("\0\10\0\6\0\1\20\0\12\1") }, CLIENT_SUBNET_GOOD, "10.1.0.0/16" },
		{ "more than we may tell", { BYTES("\0\10\0\7\0\1\30\0\12\1\377") }, CLIENT_SUBNET_GOOD, "10.1.248.0/21" },
		{ "that it wishes not to", { BYTES("\0\10\0\4\0\1\0\0") }, CLIENT_SUBNET_GOOD, "0.0.0.0/0" },
		{ "the same, of no family", { BYTES("\0\10\0\4\0\0\0\0") }, CLIENT_SUBNET_GOOD, "0.0.0.0/0" },
		{ "too little", { BYTES("\0\10\0\5\0\1\7\0\12") }, CLIENT_SUBNET_SHORT, NULL },
		{ "with a scope", { BYTES("\0\10\0\6\0\1\20\10\12\1") }, CLIENT_SUBNET_GOOD, "10.1.0.0/16" },
		{ "with a scope that no address has", { BYTES("\0\10\0\6\0\1\20\41\12\1") }, CLIENT_SUBNET_MALFORMED, NULL },
		{ "with bits behind", { BYTES("\0\10\0\6\0\1\14\0\12\1") }, CLIENT_SUBNET_MALFORMED, NULL },
	};
	struct subnets *s = make(LISTED " max-client-subnet-ipv4: 21\n min-client-subnet-ipv4: 8\n");
	struct addr client;

	assert_true(addr_parse(&client, "192.0.2.77", 53, NULL));
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct edns e = { .present = true, .options = rows[i].options };
		struct client_subnet w;
		struct netblock want;

		if (subnets_locate(s, &e, &client, &w) != rows[i].end)
			fail_msg("%s", rows[i].why);
		if (!rows[i].shown)
			continue;
		assert_true(netblock_parse(&want, rows[i].shown, NULL));
		if (i && !w.has_option)
			fail_msg("%s: it was told", rows[i].why);
		if (w.said.scope)
			fail_msg("%s: the scope is ours to tell", rows[i].why);
		if (w.shown.bits != want.bits || (i && !addr_equals_ip(&w.shown.net, &want.net)))
			fail_msg("%s: %u bits", rows[i].why, w.shown.bits);
	}
	subnets_free(s);
}

/* Each family has its own bounds: that of the option, or without one that of the address. */
static void each_family_has_its_own_bounds(void **state)
{
	(void)state;
	static const struct {
		const char *why, *client;
		struct slice options;
		enum client_subnet_end end;
		const char *shown;
		bool has_option;
	} rows[] = {
		{ "an IPv6 client", "2001:db8:1:2:3::4", { BYTES("") }, CLIENT_SUBNET_GOOD, "2001:db8:1::/44", false },
		{ "an IPv4 client", "192.0.2.77", { BYTES("") }, CLIENT_SUBNET_GOOD, "192.0.0.0/20", false },
		{ "one that speaks for IPv4", "2001:db8::1", { BYTES("\0\10\0\7\0\1\30\0\12\1\377") }, CLIENT_SUBNET_GOOD, "10.1.240.0/20", true },
		{ "one that speaks for IPv6", "192.0.2.77", { BYTES("\0\10\0\13\0\2\70\0\40\1\15\270\0\37\1") }, CLIENT_SUBNET_GOOD,
		  "2001:db8:10::/44", true },
		{ "as little as may be of IPv6", "192.0.2.77", { BYTES("\0\10\0\10\0\2\40\0\40\1\15\270") }, CLIENT_SUBNET_GOOD, "2001:db8::/32",
		  true },
		{ "too little of IPv6", "192.0.2.77", { BYTES("\0\10\0\10\0\2\37\0\40\1\15\270") }, CLIENT_SUBNET_SHORT, "192.0.0.0/20", false },
		{ "too little of IPv4", "2001:db8:1:2:3::4", { BYTES("\0\10\0\5\0\1\7\0\12") }, CLIENT_SUBNET_SHORT, "2001:db8:1::/44", false },
		{ "that and more options", "192.0.2.77", { BYTES("\0\12\0\0\0\10\0\6\0\1\20\0\12\1") }, CLIENT_SUBNET_GOOD, "10.1.0.0/16", true },
		{ "other options", "192.0.2.77", { BYTES("\0\12\0\0") }, CLIENT_SUBNET_GOOD, "192.0.0.0/20", false },
	};
	static const char bounds[] = " max-client-subnet-ipv4: 20\n min-client-subnet-ipv4: 8\n max-client-subnet-ipv6: 44\n"
				     " min-client-subnet-ipv6: 32\n max-ecs-tree-size-ipv4: 7\n max-ecs-tree-size-ipv6: 9\n";

	for (unsigned always = 0; always < 2; always++) {
		char text[400];
		struct subnets *s;

		snprintf(text, sizeof(text), LISTED "%s client-subnet-always-forward: %s\n", bounds, always ? "yes" : "no");
		s = make(text);
		assert_int_equal(subnets_most(s, 4), 7);
		assert_int_equal(subnets_most(s, 6), 9);
		for (size_t i = 0; i < COUNT(rows); i++) {
			struct edns e = { .present = true, .options = rows[i].options };
			struct client_subnet w;
			struct netblock want;
			struct addr client;

			assert_true(addr_parse(&client, rows[i].client, 53, NULL));
			assert_true(netblock_parse(&want, rows[i].shown, NULL));
			memset(&w, 0xff, sizeof(w));
			if (subnets_locate(s, &e, &client, &w) != rows[i].end || w.has_option != rows[i].has_option ||
			    w.forwarded != (rows[i].has_option && always))
				fail_msg("%s", rows[i].why);
			if (w.shown.bits != want.bits || !addr_equals_ip(&w.shown.net, &want.net))
				fail_msg("%s: %u bits are shown", rows[i].why, w.shown.bits);
		}
		subnets_free(s);
	}
}

static void ecs_is_sent_to_configured_servers_and_zones(void **state)
{
	(void)state;
	static const struct {
		const char *why, *server, *zone, *name;
		bool forwards, told;
	} rows[] = {
		{ "its address is", "192.0.2.5", "example.", "www.example.", false, true },
		{ "nothing is", "198.51.100.1", "example.", "www.example.", false, false },
		{ "the name is", "198.51.100.1", "cdn.test.", "www.cdn.test.", false, true },
		{ "below it", "198.51.100.1", "eu.cdn.test.", "www.eu.cdn.test.", false, true },
		{ "the zone above it is not", "198.51.100.1", "test.", "www.cdn.test.", false, false },
		{ "nor the root", "198.51.100.1", ".", "www.cdn.test.", false, false },
		{ "a forwarder stands for all", "198.51.100.1", ".", "www.cdn.test.", true, true },
		{ "for other names it does not", "198.51.100.1", ".", "www.example.", true, false },
	};
	struct subnets *s = make(MODULE " send-client-subnet: 192.0.2.0/24\n client-subnet-zone: cdn.test\n");

	for (size_t i = 0; i < COUNT(rows); i++) {
		uint8_t zone[DNAME_MAX], name[DNAME_MAX];
		struct subnets_server server = { .zone = zone, .forwards = rows[i].forwards };
		struct addr a;

		assert_true(addr_parse(&a, rows[i].server, 53, NULL));
		server.at = &a;
		assert_true(dname_parse(zone, rows[i].zone, NULL));
		assert_true(dname_parse(name, rows[i].name, NULL));
		if (subnets_may_send(s, &server, name) != rows[i].told)
			fail_msg("%s", rows[i].why);
	}
	subnets_free(s);
}

static void ecs_scope_is_limited_to_the_source_prefix(void **state)
{
	(void)state;
	static const struct {
		const char *why, *shown;
		unsigned scope;
		unsigned bits;
		bool coarse;
		unsigned said;
	} rows[] = {
		{ "a wider scope", "192.0.2.0/24", 16, 16, false, 16 },
		{ "for all", "192.0.2.0/24", 0, 0, false, 0 },
		{ "a closer one than we ever tell", "192.0.2.0/24", 32, 24, false, 24 },
		{ "a closer one than this client told", "192.0.0.0/16", 20, 16, true, 20 },
		{ "who tells nothing speaks for nobody else", "0.0.0.0/0", 0, 0, true, 0 },
		{ "a wider scope of IPv6", "2001:db8::/56", 48, 48, false, 48 },
		{ "a closer one of IPv6 than we ever tell", "2001:db8::/56", 64, 56, false, 56 },
		{ "a closer one of IPv6 than this client told", "2001:db8::/40", 48, 40, true, 48 },
	};
	struct subnets *s = make(LISTED);

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct netblock shown;
		struct subnet_key at;

		assert_true(netblock_parse(&shown, rows[i].shown, NULL));
		at = subnets_place(s, &shown, rows[i].scope);
		if (at.net.bits != rows[i].bits || at.coarse != rows[i].coarse ||
		    at.scope != rows[i].said)
			fail_msg("%s: %u bits, scope %u", rows[i].why, at.net.bits, at.scope);
	}
	subnets_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_the_module_or_a_list_there_are_no_rules),
		cmocka_unit_test(what_is_no_server_or_zone_is_refused),
		cmocka_unit_test(a_client_is_where_it_says_or_where_it_comes_from),
		cmocka_unit_test(each_family_has_its_own_bounds),
		cmocka_unit_test(ecs_is_sent_to_configured_servers_and_zones),
		cmocka_unit_test(ecs_scope_is_limited_to_the_source_prefix),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
