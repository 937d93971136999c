/* The file that tells which process we are.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAEMON_PIDFILE_H
#define DAEMON_PIDFILE_H

#include "daemon/privileges.h"

struct pidfile {
	char *path;        /* NULL: there is none */
	char *path_inside; /* as seen from the chroot */
	int fd;
};

/* Write our number; follows no symbolic link. A running process named there already is told in the
 * log. */
bool pidfile_write(struct pidfile *p, const struct conf *conf, const struct privileges *who,
		   struct fault *f) MUST_USE;
/* Remove it, or leave it empty where that is not allowed any more. */
void pidfile_remove(struct pidfile *p);

#endif
