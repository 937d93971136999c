/* Questions settled by what is configured here: local data, policies, block lists, held zones.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Each returns true when it has settled the question: then `*v` is the verdict, and the answer, if
 * there is one, is in p->out. The quick tests that spare an ordinary question these calls are the
 * caller's (daemon/frontend.c). */
#ifndef DAEMON_FRONTEND_LOCAL_H
#define DAEMON_FRONTEND_LOCAL_H

#include "services/listen.h"

struct journey;

/* Local data and response policy, by the name asked for (services/policy.h). A question that a
 * policy lets through is marked for what comes later. */
bool local_settles(struct journey *j, enum verdict *v);

/* A zone that is held here answers, with authority (auth-zone, for-downstream). */
bool local_answers(struct journey *j, enum verdict *v);

/* Block lists, by the name or by where the cached answer's aliases lead. */
bool local_blocks(struct journey *j, enum verdict *v);

/* Policies that look at answers: this client gets the cached one changed, or not at all. `stale`:
 * it has expired, and is revived. */
bool local_changes(struct journey *j, bool stale, enum verdict *v);

/* The answer to a NOTIFY: a primary says that a zone held here has changed (RFC 1996). */
enum verdict local_notify(struct journey *j);

#endif
