/* Begins a TCP connection to another server: socket, source address, options.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/net/dial.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "util/conf/options.h"

static bool set_number(int fd, int level, int option, int value)
{
	return setsockopt(fd, level, option, &value, sizeof(value)) == 0;
}

static bool is_any(const struct addr *a)
{
	static const uint8_t any[sizeof(a->ip)];

	return memcmp(a->ip, any, sizeof(any)) == 0;
}

enum { DRAWS = 32 };

static bool bind_source(int fd, const struct sources *sources, struct random *random,
			uint8_t family)
{
	struct sockaddr_storage ss;
	struct addr source;
	bool is_drawn;

#if HAVE_DECL_IP_BIND_ADDRESS_NO_PORT
	set_number(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1);
#endif
	/* One of our addresses may be missing for a while: another one will do. */
	for (unsigned i = 0; i < DRAWS; i++) {
		if (!sources_address(sources, random, family, &source, &is_drawn))
			return false;
		if (is_any(&source))
			return true;
		if (is_drawn)
			source_allow_drawn(fd);
		if (bind(fd, (struct sockaddr *)&ss, addr_to_sockaddr(&source, &ss)) == 0)
			return true;
		if (errno != EADDRNOTAVAIL)
			return false;
	}
	return false;
}

static void set_options(const struct conf_server *conf, int fd, uint8_t family)
{
	set_number(fd, IPPROTO_TCP, TCP_NODELAY, 1);
#ifdef TCP_FASTOPEN_CONNECT
	if (conf->tcp_fast_open)
		set_number(fd, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, 1);
#endif
	if (conf->outgoing_tcp_mss)
		set_number(fd, IPPROTO_TCP, TCP_MAXSEG, (int)conf->outgoing_tcp_mss);
	if (conf->ip_dscp)
		set_number(fd, family == 6 ? IPPROTO_IPV6 : IPPROTO_IP,
			   family == 6 ? IPV6_TCLASS : IP_TOS, (int)conf->ip_dscp << 2);
}

int dial_begin(const struct conf_server *conf, const struct sources *sources,
	       struct random *random, const struct addr *to)
{
	struct sockaddr_storage ss;
	socklen_t len = addr_to_sockaddr(to, &ss);
	int fd = socket(to->family == 6 ? AF_INET6 : AF_INET,
			SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	set_options(conf, fd, to->family);
	if (bind_source(fd, sources, random, to->family) &&
	    (connect(fd, (struct sockaddr *)&ss, len) == 0 || errno == EINPROGRESS))
		return fd;
	close(fd);
	return -1;
}

void dial_acknowledge(int fd)
{
#ifdef TCP_QUICKACK
	set_number(fd, IPPROTO_TCP, TCP_QUICKACK, 1);
#else
	(void)fd;
#endif
}

bool dial_is_through(int fd)
{
	int error = 0;
	socklen_t len = sizeof(error);

	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0)
		return false;
	errno = error;
	return error == 0;
}
