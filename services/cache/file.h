/* The cache file: what is cached goes to disk, and comes back at the next start.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Answers and record sets are kept, for everybody (scope 0) and good; not what is known of servers,
 * nor keys and proven ranges: keys are only proven, and what follows from them is found out again.
 *
 * Nothing that is read counts as proven. What was SECURE comes back unchecked, and is judged, from the
 * trust anchors of now, when somebody asks for it, with the keys and delegations that the file
 * has. What cannot be proven (insecure, or never judged) comes back as it was, if the same judge
 * would say so: where `judge` is another one, it is left out. Where answers are given another
 * shape before they are kept (`shape`), nothing is used.
 *
 * TTLs go on being counted while the daemon is away. The time that has passed is what the wall clock
 * says, but no less than the monotonic clock does; where the wall clock stands before the file's,
 * nobody knows, and nothing is used. */
#ifndef SERVICES_CACHE_FILE_H
#define SERVICES_CACHE_FILE_H

#include <stdatomic.h>

#include "services/cache/file_block.h"
#include "util/timebase.h"

struct fault;
struct msgcache;
struct rrsetcache;

struct cachefile_how {
	struct msgcache *messages;
	struct rrsetcache *rrsets;
	struct timebase now;
	uint64_t judge;           /* stands for all by which answers are judged */
	uint32_t shape;           /* stands for all by which they are changed before they are kept */
	uint32_t most_ttl_s;      /* reading: nothing lives longer (cache-max-ttl) */
	uint32_t expired_s;       /* answers that expired so long ago are of use (serve-expired) */
	bool validates;           /* reading: what is unchecked will be judged before it is used */
	const atomic_bool *stop;  /* end early; NULL: never */
};

struct cachefile_count {
	uint64_t bytes;
	uint64_t sets, answers;
	uint64_t expired; /* reading: left out because their time is over */
	uint64_t passed;  /* left out for other reasons */
};

/* Where bytes go; false with a sentence when they cannot. */
typedef bool cachefile_push(void *arg, const uint8_t *at, size_t len, struct fault *f);

/* On a thread that has joined RCU, outside a turn; as the next three. False with a sentence when
 * `push` said so, or it was stopped. */
bool cachefile_write(const struct cachefile_how *how, cachefile_push *push, void *arg,
		     struct cachefile_count *count, struct fault *f) MUST_USE;

/* Into the caches, beside what stands there already. False with a sentence when not all of it could be
 * used; what was whole before that place is used. */
bool cachefile_read(const struct cachefile_how *how, block_pull *pull, void *arg,
		    struct cachefile_count *count, struct fault *f) MUST_USE;

/* The same to and from a file. Written aside (path + ".new"), forced to the disk, and then given the
 * name, so that there always is a whole file; readable for its owner alone. A file that is no cache
 * file is not written over. */
bool cachefile_save(const char *path, const struct cachefile_how *how,
		    struct cachefile_count *count, struct fault *f) MUST_USE;

/* Only a plain file of this user or of root, into which nobody else may write, is read. That there is
 * none is no failure: then count->bytes is 0. */
bool cachefile_load(const char *path, const struct cachefile_how *how,
		    struct cachefile_count *count, struct fault *f) MUST_USE;

#endif
