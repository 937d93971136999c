/* Client queries as lines in a named pipe (query-pipe): one thread writes what the workers hand over.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The thread starts when the option is first set and runs at lower priority than the workers, which
 * never wait for it: what does not fit into a worker's ring is lost, and counted. While nobody reads,
 * lines are kept (services/history/linering.h), and the pipe is tried every few seconds. It stays open over reloads
 * as long as its path is the same: readers take its end for the daemon's. */
#ifndef SERVICES_HISTORY_QUERYPIPE_H
#define SERVICES_HISTORY_QUERYPIPE_H

#include "util/base/base.h"

struct conf;
struct msgring;
struct querypipe;

/* Make the pipe if there is no such file. In a sandbox that is no longer possible: before it, and as
 * the user that will write. Failure is logged. `locked_in`: the process is in the chroot. */
void querypipe_make(const struct conf *conf, bool locked_in);

/* Costs nothing until the option is set. */
struct querypipe *querypipe_new(unsigned workers) MUST_USE;
/* Set where to write from now on, if anywhere, before workers adopt the same configuration. */
void querypipe_adopt(struct querypipe *p, const struct conf *conf, bool locked_in);
/* Where that worker puts its struct report; NULL: the option is not set, or `p` is NULL. */
struct msgring *querypipe_ring(const struct querypipe *p, const struct conf *conf, unsigned worker);
/* Writes what can be written at once and ends the thread. The rings must no longer be in use. NULL is
 * fine. */
void querypipe_free(struct querypipe *p);

struct querypipe_status {
	bool enabled, has_reader;
	uint64_t written, lost; /* lines */
};
void querypipe_tell(const struct querypipe *p, struct querypipe_status *status); /* any thread */

#endif
