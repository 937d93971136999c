/* Who may be told where clients are, and how much of it (RFC 7871).
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * send-client-subnet, client-subnet-zone and their kin, where module-config names "subnetcache"; without
 * it there are no rules, and a client's option is one nobody here knows. */
#ifndef SERVICES_SUBNETS_H
#define SERVICES_SUBNETS_H

#include "util/subnet.h"

struct arena;
struct conf;
struct edns;
struct fault;
struct place_kept;
struct subnets;

/* Whether module-config names the module. */
bool subnets_configured(const struct conf *conf);

/* `*to` is NULL where the module is not configured, or would tell nobody. False: a sentence in `f`. */
bool subnets_read(struct subnets **to, const struct conf *conf, struct fault *f) MUST_USE;
void subnets_free(struct subnets *s);

/* Where a client is, as it says itself or as its packets do. */
struct whereabouts {
	bool told;                 /* it has sent the option: its answer may have one as well */
	bool forwarded;            /* and what it told goes to any server (client-subnet-always-forward) */
	struct subnet_option said; /* if told */
	struct netblock shown;     /* what servers may see of it; with no bits: nothing */
};

enum whereabouts_end {
	WHEREABOUTS_GOOD,
	WHEREABOUTS_MALFORMED, /* FORMERR */
	WHEREABOUTS_SHORT,     /* min-client-subnet-*: REFUSED */
};

enum whereabouts_end subnets_locate(const struct subnets *s, const struct edns *e,
				    const struct addr *client, struct whereabouts *w);

/* Whether a server of `zone` is told of clients who ask for `name`: it is on the list, or the name is and
 * the zone with it (or the server is a forwarder, which stands for all zones). */
struct subnets_server {
	const struct addr *at;
	const uint8_t *zone;
	bool forwards;
};
bool subnets_show(const struct subnets *s, const struct subnets_server *server,
		  const uint8_t *name);
/* Whether the list of names has it. */
bool subnets_name(const struct subnets *s, const uint8_t *name);

/* Where the answer to somebody at `shown` holds, if its servers said `scope` (RFC 7871 7.3.1). */
struct place_kept subnets_place(const struct subnets *s, const struct netblock *shown,
				unsigned scope);
/* The scope a client is told: no longer than is told to servers. */
uint8_t subnets_scope(const struct subnets *s, const struct netblock *shown, unsigned scope);
/* How many subnets of such a family are kept for a question. */
uint32_t subnets_most(const struct subnets *s, unsigned family);

#endif
