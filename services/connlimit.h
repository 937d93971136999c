/* How many connections clients may have at once: tcp-connection-limit for the clients of a netblock
 * together, tcp-connections-per-client for each; and who may ask for others: proxy-protocol-from.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Shared by all threads. A reload begins counting anew for who comes after it. */
#ifndef SERVICES_CONNLIMIT_H
#define SERVICES_CONNLIMIT_H

#include "util/base.h"

struct addr;
struct conf;
struct connlimit;  /* of one netblock */
struct connclient; /* one client */
struct connlimits;
struct fault;

struct connlimits *connlimits_new(const struct conf *conf, struct fault *f) MUST_USE;
struct connlimits *connlimits_pin(struct connlimits *l);
void connlimits_unpin(struct connlimits *l); /* NULL is fine */

/* A connection among others; all NULL where nothing is limited. */
struct connplace {
	struct connlimits *home;
	struct connlimit *block;
	struct connclient *client;
};

/* Another connection of this client. False: it has enough. The place is to be given back when the
 * connection ends. */
bool connlimits_admit(struct connlimits *l, const struct addr *client, struct connplace *place);
void connplace_give_back(struct connplace *place); /* and empty it; harmless when it is */

/* Whether PROXYv2 headers of this address are believed. */
bool connlimits_may_speak_for(const struct connlimits *l, const struct addr *proxy);

#endif
