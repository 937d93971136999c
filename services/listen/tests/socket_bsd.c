/* The claims of socket.c, of the file as BSD compiles it; and what only BSD is asked for.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "testdata/bsd/sockets.h"

#ifndef __linux__
int main(void)
{
	return 77; /* skipped: socket.c is tested as it is there */
}
#else

#include "services/listen/socket.c"
#undef setsockopt
#define main claims_of_socket
int claims_of_socket(void);
#include "services/listen/tests/socket.c"
#undef main

static void what_bsd_has_for_it_is_asked_for(void **state)
{
	(void)state;
	static const struct {
		const char *why, *conf, *at;
		bool stream, shared;
		int level, option, want; /* -1: not asked for */
	} rows[] = {
		{ "threads share a port, and its packets", "", "127.0.0.1", false, true, SOL_SOCKET, SO_REUSEPORT_LB, 1 },
		{ "and its connections", "", "::1", true, true, SOL_SOCKET, SO_REUSEPORT_LB, 1 },
		{ "not the option that gives all to one", "", "127.0.0.1", false, true, SOL_SOCKET, SO_REUSEPORT, -1 },
		{ "one thread has it for itself", "", "127.0.0.1", false, false, SOL_SOCKET, SO_REUSEPORT_LB, -1 },
		{ "a wildcard does not say which address", "", "0.0.0.0", false, false, IPPROTO_IP, IP_RECVDSTADDR, 1 },
		{ "one address does", "", "127.0.0.1", false, false, IPPROTO_IP, IP_RECVDSTADDR, -1 },
		{ "a connection, too", "", "0.0.0.0", true, false, IPPROTO_IP, IP_RECVDSTADDR, -1 },
		{ "ip-transparent", "ip-transparent: yes", "127.0.0.1", false, false, IPPROTO_IP, IP_BINDANY, 1 },
		{ "ip-transparent, IPv6", "ip-transparent: yes", "::1", true, false, IPPROTO_IPV6, IPV6_BINDANY, 1 },
		{ "without it", "", "::1", true, false, IPPROTO_IPV6, IPV6_BINDANY, -1 },
		{ "answers over IPv6 need no path MTU", "", "::1", false, false, IPPROTO_IPV6, IPV6_USE_MIN_MTU, 1 },
		{ "connections discover it", "", "::1", true, false, IPPROTO_IPV6, IPV6_USE_MIN_MTU, -1 },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct interface at = at_address(rows[i].at);
		struct listen_socket_how how = { .shared_port = rows[i].shared, .first = true };
		struct listen_socket s;
		struct fault f = { 0 };
		struct conf *conf;
		char text[64];

		snprintf(text, sizeof text, "server: %s\n", rows[i].conf);
		how.conf = conf = conf_from(text);
		wish_count = 0;
		if (!listen_socket_open(&s, &at, rows[i].stream, &how, &f))
			fail_msg("%s: %s", rows[i].why, f.text);
		if (asked_for(rows[i].level, rows[i].option) != rows[i].want)
			fail_msg("%s: %d", rows[i].why, asked_for(rows[i].level, rows[i].option));
		listen_socket_close(&s);
		conf_free(conf);
	}
}

static void what_bsd_has_not_is_told(void **state)
{
	(void)state;
	struct conf *conf = conf_from("server: ip-freebind: yes\n");
	struct interface at = at_address("127.0.0.1");
	struct listen_socket s;

	*logged = '\0';
	log_capture(keep_line, NULL);
	s = get(&at, false, conf, false);
	log_capture(NULL, NULL);
	assert_non_null(strstr(logged, "ip-freebind has no effect: not supported on this system"));
	listen_socket_close(&s);
	conf_free(conf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_bsd_has_for_it_is_asked_for),
		cmocka_unit_test(what_bsd_has_not_is_told),
	};

	return claims_of_socket() + cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
