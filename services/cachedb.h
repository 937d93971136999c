/* The module cachedb: a store of answers outside of this process, behind the caches in memory.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * It stands right above the module that asks servers. What the caches do not know is looked up in
 * the store first, and what servers say is written there, for later and for other resolvers that
 * use the same store. Nothing that comes from there is believed more than a server would be: the
 * validator above judges it anew, and without one the store must be as safe as this machine. A
 * store that is slow or away costs a question its time-out at most, and nothing while it is known
 * to be away.
 *
 * Not looked up, and not written: answers for views (scopes), what no cache may keep
 * (forward-no-cache, policy zones, client subnets), failures, and what the parent's side says. */
#ifndef SERVICES_CACHEDB_H
#define SERVICES_CACHEDB_H

#include "services/module.h"

struct cachedb;
struct cachedb_keys;
struct conf;
struct question;

extern const struct module cachedb_module;

/* Whether expired answers have to wait for what the store says (cachedb-check-when-serve-expired).
 */
bool cachedb_is_asked_first(const struct conf *conf) PURE;

/* Keys of what is to be removed from the store ("+c" of the flush commands). Any thread. */
struct cachedb_keys *cachedb_keys_new(const struct conf *conf) MUST_USE;
void cachedb_keys_add(struct cachedb_keys *k, const struct question *q);
/* Removes them, in the worker's own thread, and frees `k`. Where there is no store it just frees.
 */
void cachedb_remove(struct cachedb *db, struct cachedb_keys *k);
void cachedb_keys_free(struct cachedb_keys *k); /* NULL is fine */

#endif
