/* Claims about listening sockets: what the configuration asks of them, and how failures are told.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/listen/socket.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "services/tests/conf.h"
#include "util/base/fault.h"
#include "util/base/log.h"
#include "util/base/mem.h"

static struct interface at_address(const char *text)
{
	struct interface at = { 0 };
	struct fault f = { 0 };

	if (!addr_parse(&at.addr, text, 0, &f))
		fail_msg("%s", f.text);
	at.many = addr_is_absurd(&at.addr);
	return at;
}

static int option_of(int fd, int level, int option)
{
	int value = -1;
	socklen_t len = sizeof value;

	return getsockopt(fd, level, option, &value, &len) == 0 ? value : -1;
}

/* How a socket comes about: opened here, or opened by somebody else and adopted. */
static struct listen_socket get(const struct interface *at, bool stream, const struct conf *conf,
				bool adopted)
{
	struct listen_socket_how how = { .conf = conf };
	struct listen_socket s, other;
	struct fault f = { 0 };

	if (!listen_socket_open(&s, at, stream, &how, &f))
		fail_msg("%s", f.text);
	if (!adopted)
		return s;
	listen_socket_close(&s);
	s.fd = socket(at->addr.family == 6 ? AF_INET6 : AF_INET, stream ? SOCK_STREAM : SOCK_DGRAM,
		      0);
	assert_true(s.fd >= 0);
	listen_socket_adopt(&other, at, stream, conf, s.fd);
	assert_int_equal(other.fd, s.fd);
	assert_int_equal(other.stream, stream);
	return other;
}

static void a_socket_is_as_the_configuration_asks(void **state)
{
	(void)state;
	static const struct {
		const char *why, *conf, *at;
		bool stream, adopted;
		int level, option, want;
	} rows[] = {
		{ "no service class", "", "127.0.0.1", false, false, IPPROTO_IP, IP_TOS, 0 },
		{ "ip-dscp", "ip-dscp: 46", "127.0.0.1", false, false, IPPROTO_IP, IP_TOS, 46 << 2 },
		{ "ip-dscp over TCP", "ip-dscp: 46", "127.0.0.1", true, false, IPPROTO_IP, IP_TOS,
		  46 << 2 },
		{ "ip-dscp, adopted", "ip-dscp: 46", "127.0.0.1", true, true, IPPROTO_IP, IP_TOS,
		  46 << 2 },
		{ "ip-dscp over IPv6", "ip-dscp: 46", "::1", false, false, IPPROTO_IPV6, IPV6_TCLASS,
		  46 << 2 },
		{ "IPv6 alone", "", "::1", false, false, IPPROTO_IPV6, IPV6_V6ONLY, 1 },
		{ "one address says which it is", "", "::1", false, false, IPPROTO_IPV6,
		  IPV6_RECVPKTINFO, 0 },
		{ "a wildcard does not", "", "::", false, false, IPPROTO_IPV6, IPV6_RECVPKTINFO, 1 },
		{ "nor when adopted", "", "::", false, true, IPPROTO_IPV6, IPV6_RECVPKTINFO, 1 },
		{ "an address may be taken again at once", "", "127.0.0.1", true, false, SOL_SOCKET,
		  SO_REUSEADDR, 1 },
		{ "it listens", "", "127.0.0.1", true, false, SOL_SOCKET, SO_ACCEPTCONN, 1 },
#ifdef IP_PKTINFO
		{ "IPv4, too", "", "0.0.0.0", false, false, IPPROTO_IP, IP_PKTINFO, 1 },
#endif
#if HAVE_DECL_IP_FREEBIND
		{ "no ip-freebind", "", "127.0.0.1", true, false, IPPROTO_IP, IP_FREEBIND, 0 },
		{ "ip-freebind", "ip-freebind: yes", "127.0.0.1", true, false, IPPROTO_IP, IP_FREEBIND,
		  1 },
#endif
#if HAVE_DECL_IP_PMTUDISC_OMIT
		{ "no path MTU is discovered", "", "127.0.0.1", false, false, IPPROTO_IP,
		  IP_MTU_DISCOVER, IP_PMTUDISC_OMIT },
#endif
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct interface at = at_address(rows[i].at);
		struct listen_socket s;
		struct conf *conf;
		char text[64];
		int got;

		snprintf(text, sizeof text, "server: %s\n", rows[i].conf);
		conf = conf_from(text);
		s = get(&at, rows[i].stream, conf, rows[i].adopted);
		got = option_of(s.fd, rows[i].level, rows[i].option);
		if (got != rows[i].want)
			fail_msg("%s: %d, not %d", rows[i].why, got, rows[i].want);
		if (!rows[i].adopted) {
			assert_true(fcntl(s.fd, F_GETFL) & O_NONBLOCK);
			assert_true(fcntl(s.fd, F_GETFD) & FD_CLOEXEC);
			assert_int_not_equal(s.at.addr.port, 0);
		}
		listen_socket_close(&s);
		conf_free(conf);
	}
}

static char logged[1024];

static void keep_line(const char *line, void *arg)
{
	(void)arg;
	snprintf(logged, sizeof logged, "%s", line);
}

/* A buffer that the system does not grant is told about if somebody asked for it. */
static void a_smaller_buffer_is_told_to_who_asked(void **state)
{
	(void)state;
	static const struct {
		const char *conf, *name;
		int option;
		uint64_t wanted;
	} rows[] = {
		{ "so-rcvbuf: 900m", "so-rcvbuf", SO_RCVBUF, 900 << 20 },
		{ "so-sndbuf: 900m", "so-sndbuf", SO_SNDBUF, 900 << 20 },
		{ "so-rcvbuf: 64k", "so-rcvbuf", SO_RCVBUF, 64 << 10 },
		{ "so-rcvbuf: 0", "so-rcvbuf", SO_RCVBUF, 0 },
		{ "", NULL, SO_RCVBUF, 0 },
	};

	log_capture(keep_line, NULL);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct interface at = at_address("127.0.0.1");
		struct listen_socket s;
		struct conf *conf;
		char text[64];
		bool granted;

		*logged = '\0';
		snprintf(text, sizeof text, "server: %s\n", rows[i].conf);
		conf = conf_from(text);
		s = get(&at, false, conf, false);
		granted = option_of(s.fd, SOL_SOCKET, rows[i].option) >= (int)(rows[i].wanted / 2);
		if (granted != !*logged || (!granted && !strstr(logged, rows[i].name)))
			fail_msg("%s: granted %d, '%s'", rows[i].conf, granted, logged);
		listen_socket_close(&s);
		conf_free(conf);
	}
	log_capture(NULL, NULL);
}

static void an_address_of_somebody_else_is_no_failure_unless_named(void **state)
{
	(void)state;
	for (unsigned optional = 0; optional <= 1; optional++) {
		for (unsigned stream = 0; stream <= 1; stream++) {
			struct conf *conf = conf_new();
			struct listen_socket_how how = { .conf = conf };
			struct interface at = at_address("192.0.2.1");
			struct listen_socket s;
			struct fault f = { 0 };

			at.optional = optional;
			at.addr.port = 5300;
			assert_int_equal(listen_socket_open(&s, &at, stream, &how, &f), optional);
			assert_int_equal(s.fd, -1);
			assert_string_equal(f.text,
					    optional ? ""
					    : stream ? "cannot listen on 192.0.2.1@5300 over TCP: no "
						       "interface of this host has this address"
						     : "cannot listen on 192.0.2.1@5300 over UDP: no "
						       "interface of this host has this address");
			listen_socket_close(&s);
			conf_free(conf);
		}
	}
}

/* The first thread's socket finds out whether somebody else is there; the others' join it. */
static void threads_have_sockets_of_their_own_at_one_port(void **state)
{
	(void)state;
	for (unsigned stream = 0; stream <= 1; stream++) {
		struct conf *conf = conf_new();
		struct listen_socket_how how = { .conf = conf, .shared_port = true, .first = true };
		struct interface at = at_address("127.0.0.1");
		struct listen_socket one, two, three;
		struct fault f = { 0 };

		if (!listen_socket_open(&one, &at, stream, &how, &f))
			fail_msg("%s", f.text);
		how.first = false;
		if (!listen_socket_open(&two, &one.at, stream, &how, &f))
			fail_msg("%s", f.text);
		assert_int_equal(one.at.addr.port, two.at.addr.port);
		/* who does not share is not let in, and is told why */
		how.shared_port = false;
		assert_false(listen_socket_open(&three, &one.at, stream, &how, &f));
		assert_non_null(strstr(f.text, "another program serves there"));
		listen_socket_close(&two);
		listen_socket_close(&one);
		conf_free(conf);
	}
}

static void a_descriptor_is_shared_where_there_can_be_only_one(void **state)
{
	(void)state;
	struct conf *conf = conf_new();
	struct interface at = at_address("127.0.0.1");
	struct listen_socket one = get(&at, true, conf, false), two, none = { .fd = -1 };
	struct fault f = { 0 };
	char want[128];

	assert_true(listen_socket_share(&two, &one, &f));
	assert_int_not_equal(two.fd, one.fd);
	assert_int_equal(two.at.addr.port, one.at.addr.port);
	assert_true(fcntl(two.fd, F_GETFD) & FD_CLOEXEC);
	listen_socket_close(&two);
	/* an optional address that this host lacks */
	assert_true(listen_socket_share(&two, &none, &f));
	assert_int_equal(two.fd, -1);
	/* a descriptor that is none */
	close(one.fd);
	assert_false(listen_socket_share(&two, &one, &f));
	snprintf(want, sizeof want, "cannot share the socket of 127.0.0.1@%u between threads: %s",
		 one.at.addr.port, strerror(EBADF));
	assert_string_equal(f.text, want);
	conf_free(conf);
}

static void a_socket_that_is_being_left_can_be_had_back(void **state)
{
	(void)state;
	for (unsigned stream = 0; stream <= 1; stream++) {
		struct conf *conf = conf_new();
		struct interface at = at_address("127.0.0.1");
		struct listen_socket one = get(&at, stream, conf, false), two, back;
		struct fault f = { 0 };

		at = one.at;
		assert_true(listen_socket_share(&two, &one, &f));
		assert_false(listen_socket_return(&back, &at, stream, 0));
		assert_int_equal(back.fd, -1);
		listen_socket_part(&one);
		listen_socket_part(&two);
		/* as many as there are, and at this address and transport only */
		assert_false(listen_socket_return(&back, &at, !stream, 0));
		assert_false(listen_socket_return(&back, &at, stream, 2));
		at.addr.ip[3]++;
		assert_false(listen_socket_return(&back, &at, stream, 0));
		at.addr.ip[3]--;
		listen_socket_leave(one.fd);
		assert_false(listen_socket_return(&back, &at, stream, 1));
		assert_true(listen_socket_return(&back, &at, stream, 0));
		assert_int_not_equal(back.fd, two.fd);
		assert_int_equal(option_of(back.fd, SOL_SOCKET, SO_TYPE), stream ? SOCK_STREAM : SOCK_DGRAM);
		assert_true(fcntl(back.fd, F_GETFD) & FD_CLOEXEC);
		/* it is left meanwhile: what was had back stays */
		listen_socket_leave(two.fd);
		assert_true(fcntl(back.fd, F_GETFD) >= 0);
		assert_false(listen_socket_return(&two, &at, stream, 0));
		listen_socket_leave(back.fd);
		conf_free(conf);
	}
}

/* What is not granted is no reason not to serve. */
static void what_cannot_be_set_is_told(void **state)
{
	(void)state;
	struct conf *conf = conf_from("server: ip-dscp: 46\n");
	struct interface at = at_address("::");
	struct listen_socket s;
	int ends[2];

	log_capture(keep_line, NULL);
	assert_int_equal(pipe(ends), 0);
	*logged = '\0';
	listen_socket_adopt(&s, &at, true, conf, ends[0]);
	assert_non_null(strstr(logged, "ip-dscp has no effect"));
	*logged = '\0';
	listen_socket_adopt(&s, &at, false, conf, ends[0]);
	assert_non_null(strstr(logged, "responses may have the wrong source address"));
	log_capture(NULL, NULL);
	listen_socket_close(&s);
	assert_int_equal(s.fd, -1);
	listen_socket_close(&s);
	close(ends[1]);
	conf_free(conf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_socket_is_as_the_configuration_asks),
		cmocka_unit_test(a_smaller_buffer_is_told_to_who_asked),
		cmocka_unit_test(an_address_of_somebody_else_is_no_failure_unless_named),
		cmocka_unit_test(threads_have_sockets_of_their_own_at_one_port),
		cmocka_unit_test(a_descriptor_is_shared_where_there_can_be_only_one),
		cmocka_unit_test(a_socket_that_is_being_left_can_be_had_back),
		cmocka_unit_test(what_cannot_be_set_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
