/* Shared by the sandbox's files, one for each thing it restricts.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAEMON_SYSTEM_SANDBOX_PRIVATE_H
#define DAEMON_SYSTEM_SANDBOX_PRIVATE_H

#include "util/conf/options.h"

/* A folder (or file), and how it and what is below it may be used. */
struct sandbox_place {
	char *path; /* without symbolic links */
	enum conf_use use;
};

struct sandbox {
	struct sandbox_place *places;
	size_t count;
	bool locked_in;
	bool holds; /* the kernel enforces `places` */
};

/* sandbox_files.c: the places that `conf` names and libraries need, none of which another one covers: the folder of each
 * file, or the nearest one above it that exists; and what a symbolic link leads to. `s->locked_in` is set. */
void sandbox_collect(struct sandbox *s, const struct conf *conf);
/* The rights to files that a kernel with this version of Landlock can refuse, as bits of its ABI. */
uint64_t sandbox_known_rights(long version) PURE;
/* Collect the places, and have the kernel confine us to them. */
void sandbox_files(struct sandbox *s, const struct conf *conf);

/* sandbox_calls.c: have the kernel refuse other system calls, or with `strict` kill the process. */
void sandbox_calls(bool strict);

#endif
