/* A clock that cannot be right: routers without a battery boot in 1970.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Without a clock no signature is in time, without names there is no time from the network. So
 * while the clock stands before the newest time this installation knows of (its anchor files, its own
 * release), signatures are checked without looking at their dates, and that is said. When the
 * clock has passed it, all that was validated in between is forgotten. The same goes for the
 * certificates of servers. val-clock-tolerance. */
#ifndef VALIDATOR_CLOCK_H
#define VALIDATOR_CLOCK_H

#include "util/base.h"

struct clock_watch;
struct conf;
struct env;
struct trust_store;

/* The time before which the clock is wrong; 0: it is always believed. Without a store (nothing is
 * validated) it is what this release knows. */
int64_t clock_floor(const struct conf *conf, const struct trust_store *t);

bool clock_is_behind(const struct trust_store *t, int64_t wall_s);

/* Say how things stand, and watch until they are right; one worker does. */
struct clock_watch *clock_watch_new(struct env *env) MUST_USE;
void clock_watch_renew(struct clock_watch *w);  /* env->snapshot is another one */
void clock_watch_free(struct clock_watch *w);   /* NULL is fine */

#endif
