/* Follows lease and hosts files: reads them when they change, publishes them as local records.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A file that cannot be read, or has no known format, changes nothing: its previous contents stay
 * until the leases end, and the log says so once. A file is read shortly after a change, once its
 * last line is complete; the longer reading takes, the less often it happens. Main thread only; no
 * worker waits for it. */
#ifndef DAEMON_PROCESS_LEASES_H
#define DAEMON_PROCESS_LEASES_H

#include "services/leases/hostnames.h"

struct conf;
struct loop;

struct leases;

struct leases *leases_new(struct loop *l) MUST_USE;
void leases_free(struct leases *l); /* NULL is fine */

/* Follow the files `conf` names and publish into `zones` from now on, at once what is already known
 * or can be read. `inside`: the process is in its chroot. */
void leases_adopt(struct leases *l, const struct conf *conf, struct localzones *zones, bool inside);

/* Others have changed local records: check again, soon, which names are the operator's. */
void leases_disturb(struct leases *l);

/* ---- for control ---- */

struct lease_status {
	struct host_report report;
	int64_t read_s;      /* wall clock of the data in use; 0: it was never read */
	const char *trouble; /* why it could not be read the last time; or "" */
};

bool leases_exist(const struct leases *l); /* whether any file is followed */
void leases_each_file(const struct leases *l, void (*fn)(const struct lease_status *s, void *arg),
		      void *arg);
const struct hostnames *leases_names(const struct leases *l);

#endif
