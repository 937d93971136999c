/* The listening sockets of all threads, as configured.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/process/client_sockets.h"

#include "daemon/process/socket_activation.h"
#include "util/base/fault.h"
#include "util/base/log.h"
#include "util/base/mem.h"
#include "util/conf/options.h"

/* The socket at this address, whatever it has been for. */
static const struct listen_socket *find(const struct client_sockets *d, const struct interface *at,
					bool stream)
{
	for (size_t i = 0; d && i < d->count; i++)
		if (d->items[i].stream == stream && addr_equals(&d->items[i].at.addr, &at->addr))
			return &d->items[i];
	return NULL;
}

static void put(struct client_sockets *d, const struct listen_socket *s)
{
	d->items = mem_grow(d->items, (d->count + 1) * sizeof *d->items);
	d->items[d->count++] = *s;
}

/* ---- one address, over one transport, for every thread ---- */

struct opening {
	struct client_sockets *client_sockets;
	const struct client_sockets *old;
	unsigned threads;
	const struct conf *conf;
};

/* A socket opened by the service manager is shared by all threads, since there is only one. */
static bool take_activated(const struct opening *o, const struct interface *at, bool stream,
			struct listen_socket *s)
{
	int fd = o->conf->server.use_systemd ? socket_activation_socket(&at->addr, stream) : -1;

	if (fd >= 0)
		listen_socket_adopt(s, at, stream, o->conf, fd);
	return fd >= 0;
}

/* An address and the wildcard of its family may be served beside each other, if both sockets say so:
 * the first of such that is not `at`; NULL: there is none. */
static const struct interface *beside(const struct interfaces *where, const struct interface *at)
{
	for (size_t i = 0; i < where->count; i++) {
		const struct interface *other = &where->items[i];

		if (other != at && other->addr.family == at->addr.family &&
		    other->addr.port == at->addr.port && other->many != at->many)
			return other;
	}
	return NULL;
}

static bool open_one(const struct opening *o, const struct interfaces *where,
		     const struct interface *at, bool stream, struct fault *f)
{
	const struct interface *other = beside(where, at);
	bool own = o->conf->server.so_reuseport && o->threads > 1;
	bool again = find(o->old, at, stream) != NULL || (other && other < at);

	for (unsigned i = 0; i < o->threads; i++) {
		const struct listen_socket *known = o->old ? find(&o->old[i], at, stream) : NULL;
		const struct listen_socket *shared = i ? find(&o->client_sockets[0], at, stream) : NULL;
		struct listen_socket_how how = {
			.conf = o->conf,
			.shared_port = own || other,
			.first = i == 0 && !again,
		};
		struct listen_socket s;

		if (known) {
			s = *known;
			s.at = *at;
		} else if (i == 0 && take_activated(o, at, stream, &s)) {
			own = false;
		} else if (!own && shared) {
			if (!listen_socket_share(&s, shared, f))
				return false;
		} else if (!listen_socket_return(&s, at, stream, i) &&
			   !listen_socket_open(&s, at, stream, &how, f)) {
			return false;
		}
		if (s.fd >= 0)
			put(&o->client_sockets[i], &s);
	}
	return true;
}

static bool open_all(const struct opening *o, const struct interfaces *where, struct fault *f)
{
	const struct conf_server *s = &o->conf->server;

	for (size_t i = 0; i < where->count; i++) {
		bool plain = where->items[i].service == SERVICE_DNS;

		if (plain && s->do_udp && !open_one(o, where, &where->items[i], false, f))
			return false;
		if ((s->do_tcp || !plain) && s->incoming_num_tcp &&
		    !open_one(o, where, &where->items[i], true, f))
			return false;
	}
	return true;
}

bool client_sockets_open(struct client_sockets *client_sockets, const struct client_sockets *old, unsigned threads,
		const struct conf *conf, struct fault *f)
{
	struct opening o = { .client_sockets = client_sockets, .old = old, .threads = threads, .conf = conf };
	struct interfaces where;
	bool ok;

	for (unsigned i = 0; i < threads; i++)
		client_sockets[i] = (struct client_sockets){ 0 };
	if (!interfaces_find(&where, conf, f))
		return false;
	ok = open_all(&o, &where, f);
	interfaces_clear(&where);
	if (!ok)
		client_sockets_close(client_sockets, old, threads);
	else if (client_sockets[0].count == 0)
		log_warn("no address to listen at: see do-ip4, do-ip6, do-udp, do-tcp and interface");
	return ok;
}

static bool has_fd(const struct client_sockets *d, int fd)
{
	for (size_t i = 0; i < d->count; i++)
		if (d->items[i].fd == fd)
			return true;
	return false;
}

void client_sockets_close(struct client_sockets *client_sockets, const struct client_sockets *keep, unsigned threads)
{
	for (unsigned i = 0; i < threads; i++)
		for (size_t k = 0; k < client_sockets[i].count; k++)
			if (!keep || !has_fd(&keep[i], client_sockets[i].items[k].fd))
				listen_socket_close(&client_sockets[i].items[k]);
	client_sockets_forget(client_sockets, threads);
}

void client_sockets_part(const struct client_sockets *client_sockets, const struct client_sockets *keep, unsigned threads)
{
	for (unsigned i = 0; i < threads; i++)
		for (size_t k = 0; k < client_sockets[i].count; k++)
			if (client_sockets[i].items[k].fd >= 0 && !has_fd(&keep[i], client_sockets[i].items[k].fd))
				listen_socket_part(&client_sockets[i].items[k]);
}

void client_sockets_forget(struct client_sockets *client_sockets, unsigned threads)
{
	for (unsigned i = 0; i < threads; i++) {
		mem_free(client_sockets[i].items);
		client_sockets[i] = (struct client_sockets){ 0 };
	}
}
