/* Listening for TCP (RFC 7766), TLS (RFC 7858) and HTTPS (RFC 8484) connections.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/listen/connection.h"

#include <sys/types.h>
#include <sys/socket.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "services/listen/socket.h"
#include "util/base/log.h"
#include "util/base/mem.h"
#include "util/net/tls.h"

#define ACCEPTS           32 /* connections accepted per wake-up */
#define NO_FILES_PAUSE_US (1 * US_PER_S)
#define RETRY_US          (5 * US_PER_MS) /* until there may be room for the connection that waits */

/* ---- accepting ---- */

static const struct protocol *protocol_of(enum service service)
{
	return service == SERVICE_HTTPS || service == SERVICE_HTTP ? &protocol_http
								   : &protocol_frames;
}

void listen_tcp_take(struct listen_tcp *t, int fd, const struct arrival *how)
{
	connection_begin(t, fd, how, protocol_of(how->service));
}

void listen_tcp_on_leave(struct listen_tcp *t, packet_leaver leave)
{
	t->leave = leave;
}

void listen_tcp_share(struct listen_tcp *t, struct connection_limits *connection_limits)
{
	connection_limits_exchange(&t->connection_limits, connection_limits);
}

void listen_tcp_stats(struct listen_tcp *t, struct stats *stats)
{
	t->stats = stats;
}

void listen_tcp_tap(struct listen_tcp *t, struct tap *tap)
{
	t->tap = tap;
}

void listen_tcp_keys(struct listen_tcp *t, struct tls_server *keys)
{
	struct tls_server *old = t->keys;

	t->keys = keys ? tls_server_pin(keys) : NULL;
	tls_server_unpin(old);
}

static int accept_one(int listener, struct sockaddr_storage *from, socklen_t *len)
{
	int fd;

	*len = sizeof *from;
#ifdef HAVE_ACCEPT4
	fd = accept4(listener, (struct sockaddr *)from, len, SOCK_NONBLOCK | SOCK_CLOEXEC);
#else
	fd = accept(listener, (struct sockaddr *)from, len);
	if (fd >= 0 && (fcntl(fd, F_SETFL, O_NONBLOCK) < 0 || fcntl(fd, F_SETFD, FD_CLOEXEC) < 0)) {
		close(fd);
		return -1;
	}
#endif
	return fd;
}

/* On a wildcard socket only the connection knows which local address it reached. */
static struct addr address_reached(const struct listener *l, int fd)
{
	struct sockaddr_storage ss;
	socklen_t len = sizeof ss;
	struct addr a = l->at.addr;

	if (l->at.many && getsockname(fd, (struct sockaddr *)&ss, &len) == 0)
		(void)addr_from_sockaddr(&a, (const struct sockaddr *)&ss, len);
	return a;
}

static bool is_out_of_files(int error)
{
	return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

static void out_of_files(struct listen_tcp *t)
{
	if (!t->short_of_files)
		log_warn("TCP accept failed, pausing: %s", strerror(errno));
	t->short_of_files = true;
	listeners_watch(t, false);
	timer_set(t->loop, &t->reopen, NO_FILES_PAUSE_US);
}

/* False: nothing more is accepted for now. */
static bool let_in(struct listen_tcp *t, int fd, const struct arrival *how)
{
	switch (connection_room(t, &how->from)) {
	case CONNROOM_MADE:
		listen_tcp_take(t, fd, how);
		return true;
	case CONNROOM_NONE:
		if (t->stats)
			stat_add(t->stats, STAT_tcp_refused);
		close(fd);
		return true;
	default:
		t->next.fd = fd;
		t->next.how = *how;
		timer_set(t->loop, &t->retry, RETRY_US);
		listeners_watch(t, false);
		return false;
	}
}

static void on_retry(struct timer *timer)
{
	struct listen_tcp *t = container_of(timer, struct listen_tcp, retry);
	int fd = t->next.fd;

	t->next.fd = -1;
	if (let_in(t, fd, &t->next.how) && !timer_is_set(&t->reopen))
		listeners_watch(t, true);
}

static void on_acceptable(struct watch *w, unsigned what)
{
	struct listener *l = container_of(w, struct listener, watch);
	struct listen_tcp *t = l->home;

	(void)what;
	if (!t->limits.connections)
		listeners_watch(t, false);
	for (unsigned i = 0; i < ACCEPTS && !t->shut; i++) {
		struct arrival how = { .service = l->at.service, .proxied = l->at.proxied };
		struct sockaddr_storage ss;
		socklen_t len;
		int fd = accept_one(w->fd, &ss, &len);

		if (fd < 0 && is_out_of_files(errno))
			out_of_files(t);
		if (fd < 0)
			return;
		t->short_of_files = false;
		if (!addr_from_sockaddr(&how.from, (const struct sockaddr *)&ss, len)) {
			close(fd);
			continue;
		}
		(void)addr_unmap(&how.from);
		how.reached = address_reached(l, fd);
		if (!let_in(t, fd, &how))
			return;
	}
}

static void on_reopen(struct timer *timer)
{
	struct listen_tcp *t = container_of(timer, struct listen_tcp, reopen);

	if (t->next.fd < 0)
		listeners_watch(t, true);
}

/* ---- setup and teardown ---- */

static void set_limits(struct listen_tcp *t, const struct listen_tcp_limits *limits)
{
	const char *endpoint = limits->http_endpoint ? limits->http_endpoint : "/dns-query";

	t->limits = *limits;
	t->limits.http_endpoint = NULL;
	mem_free(t->endpoint);
	t->endpoint = mem_text(endpoint);
	t->endpoint_len = strlen(endpoint);
}

struct listen_tcp *listen_tcp_new(struct loop *l, packet_taker take, void *taker,
				  const struct listen_tcp_limits *limits)
{
	struct listen_tcp *t = mem_zero(sizeof *t);

	t->loop = l;
	t->take = take;
	t->taker = taker;
	set_limits(t, limits);
	t->http = listen_http_new(limits);
	t->reopen.fire = on_reopen;
	t->retry.fire = on_retry;
	t->farewell.fire = connection_farewells;
	t->hurry.fire = connection_hurry;
	t->next.fd = -1;
	t->table = connection_table_new();
	list_init(&t->listeners);
	list_init(&t->connections);
	list_init(&t->gone);
	t->in = mem_new(READ_ROOM);
	t->late = mem_new(2 + MESSAGE_MAX);
	t->gather = mem_new(GATHER_ROOM);
	t->frames = mem_new(FRAMES_ROOM);
	return t;
}

void listen_tcp_limit(struct listen_tcp *t, const struct listen_tcp_limits *limits)
{
	set_limits(t, limits);
	listen_http_limit(t->http, limits);
	if (!timer_is_set(&t->reopen))
		listeners_watch(t, limits->connections && t->next.fd < 0);
}

void listen_tcp_serve(struct listen_tcp *t, const struct listen_socket *sockets, size_t count)
{
	listeners_serve(t, sockets, count, on_acceptable);
}

size_t listen_tcp_untaken(const struct listen_tcp *t)
{
	return t->untaken;
}

unsigned listen_tcp_count(const struct listen_tcp *t)
{
	return t->count;
}

static void free_all(struct list *connections)
{
	LIST_EACH_SAFE (at, connections) {
		struct connection *c = LIST_ITEM(at, struct connection, link);

		connection_close(c);
		connection_free(c);
	}
}

void listen_tcp_free(struct listen_tcp *t)
{
	if (!t)
		return;
	listeners_close(t);
	free_all(&t->connections);
	free_all(&t->gone);
	if (t->next.fd >= 0)
		close(t->next.fd);
	connection_table_free(t->table);
	timer_stop(t->loop, &t->reopen);
	timer_stop(t->loop, &t->retry);
	timer_stop(t->loop, &t->farewell);
	timer_stop(t->loop, &t->hurry);
	tls_server_unpin(t->keys);
	connection_limits_unpin(t->connection_limits);
	mem_free(t->in);
	mem_free(t->late);
	mem_free(t->gather);
	mem_free(t->frames);
	mem_free(t->endpoint);
	listen_http_free(t->http);
	mem_free(t);
}
