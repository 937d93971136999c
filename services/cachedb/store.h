/* Stores for the module cachedb: bytes by key, outside the caches.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * One per worker, used by its thread only. */
#ifndef SERVICES_CACHEDB_STORE_H
#define SERVICES_CACHEDB_STORE_H

#include "services/cachedb/entry.h"

struct cachedb_store;
struct conf;
struct env;

/* One lookup, embedded in the caller's struct; the caller sets `found`. */
struct cachedb_find {
	/* Called once, from within find or later. value.at is NULL when there is no such value or
	 * it did not come in time; what it points to is valid during the call. */
	void (*found)(struct cachedb_find *f, struct slice value);
	void *pending; /* the store's; NULL: not under way */
};

struct cachedb_store_ops {
	/* False when the store cannot be asked now; `found` is then not called. */
	bool (*find)(struct cachedb_store *s, const char *key, struct cachedb_find *f);
	void (*forget)(struct cachedb_store *s,
		       struct cachedb_find *f); /* do not call `found` any more */
	/* Both are best effort. The store may drop the value after `expires_s` seconds; 0: never.
	 */
	void (*put)(struct cachedb_store *s, const char *key, struct slice value,
		    uint32_t expires_s);
	void (*remove)(struct cachedb_store *s, const char *key);
	void (*free)(struct cachedb_store *s); /* pending lookups end as not found */
};

struct cachedb_store {
	const struct cachedb_store_ops *ops;
};

/* "testframe": a single entry in memory, for tests without a server. */
struct cachedb_store *cachedb_frame_new(void) MUST_USE;

/* A Redis server; `replica`: the one to read from. It connects in the loop's next turn and retries
 * while that fails. */
struct cachedb_store *cachedb_redis_new(struct env *env, const struct conf *conf,
					bool replica) MUST_USE;

#endif
