/* The security of a whole answer: each RRset by its signer's keys, then what it denies.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * RFC 4035 5, 6840: an answer is as good as its weakest part. Each set of an alias chain is validated
 * with the keys of the zone that signed it; a set expanded from a wildcard needs a proof that no
 * closer name exists; a denial needs a proof for the name at the end of the chain. After a wait,
 * validating resumes where it stopped: no signature is checked twice (validator/checked_sigs.h). */
#ifndef VALIDATOR_ANSWER_VALIDITY_H
#define VALIDATOR_ANSWER_VALIDITY_H

#include "util/dns/msg.h"
#include "validator/trust_chain.h"

struct validity {
	enum security security;
	enum reason reason;
	const char *text;               /* in the arena, or NULL */
	bool chain_failed;                /* the chain of trust is bogus: other servers cannot help */
	bool passing;                   /* part of it could not be had: soon it may be */
	bool spent;                     /* this question has used up a budget: nothing is known of the data */
};

struct answer_validity {
	struct trust_chain *chain;
	const struct message *m;
	struct validity *sets;         /* one for each set of the message */
	struct sig_result *verdicts;       /* of those that are signed; for a CNAME synthesized from a DNAME, the DNAME's */
	bool *validated;
	const uint8_t *end;             /* the name at the end of the aliases */
	bool positive;                  /* it has the requested data */
	bool beyond;                    /* it is the target of a CNAME that was asked for, and denied */
	bool whole;                     /* also validate what minimal-responses leaves out … */
	unsigned extras;                /* … so many sets of it so far */
	unsigned extras_spent;          /* … and what their checks cost */
	int good_spent;                 /* signature checks that succeeded (budget->good_signatures) */
	unsigned expanded_done;         /* sets of ANSWER whose wildcard proofs are done … */
	struct validity expansions;    /* … and the worst of these validities */
	struct validity target;        /* for `beyond`: the worst of what belongs to the target's denial */
	bool has_denial;
	struct validity denial;        /* what the proofs say about `end` */
	uint16_t rcode;                 /* as proven, if the validity is secure */
};

/* Begin validating `m`, which lives as long as the query; `whole`: AUTHORITY and ADDITIONAL too. */
void answer_validity_begin(struct answer_validity *j, struct trust_chain *c, const struct message *m, bool whole);

/* True: `out` is final. False: call again after trust_chain_arrived if a child query is in progress, else
 * in a later turn of the loop (checked_sigs_turn). */
bool answer_validity_message(struct answer_validity *j, struct validity *out);

/* After a secure validity: a copy of the message without the sets outside ANSWER that were not
 * found secure, sets marked and TTLs capped by their signatures, and the RCODE as proven.
 * `keep_extra` leaves ADDITIONAL as it is (val-clean-additional: no). */
struct message *answer_validity_purify(const struct answer_validity *j, bool keep_extra, struct arena *a,
			     uint32_t now_s);

/* Set i of the message if it is secure, for what may be concluded from it or kept; or NULL. Not a CNAME that
 * was synthesized: nothing proves it without its DNAME. */
const struct verified *answer_validity_verified(const struct answer_validity *j, unsigned i);

/* After any other validity: a copy of the message, in which those sets that are secure all the same, like an
 * alias that leads to an unsigned zone, are marked and their TTLs capped by their signatures. */
struct message *answer_validity_limit(const struct answer_validity *j, struct arena *a, uint32_t now_s);

#endif
