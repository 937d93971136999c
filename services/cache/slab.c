/* Slabs: one hash table that readers walk without locks, and parts, each with a queue and a lock.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * An entry's bucket is given by the low bits of the stored half of its hash, its part by fewer of
 * the same bits: all entries of a bucket belong to one part, however many buckets there are, so one
 * lock covers a chain. Buckets are split one by one as entries are added. */
#include "services/cache/slab.h"

#include <pthread.h>

#include "util/base/mem.h"
#include "util/base/timebase.h"

#define UNIT 16
/* Seen entries the hand skips per insertion before it evicts one anyway, so that no insertion pays
 * for a queue in which every entry was seen. */
#define HAND_STEPS 256
/* Entries checked for staleness per insertion, once a part is nearly full. */
#define BROOM_STEPS 2
/* Minimum number of buckets; maximum number split per insertion. */
#define LIVE_LEAST 64
#define SPLITS     2
#define STRIDE      256 /* buckets per turn of a sweep */
#define HOLD        64  /* entries evicted or taken out per hold of a lock */

_Thread_local uint8_t slab_mark = SLAB_SEEN;

struct part {
	_Alignas(CACHE_LINE) pthread_mutex_t lock; /* guards the rest, and its buckets' chains */
	struct list queue;                         /* newest first */
	struct list *hand;  /* SIEVE's, from old to new; the head: start at the oldest */
	struct list *broom; /* likewise, but it only evicts stale entries */
	size_t bytes, entries;
	size_t longest; /* chain so far */
	uint64_t evictions;
};

struct slab {
	struct slab_front front;
	struct slab_how how;
	_Atomic uint32_t grace_s;
	uint32_t part_mask;
	pthread_mutex_t growing; /* to split or replace the table; taken before a part's lock */
	struct part *parts;
	void *parts_at; /* as allocated; `parts` is aligned to a cache line */
};

static void release_plain(struct rcu_slot *retired)
{
	mem_free(slab_entry_of(retired));
}

static void release_table(struct rcu_slot *retired)
{
	mem_free(container_of(retired, struct slab_table, retired));
}

static struct slab_entry *entry_of(struct list *link)
{
	return LIST_ITEM(link, struct slab_entry, queue);
}

/* ---- sizes ---- */

static uint32_t round_up(size_t n)
{
	uint32_t power = 1;

	while (power < n && power < UINT32_C(1) << 31)
		power <<= 1;
	return power;
}

static size_t table_bytes(const struct slab_table *t, uint32_t buckets)
{
	return sizeof(*t) + (size_t)buckets * sizeof(t->bucket[0]);
}

static uint32_t live_of(const struct slab_table *t)
{
	return atomic_load_explicit(&t->live, memory_order_acquire);
}

/* The lock of the entry's part is held, or the table is still private. */
static _Atomic(struct slab_entry *) *bucket_of(struct slab_table *t, const struct slab_entry *e)
{
	return &t->bucket[slab_index(e->hash, live_of(t))];
}

/* Untouched pages cost nothing: the memory comes zeroed from the system. */
static struct slab_table *table_new(const struct slab_how *how, size_t budget, size_t parts)
{
	uint32_t count = round_up(MAX(budget / MAX(how->typical, UNIT), parts));
	struct slab_table *t;

	t = mem_zero(sizeof(*t) + (size_t)count * sizeof(t->bucket[0]));
	t->most = count;
	atomic_init(&t->live, (uint32_t)MIN(count, MAX(parts, (size_t)LIVE_LEAST)));
	return t;
}

static struct slab_table *table_of(const struct slab *s)
{
	return atomic_load_explicit(&s->front.table, memory_order_acquire);
}

/* Bytes for the entries of one part: its share of what the table, about to grow, leaves. */
static size_t part_budget(const struct slab *s)
{
	const struct slab_table *t = table_of(s);
	size_t table = table_bytes(t, MIN(t->most, live_of(t) + LIVE_LEAST));

	return s->how.budget > table ? (s->how.budget - table) / (s->part_mask + 1) : 0;
}

static struct part *part_of(struct slab *s, uint64_t hash)
{
	return &s->parts[(uint32_t)(hash >> 32) & s->part_mask];
}

/* ---- one part, its lock held ---- */

static void part_lock(struct part *p)
{
	PROMISE(pthread_mutex_lock(&p->lock) == 0);
}

static void part_unlock(struct part *p)
{
	PROMISE(pthread_mutex_unlock(&p->lock) == 0);
}

/* Move from chain and queue to `gone`: entries there are retired after the lock is released. */
static void part_drop(struct slab *s, struct part *p, struct slab_entry *e, struct list *gone)
{
	_Atomic(struct slab_entry *) *at = bucket_of(table_of(s), e);

	for (struct slab_entry *i; (i = atomic_load_explicit(at, memory_order_relaxed)) != e;) {
		PROMISE(i);
		at = &i->next;
	}
	atomic_store_explicit(at, atomic_load_explicit(&e->next, memory_order_relaxed),
			      memory_order_release);
	if (p->hand == &e->queue)
		p->hand = e->queue.prev;
	if (p->broom == &e->queue)
		p->broom = e->queue.prev;
	list_remove(&e->queue);
	list_push_back(gone, &e->queue);
	p->bytes -= (size_t)e->units * UNIT;
	p->entries--;
}

static bool is_stale(const struct slab *s, const struct slab_entry *e, uint32_t now_s)
{
	uint32_t grace_s = atomic_load_explicit(&s->grace_s, memory_order_relaxed);

	if (!s->how.is_stale || !s->how.is_stale(e, now_s))
		return false;
	return (s->how.is_brief && s->how.is_brief(e)) || s->how.is_stale(e, now_s - grace_s);
}

static struct list *from_oldest(struct part *p, struct list *at)
{
	return at == &p->queue ? p->queue.prev : at;
}

static void part_broom(struct slab *s, struct part *p, uint32_t now_s, struct list *gone)
{
	for (int i = 0; i < BROOM_STEPS && !list_is_empty(&p->queue); i++) {
		struct list *at = from_oldest(p, p->broom);

		p->broom = at->prev;
		if (is_stale(s, entry_of(at), now_s)) {
			part_drop(s, p, entry_of(at), gone);
			p->evictions++;
		}
	}
}

/* Evict until the part is within its budget, at most `most` entries. `spare` was just added and is
 * not evicted, or is NULL. */
static void part_make_room(struct slab *s, struct part *p, const struct slab_entry *spare,
			   uint32_t now_s, size_t most, struct list *gone)
{
	size_t budget = part_budget(s);
	unsigned passed = 0;

	while (p->bytes > budget && p->entries > (spare != NULL) && most) {
		struct list *at = from_oldest(p, p->hand);
		struct slab_entry *e = entry_of(at);

		p->hand = at->prev;
		if (e == spare)
			continue;
		if (passed < HAND_STEPS &&
		    atomic_load_explicit(&e->seen, memory_order_relaxed) & SLAB_SEEN &&
		    !is_stale(s, e, now_s)) {
			atomic_fetch_and_explicit(&e->seen, (uint8_t)~SLAB_SEEN,
						  memory_order_relaxed);
			passed++;
			continue;
		}
		part_drop(s, p, e, gone);
		p->evictions++;
		most--;
	}
}

static void bucket_push(_Atomic(struct slab_entry *) *bucket, struct slab_entry *e)
{
	atomic_store_explicit(&e->next, atomic_load_explicit(bucket, memory_order_relaxed),
			      memory_order_release);
	RCU_PUBLISH(*bucket, e);
}

static size_t chain_len(_Atomic(struct slab_entry *) *bucket)
{
	size_t len = 0;

	for (const struct slab_entry *e = atomic_load_explicit(bucket, memory_order_relaxed); e;
	     e = atomic_load_explicit(&e->next, memory_order_relaxed))
		len++;
	return len;
}

/* Take one more bucket into use; its entries move over from the bucket that had them so far. */
static void table_split(struct slab_table *t)
{
	uint32_t number = live_of(t);
	uint32_t half = (UINT32_C(1) << 31) >> __builtin_clz(number);
	_Atomic(struct slab_entry *) *at = &t->bucket[number - half], *to = &t->bucket[number];
	struct slab_entry *e;

	while ((e = atomic_load_explicit(at, memory_order_relaxed))) {
		if (slab_index(e->hash, number + 1) != number) {
			at = &e->next;
			continue;
		}
		atomic_store_explicit(at, atomic_load_explicit(&e->next, memory_order_relaxed),
				      memory_order_release);
		bucket_push(to, e);
	}
	RCU_PUBLISH(t->live, number + 1);
}

/* Whether there are fewer buckets than entries, by the count of one part. */
static bool is_crowded(const struct slab *s, const struct slab_table *t, size_t entries_of_part)
{
	uint32_t live = live_of(t);

	return live < t->most && entries_of_part > live / (s->part_mask + 1);
}

static void grow(struct slab *s, size_t entries_of_part)
{
	struct slab_table *t;

	if (pthread_mutex_trylock(&s->growing) != 0)
		return; /* another thread is at it */
	t = table_of(s);
	for (int i = 0; i < SPLITS && is_crowded(s, t, entries_of_part); i++) {
		struct part *p = &s->parts[live_of(t) & s->part_mask];

		part_lock(p);
		table_split(t);
		part_unlock(p);
	}
	PROMISE(pthread_mutex_unlock(&s->growing) == 0);
}

static size_t retire(struct slab *s, struct list *gone)
{
	size_t count = 0;

	while (!list_is_empty(gone)) {
		struct slab_entry *e = entry_of(gone->next);

		list_remove(&e->queue);
		rcu_retire_idly(&e->retired, s->how.release);
		count++;
	}
	return count;
}

/* ---- the slab ---- */

struct slab *slab_new(const struct slab_how *how)
{
	struct slab *s = mem_zero(sizeof(*s));
	struct slab_table *t;
	size_t parts = round_up(MIN(MAX(how->slabs, 1), 1024));

	s->how = *how;
	if (!s->how.release)
		s->how.release = release_plain;
	s->part_mask = (uint32_t)(parts - 1);
	s->parts_at = mem_zero(parts * sizeof(struct part) + CACHE_LINE);
	s->parts =
		(void *)(((uintptr_t)s->parts_at + CACHE_LINE - 1) & ~(uintptr_t)(CACHE_LINE - 1));
	PROMISE(pthread_mutex_init(&s->growing, NULL) == 0);
	t = table_new(how, how->budget, parts);
	atomic_init(&s->front.table, t);
	for (size_t i = 0; i < parts; i++) {
		struct part *p = &s->parts[i];

		PROMISE(pthread_mutex_init(&p->lock, NULL) == 0);
		list_init(&p->queue);
		p->hand = p->broom = &p->queue;
	}
	return s;
}

void slab_free(struct slab *s)
{
	if (!s)
		return;
	for (size_t i = 0; i <= s->part_mask; i++) {
		LIST_EACH_SAFE (link, &s->parts[i].queue)
			s->how.release(&entry_of(link)->retired);
		pthread_mutex_destroy(&s->parts[i].lock);
	}
	pthread_mutex_destroy(&s->growing);
	mem_free(table_of(s));
	mem_free(s->parts_at);
	mem_free(s);
}

void slab_keep_stale(struct slab *s, uint32_t grace_s)
{
	atomic_store_explicit(&s->grace_s, MIN(grace_s, SLAB_FOREVER), memory_order_relaxed);
}

/* ---- what counts ---- */

static bool is_of(const struct slab_entry *e, uint8_t mark)
{
	return ((atomic_load_explicit(&e->seen, memory_order_relaxed) ^ mark) & ~SLAB_SEEN) == 0;
}

bool slab_counts(const struct slab *s, const struct slab_entry *e)
{
	const struct slab_rule *rule = RCU_READ(s->front.rule);

	return LIKELY(!rule) || is_of(e, slab_mark) || !rule->goes(e, rule->arg);
}

bool slab_counts_still(const struct slab *s, struct slab_entry *e)
{
	if (!slab_counts(s, e))
		return false;
	if (!(atomic_load_explicit(&e->seen, memory_order_relaxed) & SLAB_SEEN))
		atomic_fetch_or_explicit(&e->seen, SLAB_SEEN, memory_order_relaxed);
	return true;
}

/* The next entry in the chain, from `at` on, that `e` would replace; or NULL. */
static struct slab_entry *same_from(const struct slab *s, struct slab_entry *at,
				    const struct slab_entry *e, uint64_t hash)
{
	while (at && (at == e || !s->how.same(e, at)))
		at = slab_next(at, hash);
	return at;
}

static void entry_begin(const struct slab *s, struct slab_entry *e, uint64_t hash)
{
	size_t took = mem_size(e);

	PROMISE(took <= SLAB_ENTRY_MAX);
	if (s->how.beside)
		took = MIN(took + s->how.beside(e), (size_t)SLAB_ENTRY_MAX);
	e->hash = (uint32_t)(hash >> 32);
	e->units = (uint16_t)((took + UNIT - 1) / UNIT);
	atomic_init(&e->seen, slab_mark & (uint8_t)~SLAB_SEEN);
}

static void part_add(struct slab *s, struct part *p, struct slab_entry *e)
{
	list_push_front(&p->queue, &e->queue);
	p->bytes += (size_t)e->units * UNIT;
	p->entries++;
	bucket_push(bucket_of(table_of(s), e), e);
	p->longest = MAX(p->longest, chain_len(bucket_of(table_of(s), e)));
}

bool slab_put_if(struct slab *s, uint64_t hash, struct slab_entry *e, uint32_t now_s,
		 bool (*may)(const struct slab_entry *old, void *arg), void *arg)
{
	struct part *p = part_of(s, hash);
	struct list gone;
	struct slab_entry *old, *next;
	size_t budget, entries;
	bool fits, crowded;

	list_init(&gone);
	entry_begin(s, e, hash);
	part_lock(p);
	old = same_from(s, slab_first(s, hash), e, hash);
	if (may && !old && !may(NULL, arg))
		goto refused;
	for (next = old; may && next; next = same_from(s, slab_next(next, hash), e, hash)) {
		if (slab_counts(s, next) && !may(next, arg))
			goto refused;
	}
	budget = part_budget(s);
	fits = (size_t)e->units * UNIT <= budget;
	if (fits)
		part_add(s, p, e);
	for (; old; old = next) {
		next = same_from(s, slab_next(old, hash), e, hash);
		part_drop(s, p, old, &gone);
	}
	if (fits) {
		if (p->bytes > budget - budget / 8)
			part_broom(s, p, now_s, &gone);
		part_make_room(s, p, e, now_s, SIZE_MAX, &gone);
	}
	entries = p->entries;
	crowded = is_crowded(s, table_of(s), entries); /* slab_resize may retire the table hereafter */
	part_unlock(p);
	if (crowded)
		grow(s, entries);
	if (!fits)
		s->how.release(&e->retired);
	retire(s, &gone);
	return fits;

refused:
	part_unlock(p);
	s->how.release(&e->retired);
	return false;
}

void slab_put(struct slab *s, uint64_t hash, struct slab_entry *e, uint32_t now_s)
{
	slab_put_if(s, hash, e, now_s, NULL, NULL);
}

size_t slab_remove(struct slab *s, uint64_t hash, bool (*is)(const struct slab_entry *e, void *arg),
		   void *arg)
{
	struct part *p = part_of(s, hash);
	struct list gone;
	struct slab_entry *next;

	list_init(&gone);
	part_lock(p);
	for (struct slab_entry *e = slab_first(s, hash); e; e = next) {
		next = slab_next(e, hash);
		if (is(e, arg))
			part_drop(s, p, e, &gone);
	}
	part_unlock(p);
	return retire(s, &gone);
}

/* ---- over all entries ---- */

struct unwanted {
	struct slab_entry *entries[HOLD];
	size_t count;
};

static bool still_there(struct slab_table *t, const struct slab_entry *e)
{
	struct slab_entry *i = atomic_load_explicit(bucket_of(t, e), memory_order_relaxed);

	while (i && i != e)
		i = atomic_load_explicit(&i->next, memory_order_relaxed);
	return i;
}

/* Remove the collected entries, all of one part; none is freed while the caller's turn lasts. */
static size_t take_out(struct slab *s, struct part *p, struct unwanted *u)
{
	struct list gone;

	list_init(&gone);
	part_lock(p);
	for (size_t i = 0; i < u->count; i++) {
		if (still_there(table_of(s), u->entries[i]))
			part_drop(s, p, u->entries[i], &gone);
	}
	part_unlock(p);
	u->count = 0;
	return retire(s, &gone);
}

static size_t sweep_part(struct slab *s, size_t number, struct unwanted *u,
			 bool (*keep)(const struct slab_entry *e, void *arg), void *arg)
{
	struct part *p = &s->parts[number];
	const struct slab_table *began = NULL;
	size_t went = 0;
	uint64_t i = number;

	for (;;) {
		const struct slab_table *t;

		rcu_turn_begin();
		t = table_of(s);
		if (t != began) { /* resized: start over */
			began = t;
			i = number;
		}
		for (unsigned n = 0; n < STRIDE && i < live_of(t);
		     n++, i += (uint64_t)s->part_mask + 1) {
			for (struct slab_entry *e = RCU_READ(t->bucket[i]); e;
			     e = RCU_READ(e->next)) {
				if (keep && keep(e, arg))
					continue;
				u->entries[u->count++] = e;
				if (u->count == COUNT(u->entries))
					went += take_out(s, p, u);
			}
		}
		if (u->count)
			went += take_out(s, p, u);
		if (i >= live_of(t)) {
			rcu_turn_end();
			return went;
		}
		rcu_turn_end();
	}
}

size_t slab_sweep(struct slab *s, bool (*keep)(const struct slab_entry *e, void *arg), void *arg)
{
	struct unwanted *u = mem_zero(sizeof(*u));
	size_t went = 0;

	rcu_thread_join();
	for (size_t i = 0; i <= s->part_mask; i++)
		went += sweep_part(s, i, u, keep, arg);
	rcu_thread_leave();
	mem_free(u);
	return went;
}

void slab_forget_begin(struct slab *s, const struct slab_rule *rule)
{
	RCU_PUBLISH(s->front.rule, rule);
}

void slab_enter(uint8_t generation)
{
	slab_mark = (uint8_t)(generation << 1 | SLAB_SEEN);
}

struct forgetting {
	const struct slab_rule *rule;
	uint8_t mark;
	const atomic_bool *stop;
};

/* Nobody else changes the generation of an entry that is in the cache. */
static bool keep_and_mark(const struct slab_entry *e, void *arg)
{
	const struct forgetting *f = arg;
	struct slab_entry *entry = (struct slab_entry *)(uintptr_t)e;
	uint8_t was = atomic_load_explicit(&e->seen, memory_order_relaxed);

	if (is_of(e, f->mark) || atomic_load_explicit(f->stop, memory_order_relaxed))
		return true;
	if (f->rule->goes(e, f->rule->arg))
		return false;
	atomic_fetch_xor_explicit(&entry->seen, (uint8_t)((was ^ f->mark) & ~SLAB_SEEN),
				  memory_order_relaxed);
	return true;
}

size_t slab_forget(struct slab *s, uint8_t generation, const atomic_bool *stop)
{
	struct forgetting f = { .rule = RCU_READ(s->front.rule),
				.mark = (uint8_t)(generation << 1),
				.stop = stop };

	return f.rule ? slab_sweep(s, keep_and_mark, &f) : 0;
}

void slab_forget_end(struct slab *s)
{
	RCU_PUBLISH(s->front.rule, NULL);
}

static void walk_to(const struct slab *s, struct slab_walk *w, size_t part)
{
	w->part = part;
	w->at = part;
	w->table = table_of(s);
	w->begun = true;
}

bool slab_walk(struct slab *s, struct slab_walk *w,
	       void (*each)(const struct slab_entry *e, void *arg), void *arg)
{
	const struct slab_table *t;

	rcu_turn_begin();
	t = table_of(s);
	if (!w->begun || t != w->table) /* resized: start over with this part */
		walk_to(s, w, w->part);
	for (unsigned n = 0; n < (w->stride ? w->stride : STRIDE) && w->at < live_of(t); n++) {
		for (struct slab_entry *e = RCU_READ(t->bucket[w->at]); e; e = RCU_READ(e->next))
			each(e, arg);
		w->at += (uint64_t)s->part_mask + 1;
	}
	if (w->at >= live_of(t))
		walk_to(s, w, w->part + 1);
	rcu_turn_end();
	return w->part <= s->part_mask;
}

void slab_clear(struct slab *s)
{
	slab_sweep(s, NULL, NULL);
}

/* Fault in pages now, before any lock is held and others wait for it. */
static void touch(struct slab_table *t, uint32_t live)
{
	for (uint32_t i = 0; i < MIN(live, t->most); i++)
		atomic_store_explicit(&t->bucket[i], NULL, memory_order_relaxed);
}

/* All locks held. With as many buckets in use the chains stay the same: copy their heads. */
static void take_heads(struct slab_table *to, struct slab_table *from, uint32_t live)
{
	for (uint32_t i = 0; i < live; i++)
		atomic_store_explicit(
			&to->bucket[i],
			atomic_load_explicit(&from->bucket[i], memory_order_relaxed),
			memory_order_relaxed);
	atomic_store_explicit(&to->live, live, memory_order_release);
}

/* All locks held; fewer buckets. A reader may be led from an old chain into a new one, which ends
 * as well. */
static void relink(struct slab_table *to, struct slab_table *from, uint32_t live)
{
	atomic_store_explicit(&to->live, to->most, memory_order_release);
	for (uint32_t i = 0; i < live; i++) {
		struct slab_entry *next;

		for (struct slab_entry *e = RCU_READ(from->bucket[i]); e; e = next) {
			next = atomic_load_explicit(&e->next, memory_order_relaxed);
			bucket_push(bucket_of(to, e), e);
		}
	}
}

/* All locks held. */
static void table_swap(struct slab *s, struct slab_table *to)
{
	struct slab_table *from = table_of(s);
	uint32_t live = live_of(from);

	if (live <= to->most)
		take_heads(to, from, live);
	else
		relink(to, from, live);
	RCU_PUBLISH(s->front.table, to);
}

void slab_resize(struct slab *s, size_t budget)
{
	size_t parts = (size_t)s->part_mask + 1;
	struct slab_table *old, *new = table_new(&s->how, budget, parts);

	PROMISE(pthread_mutex_lock(&s->growing) == 0);
	if (new->most != table_of(s)->most)
		touch(new, live_of(table_of(s)));
	for (size_t i = 0; i < parts; i++)
		part_lock(&s->parts[i]);
	old = table_of(s);
	if (old->most == new->most) {
		mem_free(new);
		new = old;
	} else {
		table_swap(s, new);
	}
	s->how.budget = budget;
	for (size_t i = 0; i < parts; i++)
		part_unlock(&s->parts[i]);
	PROMISE(pthread_mutex_unlock(&s->growing) == 0);
	if (new != old)
		rcu_retire(&old->retired, release_table);

	for (size_t i = 0; i < parts; i++) {
		struct list gone;

		list_init(&gone);
		do {
			part_lock(&s->parts[i]);
			part_make_room(s, &s->parts[i], NULL, 0, HOLD, &gone);
			part_unlock(&s->parts[i]);
		} while (retire(s, &gone));
	}
}

struct slab_count slab_counted(const struct slab *s)
{
	struct slab_count c = { 0 };

	for (size_t i = 0; i <= s->part_mask; i++) {
		struct part *p = &s->parts[i];

		part_lock(p);
		c.entries += p->entries;
		c.bytes += p->bytes;
		c.evictions += p->evictions;
		c.longest = MAX(c.longest, p->longest);
		if (i == 0) {
			c.bytes += table_bytes(table_of(s), live_of(table_of(s)));
			c.budget = s->how.budget;
		}
		part_unlock(p);
	}
	return c;
}
