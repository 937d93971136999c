/* What we know of each server, per address and zone: how fast, how able, how lame.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Smoothed RTT after RFC 6298 with Unbound's bounds (infra-cache-min-rtt,
 * infra-cache-max-rtt): a server not known has an RTO of 376 ms; each silence doubles it, up
 * to the maximum. From 12 s on a server is "down" and gets one probe in the time of an RTO, so that
 * a zone of silent servers costs next to nothing however many names are asked for; at the maximum
 * it is left alone until infra-host-ttl forgets it, or goes on being probed (infra-keep-probing).
 *
 * When nobody at all answers any more, servers that used to among them, or sends fail, silence says
 * nothing about one server: it is the network that is down (infra_network_is_down), and nothing
 * is recorded. With the first answer of whatever server all are as they were before, so that the
 * first question after the network's return is answered at once. */
#ifndef SERVICES_CACHE_INFRA_H
#define SERVICES_CACHE_INFRA_H

#include "services/cache/slab.h"
#include "util/addr.h"

struct timebase;
struct infra;

#define INFRA_RTO_UNKNOWN_MS 376
#define INFRA_PROBE_MS       12000
/* A server that has been silent that long, and that often, is down as well, as long as it was asked
 * lately: whoever invents names of a dead zone shall not have each of them sent to it. */
#define INFRA_WARY_MS        4000
#define INFRA_WARY_SILENCES  2
#define INFRA_LATELY_MS      15000
/* How soon a zone's servers may be asked of its parent anew because all of them have failed. */
#define INFRA_REFETCH_MS     5000

enum edns_known { EDNS_UNTRIED, EDNS_WORKS, EDNS_FAILS };
enum subnet_known { SUBNET_UNTRIED, SUBNET_WORKS, SUBNET_FAILS }; /* RFC 7871 */

enum {
	LAME_NONE = 0,
	LAME_ADDRESSES = 1, /* for A questions, as Unbound tells them apart: A */
	LAME_OTHER = 2,     /* for other types */
	LAME_RECURSIVE = 4, /* a recursor stands there: RA without AA */
	LAME_DNSSEC = 8,    /* strips DNSSEC though the zone is signed */
};

struct infra_how {
	size_t hosts; /* infra-cache-numhosts */
	unsigned slabs;
	uint32_t host_ttl_s;
	uint32_t min_rtt_ms, max_rtt_ms;
	bool keep_probing;
};

/* A server as known now. */
struct infra_view {
	bool known; /* anything measured or noted that has not lapsed */
	uint32_t ping_ms, var_ms, rtt_ms;
	uint32_t rto_ms; /* how long to wait for it now; doubled by silence */
	uint8_t timeouts_a, timeouts_aaaa, timeouts_other;
	uint8_t edns;         /* enum edns_known */
	uint8_t subnet;       /* enum subnet_known */
	uint8_t lame;         /* LAME_* */
	bool down;            /* rto at 12 s or its maximum: ask only to probe */
	uint64_t probe_at_us; /* when down: the next probe is due */
	uint32_t ttl_s;       /* until the entry lapses */
};

struct infra *infra_new(const struct infra_how *how) MUST_USE;
void infra_free(struct infra *i);
void infra_reconfigure(struct infra *i, const struct infra_how *how);

/* Always fills `out`; unknown servers get the defaults above. */
void infra_look(struct infra *i, const struct addr *server, const uint8_t *zone,
		const struct timebase *t, struct infra_view *out);

/* The same for several servers of a zone, whose name is hashed once. */
struct infra_zone {
	const uint8_t *name;
	size_t len;
	uint64_t hash;
};
struct infra_zone infra_zone(const uint8_t *name);
void infra_look_in(struct infra *i, const struct infra_zone *zone, const struct addr *server,
		   const struct timebase *t, struct infra_view *out);

struct infra_heard {
	uint32_t rtt_ms;
	enum edns_known edns; /* what the answer shows of that; EDNS_UNTRIED: nothing */
};
void infra_answered(struct infra *i, const struct addr *server, const uint8_t *zone,
		    const struct infra_heard *heard, const struct timebase *t);
/* It stayed silent for `waited_ms` when asked for `qtype`. */
void infra_silent(struct infra *i, const struct addr *server, const uint8_t *zone, uint16_t qtype,
		  uint32_t waited_ms, const struct timebase *t);
/* A probe goes out to a server that is down: the next one must wait. */
void infra_probed(struct infra *i, const struct addr *server, const uint8_t *zone,
		  const struct timebase *t);
/* All servers of a zone have failed: whether its parent may be asked for others now. Once so often. */
bool infra_may_refetch(struct infra *i, const uint8_t *zone, const struct timebase *t);
/* That helped: the next one may do so as well. */
void infra_refetch_helped(struct infra *i, const uint8_t *zone, const struct timebase *t);
void infra_set_edns(struct infra *i, const struct addr *server, const uint8_t *zone,
		    enum edns_known known, const struct timebase *t);
void infra_set_subnet(struct infra *i, const struct addr *server, const uint8_t *zone,
		      enum subnet_known known, const struct timebase *t);
void infra_set_lame(struct infra *i, const struct addr *server, const uint8_t *zone, unsigned lame,
		    const struct timebase *t);
/* Played scenarios set it by hand. */
void infra_set_rtt(struct infra *i, const struct addr *server, const uint8_t *zone, uint32_t rtt_ms,
		   const struct timebase *t);

bool infra_network_is_down(const struct infra *i, const struct timebase *t);
/* A send failed at once (no route, interface gone): counts for the network, not the server. */
void infra_unsendable(struct infra *i, const struct timebase *t);

void infra_flush(struct infra *i, const struct addr *server); /* NULL: all */
/* Each entry as a line of Unbound's dump_infra. */
void infra_dump(struct infra *i, const struct timebase *t, void (*out)(const char *line, void *arg),
		void *arg);
struct slab *infra_slab(struct infra *i);

#endif
