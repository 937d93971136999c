/* What we know of each server, per address and zone: RTT, EDNS support, lameness.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Smoothed RTT as in RFC 6298 with Unbound's bounds (infra-cache-min-rtt, infra-cache-max-rtt): an
 * unknown server has an RTO of 376 ms (unknown-server-time-limit); each timeout doubles it, up to the
 * maximum. From 12 s on a server is "down" and gets one probe per RTO, so that a zone of silent servers
 * costs next to nothing however many names are asked for; at the maximum it is left alone until its
 * entry expires (infra-host-ttl), or goes on being probed (infra-keep-probing).
 *
 * When no server answers any more, including some that used to, or sends fail, a timeout says
 * nothing about one server: the network is down (infra_network_is_down), and nothing is recorded.
 * With the first answer from any server all are as they were before, so that the first question
 * after the network's return is answered at once. */
#ifndef SERVICES_CACHE_INFRA_H
#define SERVICES_CACHE_INFRA_H

#include "services/cache/slab.h"
#include "util/dns/dname.h"
#include "util/net/addr.h"

struct timebase;
struct infra;

#define INFRA_RTO_UNKNOWN_MS 376
#define INFRA_PROBE_MS       12000
/* A server silent for so long and for so many timeouts is down as well, if it was asked lately: so
 * random names in a dead zone do not each cause a query. */
#define INFRA_WARY_MS        4000
#define INFRA_WARY_SILENCES  2
#define INFRA_LATELY_MS      15000
/* Of a delegation all of whose servers failed there are so many refetches in such a time, before one of them has
 * failed: as many as there are types that a client asks for at once. */
#define INFRA_REFETCH_MS     5000
#define INFRA_REFETCHES      3

enum edns_known { EDNS_UNTRIED, EDNS_WORKS, EDNS_FAILS };
enum subnet_known { SUBNET_UNTRIED, SUBNET_WORKS, SUBNET_FAILS }; /* RFC 7871 */

enum {
	LAME_NONE = 0,
	LAME_ADDRESSES = 1, /* for type A, which Unbound keeps apart */
	LAME_OTHER = 2,     /* for other types */
	LAME_RECURSIVE = 4, /* a recursive resolver: RA without AA */
	LAME_DNSSEC = 8,    /* strips DNSSEC records though the zone is signed */
};

struct infra_how {
	size_t hosts; /* infra-cache-numhosts */
	unsigned slabs;
	uint32_t host_ttl_s;
	uint32_t min_rtt_ms, max_rtt_ms;
	bool keep_probing;
	uint32_t unknown_rtt_ms; /* unknown-server-time-limit; 0: INFRA_RTO_UNKNOWN_MS */
};

/* What is known of a server now. */
struct infra_view {
	bool known; /* there is an entry that has not expired */
	uint32_t ping_ms, var_ms, rtt_ms;
	uint32_t rto_ms; /* how long to wait for it now; doubled by timeouts */
	uint8_t timeouts_a, timeouts_aaaa, timeouts_other;
	uint8_t edns;         /* enum edns_known */
	uint8_t subnet;       /* enum subnet_known */
	uint8_t lame;         /* LAME_* */
	bool down;            /* rto at 12 s or its maximum: ask only to probe */
	uint64_t probe_at_us; /* when down: time of the next probe */
	uint32_t ttl_s;       /* until the entry expires */
};

struct infra *infra_new(const struct infra_how *how) MUST_USE;
void infra_free(struct infra *i);
void infra_reconfigure(struct infra *i, const struct infra_how *how);

/* Always fills `out`; an unknown server gets the defaults above. */
void infra_look(struct infra *i, const struct addr *server, const uint8_t *zone,
		const struct timebase *t, struct infra_view *out);

/* The same for several servers of one zone, whose name is hashed only once. */
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
	enum edns_known edns; /* what the response shows; EDNS_UNTRIED: nothing */
};
void infra_answered(struct infra *i, const struct addr *server, const uint8_t *zone,
		    const struct infra_heard *heard, const struct timebase *t);
/* A query for `qtype` timed out after `waited_ms`. */
void infra_silent(struct infra *i, const struct addr *server, const uint8_t *zone, uint16_t qtype,
		  uint32_t waited_ms, const struct timebase *t);
/* A probe is sent to a server that is down: the next one must wait. */
void infra_probed(struct infra *i, const struct addr *server, const uint8_t *zone,
		  const struct timebase *t);
/* All servers of a zone have failed: whether its parent may be asked for others now (not often). */
bool infra_may_refetch(struct infra *i, const uint8_t *zone, const struct timebase *t);
/* The refetch helped: the next query may do the same. */
void infra_refetch_helped(struct infra *i, const uint8_t *zone, const struct timebase *t);
/* It did not (RFC 9520 3): until the time is over, the parent is not asked again. */
void infra_refetch_failed(struct infra *i, const uint8_t *zone, const struct timebase *t);
void infra_set_edns(struct infra *i, const struct addr *server, const uint8_t *zone,
		    enum edns_known known, const struct timebase *t);
void infra_set_subnet(struct infra *i, const struct addr *server, const uint8_t *zone,
		      enum subnet_known known, const struct timebase *t);
void infra_set_lame(struct infra *i, const struct addr *server, const uint8_t *zone, unsigned lame,
		    const struct timebase *t);
/* For replay scenarios. */
void infra_set_rtt(struct infra *i, const struct addr *server, const uint8_t *zone, uint32_t rtt_ms,
		   const struct timebase *t);

/* Whether no server of that address family (4 or 6) answers while those of the other do: these are to be
 * asked where there are any (services/cache/families.h). */
bool infra_family_is_silent(const struct infra *i, unsigned family, const struct timebase *t);
/* Whether the family's last question went unanswered, or none was ever answered. */
bool infra_family_is_doubtful(const struct infra *i, unsigned family);
/* A question is sent to that server: perhaps the one that shows whether its family still is silent. */
void infra_asked(struct infra *i, const struct addr *server, const struct timebase *t);

/* Milliseconds within which 19 of 20 servers that nothing was known of have answered, by those that did so lately; at most
 * what an unknown server is given (unknown-server-time-limit). */
uint32_t infra_first_answer_ms(const struct infra *i);

bool infra_network_is_down(const struct infra *i, const struct timebase *t);
/* A send failed at once (no route, interface gone): counts against the network, not the server. */
void infra_unsendable(struct infra *i, const struct timebase *t);

void infra_flush(struct infra *i, const struct addr *server); /* NULL: all */
/* An entry, for people. When it has expired (ttl_s is 0), only its rto_ms is still of use. */
struct infra_row {
	const struct addr *addr;
	const uint8_t *zone;
	struct infra_view view;
	uint32_t delay_s; /* until it is probed, when it is down */
};
/* Some more of them; false when there are no more (slab_walk). */
bool infra_dump(struct infra *i, struct slab_walk *at, const struct timebase *t,
		void (*out)(const struct infra_row *row, void *arg), void *arg);
/* As a line in the format of Unbound's dump_infra. */
enum { INFRA_LINE = ADDR_TEXT + DNAME_TEXT + 256 };
const char *infra_row_print(const struct infra_row *r, char line[INFRA_LINE]);
struct slab *infra_slab(struct infra *i);

#endif
