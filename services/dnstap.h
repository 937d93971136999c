/* Messages for a collector (dnstap): what workers leave in their queues is sent by one thread.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The thread begins when dnstap is first enabled, steps back behind those that answer, and is the
 * only one that waits: for a connection, which it tries again and again with longer and longer
 * pauses, and for a collector that takes its time. Meanwhile queues fill up, and workers drop what
 * does not fit. */
#ifndef SERVICES_DNSTAP_H
#define SERVICES_DNSTAP_H

#include "services/tap_queue.h"

struct conf;
struct dnstap;
struct fault;
struct snapshot;

/* Whether there can be such an address as the configuration names; else a sentence in `f`. */
bool dnstap_check(const struct conf *conf, struct fault *f) MUST_USE;

/* Costs nothing until it is enabled. */
struct dnstap *dnstap_new(unsigned workers) MUST_USE;
/* Where to send to from now on, or that nothing is to be sent, before workers adopt the same
 * snapshot. Paths are read as the process sees them now. */
void dnstap_adopt(struct dnstap *d, const struct snapshot *s, bool locked_in);
/* The queue of that worker; NULL as long as dnstap was never enabled. */
struct tap_queue *dnstap_queue(struct dnstap *d, unsigned worker);
/* Sends what is left, as far as that goes at once, and ends the thread. Nobody uses the queues any
 * more. NULL is fine. */
void dnstap_free(struct dnstap *d);

struct dnstap_status {
	bool enabled, connected;
	struct tap_counts counts;
};
void dnstap_tell(const struct dnstap *d, struct dnstap_status *status); /* any thread */

#endif
