/* Which zones a locked table has, for readers without the lock.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A zone is its 64-bit keyed hash. Each slot of a fixed table is one atomic word: how many zones hash to it, their hashes
 * combined, and, if it is one, what that zone is good for. Most names on the way up of a question belong to no zone of the
 * table: one relaxed load then tells, and nothing that is shared is written.
 *
 * Shared: the words, written by whoever holds the lock of the table, in any order; a reader may see a change
 * late, as if it had asked earlier. */
#ifndef SERVICES_CACHE_PRESENCE_H
#define SERVICES_CACHE_PRESENCE_H

#include <stdatomic.h>

#include "util/base/base.h"

enum presence {
	PRESENCE_NONE, /* no such zone */
	PRESENCE_OPT_OUT, /* it has NSEC3 records, some with opt-out, and no NSEC records */
	PRESENCE_SOME, /* anything else, or the slot does not tell */
};

struct presences;

/* `least` slots, rounded up to a power of two; as many as zones are expected is enough. */
struct presences *presences_new(size_t least) MUST_USE;
/* At once, or when no turn sees it any more (util/base/rcu.h); NULL is fine. */
void presences_free(struct presences *p);
void presences_retire(struct presences *p);
/* Bytes of memory it takes. */
size_t presences_bytes(const struct presences *p);

/* Any thread. PRESENCE_NONE and PRESENCE_OPT_OUT are certain but for hashes that agree in 46 bits and the slot. */
enum presence presences_look(const struct presences *p, uint64_t hash);

/* With the table's lock. A zone that is added counts as PRESENCE_SOME until presences_say. */
void presences_add(struct presences *p, uint64_t hash);
void presences_remove(struct presences *p, uint64_t hash);
void presences_say(struct presences *p, uint64_t hash, enum presence what);

#endif
