/* A small HTTP/1.1 server for pages about the daemon: GET and HEAD, one request per connection.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * For scrapers and health checks on the local network. Everything is bounded: connections, size of
 * a request, time to complete it and to take the response. It runs on the given loop without
 * blocking: a page may be delivered in a later turn (http_answer). Not libevent's evhttp, which in
 * version 2.1 limits neither the number of connections nor how long slow senders can hold one. */
#ifndef DAEMON_PAGES_HTTP_H
#define DAEMON_PAGES_HTTP_H

#include "util/net/addr.h"

struct fault;
struct http_server;
struct http_asked; /* a request waiting for its page */
struct loop;

/* Makes the page for `path` (as sent, without the query string): calls http_answer once, now or
 * later. `host`: the Host field, NULL if there was none; may be written to. */
typedef void http_page(void *arg, struct http_asked *asked, const char *path, char *host);

struct http_server *http_new(struct loop *loop, http_page *page, void *arg) MUST_USE;
/* Serve at these addresses from now on, and at no others. False, with nothing changed, if one
 * cannot be opened. `optional`: an address family this host lacks is no failure. */
bool http_serve(struct http_server *s, const struct addr *at, size_t count, bool optional,
		struct fault *f) MUST_USE;
void http_free(struct http_server *s); /* NULL is fine; waiting requests may still be answered */

/* Whether it came to a loopback address. Within http_page. */
bool http_came_by_loopback(const struct http_asked *asked);

/* Copies `body` and frees `asked`. The client may already be gone. */
void http_answer(struct http_asked *asked, unsigned status, const char *type, const char *body,
		 size_t len);

#endif
