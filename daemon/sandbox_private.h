/* What the files of the sandbox share: one for each thing it narrows.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAEMON_SANDBOX_PRIVATE_H
#define DAEMON_SANDBOX_PRIVATE_H

#include "util/options.h"

/* A folder (or file) and what may be done in and below it. */
struct sandbox_place {
	char *path; /* no link in it */
	enum conf_use use;
};

struct sandbox {
	struct sandbox_place *places;
	size_t count;
	bool locked_in;
	bool holds; /* the kernel guards the places */
};

/* sandbox_files.c: collect the places of `conf`, and let the kernel keep us to them. */
void sandbox_files(struct sandbox *s, const struct conf *conf);

/* sandbox_calls.c: let the kernel refuse system calls; `strict`: it ends the process at one. */
void sandbox_calls(bool strict);

#endif
