/* Queries about the server itself: class CH (RFC 4892).
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAEMON_WORKER_CHAOS_H
#define DAEMON_WORKER_CHAOS_H

#include "services/answer/answer.h"

struct chaos;
struct conf;
struct trust_store;

/* The answers for identity, version and the hide-* options. `trust` (or NULL), for
 * trustanchor.unbound, must outlive them. */
struct chaos *chaos_new(const struct conf *conf, const struct trust_store *trust) MUST_USE;
void chaos_free(struct chaos *c); /* NULL is fine */

/* Answer a query of class CH; REFUSED for other names and types. */
void chaos_answer(const struct chaos *c, const struct answer_to *to, struct writer *out);

#endif
