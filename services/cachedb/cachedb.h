/* The module cachedb: a store of answers outside this process, behind the caches in memory.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * It sits directly above the module that queries servers. What is not cached in memory is looked
 * up in the store first, and servers' answers are written to it, for later and for other resolvers
 * that use the same store. The store is trusted no more than a server: the validator above
 * validates its answers again, and without a validator the store must be as secure as this
 * machine. A slow or unavailable store costs a query its timeout at most, and nothing while it is
 * known to be down.
 *
 * Neither looked up nor written: answers for views (scopes), answers that must not be cached
 * (forward-no-cache, policy zones, client subnets), failures, and data from the parent's side. */
#ifndef SERVICES_CACHEDB_CACHEDB_H
#define SERVICES_CACHEDB_CACHEDB_H

#include "services/query/module.h"

struct cachedb;
struct cachedb_keys;
struct conf;
struct question;

extern const struct module cachedb_module;

/* Keys to be removed from the store ("+c" of the flush commands). Any thread. */
struct cachedb_keys *cachedb_keys_new(const struct conf *conf) MUST_USE;
void cachedb_keys_add(struct cachedb_keys *k, const struct question *q);
/* Remove them from the store and free `k`. Called in the worker's own thread; without a store it
 * only frees. */
void cachedb_remove(struct cachedb *db, struct cachedb_keys *k);
void cachedb_keys_free(struct cachedb_keys *k); /* NULL is fine */

#endif
