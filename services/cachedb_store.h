/* Stores for the module cachedb: bytes by key, somewhere outside of the caches.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * One per worker, used by its thread only. */
#ifndef SERVICES_CACHEDB_STORE_H
#define SERVICES_CACHEDB_STORE_H

#include "services/cachedb_entry.h"

struct cachedb_store;
struct conf;
struct env;

/* One lookup: embedded, and `found` set, by who looks something up. */
struct cachedb_find {
	/* Called once, within find or later. value.at is NULL when it is not there or did not come
	 * in time; what it points to is good for the call. */
	void (*found)(struct cachedb_find *f, struct slice value);
	void *pending; /* the store's; NULL: it does not know of it */
};

struct cachedb_store_ops {
	/* False, and `found` is not called: the store cannot be asked now. */
	bool (*find)(struct cachedb_store *s, const char *key, struct cachedb_find *f);
	void (*forget)(struct cachedb_store *s,
		       struct cachedb_find *f); /* do not call it any more */
	/* Both are best effort. `expires_s`: seconds after which the store may drop it, 0: never.
	 */
	void (*put)(struct cachedb_store *s, const char *key, struct slice value,
		    uint32_t expires_s);
	void (*remove)(struct cachedb_store *s, const char *key);
	void (*free)(struct cachedb_store *s); /* what is looked up is not found */
};

struct cachedb_store {
	const struct cachedb_store_ops *ops;
};

/* "testframe": one entry, in memory. For tests: what a store does can be seen without one. */
struct cachedb_store *cachedb_frame_new(void) MUST_USE;

/* A Redis server, `replica`: the one to read from. It connects in the loop's next turn, and again
 * and again while that fails. */
struct cachedb_store *cachedb_redis_new(struct env *env, const struct conf *conf,
					bool replica) MUST_USE;

#endif
