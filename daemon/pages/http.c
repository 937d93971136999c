/* Pages about the daemon over HTTP/1.1: GET and HEAD only, one request per connection.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/pages/http.h"

#include <sys/types.h>
#include <sys/socket.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "daemon/control/acceptor.h"
#include "daemon/pages/http_host.h"
#include "util/base/fault.h"
#include "util/base/list.h"
#include "util/base/loop.h"
#include "util/base/mem.h"
#include "util/net/stream.h"

#define CONNECTIONS_MOST 32
#define HEAD_MOST        4096
#define ASK_US           (5 * US_PER_S)  /* for the client to complete its request */
#define PAGE_US          (12 * US_PER_S) /* for making the page */
#define TAKE_US          (20 * US_PER_S) /* for the client to take the whole page */

struct listening_socket {
	struct list link;
	struct http_server *server;
	struct acceptor acceptor;
	struct addr at;
	bool wanted;
};

struct connection {
	struct list link;
	struct http_server *server;
	struct watch watch;
	struct stream stream;
	struct timer limit;
	struct http_asked *asked; /* the page being made; NULL: none */
	char head[HEAD_MOST];
	size_t len;
	char *reply; /* being sent; NULL: none yet */
	size_t sent, reply_len;
};

struct http_asked {
	struct connection *connection; /* NULL: the client has gone */
	bool head_only;
};

struct http_server {
	struct loop *loop;
	http_page *page;
	void *arg;
	struct list client_sockets, connections;
	unsigned count;
};

static void connection_close(struct connection *c)
{
	if (c->asked)
		c->asked->connection = NULL;
	timer_stop(c->server->loop, &c->limit);
	watch_stop(&c->watch);
	stream_close(&c->stream);
	list_remove(&c->link);
	c->server->count--;
	mem_free(c->reply);
	mem_free(c);
}

/* ---- the answer ---- */

/* Drain excess input: closing with unread bytes would reset the connection and lose the end of the
 * page. */
static void swallow(int fd)
{
	char drop[4096];

	for (int i = 0; i < 16 && recv(fd, drop, sizeof drop, 0) > 0; i++)
		;
}

static void write_reply(struct connection *c)
{
	while (c->sent < c->reply_len) {
		ssize_t n = stream_write(&c->stream, c->reply + c->sent, c->reply_len - c->sent);

		if (n < 0 && stream_is_not_now(errno)) {
			watch_want(&c->watch, WATCH_WRITE);
			return;
		}
		if (n < 0)
			break;
		c->sent += (size_t)n;
	}
	swallow(c->stream.fd);
	connection_close(c);
}

static const char *phrase_of(unsigned status)
{
	switch (status) {
	case 200:
		return "OK";
	case 400:
		return "Bad Request";
	case 404:
		return "Not Found";
	case 405:
		return "Method Not Allowed";
	case 421:
		return "Misdirected Request";
	case 431:
		return "Request Header Fields Too Large";
	case 503:
		return "Service Unavailable";
	default:
		return "Error";
	}
}

static void reply(struct connection *c, unsigned status, const char *type, const char *body,
		  size_t len, bool head_only)
{
	char head[512];
	int n = snprintf(head, sizeof head,
			 "HTTP/1.1 %u %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n"
			 "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n%s"
			 "Connection: close\r\n\r\n",
			 status, phrase_of(status), type, len,
			 status == 405 ? "Allow: GET, HEAD\r\n" : "");

	c->reply_len = (size_t)n + (head_only ? 0 : len);
	c->reply = mem_new(c->reply_len);
	memcpy(c->reply, head, (size_t)n);
	if (!head_only)
		memcpy(c->reply + n, body, len);
	timer_set(c->server->loop, &c->limit, TAKE_US);
	write_reply(c);
}

static void refuse(struct connection *c, unsigned status)
{
	char text[64];
	int n = snprintf(text, sizeof text, "%u %s\n", status, phrase_of(status));

	reply(c, status, "text/plain; charset=utf-8", text, (size_t)n, false);
}

bool http_came_by_loopback(const struct http_asked *asked)
{
	struct sockaddr_storage ss;
	socklen_t len = sizeof ss;
	struct addr at;

	return asked->connection &&
	       getsockname(asked->connection->stream.fd, (struct sockaddr *)&ss, &len) == 0 &&
	       addr_from_sockaddr(&at, (struct sockaddr *)&ss, len) && addr_is_loopback(&at);
}

void http_answer(struct http_asked *asked, unsigned status, const char *type, const char *body,
		 size_t len)
{
	struct connection *c = asked->connection;

	if (c) {
		c->asked = NULL;
		reply(c, status, type, body, len, asked->head_only);
	}
	mem_free(asked);
}

/* If the page took too long to make, answer 503: http_answer will find no connection. Otherwise
 * the client was too slow. */
static void on_limit(struct timer *t)
{
	struct connection *c = container_of(t, struct connection, limit);

	if (!c->asked) {
		connection_close(c);
		return;
	}
	c->asked->connection = NULL;
	c->asked = NULL;
	refuse(c, 503);
}

/* ---- the request ---- */

/* Parse "GET /path?query HTTP/1.1". The path, in place, NUL-terminated and without the query; NULL
 * if the line is invalid or the method is not allowed, with the `status` to refuse it with. */
static char *path_in(char *line, bool *head_only, unsigned *status)
{
	char *path = strchr(line, ' '), *end;

	*status = 400;
	if (!path)
		return NULL;
	*path++ = '\0';
	end = strchr(path, ' ');
	if (!end || strncmp(end + 1, "HTTP/1.", 7) != 0 || *path != '/')
		return NULL;
	*end = '\0';
	*head_only = strcmp(line, "HEAD") == 0;
	*status = 405;
	if (!*head_only && strcmp(line, "GET") != 0)
		return NULL;
	path[strcspn(path, "?")] = '\0';
	return path;
}

static void take_request(struct connection *c)
{
	bool head_only = false;
	unsigned status;
	char *path, *fields = c->head + strcspn(c->head, "\n") + 1;

	watch_want(&c->watch, 0);
	timer_stop(c->server->loop, &c->limit);
	c->head[strcspn(c->head, "\r\n")] = '\0';
	path = path_in(c->head, &head_only, &status);
	if (!path) {
		refuse(c, status);
		return;
	}
	c->asked = mem_zero(sizeof *c->asked);
	c->asked->connection = c;
	c->asked->head_only = head_only;
	timer_set(c->server->loop, &c->limit, PAGE_US);
	c->server->page(c->server->arg, c->asked, path, http_host_find(fields));
}

static bool is_whole(const struct connection *c)
{
	return strstr(c->head, "\r\n\r\n") || strstr(c->head, "\n\n");
}

static void read_more(struct connection *c)
{
	ssize_t n = stream_read(&c->stream, c->head + c->len, sizeof c->head - 1 - c->len);

	if (n < 0 && stream_is_not_now(errno))
		return;
	if (n <= 0 || memchr(c->head + c->len, '\0', (size_t)n)) {
		connection_close(c);
		return;
	}
	c->len += (size_t)n;
	c->head[c->len] = '\0';
	if (is_whole(c))
		take_request(c);
	else if (c->len == sizeof c->head - 1)
		refuse(c, 431);
}

static void on_ready(struct watch *w, unsigned what)
{
	struct connection *c = container_of(w, struct connection, watch);

	(void)what;
	if (c->reply)
		write_reply(c);
	else
		read_more(c);
}

/* ---- listening ---- */

/* Close the oldest connection whose request is still incomplete, if any. */
static void make_room(struct http_server *s)
{
	LIST_EACH (at, &s->connections) {
		struct connection *c = LIST_ITEM(at, struct connection, link);

		if (!c->asked && !c->reply) {
			connection_close(c);
			return;
		}
	}
}

static void on_acceptable(struct watch *w, unsigned what)
{
	struct http_server *s = container_of(w, struct listening_socket, acceptor.watch)->server;
	struct connection *c;
	int fd = acceptor_take(&container_of(w, struct listening_socket, acceptor.watch)->acceptor);

	(void)what;
	if (fd < 0)
		return;
	if (s->count == CONNECTIONS_MOST)
		make_room(s);
	if (s->count == CONNECTIONS_MOST) {
		close(fd);
		return;
	}
	c = mem_zero(sizeof *c);
	c->server = s;
	c->stream.fd = fd;
	c->watch = (struct watch){ .fd = fd, .ready = on_ready };
	c->limit.fire = on_limit;
	list_push_back(&s->connections, &c->link);
	s->count++;
	watch_start(s->loop, &c->watch, WATCH_READ);
	timer_set(s->loop, &c->limit, ASK_US);
}

static void listening_socket_close(struct listening_socket *d)
{
	acceptor_stop(&d->acceptor);
	list_remove(&d->link);
	mem_free(d);
}

static bool listening_socket_open(struct http_server *s, const struct addr *at, bool optional, struct fault *f)
{
	char text[ADDR_TEXT];
	struct listening_socket *d;
	int fd;

	LIST_EACH (link, &s->client_sockets) {
		d = LIST_ITEM(link, struct listening_socket, link);
		if (addr_equals(&d->at, at)) {
			d->wanted = true;
			return true;
		}
	}
	fd = acceptor_listen(at);
	if (fd < 0) {
		if (optional && (errno == EAFNOSUPPORT || errno == EADDRNOTAVAIL))
			return true;
		fault_set(f, "cannot serve metrics at %s: %s", addr_print(at, 0, text),
			  strerror(errno));
		return false;
	}
	d = mem_zero(sizeof *d);
	d->server = s;
	d->at = *at;
	d->wanted = true;
	list_push_back(&s->client_sockets, &d->link);
	acceptor_start(&d->acceptor, s->loop, fd, on_acceptable);
	return true;
}

bool http_serve(struct http_server *s, const struct addr *at, size_t count, bool optional,
		struct fault *f)
{
	struct list *last = s->client_sockets.prev; /* new ones come behind it */

	LIST_EACH (link, &s->client_sockets)
		LIST_ITEM(link, struct listening_socket, link)->wanted = false;
	for (size_t i = 0; i < count; i++) {
		if (listening_socket_open(s, &at[i], optional, f))
			continue;
		while (s->client_sockets.prev != last)
			listening_socket_close(LIST_ITEM(s->client_sockets.prev, struct listening_socket, link));
		return false;
	}
	LIST_EACH_SAFE (link, &s->client_sockets) {
		struct listening_socket *d = LIST_ITEM(link, struct listening_socket, link);

		if (!d->wanted)
			listening_socket_close(d);
	}
	return true;
}

/* ---- the server ---- */

struct http_server *http_new(struct loop *loop, http_page *page, void *arg)
{
	struct http_server *s = mem_zero(sizeof *s);

	s->loop = loop;
	s->page = page;
	s->arg = arg;
	list_init(&s->client_sockets);
	list_init(&s->connections);
	return s;
}

void http_free(struct http_server *s)
{
	if (!s)
		return;
	LIST_EACH_SAFE (at, &s->connections)
		connection_close(LIST_ITEM(at, struct connection, link));
	LIST_EACH_SAFE (at, &s->client_sockets)
		listening_socket_close(LIST_ITEM(at, struct listening_socket, link));
	mem_free(s);
}
