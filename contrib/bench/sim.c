/* A full cache, played: hit rates beside an exact LRU, the cost of insertions, what is counted.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Usage: sim [REQUESTS]. Prints "WHAT VALUE" lines, shares in percent; nothing is pass or fail.
 * What is looked at is services/cache/slab as it is built, no model of it. The LRU has room for as
 * many entries as the slabs held in the end. Half of the requests come first and do not count. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "services/cache/slab.h"
#include "util/base/hash.h"
#include "util/base/mem.h"
#ifdef HAVE_JEMALLOC
#include <jemalloc/jemalloc.h>
#endif

#define NAMES      1000000u /* that the Zipf law is about */
#define SLABS      4        /* as the caches of one thread have */
#define TURN       32       /* requests between rcu_turn_begin and _end */
#define ENTRY      152      /* bytes, as a cached answer */
#define NOBODY     UINT32_MAX
#define PER_CENT   100.0
#define INSERTIONS 2000000u

static uint32_t requests = 4000000;

/* ---- chance, the same every time ---- */

static uint64_t dice;

static double chance(void)
{
	dice ^= dice << 13;
	dice ^= dice >> 7;
	dice ^= dice << 17;
	return (double)(dice >> 11) / 9007199254740992.0;
}

static double *upto; /* sums of the law's shares */

static void zipf_prepare(double exponent)
{
	double sum = 0;

	upto = mem_array(NAMES, sizeof(*upto));
	for (uint32_t i = 0; i < NAMES; i++)
		upto[i] = sum += pow((double)(i + 1), -exponent);
}

static uint32_t zipf_draw(void)
{
	double at = chance() * upto[NAMES - 1];
	uint32_t low = 0, high = NAMES - 1;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (upto[middle] < at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* ---- what is asked: names from 0 are of the law, from NAMES on nobody asks twice ---- */

struct trace {
	const char *name;
	uint32_t every, scanned; /* after so many requests of the law, so many of a scan */
	uint32_t hot, one_in;    /* no law: that many names, one request in so many is for them */
};

static const struct trace traces[] = {
	{ .name = "zipf" },
	{ .name = "scan", .every = 100000, .scanned = 50000 },
	{ .name = "mixed_scan", .every = 2, .scanned = 1 },
};

static const struct trace floods[] = {
	{ .name = "flood_10", .hot = 1000, .one_in = 10 },
	{ .name = "flood_50", .hot = 1000, .one_in = 50 },
};

static uint32_t request(const struct trace *t, uint32_t n, uint32_t *fresh)
{
	if (t->hot)
		return n % t->one_in == 0 ? (uint32_t)(chance() * t->hot) : NAMES + (*fresh)++;
	if (t->every && n % (t->every + t->scanned) >= t->every)
		return NAMES + (*fresh)++;
	return zipf_draw();
}

/* ---- the cache as it is ---- */

struct item {
	struct slab_entry link;
	uint32_t key;
};

static struct item *item_of(const struct slab_entry *e)
{
	return (struct item *)(uintptr_t)e;
}

static bool same_key(const struct slab_entry *newer, const struct slab_entry *standing)
{
	return item_of(newer)->key == item_of(standing)->key;
}

static struct slab *cache_new(size_t entries, size_t entry)
{
	return slab_new(&(struct slab_how){ .name = "sim",
					    .budget = entries * entry,
					    .slabs = SLABS,
					    .typical = entry,
					    .same = same_key });
}

static uint64_t hash_of(uint32_t key)
{
	return hash_bytes(&key, sizeof(key));
}

static void insert(struct slab *s, uint32_t key, size_t size)
{
	struct item *i = mem_new(size);

	i->key = key;
	slab_put(s, hash_of(key), &i->link, 0);
}

static bool look(struct slab *s, uint32_t key)
{
	uint64_t hash = hash_of(key);

	for (struct slab_entry *e = slab_first(s, hash); e; e = slab_next(e, hash)) {
		if (item_of(e)->key == key) {
			(void)slab_saw(s, e);
			return true;
		}
	}
	return false;
}

/* Hits among those that count; of a flood, only the hot names count. */
struct score {
	uint64_t counted, hits;
};

static void note(struct score *s, const struct trace *t, uint32_t n, uint32_t key, bool hit)
{
	if (n < requests / 2 || (t->hot && key >= NAMES))
		return;
	s->counted++;
	s->hits += hit;
}

static double share(const struct score *s)
{
	return PER_CENT * (double)s->hits / (double)MAX(s->counted, 1);
}

static double run_slabs(const struct trace *t, size_t entries, size_t *held)
{
	struct slab *s = cache_new(entries, ENTRY);
	struct score score = { 0 };
	uint32_t fresh = 0;

	dice = 88172645463325252u;
	for (uint32_t n = 0; n < requests; n++) {
		uint32_t key = request(t, n, &fresh);
		bool hit;

		if (n % TURN == 0)
			rcu_turn_begin();
		hit = look(s, key);
		note(&score, t, n, key, hit);
		if (!hit)
			insert(s, key, ENTRY);
		if (n % TURN == TURN - 1 || n == requests - 1)
			rcu_turn_end();
	}
	*held = slab_counted(s).entries;
	rcu_flush();
	slab_free(s);
	return share(&score);
}

/* ---- an exact LRU of so many entries ---- */

struct lru {
	uint32_t *older, *newer; /* by key; NOBODY at the ends */
	bool *is_in;
	uint32_t newest, oldest;
	size_t count, most;
};

static void lru_unlink(struct lru *l, uint32_t key)
{
	uint32_t older = l->older[key], newer = l->newer[key];

	*(older == NOBODY ? &l->oldest : &l->newer[older]) = newer;
	*(newer == NOBODY ? &l->newest : &l->older[newer]) = older;
	l->is_in[key] = false;
	l->count--;
}

static void lru_push(struct lru *l, uint32_t key)
{
	l->older[key] = l->newest;
	l->newer[key] = NOBODY;
	*(l->newest == NOBODY ? &l->oldest : &l->newer[l->newest]) = key;
	l->newest = key;
	l->is_in[key] = true;
	l->count++;
}

static bool lru_ask(struct lru *l, uint32_t key)
{
	bool hit = l->is_in[key];

	if (hit)
		lru_unlink(l, key);
	else if (l->count == l->most)
		lru_unlink(l, l->oldest);
	lru_push(l, key);
	return hit;
}

static double run_lru(const struct trace *t, size_t entries)
{
	size_t keys = (size_t)NAMES + requests;
	struct lru l = { .older = mem_array(keys, sizeof(uint32_t)),
			 .newer = mem_array(keys, sizeof(uint32_t)),
			 .is_in = mem_array(keys, sizeof(bool)),
			 .newest = NOBODY,
			 .oldest = NOBODY,
			 .most = entries };
	struct score score = { 0 };
	uint32_t fresh = 0;

	dice = 88172645463325252u;
	for (uint32_t n = 0; n < requests; n++) {
		uint32_t key = request(t, n, &fresh);

		note(&score, t, n, key, lru_ask(&l, key));
	}
	mem_free(l.older);
	mem_free(l.newer);
	mem_free(l.is_in);
	return share(&score);
}

static void compare(const struct trace *t, size_t entries, const char *size)
{
	size_t held;
	double slabs = run_slabs(t, entries, &held), lru = run_lru(t, held);

	printf("%s_%s_sieve %.2f\n%s_%s_lru %.2f\n", t->name, size, slabs, t->name, size, lru);
	fflush(stdout);
}

static void rates(void)
{
	static const struct {
		const char *name;
		size_t entries;
	} sizes[] = { { "1%", NAMES / 100 }, { "5%", NAMES / 20 }, { "20%", NAMES / 5 } };

	zipf_prepare(0.9);
	for (size_t i = 0; i < COUNT(traces); i++) {
		for (size_t k = 0; k < COUNT(sizes); k++)
			compare(&traces[i], sizes[k].entries, sizes[k].name);
	}
	for (size_t i = 0; i < COUNT(floods); i++)
		compare(&floods[i], 20000, "hot");
	mem_free(upto);
}

/* ---- what an insertion costs ---- */

static double cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Keys from `from` on, put and each `seen` times looked at; nanoseconds for one. */
static double insert_many(struct slab *s, uint32_t from, uint32_t count, bool seen)
{
	double began = cpu_ns(), looked = 0;

	for (uint32_t n = 0; n < count; n++) {
		if (n % TURN == 0)
			rcu_turn_begin();
		insert(s, from + n, ENTRY);
		if (n % TURN == TURN - 1 || n == count - 1) {
			double since = cpu_ns();

			for (uint32_t k = n - n % TURN; seen && k <= n; k++)
				look(s, from + k);
			looked += seen ? cpu_ns() - since : 0;
			rcu_turn_end();
		}
	}
	return (cpu_ns() - began - looked) / count;
}

static void insertions(void)
{
	uint32_t fill = INSERTIONS / 4;
	struct slab *s = cache_new(fill, ENTRY);

	printf("insert_empty_ns %.0f\n", insert_many(s, 0, fill / 10, false));
	insert_many(s, fill, fill / 2, false);
	printf("insert_half_ns %.0f\n", insert_many(s, 2 * fill, fill / 10, false));
	insert_many(s, 3 * fill, fill, false);
	printf("insert_full_ns %.0f\n", insert_many(s, 4 * fill, fill, false));
	insert_many(s, 5 * fill, fill, true);
	printf("insert_all_seen_ns %.0f\n", insert_many(s, 6 * fill, fill, true));
	rcu_flush();
	slab_free(s);
}

/* ---- what is counted, and what malloc took ---- */

static size_t taken(void)
{
#ifdef HAVE_JEMALLOC
	uint64_t epoch = 1;
	size_t bytes = 0, len = sizeof(bytes), epoch_len = sizeof(epoch);

	if (mallctl("epoch", &epoch, &epoch_len, &epoch, epoch_len) == 0 &&
	    mallctl("stats.allocated", &bytes, &len, NULL, 0) == 0)
		return bytes;
#endif
	return 0;
}

static size_t resident(void)
{
	unsigned long all = 0, here = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	if (f && fscanf(f, "%lu %lu", &all, &here) != 2)
		here = 0;
	if (f)
		fclose(f);
	return (size_t)here * 4096;
}

static void accounting(void)
{
	size_t before, before_resident, budget = 256u << 20;
	struct slab *s;
	struct slab_count c;

	rcu_flush();
	mem_trim();
	before = taken();
	before_resident = resident();
	s = slab_new(&(struct slab_how){ .name = "sim",
					 .budget = budget,
					 .slabs = SLABS,
					 .typical = 256,
					 .same = same_key });
	dice = 1;
	/* Twice the budget, in sizes as answers have: churn leaves no hole uncounted. */
	for (uint32_t n = 0; n < 2 * budget / 256; n++) {
		if (n % TURN == 0)
			rcu_turn_begin();
		insert(s, n, 96 + (size_t)(chance() * chance() * 640));
		if (n % TURN == TURN - 1)
			rcu_turn_end();
	}
	rcu_flush();
	mem_trim();
	c = slab_counted(s);
	printf("budget_mb %.1f\ncounted_mb %.1f\n", (double)budget / 1048576,
	       (double)c.bytes / 1048576);
	if (before)
		printf("malloc_mb %.1f\n", (double)(taken() - before) / 1048576);
	printf("resident_mb %.1f\n", (double)(resident() - before_resident) / 1048576);
	slab_free(s);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		requests = (uint32_t)strtoul(argv[1], NULL, 10);
	if (requests < 1000 || requests > 100000000) {
		fprintf(stderr, "usage: sim [REQUESTS], a thousand to a hundred million\n");
		return 2;
	}
	hash_start(true);
	rcu_thread_join();
	accounting();
	rates();
	insertions();
	rcu_thread_leave();
	return 0;
}
