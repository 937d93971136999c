/* How many connections clients may have at once: tcp-connection-limit for the clients of a netblock
 * together, tcp-connections-per-client for each; and trusted proxies: proxy-protocol-from.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Shared by all threads. After a reload, counting starts from zero for new connections. */
#ifndef SERVICES_NET_CONNECTION_LIMITS_H
#define SERVICES_NET_CONNECTION_LIMITS_H

#include "util/base/base.h"

struct addr;
struct conf;
struct connlimit;  /* of one netblock */
struct connclient; /* one client */
struct connlimits;
struct fault;

struct connlimits *connlimits_new(const struct conf *conf, struct fault *f) MUST_USE;
struct connlimits *connlimits_pin(struct connlimits *l);
void connlimits_unpin(struct connlimits *l); /* NULL is fine */
/* Pin `l` in place of what was pinned here; either may be NULL. */
void connlimits_exchange(struct connlimits **here, struct connlimits *l);

/* What one connection is counted in; all NULL where nothing is limited. */
struct connplace {
	struct connlimits *home;
	struct connlimit *block;
	struct connclient *client;
};

/* Count another connection of this client. False: it is at its limit. The place must be given back
 * when the connection ends. */
bool connlimits_admit(struct connlimits *l, const struct addr *client, struct connplace *place);
void connplace_give_back(struct connplace *place); /* and empty it; harmless when empty */

/* Whether PROXYv2 headers from this address are trusted. */
bool connlimits_may_speak_for(const struct connlimits *l, const struct addr *proxy);

#endif
