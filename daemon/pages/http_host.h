/* By which names the pages may be asked for (DNS rebinding).
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A page of somebody's site, open in a browser on this host, may have its name lead to 127.0.0.1 a moment later: then to
 * the browser our pages are that site's, and its scripts may read them. What such a request cannot hide is the
 * name. Addresses, names without a dot and those below "localhost" lead nowhere that a stranger decides. */
#ifndef DAEMON_PAGES_HTTP_HOST_H
#define DAEMON_PAGES_HTTP_HOST_H

#include "util/base/base.h"

struct conf_list;

/* The Host of a request, in place, from its header fields as they came; NULL: it has none, which no browser omits. */
char *http_host_find(char *fields);

/* Whether a request for `host` ("name", "name:port") may be meant for us: for an address, a name that no stranger
 * has, or one of `names`. */
bool http_host_is_ours(char *host, const struct conf_list *names);

#endif
