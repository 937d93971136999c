/* A clock that cannot be right: routers without a battery boot in 1970 (val-clock-tolerance).
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Without the time no signature is valid, and without DNS there is no time from the network. So
 * while the clock is behind the newest time this installation knows of (its anchor files, its own
 * release), signatures are checked without regard to their dates, and the log says so. Once the
 * clock has passed that time, everything validated meanwhile is forgotten. The same applies to the
 * certificates of servers. A clock may also be set back while we run: each worker notices by what it validates. */
#ifndef VALIDATOR_CLOCK_H
#define VALIDATOR_CLOCK_H

#include "util/base/base.h"

struct clock_watch;
struct conf;
struct env;
struct trust_store;

/* The time before which the clock must be wrong, in seconds since 1970; 0: it is always believed.
 * Without a store (nothing is validated) it is the date of this release. */
int64_t clock_floor(const struct conf *conf, const struct trust_store *t);

bool clock_is_behind(const struct trust_store *t, int64_t wall_s);

/* Log the state of the clock, if this worker leads, and watch until it is right. */
struct clock_watch *clock_watch_new(struct env *env) MUST_USE;
void clock_watch_renew(struct clock_watch *w);  /* env->snapshot has been replaced */
/* Whether a signature is to be checked without its dates now; if so, it is watched until that ends. */
bool clock_leaves_dates_open(const struct env *env, const struct trust_store *t);
void clock_watch_free(struct clock_watch *w);   /* NULL is fine */

#endif
