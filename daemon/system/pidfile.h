/* The pid file.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAEMON_SYSTEM_PIDFILE_H
#define DAEMON_SYSTEM_PIDFILE_H

#include "daemon/system/privileges.h"

struct pidfile {
	char *path;        /* NULL: there is none */
	char *path_inside; /* as seen from the chroot */
	int fd;
};

/* Write our process id; follows no symbolic link. Logs it if the file names another running
 * process, or cannot be written; false only if what is there is no plain file. */
bool pidfile_write(struct pidfile *p, const struct conf *conf, const struct privileges *who,
		   struct fault *f) MUST_USE;
/* Remove it, or empty it if removing is no longer allowed. */
void pidfile_remove(struct pidfile *p);

#endif
