/* The modules there are, and the chain configured with module-config.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAEMON_WORKER_MODULES_H
#define DAEMON_WORKER_MODULES_H

#include "services/query/query.h"

struct conf;
struct fault;

extern const struct module *const modules[]; /* NULL-terminated; those that configure left out have no name */

/* Fill `chain` (NULL-terminated, outermost first) from module-config. Unknown modules are skipped:
 * the configuration check has reported them. False if none is left that could find an answer. */
bool modules_chain(const struct module *chain[QUERY_MODULES + 1], const struct conf *conf,
		   struct fault *f) MUST_USE;

/* A snapshot of `conf` (taken over, as by snapshot_new), including what the modules of its chain
 * keep in it. NULL with the reason in `f`; `conf` then stays the caller's. */
struct snapshot *modules_snapshot(struct conf *conf, struct fault *f) MUST_USE;

#endif
