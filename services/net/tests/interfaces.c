/* Claims about the spellings of `interface:`.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/net/interfaces.h"

#include "services/tests/conf.h"
#include "util/base/fault.h"
#include "util/base/log.h"

#ifdef __linux__
#define LOOPBACK "lo"
#else
#define LOOPBACK "lo0"
#endif

static void ignore_line(const char *line, void *arg)
{
	(void)line, (void)arg;
}

static struct conf *server_conf(const char *options)
{
	char text[512];

	snprintf(text, sizeof text, "server:\n%s\n", options);
	return conf_from(text);
}

/* "127.0.0.1@53 0.0.0.0@53*": a star where the asked address has to be known. */
static void print_all(const struct interfaces *all, char *to, size_t room)
{
	size_t len = 0;

	*to = '\0';
	for (size_t i = 0; i < all->count; i++) {
		char addr[ADDR_TEXT];

		len += (size_t)snprintf(to + len, room - len, "%s%s%s", i ? " " : "",
					addr_print(&all->items[i].addr, 0, addr),
					all->items[i].many ? "*" : "");
	}
}

static void every_spelling_becomes_addresses(void **state)
{
	(void)state;
	static const struct {
		const char *why, *server, *want;
	} rows[] = {
		{ "none: loopback", "", "127.0.0.1@53 ::1@53" },
		{ "none, and a port", "port: 5353", "127.0.0.1@5353 ::1@5353" },
		{ "none, without IPv6", "do-ip6: no", "127.0.0.1@53" },
		{ "none, without IPv4", "do-ip4: no", "::1@53" },
		{ "an address", "interface: 192.0.2.1", "192.0.2.1@53" },
		{ "an address and a port", "interface: 192.0.2.1@54", "192.0.2.1@54" },
		{ "its old name", "ip-address: 192.0.2.1", "192.0.2.1@53" },
		{ "the port comes later", "interface: 192.0.2.1\nport: 77", "192.0.2.1@77" },
		{ "two families, one is off",
		  "interface: 192.0.2.1\ninterface: 2001:db8::1\ndo-ip6: no", "192.0.2.1@53" },
		{ "twice the same", "interface: 192.0.2.1\ninterface: 192.0.2.1@53",
		  "192.0.2.1@53" },
		{ "wildcards", "interface: 0.0.0.0\ninterface: ::0", "0.0.0.0@53* ::@53*" },
		{ "automatic", "interface: 192.0.2.1\ninterface-automatic: yes",
		  "0.0.0.0@53* ::@53*" },
		{ "automatic, with ports",
		  "interface-automatic: yes\ninterface-automatic-ports: \"53 54\"\n"
		  "do-ip6: no",
		  "0.0.0.0@53* 0.0.0.0@54*" },
		{ "the name of an interface", "interface: " LOOPBACK "\ndo-ip6: no",
		  "127.0.0.1@53" },
		{ "and a port", "interface: " LOOPBACK "@5300\ndo-ip6: no", "127.0.0.1@5300" },
		{ "a port of another service",
		  "interface: 192.0.2.1@853\ninterface: 192.0.2.1@443\n"
		  "interface: 192.0.2.1",
		  "192.0.2.1@53" },
		{ "that is the usual port", "interface: 192.0.2.1\nport: 853", "192.0.2.1@853" },
	};

	log_capture(ignore_line, NULL);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct conf *conf = server_conf(rows[i].server);
		struct interfaces all;
		struct fault f = { 0 };
		char text[512];

		if (!interfaces_find(&all, conf, &f))
			fail_msg("%s: %s", rows[i].why, f.text);
		print_all(&all, text, sizeof text);
		if (strcmp(text, rows[i].want) != 0)
			fail_msg("%s: '%s', not '%s'", rows[i].why, text, rows[i].want);
		interfaces_clear(&all);
		conf_free(conf);
	}
	log_capture(NULL, NULL);
}

static void a_port_says_what_is_served(void **state)
{
	(void)state;
	static const struct {
		const char *why, *more, *want; /* of ports 53, 853, 443, 8853 and 8053 */
	} rows[] = {
		{ "no keys", "", "53 8853 8053" },
		{ "keys", "tls-service-key: k\ntls-service-pem: p", "53 853tls 443https 8853 8053" },
		{ "in clear", "http-notls-downstream: yes", "53 443http 8853 8053" },
		{ "other ports",
		  "tls-service-key: k\ntls-service-pem: p\ntls-port: 8853\nhttps-port: 8053",
		  "53 853 443 8853tls 8053https" },
		{ "one more", "tls-service-key: k\ntls-service-pem: p\ntls-additional-port: 8853",
		  "53 853tls 443https 8853tls 8053" },
		{ "behind proxies",
		  "tls-service-key: k\ntls-service-pem: p\nproxy-protocol-port: 8053\n"
		  "proxy-protocol-port: 443",
		  "53 853tls 443https+proxy 8853 8053+proxy" },
		{ "the usual port is for DNS", "tls-service-key: k\ntls-service-pem: p\ntls-port: 53",
		  "53 853 443https 8853 8053" },
	};
	static const char *const names[] = { "", "tls", "https", "http" };

	log_capture(ignore_line, NULL);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct interfaces all;
		struct fault f = { 0 };
		char text[512];
		size_t len = 0;
		struct conf *conf;

		snprintf(text, sizeof text,
			 "interface: 192.0.2.1\ninterface: 192.0.2.1@853\ninterface: 192.0.2.1@443\n"
			 "interface: 192.0.2.1@8853\ninterface: 192.0.2.1@8053\n%s",
			 rows[i].more);
		conf = server_conf(text);
		assert_true(interfaces_find(&all, conf, &f));
		*text = '\0';
		for (size_t k = 0; k < all.count; k++)
			len += (size_t)snprintf(text + len, sizeof text - len, "%s%u%s%s",
						k ? " " : "", all.items[k].addr.port,
						names[all.items[k].service],
						all.items[k].proxied ? "+proxy" : "");
		if (strcmp(text, rows[i].want) != 0)
			fail_msg("%s: '%s', not '%s'", rows[i].why, text, rows[i].want);
		interfaces_clear(&all);
		conf_free(conf);
	}
	log_capture(NULL, NULL);
}

static void what_is_no_interface_is_told_with_its_line(void **state)
{
	struct conf *conf = server_conf("interface: 192.0.2.1\ninterface: nosuch0");
	struct interfaces all;
	struct fault f = { 0 };

	(void)state;
	assert_false(interfaces_find(&all, conf, &f));
	assert_int_equal(all.count, 0);
	assert_string_equal(
		f.text,
		"test:3: interface: nosuch0 is neither an address nor an interface of this host");
	conf_free(conf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_spelling_becomes_addresses),
		cmocka_unit_test(a_port_says_what_is_served),
		cmocka_unit_test(what_is_no_interface_is_told_with_its_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
