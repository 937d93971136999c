/* What answer_validity.c and answer_denial.c share: the sets of an answer, and what is denied in it.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef VALIDATOR_ANSWER_PRIVATE_H
#define VALIDATOR_ANSWER_PRIVATE_H

#include "util/dns/dname.h"
#include "util/dns/rr.h"
#include "validator/anchors.h"
#include "validator/answer_validity.h"

#define VALIDITY_SECURE ((struct validity){ .security = SECURITY_SECURE })

static inline bool answer_is_proof(const struct rrset *s)
{
	return s->type == TYPE_NSEC || s->type == TYPE_NSEC3;
}

/* Whether the zone has a say about the name: at or below the trust anchor closest to it (for what the
 * parent has at a zone cut, `above` it). A zone further up, secure or not, does not reach past an
 * anchor. */
static inline bool answer_has_say(const struct answer_validity *j, const uint8_t *zone, const uint8_t *name, bool above)
{
	const struct anchor *a = trust_chain_anchor(j->chain->trust, j->chain->q, name, above);

	return !a || dname_is_under(zone, a->owner);
}

static inline bool answer_is_proven(const struct answer_validity *j, unsigned i)
{
	return j->validated[i] && j->sets[i].security == SECURITY_SECURE;
}

/* As answer_validity_verified. */
static inline const struct verified *answer_verified(const struct answer_validity *j, unsigned i)
{
	const struct verified *v = answer_is_proven(j, i) ? j->verdicts[i].verified : NULL;

	return v && verified_set(v) == j->m->sets[i] ? v : NULL;
}

/* ---- answer_denial.c: by the sets of AUTHORITY, which were validated ---- */

/* What a chain of trust that ended without keys makes of data. */
struct validity answer_from_chain(const struct trust_chain_found *f);
/* Validates the proof that no closer name exists, for set i, expanded from a wildcard (RFC 4035 5.3.4). */
struct validity answer_validate_expansion(struct answer_validity *j, unsigned i);
/* Validates the denial of the name or type at the end of the alias chain (RFC 4035 5.4, 5155 8), and sets
 * the RCODE as proven. */
struct validity answer_validate_proofs(struct answer_validity *j);
/* Validates a negative answer: its proofs, or that none is needed. False: wait. */
bool answer_validate_denial(struct answer_validity *j, struct validity *out);

#endif
