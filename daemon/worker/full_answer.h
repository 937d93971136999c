/* Cached answers with the servers that are known by now (minimal-responses: no).
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAEMON_WORKER_FULL_ANSWER_H
#define DAEMON_WORKER_FULL_ANSWER_H

#include "services/net/client.h"

struct client_query;

/* True: servers or addresses that the cached answer names beside what was asked for are known anew,
 * and the answer with those is in p->out. `stale`: it has expired, and is revived. */
bool full_answer_add_servers(struct client_query *j, bool stale, enum disposition *v);

#endif
