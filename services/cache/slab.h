/* The engine under every cache: immutable entries, a byte budget, SIEVE, lock-free reads.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A slab cache has a power of two of slabs, each with its own queue, budget and writers' lock, and
 * its share of the hash table's buckets. Entries embed struct slab_entry at their start and come
 * from mem_new; from slab_put on they belong to the cache and are read-only. What a lookup returns
 * is borrowed for the turn (util/base/rcu.h). To change an entry, put a new one. */
#ifndef SERVICES_CACHE_SLAB_H
#define SERVICES_CACHE_SLAB_H

#include <stdatomic.h>

#include "util/base/list.h"
#include "util/base/rcu.h"

struct slab_entry {
	_Atomic(struct slab_entry *) next; /* chain of the bucket */
	union {
		struct list queue;       /* writers only */
		struct rcu_slot retired; /* once out of the queue */
	};
	uint32_t hash;        /* upper half of the hash */
	uint16_t units;       /* its allocated size in units of 16 bytes, set by slab_put */
	_Atomic uint8_t seen; /* SIEVE's bit; above it, the generation it was put in */
	uint8_t spare;        /* free for the entry's own use */
};

#define SLAB_ENTRY_MAX (65535 * 16) /* bytes of the largest entry */

/* The entry of the slot that `release` is given. */
static inline struct slab_entry *slab_entry_of(struct rcu_slot *retired)
{
	return container_of(retired, struct slab_entry, retired);
}

struct slab;

struct slab_how {
	const char *name; /* for statistics; a constant */
	size_t budget;    /* bytes, all slabs together, tables included */
	unsigned slabs;   /* rounded up to a power of two; 0 means 1 */
	size_t typical;   /* bytes of a typical entry: sizes the tables */
	/* Whether the new entry replaces the existing one (same key). */
	bool (*same)(const struct slab_entry *newer, const struct slab_entry *standing);
	/* Whether it may now be evicted before anything else. May be NULL. */
	bool (*is_stale)(const struct slab_entry *e, uint32_t now_s);
	/* Whether it is useless once stale, whatever slab_keep_stale says. May be NULL. */
	bool (*is_brief)(const struct slab_entry *e);
	/* Bytes an entry uses elsewhere, as far as known when it is put in. May be NULL. */
	size_t (*beside)(const struct slab_entry *e);
	/* Free slab_entry_of(retired), on any thread. NULL: mem_free. */
	void (*release)(struct rcu_slot *retired);
};

struct slab *slab_new(const struct slab_how *how) MUST_USE;
void slab_free(struct slab *s); /* no reader may be left */

/* The part of the engine that lookups need; the rest is private. The table has room for every entry
 * the budget allows, but only the first buckets are in use, one more with each entry added, so that
 * the table of a small cache stays in the processor's cache. */
struct slab_table {
	struct rcu_slot retired;
	uint32_t most;         /* buckets allocated; a power of two */
	_Atomic uint32_t live; /* buckets in use */
	_Atomic(struct slab_entry *) bucket[];
};

/* What no longer counts, of all that was put in before (slab_forget_begin). */
struct slab_rule {
	bool (*goes)(const struct slab_entry *e, const void *arg);
	const void *arg;
};

struct slab_front { /* the beginning of every struct slab */
	_Atomic(struct slab_table *) table;
	_Atomic(const struct slab_rule *) rule; /* NULL: everything counts */
};

static inline struct slab_entry *slab_match(struct slab_entry *e, uint64_t hash)
{
	while (e && e->hash != (uint32_t)(hash >> 32))
		e = RCU_READ(e->next);
	return e;
}

/* Linear hashing: while the bucket selected by the hash is not in use yet, its entries are in the
 * one it will be split from. */
static inline uint32_t slab_index(uint32_t hash, uint32_t live)
{
	uint32_t mask = UINT32_MAX >> __builtin_clz((live - 1) | 1), i = hash & mask;

	return i < live ? i : i - (mask + 1) / 2;
}

/* Iterate over the entries with this hash:
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

#define SLAB_SEEN        1
#define SLAB_GENERATIONS 127 /* they are 1 … SLAB_GENERATIONS; 0 is of threads that are in none */

/* What an entry of this thread's generation has in `seen`, once it was seen. */
extern _Thread_local uint8_t slab_mark;

bool slab_counts_still(const struct slab *s, struct slab_entry *e);
/* The same for who only looks at it. */
bool slab_counts(const struct slab *s, const struct slab_entry *e);

/* A lookup has found it. False: it no longer counts (slab_forget_begin), look on. */
static inline bool slab_saw(const struct slab *s, struct slab_entry *e)
{
	return LIKELY(atomic_load_explicit(&e->seen, memory_order_relaxed) == slab_mark) ||
	       slab_counts_still(s, e);
}

/* Stale entries are evicted early only from `grace_s` seconds after they became stale
 * (serve-expired-ttl; SLAB_FOREVER: never). Initially 0. */
#define SLAB_FOREVER (UINT32_C(1) << 30)
void slab_keep_stale(struct slab *s, uint32_t grace_s);

/* Add `e` in place of every entry with the same key; evict as the budget requires. An entry larger
 * than a slab's whole budget is released at once, but still removes those with the same key. */
void slab_put(struct slab *s, uint64_t hash, struct slab_entry *e, uint32_t now_s);

/* As slab_put, but only if `may(old, arg)` is true of every entry with the same key (of NULL when
 * there is none); otherwise releases `e` and returns false. `may` is called under the slab's lock;
 * NULL allows all. */
bool slab_put_if(struct slab *s, uint64_t hash, struct slab_entry *e, uint32_t now_s,
		 bool (*may)(const struct slab_entry *old, void *arg), void *arg);

/* Remove every entry with this hash for which `is(e, arg)` is true; returns how many. */
size_t slab_remove(struct slab *s, uint64_t hash, bool (*is)(const struct slab_entry *e, void *arg),
		   void *arg);

/* Call `keep` for every entry and remove those for which it is false (`keep` NULL: all); returns
 * how many. No lock is held during `keep`. Works in small strides, each in a turn of its own: call
 * it outside a turn, or accept a long one. */
size_t slab_sweep(struct slab *s, bool (*keep)(const struct slab_entry *e, void *arg), void *arg);

/* ---- when the configuration changes ----
 *
 * What older configurations shaped must not be found any more, although it takes long to walk a cache, and
 * workers change over one after the other. So each entry knows the generation of the thread that put it
 * in, and while there is a rule, entries of other generations than the reader's count only if the rule lets them.
 *
 *	slab_forget_begin(s, &rule);     the rule must not let what the new configuration contradicts
 *	every worker:                    slab_enter(g), a generation not used lately, and from then on
 *	                                 nothing is put in that was found before
 *	slab_forget(s, g, &stop);        once they all have: removes it; the others become of generation g
 *	slab_forget_end(s);              the rule may be freed after a grace period (rcu_wait) */

void slab_forget_begin(struct slab *s, const struct slab_rule *rule);
/* The calling thread is in this generation from now on. */
void slab_enter(uint8_t generation);
/* Walks in strides, as slab_sweep; returns how many it removed. Where `stop` became true, not everything was walked
 * and the rule must stay. */
size_t slab_forget(struct slab *s, uint8_t generation, const atomic_bool *stop);
void slab_forget_end(struct slab *s);

/* State of a walk in strides, for callers with slow work in between; begins zeroed. */
struct slab_walk {
	size_t part;
	uint64_t at; /* bucket */
	const struct slab_table *table;
	bool begun;
	unsigned stride; /* buckets per call; 0: as many as a sweep takes */
};

/* Call `each` for some more entries, in a turn of their own, on a thread that has joined RCU; false
 * when there are no more. Entries present all the while are seen at least once. */
bool slab_walk(struct slab *s, struct slab_walk *w,
	       void (*each)(const struct slab_entry *e, void *arg), void *arg);

/* Change the budget: entries stay, but a smaller one evicts. Meanwhile a reader may miss an entry,
 * as it may one whose bucket is just being split. */
void slab_resize(struct slab *s, size_t budget);
void slab_clear(struct slab *s);

struct slab_count {
	size_t entries, bytes, budget;
	size_t longest; /* length of the longest chain an entry was put into */
	uint64_t evictions;
};

struct slab_count slab_counted(const struct slab *s);

#endif
