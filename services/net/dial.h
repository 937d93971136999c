/* Begins a TCP connection to another server: socket, source address, options.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SERVICES_NET_DIAL_H
#define SERVICES_NET_DIAL_H

#include "services/net/source.h"

struct conf_server;

/* Returns a non-blocking descriptor that is connecting, or -1. */
int dial_begin(const struct conf_server *conf, const struct sources *sources,
	       struct random *random, const struct addr *to) MUST_USE;
/* It has become writable: whether it is connected. */
bool dial_is_through(int fd);

/* Acknowledge received data at once: a server that uses Nagle's algorithm would otherwise wait tens
 * of milliseconds before sending more. The effect is temporary. */
void dial_acknowledge(int fd);

#endif
