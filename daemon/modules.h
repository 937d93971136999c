/* Which modules there are, and the chain that module-config asks for.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAEMON_MODULES_H
#define DAEMON_MODULES_H

#include "services/query.h"

struct conf;
struct fault;

extern const struct module *const modules[]; /* all that are built in; NULL-terminated */

/* Fill `chain` (NULL-terminated, outermost first) as module-config says. Words that name a
 * module this program does not have are passed over: the configuration's check spoke of them. False
 * when none is left that could find an answer. */
bool modules_chain(const struct module *chain[QUERY_MODULES + 1], const struct conf *conf,
		   struct fault *f) MUST_USE;

/* A snapshot of the configuration (taken over, as snapshot_new does), with what the modules of its
 * chain make of it. NULL with the reason in `f`; the configuration is then still the caller's. */
struct snapshot *modules_snapshot(struct conf *conf, struct fault *f) MUST_USE;

#endif
