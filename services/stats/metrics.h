/* The counters for Prometheus (text exposition format 0.0.4).
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Names, labels and units are a stable interface, listed in doc/metrics.md. Counters are reset by
 * the command `stats`, unless statistics-cumulative is set. */
#ifndef SERVICES_STATS_METRICS_H
#define SERVICES_STATS_METRICS_H

#include "services/stats/stats.h"

/* Current values. */
struct metrics_now {
	const struct stats *threads; /* of each thread, `thread_count` of them */
	unsigned thread_count;
	const struct stats *total;
	double up_s;
	struct {
		const char *name; /* NULL ends the list */
		uint64_t bytes, entries, limit; /* limit 0: none */
	} caches[8];
	uint64_t bytes_in_use, bytes_resident; /* of the whole process; 0: not known */
	double cpu_s;
};

/* Calls `out` for each line, without a newline. */
void metrics_print(const struct metrics_now *now, void (*out)(const char *line, void *arg),
		   void *arg);

/* "NAME{LABELS} VALUE" with the header of its family, for metrics from elsewhere; `type` is
 * "counter" or "gauge". Samples of one family must be consecutive: `help` NULL for all but the
 * first. */
struct metric {
	const char *name, *type, *help;
	const char *label, *label_value; /* NULL: none */
	double value;
};
void metrics_print_one(const struct metric *m, void (*out)(const char *line, void *arg),
		       void *arg);

#endif
