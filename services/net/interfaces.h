/* Where to listen: turns every form of `interface:` into addresses with ports.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * An address, an address@port, the name of an interface of this host (all its addresses), the two
 * wildcards, and interface-automatic. do-ip4 and do-ip6 can exclude a family. */
#ifndef SERVICES_NET_INTERFACES_H
#define SERVICES_NET_INTERFACES_H

#include "util/net/addr.h"

struct conf;
struct fault;

enum service {
	SERVICE_DNS, /* over UDP and TCP */
	SERVICE_TLS, /* RFC 7858 */
	SERVICE_HTTPS, /* RFC 8484 */
	SERVICE_HTTP,  /* the same unencrypted, behind a TLS proxy */
};

struct interface {
	struct addr addr; /* port included */
	enum service service;
	bool proxied;     /* each connection or packet begins with a PROXYv2 header */
	bool many;        /* a wildcard: responses must leave from the address queried */
	bool optional;    /* not named explicitly: no failure on a host without this family */
};

struct interfaces {
	struct interface *items;
	size_t count;
};

/* The addresses to listen on, without duplicates. The port determines the service: at tls-port TLS
 * and no plain DNS, at https-port HTTPS. Where that is impossible (no tls-service-key) the address
 * is skipped, with a line in the log. False with a sentence in `f` when a name or an address is
 * invalid; `out` is then empty. */
bool interfaces_find(struct interfaces *out, const struct conf *conf, struct fault *f) MUST_USE;
void interfaces_clear(struct interfaces *i);

/* Call `put` for each address of the interface `text` of this host, or for the address that `text`
 * is, with `port` or the port after '@'. False with a sentence in `f`. */
bool interface_expand(const char *text, uint16_t port, bool ip4, bool ip6,
		      void (*put)(void *arg, const struct addr *a), void *arg, struct fault *f);

#endif
