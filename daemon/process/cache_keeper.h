/* Keeps the caches over a restart: reads cache-file at startup, and writes it periodically.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Reading and writing happen on another thread; no answer waits for them. The file is not written
 * while it is being read. All but cache_keeper_save and cache_keeper_disturb belong to the main thread. */
#ifndef DAEMON_PROCESS_CACHE_KEEPER_H
#define DAEMON_PROCESS_CACHE_KEEPER_H

#include "services/cachefile/cachefile.h"

struct caches;
struct fault;
struct cache_keeper;
struct loop;
struct snapshot;

struct cache_keeper *cache_keeper_new(struct loop *l, const struct caches *caches) MUST_USE;

/* Follow the configuration of `s`. `inside`: the process is in its chroot. */
void cache_keeper_adopt(struct cache_keeper *k, const struct snapshot *s, bool inside);

/* Begin to read the file. Once, after the first cache_keeper_adopt. */
void cache_keeper_begin(struct cache_keeper *k);

/* Write the file now, on any thread. False, with a sentence in `f`, on failure. */
bool cache_keeper_save(struct cache_keeper *k, struct fault *f) MUST_USE;

/* Something was flushed from the caches that must not come back: stop reading the file, and write
 * it again soon. From any thread. */
void cache_keeper_disturb(struct cache_keeper *k);

/* Before shutdown: write the file once more, if the daemon has served (`serves`). This may take
 * long; workers may keep serving clients meanwhile. NULL is fine; cache_keeper_free comes next. */
void cache_keeper_end(struct cache_keeper *k, bool serves);
/* Once no worker runs. Removes from the file what was flushed meanwhile. NULL is fine. */
void cache_keeper_free(struct cache_keeper *k);

struct cache_keeper_report {
	bool keeps;                     /* cache-file is configured */
	bool reading;                   /* it is still being read */
	struct cachefile_count read;
	struct cachefile_count written; /* the last successful time; before the first, what was read */
	int64_t written_s;              /* wall clock of that; 0: never */
	uint64_t took_us;               /* likewise; 0 for what was read */
	uint64_t failures;              /* failed attempts to write it */
};

struct cache_keeper_report cache_keeper_tell(struct cache_keeper *k);

#endif
