/* Messages for a dnstap collector: one thread sends what the workers put in their queues.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The thread starts when dnstap is first enabled, runs at lower priority than the workers, and is
 * the only one that waits: for a connection, which it retries at growing intervals, and for a slow
 * collector. Meanwhile the queues fill up, and workers drop what does not fit. */
#ifndef SERVICES_DNSTAP_DNSTAP_H
#define SERVICES_DNSTAP_DNSTAP_H

#include "util/base/msgring.h"

struct conf;
struct dnstap;
struct fault;
struct snapshot;

/* Whether the configured address is valid; if not, a sentence in `f`. */
bool dnstap_check(const struct conf *conf, struct fault *f) MUST_USE;

/* Costs nothing until dnstap is enabled. */
struct dnstap *dnstap_new(unsigned workers) MUST_USE;
/* Set where to send from now on, if anywhere, before workers adopt the same snapshot. `locked_in`:
 * the process is in the chroot, and paths are relative to it. */
void dnstap_adopt(struct dnstap *d, const struct snapshot *s, bool locked_in);
/* The queue of that worker; NULL until dnstap is first enabled. */
struct msgring *dnstap_queue(struct dnstap *d, unsigned worker);
/* Sends what can be sent at once and ends the thread. The queues must no longer be in use. NULL is
 * fine. */
void dnstap_free(struct dnstap *d);

struct dnstap_status {
	bool enabled, connected;
	struct msgring_counts counts;
};
void dnstap_tell(const struct dnstap *d, struct dnstap_status *status); /* any thread */

#endif
