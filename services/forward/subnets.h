/* Which servers are sent client subnets, and how many bits of them (RFC 7871).
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * send-client-subnet, client-subnet-zone and related options, where module-config names
 * "subnetcache". Without it there are no rules, and a client's option is treated as unknown. */
#ifndef SERVICES_FORWARD_SUBNETS_H
#define SERVICES_FORWARD_SUBNETS_H

#include "util/net/subnet.h"

struct arena;
struct conf;
struct edns;
struct fault;
struct subnet_key;
struct subnets;

/* Whether module-config names the module. */
bool subnets_configured(const struct conf *conf);

/* `*to` is NULL when the module is not configured or no server would be sent the option. False with
 * a sentence in `f`. */
bool subnets_read(struct subnets **to, const struct conf *conf, struct fault *f) MUST_USE;
void subnets_free(struct subnets *s);

/* A client's subnet, from its option or from its address. */
struct client_subnet {
	bool has_option;           /* it sent the option: its response may carry one as well */
	bool forwarded;            /* and every server gets it (client-subnet-always-forward) */
	struct subnet_option said; /* if has_option */
	struct netblock shown;     /* what servers are sent; 0 bits: nothing */
};

enum client_subnet_end {
	CLIENT_SUBNET_GOOD,
	CLIENT_SUBNET_MALFORMED, /* FORMERR */
	CLIENT_SUBNET_SHORT,     /* min-client-subnet-*: REFUSED, but for what is held here, as if there were no option */
};

enum client_subnet_end subnets_locate(const struct subnets *s, const struct edns *e,
				    const struct addr *client, struct client_subnet *w);

/* Whether a server of `zone` is sent the subnet of clients that ask for `name`: the server is
 * listed, or `name` and `zone` both are (a forwarder stands for every zone). */
struct subnets_server {
	const struct addr *at;
	const uint8_t *zone;
	bool forwards;
};
bool subnets_may_send(const struct subnets *s, const struct subnets_server *server,
		  const uint8_t *name);
/* Whether `name` is covered by the list of names. */
bool subnets_name(const struct subnets *s, const uint8_t *name);

/* The subnet for which an answer to a client at `shown` is valid when its servers said SCOPE
 * PREFIX-LENGTH `scope` (RFC 7871 7.3.1). Clients are told that scope, but none longer than what servers
 * are sent. */
struct subnet_key subnets_place(const struct subnets *s, const struct netblock *shown,
				unsigned scope);
/* Maximum number of subnets of this family kept for one question. */
uint32_t subnets_most(const struct subnets *s, unsigned family);

#endif
