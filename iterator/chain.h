/* Aliases followed on the way to an answer, and the answer they lead to.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ITERATOR_CHAIN_H
#define ITERATOR_CHAIN_H

#include "util/base.h"

struct arena;
struct message;
struct question;
struct rrset;

struct chain {
	const struct rrset **answer, **authority;
	unsigned answers, authorities, answer_room, authority_room;
};

/* Take over the aliases that `m`'s answer begins with for `name`, and the proofs (NSEC, NSEC3) that
 * a wildcard was rightly used. Returns where they lead; `name` itself when there is none, and
 * NULL when they lead back to where the chain has been. */
const uint8_t *chain_take(struct chain *c, struct arena *a, const struct message *m,
			  const uint8_t *name);

/* The final answer behind its aliases, as an answer to `q`. */
struct message *chain_finish(const struct chain *c, struct arena *a, const struct message *end,
			     const struct question *q) MUST_USE;

#endif
