/* Sockets opened by the service manager: the protocol of sd_listen_fds(3), without libsystemd.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/process/socket_activation.h"

#include <sys/types.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <netinet/in.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/base/log.h"
#include "util/base/mem.h"
#include "util/net/addr.h"

#define FIRST_FD 3 /* SD_LISTEN_FDS_START of the protocol */
#define FDS_MOST 1024

struct activated {
	int fd;
	bool stream;
	bool used;
	struct addr at; /* family 0: a path */
	char *path;
};

static struct activated *items;
static size_t count;

static long number_in(const char *variable)
{
	const char *text = getenv(variable);
	char *end = NULL;
	long n = text ? strtol(text, &end, 10) : 0;

	return text && end != text && !*end ? n : 0;
}

static int int_of(int fd, int level, int option)
{
	int value = -1;
	socklen_t len = sizeof value;

	return getsockopt(fd, level, option, &value, &len) == 0 ? value : -1;
}

static char *path_of(const struct sockaddr_storage *ss, socklen_t len)
{
	struct sockaddr_un sun = { 0 };

	memcpy(&sun, ss, len < sizeof sun ? len : sizeof sun);
	sun.sun_path[sizeof sun.sun_path - 1] = '\0';
	return mem_text(sun.sun_path);
}

/* IPv4 clients of a dual-stack socket have not reached the IPv4 address that an `interface` names. */
static void warn_of_both_families(const struct addr *a, int fd)
{
	char text[ADDR_TEXT];

	if (a->family == 6 && addr_is_absurd(a) && int_of(fd, IPPROTO_IPV6, IPV6_V6ONLY) == 0)
		log_warn("socket activation: the socket for %s takes IPv4 too: set "
			 "BindIPv6Only=ipv6-only in its unit and give IPv4 a socket of its own",
			 addr_print(a, 0, text));
}

static void take(int fd)
{
	struct sockaddr_storage ss = { 0 };
	socklen_t len = sizeof ss;
	struct activated h = { .fd = fd };
	int kind = int_of(fd, SOL_SOCKET, SO_TYPE);

	if (fcntl(fd, F_SETFD, FD_CLOEXEC) != 0 || (kind != SOCK_STREAM && kind != SOCK_DGRAM) ||
	    getsockname(fd, (struct sockaddr *)&ss, &len) != 0) {
		log_warn("socket activation: descriptor %d is not an Internet or local socket",
			 fd);
		return;
	}
	h.stream = kind == SOCK_STREAM;
	if (ss.ss_family == AF_UNIX)
		h.path = path_of(&ss, len);
	else if (!addr_from_sockaddr(&h.at, (const struct sockaddr *)&ss, len))
		return;
	warn_of_both_families(&h.at, fd);
	items = mem_grow(items, (count + 1) * sizeof *items);
	items[count++] = h;
}

void socket_activation_open(void)
{
	long pid = number_in("LISTEN_PID"), n = number_in("LISTEN_FDS");

	if (pid == (long)getpid())
		for (int fd = FIRST_FD; fd < FIRST_FD + FDS_MOST && fd - FIRST_FD < n; fd++)
			take(fd);
	(void)unsetenv("LISTEN_PID");
	(void)unsetenv("LISTEN_FDS");
	(void)unsetenv("LISTEN_FDNAMES");
}

/* A non-blocking duplicate, or -1. All descriptors of a socket share its status flags. */
static int give(struct activated *h)
{
	int fd = fcntl(h->fd, F_DUPFD_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	if (fcntl(fd, F_SETFL, O_NONBLOCK) == 0 &&
	    (!h->stream || int_of(fd, SOL_SOCKET, SO_ACCEPTCONN) == 1 ||
	     listen(fd, SOMAXCONN) == 0)) {
		h->used = true;
		return fd;
	}
	close(fd);
	return -1;
}

int socket_activation_socket(const struct addr *a, bool stream)
{
	for (size_t i = 0; i < count; i++)
		if (items[i].stream == stream && addr_equals(&items[i].at, a))
			return give(&items[i]);
	return -1;
}

int socket_activation_path(const char *path)
{
	for (size_t i = 0; i < count; i++)
		if (items[i].stream && items[i].path && strcmp(items[i].path, path) == 0)
			return give(&items[i]);
	return -1;
}

void socket_activation_report(bool wanted)
{
	char text[ADDR_TEXT];

	if (count && !wanted) {
		log_warn("socket activation: %zu sockets from the service manager ignored: "
			 "use-systemd is no",
			 count);
		return;
	}
	for (size_t i = 0; i < count; i++)
		if (!items[i].used)
			log_warn("socket activation: %s socket at %s ignored: no interface of the "
				 "configuration has this address",
				 items[i].stream ? "stream" : "datagram",
				 items[i].path ? items[i].path : addr_print(&items[i].at, 0, text));
}

void socket_activation_close(void)
{
	for (size_t i = 0; i < count; i++) {
		close(items[i].fd);
		mem_free(items[i].path);
	}
	mem_free(items);
	items = NULL;
	count = 0;
}
