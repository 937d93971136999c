/* Gathers the counters of all threads, and logs them periodically (statistics-interval).
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAEMON_CONTROL_STATS_H
#define DAEMON_CONTROL_STATS_H

#include "services/stats/stats.h"

struct blocklists;
struct daemon;
struct worker;

/* Copies of every worker's counters, each taken in that worker's turn. */
struct gathered {
	struct stats total; /* made by gathered_join */
	struct stats one[]; /* of each worker */
};

/* They need more alignment than the heap promises: allocate gathered_room() zeroed bytes, and place
 * them in there with gathered_at. */
size_t gathered_room(unsigned workers);
struct gathered *gathered_at(void *room);
void gathered_take(struct gathered *g, struct worker *w);
void gathered_join(struct gathered *g, unsigned workers); /* once, when all have been taken */

/* Follow the current configuration from now on. */
void stats_log_plan(struct daemon *d);

/* What each list blocked, as lines of extended statistics. */
void blocklist_stats_say(const struct blocklists *b, const struct stats *total,
			 void (*out)(const char *line, void *arg), void *arg);

#endif
