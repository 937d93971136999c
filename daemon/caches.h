/* What all workers share: answers, record sets, and what is known of other servers.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAEMON_CACHES_H
#define DAEMON_CACHES_H

#include "util/base.h"

struct conf;
struct infra;
struct keycache;
struct msgcache;
struct negcache;
struct places;
struct ratelimit;
struct rrsetcache;
struct waits;

struct caches {
	struct msgcache *messages;
	struct rrsetcache *rrsets;
	struct infra *infra;
	struct keycache *keys;
	struct negcache *negative;
	struct places *places; /* NULL: nobody tells clients apart by where they are */
	struct ratelimit *client_rates, *zone_rates;
	struct waits *waits;
};

/* Empty caches of the sizes that `conf` asks for. */
void caches_init(struct caches *c, const struct conf *conf);
void caches_clear(struct caches *c); /* no worker is left */
/* The process ends, and they with it. To free millions of entries one by one takes seconds in which
 * the next process could answer already. */
void caches_leave(struct caches *c);

/* From the sizes of one configuration to those of another; what they hold stays as far as it fits.
 */
void caches_resize(struct caches *c, const struct conf *before, const struct conf *conf);

#endif
