/* A service socket: opened and bound as configured.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/listen/socket.h"

#include <sys/types.h>
#include <sys/socket.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "util/base/fault.h"
#include "util/base/list.h"
#include "util/base/log.h"
#include "util/base/mem.h"
#include "util/conf/options.h"

#define TCP_BACKLOG 256

static const char *transport_name(bool stream)
{
	return stream ? "TCP" : "UDP";
}

static bool set_int(int fd, int level, int option, int value)
{
	return setsockopt(fd, level, option, &value, sizeof value) == 0;
}

/* Set an option the configuration asks for: failure only warns, the service continues. */
static void ask_int(int fd, int level, int option, int value, const char *name)
{
	if (!set_int(fd, level, option, value))
		log_warn("%s has no effect: %s", name, strerror(errno));
}

/* ---- kernel buffer sizes ---- */

static int granted(int fd, int option)
{
	int got = 0;
	socklen_t len = sizeof got;

	return getsockopt(fd, SOL_SOCKET, option, &got, &len) == 0 ? got : 0;
}

static void set_buffer(int fd, int option, int force, uint64_t wanted, const char *name, bool asked)
{
	int size = wanted > INT32_MAX / 2 ? INT32_MAX / 2 : (int)wanted;

	if (size == 0)
		return;
	if (force >= 0 && set_int(fd, SOL_SOCKET, force, size))
		return;
	while (!set_int(fd, SOL_SOCKET, option, size) && errno == ENOBUFS && size > 65536)
		size /= 2;
	/* Linux reports twice the value set, others do not: below half is certainly too little. */
	if (asked && granted(fd, option) < (int)(wanted / 2))
		log_warn("%s: %llu requested, the system granted %d: start as root, or raise its "
			 "limit",
			 name, (unsigned long long)wanted, granted(fd, option));
}

#ifndef SO_RCVBUFFORCE
#define SO_RCVBUFFORCE (-1)
#endif
#ifndef SO_SNDBUFFORCE
#define SO_SNDBUFFORCE (-1)
#endif

static void set_buffers(int fd, const struct conf *conf)
{
	set_buffer(fd, SO_RCVBUF, SO_RCVBUFFORCE, conf->server.so_rcvbuf, "so-rcvbuf",
		   conf_was_given(conf, "so-rcvbuf"));
	set_buffer(fd, SO_SNDBUF, SO_SNDBUFFORCE, conf->server.so_sndbuf, "so-sndbuf",
		   conf_was_given(conf, "so-sndbuf"));
}

/* ---- before bind ---- */

static void set_foreign_addresses(int fd, int family, const struct conf_server *s)
{
	(void)fd, (void)family;
	if (s->ip_transparent) {
#if HAVE_DECL_IP_TRANSPARENT
		ask_int(fd, IPPROTO_IP, IP_TRANSPARENT, 1, "ip-transparent");
#elif HAVE_DECL_IP_BINDANY
		ask_int(fd, family == 6 ? IPPROTO_IPV6 : IPPROTO_IP,
			family == 6 ? IPV6_BINDANY : IP_BINDANY, 1, "ip-transparent");
#elif HAVE_DECL_SO_BINDANY
		ask_int(fd, SOL_SOCKET, SO_BINDANY, 1, "ip-transparent");
#else
		log_warn("ip-transparent has no effect: not supported on this system");
#endif
	}
	if (s->ip_freebind) {
#if HAVE_DECL_IP_FREEBIND
		ask_int(fd, IPPROTO_IP, IP_FREEBIND, 1, "ip-freebind");
#else
		log_warn("ip-freebind has no effect: not supported on this system");
#endif
	}
}

static void set_dscp(int fd, int family, uint32_t dscp)
{
	if (dscp == 0)
		return;
	if (family == 4)
		ask_int(fd, IPPROTO_IP, IP_TOS, (int)dscp << 2, "ip-dscp");
	else
		ask_int(fd, IPPROTO_IPV6, IPV6_TCLASS, (int)dscp << 2, "ip-dscp");
}

/* Answers that fit need no path MTU discovery by ICMP messages, which anybody can forge. */
static void set_no_path_mtu(int fd, int family)
{
	(void)fd;
	if (family == 4) {
#if HAVE_DECL_IP_PMTUDISC_OMIT
		if (set_int(fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_OMIT))
			return;
#endif
#if HAVE_DECL_IP_MTU_DISCOVER
		(void)set_int(fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DONT);
#endif
	} else {
#if defined(IPV6_USE_MIN_MTU)
		(void)set_int(fd, IPPROTO_IPV6, IPV6_USE_MIN_MTU, 1);
#elif defined(IPV6_MTU)
		(void)set_int(fd, IPPROTO_IPV6, IPV6_MTU, 1280);
#endif
	}
}

/* Ask the kernel to report, for each packet, to which of our addresses it was sent. */
static bool set_packet_info(int fd, int family)
{
	if (family == 6)
		return set_int(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, 1);
#if defined(IP_PKTINFO)
	return set_int(fd, IPPROTO_IP, IP_PKTINFO, 1);
#elif defined(IP_RECVDSTADDR)
	return set_int(fd, IPPROTO_IP, IP_RECVDSTADDR, 1);
#else
	errno = ENOPROTOOPT;
	return false;
#endif
}

static bool set_shared(int fd)
{
#if HAVE_DECL_SO_REUSEPORT_LB
	return set_int(fd, SOL_SOCKET, SO_REUSEPORT_LB, 1);
#elif HAVE_DECL_SO_REUSEPORT
	return set_int(fd, SOL_SOCKET, SO_REUSEPORT, 1);
#else
	(void)fd;
	errno = ENOPROTOOPT;
	return false;
#endif
}

/* ---- opening ---- */

static int new_socket(int family, bool stream)
{
	int fd = socket(family == 6 ? AF_INET6 : AF_INET,
			(stream ? SOCK_STREAM : SOCK_DGRAM) | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	if (family == 4 || set_int(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1))
		return fd;
	close(fd);
	return -1;
}

static bool bind_to(int fd, const struct addr *a)
{
	struct sockaddr_storage ss;
	socklen_t len = addr_to_sockaddr(a, &ss);

	return bind(fd, (const struct sockaddr *)&ss, len) == 0;
}

/* With SO_REUSEPORT the kernel lets any of our user's programs bind to the same port. A socket
 * without it reveals whether one already has. */
static bool port_is_free(const struct interface *at, bool stream, const struct conf_server *s)
{
	int fd = new_socket(at->addr.family, stream), error;
	bool is_free;

	if (fd < 0)
		return true;
	if (stream)
		(void)set_int(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	set_foreign_addresses(fd, at->addr.family, s);
	is_free = bind_to(fd, &at->addr) || errno != EADDRINUSE;
	error = errno;
	close(fd);
	errno = error;
	return is_free;
}

static const char *explain(int error)
{
	switch (error) {
	case EADDRINUSE:
		return "another program serves there";
	case EACCES:
	case EPERM:
		return "the system does not permit it to this user";
	case EADDRNOTAVAIL:
		return "no interface of this host has this address";
	case EAFNOSUPPORT:
	case EPROTONOSUPPORT:
		return "this host does not speak this family of addresses";
	default:
		return strerror(error);
	}
}

static bool is_absence(int error)
{
	return error == EADDRNOTAVAIL || error == EAFNOSUPPORT || error == EPROTONOSUPPORT;
}

static bool prepare(struct listen_socket *s, const struct listen_socket_how *how)
{
	const struct conf_server *server = &how->conf->server;
	int family = s->at.addr.family;

	if (how->shared_port && !set_shared(s->fd))
		return false;
	set_foreign_addresses(s->fd, family, server);
	set_dscp(s->fd, family, server->ip_dscp);
	if (!s->stream) {
		set_no_path_mtu(s->fd, family);
		set_buffers(s->fd, how->conf);
		return !s->at.many || set_packet_info(s->fd, family);
	}
#ifdef TCP_MAXSEG
	if (server->tcp_mss)
		ask_int(s->fd, IPPROTO_TCP, TCP_MAXSEG, (int)server->tcp_mss, "tcp-mss");
#endif
	return set_int(s->fd, SOL_SOCKET, SO_REUSEADDR, 1);
}

/* The port the kernel chose, if none was given (tests). */
static void note_port(struct listen_socket *s)
{
	struct sockaddr_storage ss;
	socklen_t len = sizeof ss;
	struct addr a;

	if (s->at.addr.port == 0 && getsockname(s->fd, (struct sockaddr *)&ss, &len) == 0 &&
	    addr_from_sockaddr(&a, (const struct sockaddr *)&ss, len))
		s->at.addr.port = a.port;
}

bool listen_socket_open(struct listen_socket *s, const struct interface *at, bool stream,
			const struct listen_socket_how *how, struct fault *f)
{
	char text[ADDR_TEXT];
	int error;

	*s = (struct listen_socket){ .fd = -1, .stream = stream, .at = *at };
	if (!how->shared_port || !how->first || port_is_free(at, stream, &how->conf->server)) {
		s->fd = new_socket(at->addr.family, stream);
		if (s->fd >= 0 && prepare(s, how) && bind_to(s->fd, &at->addr) &&
		    (!stream || listen(s->fd, TCP_BACKLOG) == 0)) {
			note_port(s);
			return true;
		}
	}
	error = errno;
	listen_socket_close(s);
	addr_print(&at->addr, 0, text);
	if (at->optional && is_absence(error)) {
		log_detail("not listening at %s over %s: %s", text, transport_name(stream),
			   explain(error));
		return true;
	}
	fault_set(f, "cannot listen on %s over %s: %s", text, transport_name(stream),
		  explain(error));
	return false;
}

void listen_socket_adopt(struct listen_socket *s, const struct interface *at, bool stream,
			 const struct conf *conf, int fd)
{
	char text[ADDR_TEXT];

	*s = (struct listen_socket){ .fd = fd, .stream = stream, .at = *at };
	set_dscp(fd, at->addr.family, conf->server.ip_dscp);
	if (stream)
		return;
	set_no_path_mtu(fd, at->addr.family);
	set_buffers(fd, conf);
	if (at->many && !set_packet_info(fd, at->addr.family))
		log_warn("%s: responses may have the wrong source address: %s",
			 addr_print(&at->addr, 0, text), strerror(errno));
}

bool listen_socket_share(struct listen_socket *s, const struct listen_socket *from, struct fault *f)
{
	char text[ADDR_TEXT];

	*s = *from;
	s->fd = from->fd < 0 ? -1 : fcntl(from->fd, F_DUPFD_CLOEXEC, 0);
	if (s->fd >= 0 || from->fd < 0)
		return true;
	fault_set(f, "cannot share the socket of %s between threads: %s",
		  addr_print(&from->at.addr, 0, text), strerror(errno));
	return false;
}

void listen_socket_close(struct listen_socket *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

/* ---- sockets that are being left ---- */

/* Those of all threads. What is listed is open: who closes it takes it off first. */
struct parting {
	struct list link;
	struct listen_socket socket;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the list */
static struct list partings = { &partings, &partings };

void listen_socket_part(const struct listen_socket *s)
{
	struct parting *p = mem_new(sizeof *p);

	p->socket = *s;
	PROMISE(pthread_mutex_lock(&lock) == 0);
	list_push_back(&partings, &p->link);
	PROMISE(pthread_mutex_unlock(&lock) == 0);
}

bool listen_socket_return(struct listen_socket *s, const struct interface *at, bool stream,
			  unsigned number)
{
	*s = (struct listen_socket){ .fd = -1, .stream = stream, .at = *at };
	PROMISE(pthread_mutex_lock(&lock) == 0);
	LIST_EACH (link, &partings) {
		const struct listen_socket *old = &LIST_ITEM(link, struct parting, link)->socket;

		if (old->stream != stream || !addr_equals(&old->at.addr, &at->addr) || number--)
			continue;
		s->fd = fcntl(old->fd, F_DUPFD_CLOEXEC, 0);
		break;
	}
	PROMISE(pthread_mutex_unlock(&lock) == 0);
	return s->fd >= 0;
}

void listen_socket_leave(int fd)
{
	PROMISE(pthread_mutex_lock(&lock) == 0);
	LIST_EACH_SAFE (link, &partings) {
		struct parting *p = LIST_ITEM(link, struct parting, link);

		if (p->socket.fd != fd)
			continue;
		list_remove(&p->link);
		mem_free(p);
	}
	close(fd);
	PROMISE(pthread_mutex_unlock(&lock) == 0);
}
