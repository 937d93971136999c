/* Queries answered from the configuration: local data, policies, block lists, held zones.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Each returns true if it has decided the query: then `*v` says how, and the answer, if there
 * is one, is in p->out. The quick tests that spare most queries these calls are the caller's
 * (daemon/worker/frontend.c). */
#ifndef DAEMON_WORKER_LOCAL_H
#define DAEMON_WORKER_LOCAL_H

#include "services/net/client.h"

struct client_query;

/* Local data and response policy, by query name (services/policy/policy.h). A query that a policy lets
 * through (passthru) is marked as such. */
bool local_decides(struct client_query *j, enum disposition *v);

/* A zone held here answers authoritatively (auth-zone, for-downstream). */
bool local_answers(struct client_query *j, enum disposition *v);

/* Block lists, by query name or by the targets of aliases in the cached answer. */
bool local_blocks(struct client_query *j, enum disposition *v);

/* Policies that look at answers: the cached one is changed for this client, or withheld. `stale`:
 * it has expired, and is served all the same. */
bool local_changes(struct client_query *j, bool stale, enum disposition *v);

/* Answer a NOTIFY from a primary about a zone held here (RFC 1996). */
enum disposition local_notify(struct client_query *j);

#endif
