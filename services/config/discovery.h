/* Tells clients that encrypted transports are available: _dns.resolver.arpa SVCB (RFC 9462).
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SERVICES_CONFIG_DISCOVERY_H
#define SERVICES_CONFIG_DISCOVERY_H

#include "util/base/base.h"

struct conf;
struct localzones;
struct tls_server;

/* Update the records of that name to what the configuration serves over TLS and HTTPS with the
 * certificate of `server` (NULL: nothing). What the operator has configured under resolver.arpa
 * stays; with designated-resolver: no nothing is changed. */
void discovery_renew(struct localzones *zones, const struct conf *conf, struct tls_server *server);

#endif
