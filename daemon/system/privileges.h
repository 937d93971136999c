/* Who the process is: user, chroot, working folder.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAEMON_SYSTEM_PRIVILEGES_H
#define DAEMON_SYSTEM_PRIVILEGES_H

#include <sys/types.h>

#include "util/base/base.h"

struct conf;
struct fault;

struct privileges {
	bool change; /* there is a user to change to */
	uid_t uid;
	gid_t gid;
};

/* Look up `username`; call before chroot. If not root, the user cannot be changed: that is logged,
 * and `change` is false. */
bool privileges_find(struct privileges *p, const struct conf *conf, struct fault *f) MUST_USE;

/* Enter the chroot and the working folder, change user for good, and keep only the capabilities
 * that serving needs (daemon/system/capabilities). */
bool privileges_drop(const struct privileges *p, const struct conf *conf, struct fault *f) MUST_USE;

/* Give a file just created to the user the process will run as; no-op if there is none. */
void privileges_give(const struct privileges *p, const char *path);

#endif
