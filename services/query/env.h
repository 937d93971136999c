/* What the parts of a worker share: passed as a pointer, never global.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SERVICES_QUERY_ENV_H
#define SERVICES_QUERY_ENV_H

#include "util/base/base.h"
#include "util/base/pins.h"

struct cachedb;
struct client;
struct clock_watch;
struct forget;
struct infra;
struct keycache;
struct loader;
struct loop;
struct mesh;
struct msgcache;
struct aggressive;
struct subnet_index;
struct query;
struct random;
struct ratelimit;
struct request;
struct roll;
struct rrset;
struct rrsetcache;
struct snapshot;
struct ipset;
struct decision;
struct stats;
struct tap;
struct timebase;
struct trace;
struct upstream;
struct waits;
struct recorder;

/* The caches of one scope, i.e. of a view with forwards of its own (services/policy/views.h). They share
 * no contents with those of other scopes. No denials are kept for other names. */
struct scope_caches {
	struct rrsetcache *rrsets;
	struct aggressive *negative;
	struct keycache *keys;
};

/* One per worker; all workers share the same caches. */
struct env {
	struct loop *loop;
	struct timebase *time;          /* the loop's */
	struct random *random;
	struct stats *stats;
	struct snapshot *snapshot;      /* current; replaced between turns */
	struct pins pins;               /* snapshots that this worker's queries hold */
	struct msgcache *messages;
	struct rrsetcache *rrsets;
	struct infra *infra;
	struct keycache *keys;          /* the validator's; NULL: no validator */
	struct pins key_pins;           /* its keysets that queries hold, or held lately */
	struct aggressive *negative;
	struct subnet_index *subnet_index;          /* subnets with answers of their own; NULL: not in use */
	struct scope_caches *scopes;    /* indexed by scope number minus one */
	unsigned scope_count;
	struct cachedb *cachedb;        /* the cachedb module's, where it is in use */
	struct ratelimit *client_rates, *zone_rates;
	struct waits *waits;            /* answers clients wait for; NULL: not counted (tests) */
	struct upstream *upstream;
	uint32_t ports_most;            /* limit of open source ports; 0: outgoing-range */
	uint32_t servers_most;          /* limit of connections to other servers; 0: outgoing-num-tcp */
	struct mesh *mesh;
	unsigned checks;                /* signature checks since yielded queries last ran */
	uint32_t unwanted;              /* unsolicited responses since the last purge */
	void (*purge)(void *arg);       /* have the caches emptied, soon; NULL: nobody does */
	void (*forget)(void *arg, struct forget *what); /* have that forgotten, soon; takes it over; NULL: nobody does */
	void *purge_arg;                /* of both */
	/* Take a client's question as if it came now, without counting it again; both may be gone afterwards. The
	 * client is answered or dropped exactly once. NULL: there is no front end (tests). */
	void (*readmit)(void *arg, const struct request *r, const struct client *c);
	void *readmit_arg;
	struct loader *loader;          /* thread for slow work; NULL: none (replay) */
	struct trace *trace;            /* for queries begun now; usually NULL */
	struct tap *tap;                /* dnstap; NULL: off */
	struct ipset *ipset;        /* fills sets of the packet filter; NULL: none */
	struct decision *decision;        /* records what decided a question here; usually NULL */
	struct recorder *recorder;        /* query ring and top lists; NULL: off */
	bool leads;                     /* the one worker that does what is done once for all */
	struct roll *roll;              /* the validator's, if this worker leads */
	struct clock_watch *clock;      /* the validator's */
	/* Set by the validator: owner of the trust anchor at or above `name` (type DS: above it),
	 * NULL where nothing is validated. Valid for the turn. NULL: no validator. */
	const uint8_t *(*trust_point)(const struct query *q, const uint8_t *name, uint16_t type);
	/* Likewise: whether what the zone of this DS set says will be validated by its keys. Not where no anchor is above it,
	 * none of its records is supported, or a zone above it is known to be insecure. NULL: no validator. */
	bool (*needs_keys)(const struct query *q, const struct rrset *ds);
};

#endif
