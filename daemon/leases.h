/* Lease and hosts files that are followed: read again when they change, published as local records.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A file that cannot be read, or in which no known format is found, changes nothing: what it said
 * before stays until its leases end, and the log says so once. A file is read again shortly after a
 * change, when whoever writes it has come to an end of a line; one that takes long to read is read
 * the more seldom. All of this is the main thread's, and no worker waits for it. */
#ifndef DAEMON_LEASES_H
#define DAEMON_LEASES_H

#include "services/hostnames.h"

struct conf;
struct loop;

struct leases;

struct leases *leases_new(struct loop *l) MUST_USE;
void leases_free(struct leases *l); /* NULL is fine */

/* Follow what `conf` names and publish into `zones` from now on, at once what is known already or
 * can be read. `inside`: the process is in its chroot. */
void leases_adopt(struct leases *l, const struct conf *conf, struct localzones *zones, bool inside);

/* Local records were changed by others: look again, soon, whether a name is the operator's. */
void leases_disturb(struct leases *l);

/* ---- for control ---- */

struct lease_status {
	struct host_report report;
	int64_t read_s;      /* wall clock of what holds; 0: it was never read */
	const char *trouble; /* why it could not be read the last time; "" */
};

bool leases_exist(const struct leases *l); /* files are followed */
void leases_each_file(const struct leases *l, void (*fn)(const struct lease_status *s, void *arg),
		      void *arg);
const struct hostnames *leases_names(const struct leases *l);

#endif
