/* The cache file: saves the caches to disk and restores them at the next start.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Good answers and RRsets of scope 0 are saved; what is known of servers, validated keys and denied
 * ranges are not: they are learnt or proven again.
 *
 * Nothing that is read back counts as validated. What was SECURE comes back unchecked and is
 * validated on demand, from the current trust anchors, with the keys and delegations in the file.
 * What cannot be proven (insecure, or never validated) comes back as it was, but only where the
 * same settings decide on it: with another `validation` it is skipped. Where answers are changed in
 * another way before they are cached (`shape`), nothing is used; of a zone that is asked for
 * elsewhere now (`zones`), nothing at or below it.
 *
 * TTLs keep running while the daemon is down. The time elapsed is that of the wall clock, but no
 * less than that of the monotonic clock; when the wall clock is behind the file's, it is unknown,
 * and nothing is used. */
#ifndef SERVICES_CACHEFILE_CACHEFILE_H
#define SERVICES_CACHEFILE_CACHEFILE_H

#include <stdatomic.h>

#include "services/cachefile/block.h"
#include "services/cachefile/zones.h"
#include "util/base/timebase.h"

struct fault;
struct msgcache;
struct rrsetcache;

struct cachefile_how {
	struct msgcache *messages;
	struct rrsetcache *rrsets;
	struct timebase now;
	uint64_t validation;           /* identifies the settings by which answers are validated */
	uint32_t shape;           /* identifies those by which they are changed before caching */
	struct keptzones zones;   /* forward, stub and auth zones */
	uint32_t most_ttl_s;      /* reading: upper bound of TTLs (cache-max-ttl) */
	uint32_t expired_s;       /* keep answers expired for up to so long (serve-expired) */
	bool validates;           /* reading: unchecked data will be validated before use */
	const atomic_bool *stop;  /* end early; NULL: never */
};

struct cachefile_count {
	uint64_t bytes;
	uint64_t sets, answers;
	uint64_t expired; /* reading: skipped as expired */
	uint64_t passed;  /* skipped for other reasons */
	int64_t written_s; /* reading: wall clock of when it was written; 0: unknown */
};

/* Takes the bytes written; false with a sentence in `f` when it cannot. */
typedef bool cachefile_push(void *arg, const uint8_t *at, size_t len, struct fault *f);

/* This and the next three: on a thread that has joined RCU, outside a turn. False with a sentence
 * in `f` when `push` failed or it was stopped. */
bool cachefile_write(const struct cachefile_how *how, cachefile_push *push, void *arg,
		     struct cachefile_count *count, struct fault *f) MUST_USE;

/* Read into the caches, beside what is there already. False with a sentence in `f` when it could
 * be used only in part or not at all; everything sound before that point is used. */
bool cachefile_read(const struct cachefile_how *how, block_pull *pull, void *arg,
		    struct cachefile_count *count, struct fault *f) MUST_USE;

/* As cachefile_write, to a file: written to path + ".new", synced to disk and renamed, so that
 * there always is a whole file; readable by its owner only. A file that is not a cache file is not
 * overwritten. */
bool cachefile_save(const char *path, const struct cachefile_how *how,
		    struct cachefile_count *count, struct fault *f) MUST_USE;

/* As cachefile_read, from a file. It must be a regular file of this user or of root that nobody
 * else may write to. A missing file is no failure: count->bytes is then 0. */
bool cachefile_load(const char *path, const struct cachefile_how *how,
		    struct cachefile_count *count, struct fault *f) MUST_USE;

#endif
