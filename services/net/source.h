/* Source addresses and ports for queries to other servers.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * From outgoing-interface, outgoing-port-permit and outgoing-port-avoid. Immutable. */
#ifndef SERVICES_NET_SOURCE_H
#define SERVICES_NET_SOURCE_H

#include "util/net/addr.h"

struct conf;
struct random;
struct sources;

/* Without `with_ports` it has no ports. */
struct sources *sources_new(const struct conf *conf, bool with_ports) MUST_USE;
void sources_free(struct sources *s);

/* A random source address for `family`, port 0; the unspecified one where the system chooses. False
 * when addresses are configured, but none of this family. `*is_drawn`: it was drawn from a
 * netblock, so the system may not have it as a local address. */
bool sources_address(const struct sources *s, struct random *random, uint8_t family,
		     struct addr *out, bool *is_drawn);

/* Let the socket of IPv6, which is not bound yet, be bound to a drawn address. Whether the system does so shows
 * when it is bound. */
void source_allow_drawn(int fd);

/* A random port, uniformly among those allowed; 0 when none is allowed. */
uint16_t sources_port(const struct sources *s, struct random *random);
size_t sources_port_count(const struct sources *s);

#endif
