/* Telling clients that they can come encrypted: _dns.resolver.arpa SVCB (RFC 9462).
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SERVICES_DISCOVERY_H
#define SERVICES_DISCOVERY_H

#include "util/base.h"

struct conf;
struct localzones;
struct tls_server;

/* Make that name's records what the configuration serves over TLS and HTTPS, for whoever uses the
 * certificate of `server` (NULL: nobody). What the operator has written down under resolver.arpa
 * stays; so does all, where designated-resolver says no. */
void discovery_renew(struct localzones *zones, const struct conf *conf, struct tls_server *server);

#endif
