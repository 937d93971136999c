/* The engine under every cache: immutable entries, a byte budget, SIEVE, reads without locks.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A slab cache is a power of two of slabs, each with its own hash table, queue,
 * budget and writers' lock. Entries embed struct slab_entry at their start and
 * come from mem_new; from slab_put on they belong to the cache and are read-only.
 * What a find returns is borrowed for the turn (util/rcu.h). To change an entry,
 * put a new one. */
#ifndef SERVICES_CACHE_SLAB_H
#define SERVICES_CACHE_SLAB_H

#include <stdatomic.h>

#include "util/list.h"
#include "util/rcu.h"

struct slab_entry {
	_Atomic(struct slab_entry *) next; /* chain of the bucket */
	union {
		struct list queue;       /* writers only */
		struct rcu_slot retired; /* once out of the queue */
	};
	uint32_t hash;        /* upper half of the hash */
	uint16_t units;       /* of 16 bytes that malloc took, set by slab_put */
	_Atomic uint8_t seen; /* SIEVE's bit */
	uint8_t spare;        /* free for the entry's own use */
};

#define SLAB_ENTRY_MAX (65535 * 16) /* bytes of the largest entry */

/* The entry that `release` is given. */
static inline struct slab_entry *slab_entry_of(struct rcu_slot *retired)
{
	return container_of(retired, struct slab_entry, retired);
}

struct slab;

struct slab_how {
	const char *name; /* for statistics; a constant */
	size_t budget;    /* bytes, all slabs together, tables included */
	unsigned slabs;   /* rounded up to a power of two; 0 is 1 */
	size_t typical;   /* bytes of a usual entry: sizes the tables */
	/* Whether the new entry takes the place of the standing one (same key). */
	bool (*same)(const struct slab_entry *newer, const struct slab_entry *standing);
	/* Whether it may be evicted before anything else now. May be NULL. */
	bool (*is_stale)(const struct slab_entry *e, uint32_t now_s);
	/* Whether it is of no use to anybody once it is stale, slab_keep_stale or not. May be NULL. */
	bool (*is_brief)(const struct slab_entry *e);
	/* Bytes that go with an entry beside its own, as far as that can be said when it is put in. May
	 * be NULL. */
	size_t (*beside)(const struct slab_entry *e);
	/* Free it: slab_entry_of(retired); NULL: mem_free. On any thread. */
	void (*release)(struct rcu_slot *retired);
};

struct slab *slab_new(const struct slab_how *how) MUST_USE;
void slab_free(struct slab *s); /* no reader is left */

/* What a walk needs of the engine; the rest is its own. The table has room for every entry the
 * budget allows, of which only the first buckets are in use: one more with each entry more, so that
 * a cache that holds little stays where the processor can reach it. */
struct slab_table {
	struct rcu_slot retired;
	uint32_t most;         /* buckets there is room for; a power of two */
	_Atomic uint32_t live; /* buckets in use */
	_Atomic(struct slab_entry *) bucket[];
};

struct slab_front { /* every struct slab begins so */
	_Atomic(struct slab_table *) table;
};

static inline struct slab_entry *slab_match(struct slab_entry *e, uint64_t hash)
{
	while (e && e->hash != (uint32_t)(hash >> 32))
		e = RCU_READ(e->next);
	return e;
}

/* Linear hashing: where the bucket that the hash names is not there yet, its entries are in the one
 * that it will be split from. */
static inline uint32_t slab_index(uint32_t hash, uint32_t live)
{
	uint32_t mask = UINT32_MAX >> __builtin_clz((live - 1) | 1), i = hash & mask;

	return i < live ? i : i - (mask + 1) / 2;
}

/* Walk the entries with this hash:
 *     for (e = slab_first(s, h); e; e = slab_next(e, h))
 *             if (it is the one) { slab_saw(e); return it; } */
static inline struct slab_entry *slab_first(const struct slab *s, uint64_t hash)
{
	const struct slab_table *t = RCU_READ(((const struct slab_front *)(const void *)s)->table);

	uint32_t i = slab_index((uint32_t)(hash >> 32), RCU_READ(t->live));

	return slab_match(RCU_READ(t->bucket[i]), hash);
}

static inline struct slab_entry *slab_next(const struct slab_entry *e, uint64_t hash)
{
	return slab_match(RCU_READ(e->next), hash);
}

static inline void slab_saw(struct slab_entry *e)
{
	if (!atomic_load_explicit(&e->seen, memory_order_relaxed))
		atomic_store_explicit(&e->seen, 1, memory_order_relaxed);
}

/* Stale entries count as stale only so long after they have become it (serve-expired-ttl;
 * SLAB_FOREVER). 0 at first. */
#define SLAB_FOREVER (UINT32_C(1) << 30)
void slab_keep_stale(struct slab *s, uint32_t grace_s);

/* Add `e`, in place of every entry that is the same; evict what the budget asks.
 * An entry larger than a slab's whole budget is released at once, but what is the same goes. */
void slab_put(struct slab *s, uint64_t hash, struct slab_entry *e, uint32_t now_s);

/* As slab_put, but only if `may(old, arg)` says so of every same entry that stands
 * there (of NULL when there is none); else `e` is released and false comes back. Asked under
 * the slab's lock. */
bool slab_put_if(struct slab *s, uint64_t hash, struct slab_entry *e, uint32_t now_s,
		 bool (*may)(const struct slab_entry *old, void *arg), void *arg);

/* Take out every entry of this hash of which `is(e, arg)` holds; how many. */
size_t slab_remove(struct slab *s, uint64_t hash, bool (*is)(const struct slab_entry *e, void *arg),
		   void *arg);

/* Show every entry to `keep` (NULL: none is wanted), take out those it does not want; how many
 * went. No lock is held while `keep` looks. Works through small strides in turns of its own:
 * call it outside a turn or accept that the turn becomes long. */
size_t slab_sweep(struct slab *s, bool (*keep)(const struct slab_entry *e, void *arg), void *arg);

/* A walk in strides, for who has slow things to do in between; begins zeroed. */
struct slab_walk {
	size_t part;
	uint64_t at; /* bucket */
	const struct slab_table *table;
	bool begun;
};

/* Show some more entries to `each`, in a turn of their own, on a thread that has joined RCU; false
 * when there are no more. What stands there all the while is shown, and may be shown twice. */
bool slab_walk(struct slab *s, struct slab_walk *w,
	       void (*each)(const struct slab_entry *e, void *arg), void *arg);

/* Another budget: smaller ones evict, the entries stay. While it runs a reader may miss an entry,
 * as it may one whose bucket is just being split. */
void slab_resize(struct slab *s, size_t budget);
void slab_clear(struct slab *s);

struct slab_count {
	size_t entries, bytes, budget;
	size_t longest; /* chain that an entry has been put into */
	uint64_t evictions;
};

struct slab_count slab_counted(const struct slab *s);

#endif
