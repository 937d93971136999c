/* The sockets that listen for connections, and whether they are watched just now. Internal to listen_*.c.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/listen/connection.h"

#include "services/listen/socket.h"
#include "util/base/mem.h"

void listeners_watch(struct listen_tcp *t, bool open)
{
	if (t->shut == !open)
		return;
	t->shut = !open;
	LIST_EACH (at, &t->listeners)
		watch_want(&LIST_ITEM(at, struct listener, link)->watch, open ? WATCH_READ : 0);
}

static void listener_close(struct listener *l)
{
	list_remove(&l->link);
	watch_stop(&l->watch);
	listen_socket_leave(l->watch.fd);
	mem_free(l);
}

static bool is_named(const struct listen_socket *sockets, size_t count, int fd)
{
	for (size_t i = 0; i < count; i++)
		if (sockets[i].stream && sockets[i].fd == fd)
			return true;
	return false;
}

static struct listener *listener_with(const struct listen_tcp *t, int fd)
{
	LIST_EACH (at, &t->listeners) {
		struct listener *l = LIST_ITEM(at, struct listener, link);

		if (l->watch.fd == fd)
			return l;
	}
	return NULL;
}

void listeners_serve(struct listen_tcp *t, const struct listen_socket *sockets, size_t count,
		     void (*ready)(struct watch *w, unsigned what))
{
	LIST_EACH_SAFE (at, &t->listeners) {
		struct listener *l = LIST_ITEM(at, struct listener, link);

		if (!is_named(sockets, count, l->watch.fd))
			listener_close(l);
	}
	for (size_t i = 0; i < count; i++) {
		struct listener *l;

		if (!sockets[i].stream || sockets[i].fd < 0)
			continue;
		l = listener_with(t, sockets[i].fd);
		if (l) {
			l->at = sockets[i].at;
			continue;
		}
		l = mem_zero(sizeof *l);
		l->home = t;
		l->at = sockets[i].at;
		l->watch = (struct watch){ .fd = sockets[i].fd, .ready = ready };
		list_push_back(&t->listeners, &l->link);
		watch_start(t->loop, &l->watch, t->shut ? 0 : WATCH_READ);
	}
}

void listeners_close(struct listen_tcp *t)
{
	LIST_EACH_SAFE (at, &t->listeners)
		listener_close(LIST_ITEM(at, struct listener, link));
}
