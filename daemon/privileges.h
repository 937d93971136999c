/* Who the process is: user, chroot, working folder.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAEMON_PRIVILEGES_H
#define DAEMON_PRIVILEGES_H

#include <sys/types.h>

#include "util/base.h"

struct conf;
struct fault;

struct privileges {
	bool change; /* there is another user to become */
	uid_t uid;
	gid_t gid;
};

/* Look up `username`, while the system's files can be seen. Without root's powers there is nobody
 * else to become: a line in the log, and `change` is false. */
bool privileges_find(struct privileges *p, const struct conf *conf, struct fault *f) MUST_USE;

/* Lock the process into chroot, go to the folder, become the user for good, with those of root's
 * powers that serving takes (daemon/capabilities). */
bool privileges_drop(const struct privileges *p, const struct conf *conf, struct fault *f) MUST_USE;

/* Give a file that was just made to the user to be; harmless when there is none. */
void privileges_give(const struct privileges *p, const char *path);

#endif
