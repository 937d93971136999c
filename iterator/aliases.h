/* The aliases followed on the way to an answer, and the answer they lead to.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ITERATOR_ALIASES_H
#define ITERATOR_ALIASES_H

#include "util/base/base.h"

struct arena;
struct message;
struct question;
struct rrset;

/* The denials (NSEC, NSEC3) that the proof for one question may need, behind that many aliases: three at most say that
 * name or type is not there (RFC 5155 8.4), two for each set that it was rightly expanded from a wildcard. Some
 * servers add one or the other. More would be work for the validator, and for nothing. */
static inline unsigned aliases_denials_most(unsigned links)
{
	return 10 + 2 * links;
}

struct aliases {
	const struct rrset **answer, **authority;
	unsigned links; /* the CNAME sets in `answer` */
	unsigned answers, authorities, answer_room, authority_room;
};

/* Append the aliases with which the answer section of `m` begins for `name`, and the proofs (NSEC,
 * NSEC3) that a wildcard was rightly used. Returns the name they lead to: `name` itself if there
 * are none, NULL if the chain loops. `one`: no more than the first, as for DS: what the server says of the next name may be said
 * from below a zone cut there, and counts for all types but this one (RFC 4035 3.1.4.1). */
const uint8_t *aliases_take(struct aliases *c, struct arena *a, const struct message *m,
			  const uint8_t *name, bool one);

/* `end` with the chain's aliases in front, as one answer to `q`; in the arena. Who asked for a CNAME (and
 * whose server denied the target, RFC 2308 2.1) is answered by the first, if its target is there or an alias. */
struct message *aliases_finish(const struct aliases *c, struct arena *a, const struct message *end,
			     const struct question *q) MUST_USE;

#endif
