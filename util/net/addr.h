/* IP addresses with ports, netblocks, and longest-prefix matching.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_NET_ADDR_H
#define UTIL_NET_ADDR_H

#include <sys/socket.h>

#include "util/base/base.h"

struct fault;

/* An IPv4 or IPv6 address; IPv4 uses the first four bytes of `ip`. Unused bytes
 * are 0, so that addresses can be compared field by field. */
struct addr {
	uint8_t  ip[16];
	uint32_t scope;         /* IPv6 zone index; 0: none */
	uint16_t port;          /* host byte order */
	uint8_t  family;        /* 4 or 6; 0: no address */
};

#define ADDR_TEXT 80            /* room for addr_print, NUL included */

bool addr_from_sockaddr(struct addr *a, const struct sockaddr *sa, socklen_t len);
socklen_t addr_to_sockaddr(const struct addr *a, struct sockaddr_storage *ss);

/* "192.0.2.1" or "2001:db8::1%eth0", optionally followed by "@port"; otherwise the
 * port is `port`. Anything else: false, with the reason in `f`. */
bool addr_parse(struct addr *a, const char *text, uint16_t port, struct fault *f);

/* In Unbound's notation: "ip", or "ip@port" when the port is not `usual_port`;
 * "none" for family 0. Returns `buf`. */
const char *addr_print(const struct addr *a, uint16_t usual_port, char buf[ADDR_TEXT]);

bool addr_equals(const struct addr *a, const struct addr *b);           /* with port */
bool addr_equals_ip(const struct addr *a, const struct addr *b);
uint64_t addr_hash(const struct addr *a);                               /* with port */
bool addr_is_loopback(const struct addr *a);
/* Can never be a server's address: none, unspecified, multicast,
 * broadcast, IPv4-mapped or IPv4-compatible (RFC 4291 2.5.5). */
bool addr_is_absurd(const struct addr *a);
/* IPv4-mapped IPv6 (RFC 4291 2.5.5.2), as sockets for both families and proxies show IPv4 clients, becomes IPv4, with the
 * same port. False: it is none, and unchanged. */
bool addr_unmap(struct addr *a);
/* The IPv4 address that an IPv6 address stands for: IPv4-mapped and -compatible (RFC 4291 2.5.5), IPv4-translated (RFC
 * 2765 2.1), 6to4 (RFC 3056 2), behind NAT64's well-known prefix (RFC 6052 2.1) or one of 96 bits out of those for
 * local use (RFC 8215). False: none. */
bool addr_stands_for(const struct addr *a, struct addr *ip4);

/* Whether hosts anywhere may have it: neither private, shared (RFC 6598), link-local, loopback, multicast, reserved
 * nor "this network" (the registries of RFC 6890; addresses for documentation count as public), nor
 * an IPv6 address that stands for an IPv4 one of these. */
bool addr_is_public(const struct addr *a);

/* A netblock: "10.0.0.0/8", "::1", "fe80::/10". Bits beyond the length are 0. */
struct netblock {
	struct addr net;        /* port 0 */
	uint8_t bits;
};

bool netblock_parse(struct netblock *n, const char *text, struct fault *f);
const char *netblock_print(const struct netblock *n, char buf[ADDR_TEXT]);
bool netblock_holds(const struct netblock *n, const struct addr *a);

/* A set of netblocks, each with a value. The longest netblock holding an address
 * wins; putting an equal netblock again replaces the value. Built once, then read
 * by any number of threads. */
struct netset;

struct netset *netset_new(void) MUST_USE;
void netset_free(struct netset *s);                     /* values belong to the caller */
void netset_put(struct netset *s, const struct netblock *n, void *value);
void *netset_find(const struct netset *s, const struct addr *a);        /* or NULL */
void *netset_find_exact(const struct netset *s, const struct netblock *n);
size_t netset_count(const struct netset *s);

#endif
