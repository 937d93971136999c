/* What a worker's rooms share: handed in, never global.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SERVICES_ENV_H
#define SERVICES_ENV_H

#include "util/base.h"

struct infra;
struct loop;
struct mesh;
struct msgcache;
struct random;
struct rrsetcache;
struct snapshot;
struct stats;
struct timebase;
struct upstream;

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
	struct upstream *upstream;
	struct mesh *mesh;
};

#endif
