/* The security of a whole answer: each RRset by its signer's keys, then what it denies.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * RFC 4035 5, 6840: an answer is as good as its weakest part. Each set of an alias chain is judged
 * with the keys of the zone that signed it; a set expanded from a wildcard needs a proof that no
 * closer name exists; a denial needs a proof for the name at the end of the chain. After a wait,
 * judging resumes where it stopped: no signature is checked twice (validator/ledger.h). */
#ifndef VALIDATOR_JUDGE_H
#define VALIDATOR_JUDGE_H

#include "util/dns/msg.h"
#include "validator/chain.h"

struct judgement {
	enum security security;
	enum reason reason;
	const char *text;               /* in the arena, or NULL */
	bool of_the_way;                /* the chain of trust is bogus: other servers cannot help */
	bool passing;                   /* part of it could not be had: soon it may be */
	bool spent;                     /* this question has used up a budget: nothing is known of the data */
};

struct judge {
	struct chain *chain;
	const struct message *m;
	struct judgement *sets;         /* one for each set of the message */
	struct verdict *verdicts;       /* of those that are signed; for a CNAME synthesized from a DNAME, the DNAME's */
	bool *judged;
	const uint8_t *end;             /* the name at the end of the aliases */
	bool positive;                  /* it has the requested data */
	bool beyond;                    /* it is the target of a CNAME that was asked for, and denied */
	bool whole;                     /* also judge what minimal-responses leaves out */
	unsigned expanded_done;         /* sets of ANSWER whose wildcard proofs are settled … */
	struct judgement expansions;    /* … and the worst of these judgements */
	struct judgement target;        /* for `beyond`: the worst of what belongs to the target's denial */
	bool has_denial;
	struct judgement denial;        /* what the proofs say about `end` */
	uint16_t rcode;                 /* as proven, if the judgement is secure */
};

/* Begin judging `m`, which lives as long as the query; `whole`: AUTHORITY and ADDITIONAL too. */
void judge_begin(struct judge *j, struct chain *c, const struct message *m, bool whole);

/* True: `out` is final. False: call again after chain_arrived if a child query is in progress, else
 * in a later turn of the loop (ledger_turn). */
bool judge_message(struct judge *j, struct judgement *out);

/* After a secure judgement: a copy of the message without the sets outside ANSWER that were not
 * found secure, sets marked and TTLs capped by their signatures, and the RCODE as proven.
 * `keep_extra` leaves ADDITIONAL as it is (val-clean-additional: no). */
struct message *judge_purify(const struct judge *j, bool keep_extra, struct arena *a,
			     uint32_t now_s);

/* Set i of the message if it is secure, for what may be concluded from it or kept; or NULL. Not a CNAME that
 * was synthesized: nothing vouches for it without its DNAME. */
const struct verified *judge_verified(const struct judge *j, unsigned i);

/* After any other judgement: a copy of the message, in which those sets that are secure all the same, like an
 * alias that leads to an unsigned zone, are marked and their TTLs capped by their signatures. */
struct message *judge_limit(const struct judge *j, struct arena *a, uint32_t now_s);

#endif
