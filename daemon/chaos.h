/* Questions about the server itself: class CH (RFC 4892).
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAEMON_CHAOS_H
#define DAEMON_CHAOS_H

#include "services/answer.h"

struct chaos;
struct conf;
struct trust_store;

/* The answers that identity, version and the hide-* options make. `trust` (or NULL) is what
 * trustanchor.unbound tells about; it outlives the answers. */
struct chaos *chaos_new(const struct conf *conf, const struct trust_store *trust) MUST_USE;
void chaos_free(struct chaos *c); /* NULL is fine */

/* Answer a question of class CH. A name or type that nothing is told about is refused. */
void chaos_answer(const struct chaos *c, const struct answer_to *to, struct writer *out);

#endif
