/* The counters of all threads together, and in the log at times (statistics-interval).
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAEMON_CONTROL_STATS_H
#define DAEMON_CONTROL_STATS_H

#include "services/stats.h"

struct blocklists;
struct daemon;
struct worker;

/* Copies of every worker's counters, each taken in that worker's turn. */
struct gathered {
	struct stats total; /* made by gathered_join */
	struct stats one[]; /* of each worker */
};

/* They want cache lines of their own, the heap promises less: `room` is zeroed, of as many bytes. */
size_t gathered_room(unsigned workers);
struct gathered *gathered_at(void *room);
void gathered_take(struct gathered *g, struct worker *w);
void gathered_join(struct gathered *g, unsigned workers); /* once, when all have been taken */

/* Do what the newest configuration says, from now on. */
void stats_log_plan(struct daemon *d);

/* What lists blocked, as extended statistics tell it. */
void blocklist_stats_say(const struct blocklists *b, const struct stats *total,
			 void (*out)(const char *line, void *arg), void *arg);

#endif
