/* Which questions to servers are equal: they share one exchange of packets.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SERVICES_UPSTREAM_QUESTION_H
#define SERVICES_UPSTREAM_QUESTION_H

#include "services/upstream/upstream.h"

/* Of all that makes a difference to the server or to what becomes of its answer: the question, the server, the transport
 * and the names it is reached by there, what is asked for with it. Equal questions have equal hashes. */
bool upstream_question_equals(const struct upstream_question *a, const struct upstream_question *b) PURE;
uint64_t upstream_question_hash(const struct upstream_question *q) PURE;

#endif
