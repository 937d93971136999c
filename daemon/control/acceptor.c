/* Listening and accepting on the main thread, even when file descriptors run out.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/control/acceptor.h"

#include <sys/types.h>
#include <sys/socket.h>
#include <netinet/in.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "util/base/log.h"
#include "util/net/addr.h"

#define REST_US (1 * US_PER_S)

int acceptor_listen(const struct addr *a)
{
	struct sockaddr_storage ss;
	socklen_t len = addr_to_sockaddr(a, &ss);
	int on = 1, error, fd = socket(ss.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
	    (a->family == 4 || setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on) == 0) &&
	    bind(fd, (const struct sockaddr *)&ss, len) == 0 && listen(fd, CONTROL_BACKLOG) == 0)
		return fd;
	error = errno;
	close(fd);
	errno = error;
	return -1;
}

/* A spare descriptor: a duplicate of our own, since one of a terminal or pipe would keep whoever
 * started us waiting for its end. */
static int keep_one(int fd)
{
	return fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
}

static void on_rested(struct timer *t)
{
	struct acceptor *k = container_of(t, struct acceptor, rest);

	if (k->kept < 0)
		k->kept = keep_one(k->watch.fd);
	watch_want(&k->watch, WATCH_READ);
}

void acceptor_start(struct acceptor *k, struct loop *l, int fd,
		 void (*ready)(struct watch *w, unsigned what))
{
	*k = (struct acceptor){ .watch = { .fd = fd, .ready = ready },
			     .loop = l,
			     .rest = { .fire = on_rested },
			     .kept = keep_one(fd) };
	watch_start(l, &k->watch, WATCH_READ);
}

static bool is_out_of_files(int error)
{
	return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

static void rest(struct acceptor *k)
{
	watch_want(&k->watch, 0);
	timer_set(k->loop, &k->rest, REST_US);
}

int acceptor_take(struct acceptor *k)
{
	int fd = accept(k->watch.fd, NULL, NULL);

	if (fd < 0 && is_out_of_files(errno)) {
		if (k->kept >= 0) {
			close(k->kept);
			k->kept = -1;
			fd = accept(k->watch.fd, NULL, NULL);
		}
		if (fd < 0)
			log_warn("accept failed, trying again: %s", strerror(errno));
		rest(k);
	}
	if (fd < 0)
		return -1;
	if (fcntl(fd, F_SETFL, O_NONBLOCK) == 0 && fcntl(fd, F_SETFD, FD_CLOEXEC) == 0)
		return fd;
	close(fd);
	return -1;
}

void acceptor_stop(struct acceptor *k)
{
	watch_stop(&k->watch);
	timer_stop(k->loop, &k->rest);
	close(k->watch.fd);
	if (k->kept >= 0)
		close(k->kept);
}
