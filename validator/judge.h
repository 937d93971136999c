/* What to think of a whole answer: each set by its signer's keys, then what it denies.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * RFC 4035 5, 6840: an answer is as good as its worst link. Each set of an alias chain is judged by
 * the zone that signed it; a set that came from a wildcard needs the proof that no closer name
 * exists; a denial needs the proof for the name at the end of the chain. Judging again after
 * a wait goes on where it stopped: no signature is checked twice (validator/ledger.h). */
#ifndef VALIDATOR_JUDGE_H
#define VALIDATOR_JUDGE_H

#include "util/msg.h"
#include "validator/chain.h"

struct judgement {
	enum security security;
	enum reason reason;
	const char *text;               /* in the arena, or NULL */
	bool of_the_way;                /* bogus: the chain of trust is, other servers' data would be too */
};

struct judge {
	struct chain *chain;
	const struct message *m;
	struct judgement *sets;         /* one for each set of the message */
	struct verdict *verdicts;       /* of those that were signed */
	bool *judged;
	const uint8_t *end;             /* the name at the end of the aliases */
	bool positive;                  /* something stands there */
	bool whole;                     /* judge also what minimal answers leave out */
	unsigned expanded_done;         /* sets of ANSWER that need no look at wildcards any more … */
	struct judgement expansions;    /* … and the worst of them */
	bool has_denial;
	struct judgement denial;        /* what the proofs say of the end */
};

/* Begin with a message that lives as long as the query. `whole`: AUTHORITY and ADDITIONAL are
 * wanted, too. */
void judge_begin(struct judge *j, struct chain *c, const struct message *m, bool whole);

/* True: `out` is final. False: a child is out, call again when chain_arrived was told; or none is, and
 * the rest is for a later turn of the loop (ledger_turn). */
bool judge_message(struct judge *j, struct judgement *out);

/* The message without what was not found secure outside of ANSWER, sets marked and TTLs cut to
 * what signatures allow. `keep_extra`: ADDITIONAL is left as it is (val-clean-additional: no). For
 * a secure judgement. */
struct message *judge_purify(const struct judge *j, bool keep_extra, struct arena *a,
			     uint32_t now_s);

#endif
