/* The caches all workers share: answers, RRsets, and what is known about servers.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAEMON_WORKER_CACHES_H
#define DAEMON_WORKER_CACHES_H

#include "util/base/base.h"

struct conf;
struct infra;
struct keycache;
struct msgcache;
struct aggressive;
struct subnet_index;
struct ratelimit;
struct rrsetcache;
struct waits;

struct caches {
	struct msgcache *messages;
	struct rrsetcache *rrsets;
	struct infra *infra;
	struct keycache *keys;
	struct aggressive *negative;
	struct subnet_index *subnet_index; /* NULL: client subnets are not in use */
	struct ratelimit *client_rates, *zone_rates;
	struct waits *waits;
};

/* Make empty caches of the configured sizes. */
void caches_init(struct caches *c, const struct conf *conf);
void caches_clear(struct caches *c); /* once no worker is left */
/* For use as the process exits: leaks them. Freeing millions of entries one by one takes seconds in
 * which the next process could already answer. */
void caches_leave(struct caches *c);

/* Remove all answers, RRsets and denials. Walks them in strides: outside a turn, on a thread that
 * has joined RCU. */
struct caches_gone {
	size_t answers, sets, denials;
};
struct caches_gone caches_empty(const struct caches *c);

/* Change from one configuration's sizes, and how long what has expired is kept, to another's; entries stay
 * as far as they fit. */
void caches_resize(struct caches *c, const struct conf *before, const struct conf *conf);

#endif
