/* The counters in the format of Prometheus (text exposition format 0.0.4).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/stats/metrics.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "util/dns/rr.h"

#define PREFIX "resolverd_"

struct page {
	void (*out)(const char *line, void *arg);
	void *arg;
};

/* ---- output lines ---- */

static void head(const struct page *p, const char *name, const char *type, const char *help)
{
	char line[400];

	snprintf(line, sizeof line, "# HELP " PREFIX "%s %s", name, help);
	p->out(line, p->arg);
	snprintf(line, sizeof line, "# TYPE " PREFIX "%s %s", name, type);
	p->out(line, p->arg);
}

static void sample(const struct page *p, const char *name, const char *label, const char *value,
		   uint64_t n)
{
	char line[256];

	snprintf(line, sizeof line, PREFIX "%s{%s=\"%s\"} %" PRIu64, name, label, value, n);
	p->out(line, p->arg);
}

static void single(const struct page *p, const char *name, const char *type, const char *help,
		   uint64_t n)
{
	char line[256];

	head(p, name, type, help);
	snprintf(line, sizeof line, PREFIX "%s %" PRIu64, name, n);
	p->out(line, p->arg);
}

/* ---- per-thread counters: services/stats/stats.def ---- */

/* "num.queries" becomes "queries_total", "query.queue_time_us.max" becomes
 * "query_queue_time_max_seconds": times are in seconds here. */
static void name_of(const char *key, bool is_sum, char *to, size_t room)
{
	const char *us = strstr(key, "_us.");
	size_t len;

	if (strncmp(key, "num.", 4) == 0)
		key += 4;
	if (us)
		snprintf(to, room, "%.*s_%s_seconds", (int)(us - key), key, us + 4);
	else
		snprintf(to, room, "%s%s", key, is_sum ? "_total" : "");
	len = strlen(to);
	for (size_t i = 0; i < len; i++)
		if (to[i] == '.')
			to[i] = '_';
}

static void print_thread_counter(const struct page *p, const struct metrics_now *now,
				 enum stat_id id, const char *key, bool is_sum, const char *help)
{
	bool is_time = strstr(key, "_us.");
	char name[64], thread[16], line[128];

	name_of(key, is_sum, name, sizeof name);
	head(p, name, is_sum ? "counter" : "gauge", help);
	for (unsigned i = 0; i < now->thread_count; i++) {
		const struct stats *s = &now->threads[i];
		uint64_t n = id == STAT_cachehits ? stats_hits(s) : stat_get(&s->count[id]);

		snprintf(thread, sizeof thread, "%u", i);
		if (!is_time) {
			sample(p, name, "thread", thread, n);
			continue;
		}
		snprintf(line, sizeof line, PREFIX "%s{thread=\"%u\"} %.6f", name, i, (double)n / 1e6);
		p->out(line, p->arg);
	}
}

enum { JOIN_MAX, JOIN_SUM };

static void print_threads(const struct page *p, const struct metrics_now *now)
{
#define STAT(id, key, join, help) \
	print_thread_counter(p, now, STAT_##id, key, JOIN_##join == JOIN_SUM, help);
#include "services/stats/stats.def"
}

/* ---- histograms ---- */

static const char *const transports[STAT_TRANSPORTS] = {
	[STAT_UDP] = "udp", [STAT_TCP] = "tcp", [STAT_TLS] = "tls", [STAT_HTTPS] = "https"
};

/* From half a millisecond to 40 s, the counters' own bounds; below a second only every other
 * one. */
static void histogram(const struct page *p, const char *name, const char *transport,
		      const stat_cell *cells)
{
	uint64_t sum = 0;
	char line[256];

	for (unsigned i = 0; i < STAT_BUCKETS; i++) {
		uint64_t end_us = stats_bucket_us(i + 1);

		sum += stat_get(&cells[2 + i]);
		if (end_us < 500 || end_us > UINT64_C(40000000) || (end_us < 1000000 && i % 2))
			continue;
		snprintf(line, sizeof line,
			 PREFIX "%s_bucket{transport=\"%s\",le=\"%g\"} %" PRIu64, name, transport,
			 (double)end_us / 1e6, sum);
		p->out(line, p->arg);
	}
	snprintf(line, sizeof line, PREFIX "%s_bucket{transport=\"%s\",le=\"+Inf\"} %" PRIu64, name,
		 transport, sum);
	p->out(line, p->arg);
	snprintf(line, sizeof line, PREFIX "%s_sum{transport=\"%s\"} %.6f", name, transport,
		 (double)stat_get(&cells[0]) / 1e6);
	p->out(line, p->arg);
	snprintf(line, sizeof line, PREFIX "%s_count{transport=\"%s\"} %" PRIu64, name, transport,
		 sum);
	p->out(line, p->arg);
}

static void print_latencies(const struct page *p, const struct stats *s)
{
	head(p, "answer_seconds", "histogram",
	     "Time until a client had an answer that was not cached.");
	for (unsigned i = 0; i < STAT_TRANSPORTS; i++)
		histogram(p, "answer_seconds", transports[i], &s->answered[i * STAT_LATENCY]);
	head(p, "upstream_seconds", "histogram", "Time until another server had answered.");
	for (unsigned i = 0; i < STAT_TRANSPORTS; i++)
		histogram(p, "upstream_seconds", transports[i], &s->asked[i * STAT_LATENCY]);
}

/* ---- counters in total: services/stats/stats.def ---- */

enum cell_kind { KIND_SUM, KIND_MAX, KIND_NOW };

struct cell_metric {
	int place; /* 0: not shown */
	const char *name, *help, *label, *value; /* without a label: NULL */
	enum cell_kind kind;
	size_t at; /* in struct stats */
};

static const struct cell_metric cell_metrics[] = {
#define NO_METRIC 0
#define METRIC(place, name, help) place, name, help, NULL, NULL
#define LABELLED(place, name, label, value, help) place, name, help, label, value
#define CELL(id, key, join, ...) CELL_METRIC(id, join, __VA_ARGS__)
#define CELL_METRIC(id, join, ...) { __VA_ARGS__, .kind = KIND_##join, .at = offsetof(struct stats, id) },
#include "services/stats/stats.def"
};

static const struct cell_metric *cell_at(int place)
{
	for (size_t i = 0; i < COUNT(cell_metrics); i++)
		if (cell_metrics[i].place == place)
			return &cell_metrics[i];
	return NULL;
}

/* Those whose place is one of the ten from `first`. */
static void print_cells(const struct page *p, const struct stats *s, int first)
{
	const char *last = "";

	for (int place = first; place < first + 10; place++) {
		const struct cell_metric *m = cell_at(place);
		const char *type;
		uint64_t n;

		if (!m)
			continue;
		n = stat_get((const stat_cell *)((const char *)s + m->at));
		type = m->kind == KIND_SUM ? "counter" : "gauge";
		if (!m->label) {
			single(p, m->name, type, m->help, n);
			continue;
		}
		if (strcmp(last, m->name) != 0)
			head(p, m->name, type, m->help);
		sample(p, m->name, m->label, m->value, n);
		last = m->name;
	}
}

/* ---- metrics with one label ---- */

static void print_types(const struct page *p, const struct stats *s)
{
	char buf[16];

	head(p, "query_types_total", "counter", "Questions by record type (extended-statistics).");
	for (unsigned i = 0; i < STAT_TYPES; i++)
		if (stat_get(&s->type[i]))
			sample(p, "query_types_total", "type", rr_type_name((uint16_t)i, buf),
			       stat_get(&s->type[i]));
	sample(p, "query_types_total", "type", "other", stat_get(&s->type[STAT_TYPES]));
}

static void print_rcodes(const struct page *p, const struct stats *s)
{
	char buf[16];

	head(p, "answer_rcodes_total", "counter", "Answers by rcode (extended-statistics).");
	for (unsigned i = 0; i < STAT_RCODES; i++)
		if (i <= 5 || stat_get(&s->rcode[i]))
			sample(p, "answer_rcodes_total", "rcode", rr_rcode_name(i, buf),
			       stat_get(&s->rcode[i]));
}

static void print_edes(const struct page *p, const struct stats *s)
{
	char code[16];

	head(p, "answer_ede_total", "counter",
	     "Answers that had a reason for an extended error (RFC 8914), by its code.");
	for (unsigned i = 0; i < STAT_EDES; i++) {
		snprintf(code, sizeof code, "%u", i);
		if (stat_get(&s->ede[i]))
			sample(p, "answer_ede_total", "code", code, stat_get(&s->ede[i]));
	}
}

static void print_now(const struct page *p, const struct metrics_now *now)
{
	char line[128];

	print_cells(p, now->total, 40);
	head(p, "uptime_seconds", "gauge", "Time since the start.");
	snprintf(line, sizeof line, PREFIX "uptime_seconds %.3f", now->up_s);
	p->out(line, p->arg);
	head(p, "cpu_seconds_total", "counter", "CPU time of the process.");
	snprintf(line, sizeof line, PREFIX "cpu_seconds_total %.3f", now->cpu_s);
	p->out(line, p->arg);
	if (now->bytes_resident)
		single(p, "memory_resident_bytes", "gauge", "Memory that the process really takes.",
		       now->bytes_resident);
	if (now->bytes_in_use)
		single(p, "memory_bytes", "gauge",
		       "Memory that was asked for, with room that caches may come to use.",
		       now->bytes_in_use);
}

static void print_caches(const struct page *p, const struct metrics_now *now)
{
	head(p, "cache_bytes", "gauge", "Memory that a cache takes.");
	for (unsigned i = 0; now->caches[i].name; i++)
		sample(p, "cache_bytes", "cache", now->caches[i].name, now->caches[i].bytes);
	head(p, "cache_limit_bytes", "gauge", "Memory that a cache may take.");
	for (unsigned i = 0; now->caches[i].name; i++)
		if (now->caches[i].limit)
			sample(p, "cache_limit_bytes", "cache", now->caches[i].name,
			       now->caches[i].limit);
	head(p, "cache_entries", "gauge", "Entries of a cache.");
	for (unsigned i = 0; now->caches[i].name; i++)
		sample(p, "cache_entries", "cache", now->caches[i].name, now->caches[i].entries);
}

void metrics_print(const struct metrics_now *now, void (*out)(const char *line, void *arg),
		   void *arg)
{
	struct page p = { .out = out, .arg = arg };

	print_threads(&p, now);
	print_latencies(&p, now->total);
	print_types(&p, now->total);
	print_rcodes(&p, now->total);
	print_cells(&p, now->total, 10);
	print_edes(&p, now->total);
	print_cells(&p, now->total, 20);
	print_cells(&p, now->total, 30);
	print_now(&p, now);
	print_caches(&p, now);
}

/* Backslash, quote and newline are escaped in label values. */
static void put_label(char *to, size_t room, const char *value)
{
	size_t len = 0;

	for (; *value && len + 3 < room; value++) {
		if (*value == '\\' || *value == '"' || *value == '\n')
			to[len++] = '\\';
		to[len++] = *value == '\n' ? 'n' : *value;
	}
	to[len] = '\0';
}

void metrics_print_one(const struct metric *m, void (*out)(const char *line, void *arg), void *arg)
{
	struct page p = { .out = out, .arg = arg };
	char line[400], value[200];

	if (m->help)
		head(&p, m->name, m->type, m->help);
	if (m->label) {
		put_label(value, sizeof value, m->label_value);
		snprintf(line, sizeof line, PREFIX "%s{%s=\"%s\"} %.15g", m->name, m->label, value,
			 m->value);
	} else {
		snprintf(line, sizeof line, PREFIX "%s %.15g", m->name, m->value);
	}
	out(line, arg);
}
