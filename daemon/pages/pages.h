/* The daemon's pages over HTTP: /metrics for Prometheus, /healthz, /status.json.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAEMON_PAGES_PAGES_H
#define DAEMON_PAGES_PAGES_H

#include "util/base/base.h"

struct daemon;
struct fault;
struct pages;

/* Serve where the configuration says: nowhere if metrics-enable is no. NULL, with a sentence in
 * `f`, if an address cannot be opened. */
struct pages *pages_open(struct daemon *d, struct fault *f) MUST_USE;
/* After a reload: serve where the new configuration says, or if that fails, as before, with a line
 * in the log. */
void pages_reopen(struct pages *p);
void pages_close(struct pages *p); /* before the control channel; NULL is fine */

#endif
