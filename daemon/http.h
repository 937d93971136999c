/* Pages about the daemon over HTTP/1.1: GET and HEAD alone, one request a connection.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * For scrapers and health checks on the own network. Everything is bounded: connections at once,
 * bytes of a request, time until it is whole and until the answer is taken. It lives on the loop it
 * is given and keeps nobody: whoever makes a page may take his time (http_answer from a later turn).
 * Not libevent's evhttp: in its version 2.1 nothing bounds how many connections are held, or for how
 * long by who sends a byte now and then. */
#ifndef DAEMON_HTTP_H
#define DAEMON_HTTP_H

#include "util/addr.h"

struct fault;
struct http_server;
struct http_asked; /* a request that waits for its page */
struct loop;

/* Makes the page for `path` (as it was sent, without what is behind '?'): calls http_answer once, now
 * or later. */
typedef void http_page(void *arg, struct http_asked *asked, const char *path);

struct http_server *http_new(struct loop *loop, http_page *page, void *arg) MUST_USE;
/* Serve at these addresses from now on, and at no others. False, with where it served before kept,
 * when one cannot be opened. `optional`: an address family that this host lacks is no failure. */
bool http_serve(struct http_server *s, const struct addr *at, size_t count, bool optional,
		struct fault *f) MUST_USE;
void http_free(struct http_server *s); /* NULL is fine; what waits for a page may still be answered */

/* `body` is copied. `asked` is gone afterwards, and so may the client have before. */
void http_answer(struct http_asked *asked, unsigned status, const char *type, const char *body,
		 size_t len);

#endif
