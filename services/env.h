/* What a worker's rooms share: handed in, never global.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SERVICES_ENV_H
#define SERVICES_ENV_H

#include "util/base.h"

struct cachedb;
struct clock_watch;
struct infra;
struct keycache;
struct loader;
struct loop;
struct mesh;
struct msgcache;
struct negcache;
struct places;
struct query;
struct random;
struct ratelimit;
struct roll;
struct rrsetcache;
struct snapshot;
struct settled;
struct stats;
struct tap;
struct timebase;
struct trace;
struct upstream;
struct waits;
struct witness;

/* The caches of the clients of a view whose questions go elsewhere (services/views.h): what is found for
 * others is not in them, nor the other way round. No denials are kept for other names. */
struct scope_caches {
	struct rrsetcache *rrsets;
	struct negcache *negative;
	struct keycache *keys;
};

/* Per worker; the caches are the same for all workers. */
struct env {
	struct loop *loop;
	struct timebase *time;          /* the loop's */
	struct random *random;
	struct stats *stats;
	struct snapshot *snapshot;      /* current; replaced between turns */
	struct msgcache *messages;
	struct rrsetcache *rrsets;
	struct infra *infra;
	struct keycache *keys;          /* the validator's; NULL: there is none */
	struct negcache *negative;
	struct places *places;          /* for which subnets there are answers; NULL: for none */
	struct scope_caches *scopes;    /* by number less one */
	unsigned scope_count;
	struct cachedb *cachedb;        /* the module's, where it is in use */
	struct ratelimit *client_rates, *zone_rates;
	struct waits *waits;            /* answers that clients wait for; NULL: not counted (tests) */
	struct upstream *upstream;
	uint32_t ports_most;            /* that may be open to ask from; 0: outgoing-range says */
	struct mesh *mesh;
	unsigned checks;                /* of signatures, since queries that had yielded went on */
	uint32_t unwanted;              /* answers to no question of ours, since caches were emptied */
	void (*emptied)(void *arg);     /* called when they were, by who keeps copies; or NULL */
	void *emptied_arg;
	struct loader *loader;          /* slow work goes there; NULL: there is none (played) */
	struct trace *trace;            /* whoever is taken now tells what happens; mostly NULL */
	struct tap *tap;                /* what goes by is told there; NULL: to nobody */
	struct settled *settled;        /* what settles a question here is told to it; mostly NULL */
	struct witness *witness;        /* keeps what becomes of questions; NULL: nobody does */
	bool leads;                     /* the one worker that does what is done once for all */
	struct roll *roll;              /* the validator's, where this worker leads */
	struct clock_watch *clock;      /* the same */
	/* The validator's: the name of the trust anchor that `name` (type DS: what is above it) stands
	 * under, NULL where nothing is validated. Good for the turn. NULL: there is no validator. */
	const uint8_t *(*trust_point)(const struct query *q, const uint8_t *name, uint16_t type);
};

#endif
