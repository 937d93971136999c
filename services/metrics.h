/* The counters as Prometheus reads them (text exposition format 0.0.4).
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Names, labels and units are a promise to dashboards: doc/metrics.md lists them. Counters begin anew
 * when somebody asks for `stats`, as far as statistics-cumulative lets them. */
#ifndef SERVICES_METRICS_H
#define SERVICES_METRICS_H

#include "services/stats.h"

/* What is now, and no count. */
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

/* One line at a time, without its end. */
void metrics_print(const struct metrics_now *now, void (*out)(const char *line, void *arg),
		   void *arg);

/* "NAME{LABELS} VALUE" with its family's head, for what other rooms have to tell; `type` is "counter"
 * or "gauge". Samples of one family come one after the other: `help` NULL for all but the first. */
struct metric {
	const char *name, *type, *help;
	const char *label, *label_value; /* NULL: none */
	double value;
};
void metrics_print_one(const struct metric *m, void (*out)(const char *line, void *arg),
		       void *arg);

#endif
