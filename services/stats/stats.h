/* Counters: plain per-worker arrays, summed by readers.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Only its worker writes a struct stats (relaxed stores); any thread may read.
 * services/stats/stats.def has a row for each counter; answer kinds, types and latencies have
 * arrays of their own below. */
#ifndef SERVICES_STATS_STATS_H
#define SERVICES_STATS_STATS_H

#include <stdatomic.h>

#include "util/base/base.h"
#include "util/base/loop.h"

struct log_fact;

enum stat_id {
#define STAT(id, key, join, help) STAT_##id,
#include "services/stats/stats.def"
	STATS
};

#define STAT_TYPES   256 /* of record types one by one; the rest are "other" */
#define STAT_CLASSES 256 /* likewise */
#define STAT_RCODES  24
#define STAT_LISTS   64 /* blocklists one by one; the rest are counted as one */
#define STAT_RPZ     9 /* actions of policy zones */
#define STAT_BUCKETS 40 /* Unbound's histogram: doubling from 1 us, and again from 1 s */

typedef _Atomic uint64_t stat_cell;

/* The transport of a client's query, or of one to a server. */
enum stat_transport { STAT_UDP, STAT_TCP, STAT_TLS, STAT_HTTPS, STAT_TRANSPORTS };

/* How long something took, for each transport: microseconds in all, samples, histogram. */
#define STAT_LATENCY (2 + STAT_BUCKETS)
#define STAT_EDES    32 /* codes of extended errors one by one; there are no others yet */

struct stats {
	char apart[CACHE_LINE]; /* from what other threads write, wherever it is allocated */
	stat_cell count[STATS];
#define CELL(id, key, join, metric) stat_cell id;
#include "services/stats/stats.def"
	/* of recursion; the rest with extended-statistics */
	stat_cell wait_bucket[STAT_BUCKETS];
	stat_cell type[STAT_TYPES + 1], class_[STAT_CLASSES + 1], opcode[16], rcode[STAT_RCODES];
	stat_cell blocked_by[STAT_LISTS + 1]; /* by slot of the list */
	stat_cell rpz[STAT_RPZ]; /* by enum rpz_action */
	/* for metrics only: uncached answers, servers' answers, extended errors */
	stat_cell answered[STAT_TRANSPORTS * STAT_LATENCY], asked[STAT_TRANSPORTS * STAT_LATENCY];
	stat_cell ede[STAT_EDES];
	stat_cell stretches[LOOP_BOUNDS + 1]; /* see loop_longest */
	char apart_too[CACHE_LINE];
};

static inline uint64_t stat_get(const stat_cell *c)
{
	return atomic_load_explicit(c, memory_order_relaxed);
}

static inline void stat_set(stat_cell *c, uint64_t v)
{
	atomic_store_explicit(c, v, memory_order_relaxed);
}

static inline void stat_bump(stat_cell *c, uint64_t by)
{
	stat_set(c, stat_get(c) + by);
}

static inline void stat_add(struct stats *s, enum stat_id id)
{
	stat_bump(&s->count[id], 1);
}

static inline void stat_highest(stat_cell *c, uint64_t v)
{
	if (v > stat_get(c))
		stat_set(c, v);
}

/* A recursion whose client was answered over that transport took `wait_us`. */
void stats_wait(struct stats *s, enum stat_transport over, uint64_t wait_us);
void stats_asked(struct stats *s, enum stat_transport over, uint64_t took_us); /* a server's answer */
void stats_ede(struct stats *s, int code); /* -1: none */
/* Lower bound of a histogram bucket; for STAT_BUCKETS, the upper bound of the last. */
uint64_t stats_bucket_us(unsigned bucket);
void stats_join(struct stats *total, const struct stats *one); /* by each row's rule */
void stats_clear(struct stats *s); /* of gauges, too: they are set again before they are read */
uint64_t stats_hits(const struct stats *s); /* num.cachehits: queries that were not misses */
/* In Unbound's format, line by line: "thread0.num.queries=12". `prefix` is "thread0" or "total". */
void stats_print(const struct stats *s, const char *prefix,
		 void (*out)(const char *line, void *arg), void *arg);
/* A summary for the log, as with Unbound's statistics-interval: lines that begin with "server stats for thread 0", and what is
 * in them. */
void stats_tell(const struct stats *s, unsigned thread,
		void (*out)(const char *line, const struct log_fact *facts, void *arg),
		void *arg);
/* num.query.type.A=… and the rest of extended-statistics (sums only). */
void stats_print_extended(const struct stats *s, bool inhibit_zero,
			  void (*out)(const char *line, void *arg), void *arg);

#endif
