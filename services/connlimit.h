/* How many connections the clients of a netblock may have at once: tcp-connection-limit.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Shared by all threads. A reload begins counting anew for who comes after it. */
#ifndef SERVICES_CONNLIMIT_H
#define SERVICES_CONNLIMIT_H

#include "util/base.h"

struct addr;
struct conf;
struct connlimit; /* of one netblock */
struct connlimits;
struct fault;

struct connlimits *connlimits_new(const struct conf *conf, struct fault *f) MUST_USE;
struct connlimits *connlimits_pin(struct connlimits *l);
void connlimits_unpin(struct connlimits *l); /* NULL is fine */

/* Another connection of this client. False: it has enough. `*place` is to be given back when
 * the connection ends; NULL where nothing is limited. */
bool connlimits_admit(struct connlimits *l, const struct addr *client, struct connlimit **place);
void connlimit_give_back(struct connlimit *place); /* NULL is fine */

#endif
