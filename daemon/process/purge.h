/* Empties the caches on a thread of its own, wholly or in part, when what is in them can no longer be trusted.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAEMON_PROCESS_PURGE_H
#define DAEMON_PROCESS_PURGE_H

#include "util/base/base.h"

struct caches;
struct forget;
struct cache_keeper;
struct loop;
struct purge;

/* `home`: the main thread's loop. Of the main thread are all functions but purge_all and purge_some. */
struct purge *purge_new(struct loop *home, const struct caches *caches,
			struct cache_keeper *cache_keeper) MUST_USE;
/* Finishes what is under way or due. NULL is fine. */
void purge_free(struct purge *p);

/* Have the caches emptied: `purge` is a struct purge (env->purge). From any thread; no caller
 * waits. What is learned before the walk comes by is removed, too. */
void purge_all(void *purge);
/* The same of this alone, which is taken over (env->forget). */
void purge_some(void *purge, struct forget *what);

/* Wait until what was asked for is done, for when the home loop no longer runs. */
void purge_finish(struct purge *p);

#endif
