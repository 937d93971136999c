/* What the daemon tells over HTTP: /metrics for Prometheus, /healthz, /status.json.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAEMON_PAGES_H
#define DAEMON_PAGES_H

#include "util/base.h"

struct daemon;
struct fault;
struct pages;

/* As the daemon's configuration says: nowhere when metrics-enable is no. NULL with a sentence in `f`
 * when an address cannot be had. */
struct pages *pages_open(struct daemon *d, struct fault *f) MUST_USE;
/* After a reload: as the new configuration says, or as before, with a line in the log. */
void pages_reopen(struct pages *p);
void pages_close(struct pages *p); /* before the control channel; NULL is fine */

#endif
