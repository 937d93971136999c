/* Which zones a locked table has: one word a slot, read without the lock.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/cache/presence.h"

#include "util/base/list.h"
#include "util/base/mem.h"
#include "util/base/rcu.h"

struct presences {
	struct rcu_slot retired;
	size_t mask;
	_Atomic uint64_t words[];
};

/* From the lowest bit: two for what the zone has, sixteen for how many zones there are, and the upper bits of their
 * hashes, combined by exclusive or, so that they can be taken out again. */
#define WHAT_MASK  UINT64_C(3)
#define ONE_ZONE   UINT64_C(4)
#define COUNT_MASK UINT64_C(0x3fffc)
#define TAG_MASK   (~(WHAT_MASK | COUNT_MASK))

struct presences *presences_new(size_t least)
{
	struct presences *p;
	size_t count = 16;

	while (count < least)
		count *= 2;
	p = mem_zero(sizeof(*p) + count * sizeof(p->words[0]));
	p->mask = count - 1;
	return p;
}

void presences_free(struct presences *p)
{
	mem_free(p);
}

static void free_retired(struct rcu_slot *slot)
{
	mem_free(container_of(slot, struct presences, retired));
}

void presences_retire(struct presences *p)
{
	if (p)
		rcu_retire(&p->retired, free_retired);
}

size_t presences_bytes(const struct presences *p)
{
	return mem_size(p);
}

static _Atomic uint64_t *word_of(const struct presences *p, uint64_t hash)
{
	return (_Atomic uint64_t *)(uintptr_t)&p->words[hash & p->mask];
}

static bool has_one(uint64_t word)
{
	return (word & COUNT_MASK) == ONE_ZONE;
}

enum presence presences_look(const struct presences *p, uint64_t hash)
{
	uint64_t word = atomic_load_explicit(word_of(p, hash), memory_order_relaxed);

	if ((word & COUNT_MASK) == 0 || (has_one(word) && (word & TAG_MASK) != (hash & TAG_MASK)))
		return PRESENCE_NONE;
	return has_one(word) ? (enum presence)(word & WHAT_MASK) : PRESENCE_SOME;
}

/* What is left of several is not known to be anything in particular. */
static void put(struct presences *p, uint64_t hash, uint64_t count_and_tag)
{
	atomic_store_explicit(word_of(p, hash), (count_and_tag & ~WHAT_MASK) | PRESENCE_SOME,
			      memory_order_relaxed);
}

void presences_add(struct presences *p, uint64_t hash)
{
	uint64_t word = atomic_load_explicit(word_of(p, hash), memory_order_relaxed);

	put(p, hash, (word ^ (hash & TAG_MASK)) + ONE_ZONE);
}

void presences_remove(struct presences *p, uint64_t hash)
{
	uint64_t word = atomic_load_explicit(word_of(p, hash), memory_order_relaxed);

	put(p, hash, (word ^ (hash & TAG_MASK)) - ONE_ZONE);
}

void presences_say(struct presences *p, uint64_t hash, enum presence what)
{
	uint64_t word = atomic_load_explicit(word_of(p, hash), memory_order_relaxed);

	if (has_one(word) && (word & WHAT_MASK) != (uint64_t)what)
		atomic_store_explicit(word_of(p, hash), (word & ~WHAT_MASK) | (uint64_t)what,
				      memory_order_relaxed);
}
