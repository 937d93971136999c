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
struct connection_limit;  /* of one netblock */
struct connclient; /* one client */
struct connection_limits;
struct fault;

struct connection_limits *connection_limits_new(const struct conf *conf, struct fault *f) MUST_USE;
struct connection_limits *connection_limits_pin(struct connection_limits *l);
void connection_limits_unpin(struct connection_limits *l); /* NULL is fine */
/* Pin `l` in place of what was pinned here; either may be NULL. */
void connection_limits_exchange(struct connection_limits **here, struct connection_limits *l);

/* What one connection is counted in; all NULL where nothing is limited. */
struct connection_slot {
	struct connection_limits *home;
	struct connection_limit *block;
	struct connclient *client;
};

/* Count another connection of this client. False: it is at its limit. The place must be given back
 * when the connection ends. */
bool connection_limits_admit(struct connection_limits *l, const struct addr *client, struct connection_slot *place);
void connection_slot_give_back(struct connection_slot *place); /* and empty it; harmless when empty */

/* Whether PROXYv2 headers from this address are trusted. */
bool connection_limits_may_speak_for(const struct connection_limits *l, const struct addr *proxy);

#endif
