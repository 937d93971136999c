/* Counters: summing them, and printing them the way Unbound does.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/stats/stats.h"

#include <inttypes.h>
#include <stdio.h>

#include "util/base/log_event.h"
#include "util/dns/msg.h"
#include "util/dns/rr.h"


/* ---- latencies ---- */

static unsigned log2_of(uint64_t v)
{
	unsigned n = 0;

	while (v >>= 1)
		n++;
	return n;
}

static unsigned bucket_of(uint64_t us)
{
	if (us < US_PER_S)
		return us ? 1 + log2_of(us) : 0;
	return MIN(21 + log2_of(us / US_PER_S), STAT_BUCKETS - 1);
}

uint64_t stats_bucket_us(unsigned bucket)
{
	if (bucket == 0)
		return 0;
	return bucket <= 20 ? UINT64_C(1) << (bucket - 1)
			    : (UINT64_C(1) << (bucket - 21)) * US_PER_S;
}

static void note_latency(stat_cell *all, enum stat_transport over, uint64_t us)
{
	stat_cell *one = all + over * STAT_LATENCY;

	stat_bump(&one[0], us);
	stat_bump(&one[1], 1);
	stat_bump(&one[2 + bucket_of(us)], 1);
}

void stats_wait(struct stats *s, enum stat_transport over, uint64_t wait_us)
{
	stat_bump(&s->wait_sum_us, wait_us);
	stat_bump(&s->wait_samples, 1);
	stat_bump(&s->wait_bucket[bucket_of(wait_us)], 1);
	note_latency(s->answered, over, wait_us);
}

void stats_asked(struct stats *s, enum stat_transport over, uint64_t took_us)
{
	note_latency(s->asked, over, took_us);
}

void stats_ede(struct stats *s, int code)
{
	if (code >= 0 && code < STAT_EDES)
		stat_bump(&s->ede[code], 1);
}

/* Half of the samples are below it; within a bucket they are assumed to be spread evenly. */
static double median_s(const struct stats *s)
{
	uint64_t all = 0, below = 0;
	double half;

	for (unsigned i = 0; i < STAT_BUCKETS; i++)
		all += stat_get(&s->wait_bucket[i]);
	if (all == 0)
		return 0;
	half = (double)all / 2;
	for (unsigned i = 0; i < STAT_BUCKETS; i++) {
		uint64_t here = stat_get(&s->wait_bucket[i]);

		if (here && (double)(below + here) >= half) {
			double from = (double)stats_bucket_us(i),
			       to = (double)stats_bucket_us(i + 1);

			return (from + (to - from) * (half - (double)below) / (double)here) /
			       US_PER_S;
		}
		below += here;
	}
	return 0;
}

/* ---- summing ---- */

static void add(stat_cell *total, const stat_cell *one)
{
	stat_bump(total, stat_get(one));
}

static void add_all(stat_cell *total, const stat_cell *one, size_t count)
{
	for (size_t i = 0; i < count; i++)
		add(&total[i], &one[i]);
}

static void join_SUM(stat_cell *total, const stat_cell *one)
{
	add(total, one);
}

static void join_MAX(stat_cell *total, const stat_cell *one)
{
	stat_highest(total, stat_get(one));
}

static void join_NOW(stat_cell *total, const stat_cell *one)
{
	add(total, one);
}

/* clang-format off */
#define ARRAY_CELLS(X) X(answered) X(asked) X(ede) X(wait_bucket) X(type) X(class_) X(opcode) X(rcode) \
	X(rpz) X(blocked_by) X(stretches)
/* clang-format on */

void stats_join(struct stats *total, const struct stats *one)
{
#define STAT(id, key, join, help) join_##join(&total->count[STAT_##id], &one->count[STAT_##id]);
#define CELL(id, key, join, metric) join_##join(&total->id, &one->id);
#include "services/stats/stats.def"
#define X(cells) add_all(total->cells, one->cells, COUNT(one->cells));
	ARRAY_CELLS(X)
#undef X
}

void stats_clear(struct stats *s)
{
#define STAT(id, key, join, help) stat_set(&s->count[STAT_##id], 0);
#define CELL(id, key, join, metric) stat_set(&s->id, 0);
#include "services/stats/stats.def"
#define X(cells)                                     \
	for (size_t i = 0; i < COUNT(s->cells); i++) \
		stat_set(&s->cells[i], 0);
	ARRAY_CELLS(X)
#undef X
}

uint64_t stats_hits(const struct stats *s)
{
	uint64_t all = stat_get(&s->count[STAT_queries]), misses = stat_get(&s->count[STAT_cachemiss]);

	return all > misses ? all - misses : 0;
}

/* ---- printing ---- */

struct printer {
	const char *prefix; /* including its dot, or empty */
	void (*out)(const char *line, void *arg);
	void *arg;
};

static void print_number(const struct printer *p, const char *key, uint64_t v)
{
	char line[160];

	snprintf(line, sizeof(line), "%s%s=%" PRIu64, p->prefix, key, v);
	p->out(line, p->arg);
}

static void print_real(const struct printer *p, const char *key, double v)
{
	char line[160];

	snprintf(line, sizeof(line), "%s%s=%g", p->prefix, key, v);
	p->out(line, p->arg);
}

static void print_seconds(const struct printer *p, const char *key, uint64_t us)
{
	char line[160];

	snprintf(line, sizeof(line), "%s%s=%" PRIu64 ".%6.6u", p->prefix, key, us / US_PER_S,
		 (unsigned)(us % US_PER_S));
	p->out(line, p->arg);
}

static uint64_t per(uint64_t sum, uint64_t samples)
{
	return samples ? sum / samples : 0;
}

static void print_list_average(const struct printer *p, const struct stats *s)
{
	uint64_t samples = stat_get(&s->list_samples);

	print_real(p, "requestlist.avg", samples ? (double)stat_get(&s->list_sum) / (double)samples : 0);
}

static void print_recursion_time(const struct printer *p, const struct stats *s)
{
	print_seconds(p, "recursion.time.avg", per(stat_get(&s->wait_sum_us), stat_get(&s->wait_samples)));
	print_real(p, "recursion.time.median", median_s(s));
}

void stats_print(const struct stats *s, const char *prefix,
		 void (*out)(const char *line, void *arg), void *arg)
{
	char dotted[64];
	struct printer p = { .prefix = dotted, .out = out, .arg = arg };

	snprintf(dotted, sizeof(dotted), "%s.", prefix);
#define STAT(id, key, join, help) \
	print_number(&p, key, STAT_##id == STAT_cachehits ? stats_hits(s) : stat_get(&s->count[STAT_##id]));
#define THREAD(id, key, join, metric) print_number(&p, key, stat_get(&s->id));
#define THREAD_FAMILY(name) print_##name(&p, s);
#include "services/stats/stats.def"
}

static void print_histogram(const struct printer *p, const struct stats *s, bool inhibit_zero)
{
	char line[96];

	(void)inhibit_zero;
	for (unsigned i = 0; i < STAT_BUCKETS; i++) {
		uint64_t from = stats_bucket_us(i), to = stats_bucket_us(i + 1);

		snprintf(line, sizeof(line), "histogram.%6.6u.%6.6u.to.%6.6u.%6.6u",
			 (unsigned)(from / US_PER_S), (unsigned)(from % US_PER_S),
			 (unsigned)(to / US_PER_S), (unsigned)(to % US_PER_S));
		print_number(p, line, stat_get(&s->wait_bucket[i]));
	}
}

/* "family.NAME=count"; zero values may be omitted. */
static void print_member(const struct printer *p, bool inhibit_zero, const char *family,
			 const char *name, uint64_t v)
{
	char key[96];

	if (v == 0 && inhibit_zero)
		return;
	snprintf(key, sizeof(key), "%s.%s", family, name);
	print_number(p, key, v);
}

static void print_types(const struct printer *p, const struct stats *s, bool inhibit_zero)
{
	char name[16];

	for (unsigned i = 0; i < STAT_TYPES; i++)
		print_member(p, inhibit_zero, "num.query.type", rr_type_name((uint16_t)i, name),
			     stat_get(&s->type[i]));
	print_member(p, true, "num.query.type", "other", stat_get(&s->type[STAT_TYPES]));
}

static void print_classes(const struct printer *p, const struct stats *s, bool inhibit_zero)
{
	char name[16];

	for (unsigned i = 0; i < STAT_CLASSES; i++)
		print_member(p, inhibit_zero, "num.query.class", rr_class_name((uint16_t)i, name),
			     stat_get(&s->class_[i]));
	print_member(p, true, "num.query.class", "other", stat_get(&s->class_[STAT_CLASSES]));
}

static void print_opcodes(const struct printer *p, const struct stats *s, bool inhibit_zero)
{
	static const char *const names[16] = {
		[OPCODE_QUERY] = "QUERY",   [OPCODE_IQUERY] = "IQUERY", [OPCODE_STATUS] = "STATUS",
		[OPCODE_NOTIFY] = "NOTIFY", [OPCODE_UPDATE] = "UPDATE",
	};
	char unnamed[16];

	for (unsigned i = 0; i < COUNT(names); i++) {
		snprintf(unnamed, sizeof(unnamed), "OPCODE%u", i);
		print_member(p, inhibit_zero, "num.query.opcode", names[i] ? names[i] : unnamed,
			     stat_get(&s->opcode[i]));
	}
}

static void print_rcodes(const struct printer *p, const struct stats *s, bool inhibit_zero)
{
	char buf[16];

	/* Unbound has no names for extended rcodes, which need EDNS. */
	for (unsigned i = 0; i < STAT_RCODES; i++) {
		bool is_named = i <= RCODE_NOTZONE;

		snprintf(buf, sizeof(buf), "RCODE%u", i);
		print_member(p, inhibit_zero && i > RCODE_REFUSED, "num.answer.rcode",
			     is_named ? rr_rcode_name(i, buf) : buf, stat_get(&s->rcode[i]));
	}
	print_member(p, inhibit_zero, "num.answer.rcode", "nodata", stat_get(&s->rcode_nodata));
}

static void print_policies(const struct printer *p, const struct stats *s, bool inhibit_zero)
{
	static const char *const names[STAT_RPZ] = {
		"rpz-passthru", "rpz-nxdomain", "rpz-nodata",   "rpz-drop",	    "rpz-tcp-only",
		"rpz-invalid",	"rpz-local-data", "rpz-disabled", "rpz-cname-override",
	};

	for (unsigned i = 0; i < STAT_RPZ; i++)
		print_member(p, inhibit_zero, "num.rpz.action", names[i], stat_get(&s->rpz[i]));
}

void stats_print_extended(const struct stats *s, bool inhibit_zero,
			  void (*out)(const char *line, void *arg), void *arg)
{
	struct printer p = { .prefix = "", .out = out, .arg = arg };

#define EXT(id, key, join, metric) print_number(&p, key, stat_get(&s->id));
#define EXT_FAMILY(name) print_##name(&p, s, inhibit_zero);
#include "services/stats/stats.def"
}

/* ---- the log ---- */

typedef void (*tell_line)(const char *line, const struct log_fact *facts, void *arg);

static void tell_queries(const struct stats *s, unsigned thread, tell_line out, void *arg)
{
	uint64_t queries = stat_get(&s->count[STAT_queries]), misses = stat_get(&s->count[STAT_cachemiss]);
	uint64_t prefetch = stat_get(&s->count[STAT_prefetch]);
	uint64_t limited = stat_get(&s->count[STAT_queries_ip_ratelimited]);
	char line[300];

	snprintf(line, sizeof(line),
		 "server stats for thread %u: %" PRIu64 " queries, %" PRIu64 " answers from cache, %" PRIu64
		 " recursions, %" PRIu64 " prefetch, %" PRIu64 " rejected by ip ratelimiting",
		 thread, queries, stats_hits(s), misses, prefetch, limited);
	out(line,
	    LOG_FACTS(LOG_COUNT(worker, thread), LOG_COUNT(queries, queries), LOG_COUNT(hits, stats_hits(s)),
		      LOG_COUNT(recursions, misses), LOG_COUNT(prefetch, prefetch), LOG_COUNT(ratelimited, limited)),
	    arg);
}

static void tell_list(const struct stats *s, unsigned thread, tell_line out, void *arg)
{
	uint64_t samples = stat_get(&s->list_samples), most = stat_get(&s->list_max);
	uint64_t exceeded = stat_get(&s->list_exceeded), jostled = stat_get(&s->list_overwritten);
	double average = samples ? (double)stat_get(&s->list_sum) / (double)samples : 0;
	char line[300];

	snprintf(line, sizeof(line),
		 "server stats for thread %u: requestlist max %" PRIu64 " avg %g exceeded %" PRIu64 " jostled %" PRIu64, thread,
		 most, average, exceeded, jostled);
	out(line,
	    LOG_FACTS(LOG_COUNT(worker, thread), LOG_COUNT(requestlist_max, most),
		      LOG_COUNT(requestlist_average, (uint64_t)(average * 1e6)), LOG_COUNT(exceeded, exceeded),
		      LOG_COUNT(jostled, jostled)),
	    arg);
}

static void tell_times(const struct stats *s, unsigned thread, tell_line out, void *arg)
{
	uint64_t took_us = per(stat_get(&s->wait_sum_us), stat_get(&s->wait_samples));
	double median = median_s(s);
	char line[300];

	snprintf(line, sizeof(line),
		 "server stats for thread %u: average recursion processing time %" PRIu64 ".%6.6u sec, median %g", thread,
		 took_us / US_PER_S, (unsigned)(took_us % US_PER_S), median);
	out(line,
	    LOG_FACTS(LOG_COUNT(worker, thread), LOG_COUNT(recursion_average, took_us),
		      LOG_COUNT(recursion_median, (uint64_t)(median * 1e6))),
	    arg);
}

void stats_tell(const struct stats *s, unsigned thread, tell_line out, void *arg)
{
	tell_queries(s, thread, out, arg);
	tell_list(s, thread, out, arg);
	if (stat_get(&s->wait_samples))
		tell_times(s, thread, out, arg);
}
