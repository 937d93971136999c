/* A TCP connection to another server is begun: socket, source address, options.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SERVICES_UPSTREAM_DIAL_H
#define SERVICES_UPSTREAM_DIAL_H

#include "services/upstream_source.h"

struct conf_server;

/* A non-blocking descriptor that is connecting; -1 when there cannot be one. */
int upstream_dial(const struct conf_server *conf, const struct sources *sources,
		  struct random *random, const struct addr *to) MUST_USE;
/* It has become writable: whether it is connected. */
bool upstream_is_through(int fd);

/* What came is acknowledged at once: a server that waits for that before it sends more (Nagle's
 * way) would otherwise wait for tens of milliseconds. It holds for a while only. */
void upstream_acknowledge(int fd);

#endif
