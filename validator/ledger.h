/* Checks done for one question: each of them once, and only so many in a turn of the loop.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Judging is begun anew after each wait and goes over the same sets again: what was found out about
 * a set stands here, so that going over it costs a look. When the share of a turn is used up, be it
 * this question's or that of all questions (MESH_CHECKS), a check that has not been made yet is put
 * off: whoever hears so leaves all as it is, yields (mesh_yield), and comes back in a later turn. The
 * share may be overdrawn by one set. */
#ifndef VALIDATOR_LEDGER_H
#define VALIDATOR_LEDGER_H

#include "validator/verify.h"

struct query;
struct trust_store;

#define LEDGER_CHECKS 8         /* signature checks in a turn … */
#define LEDGER_HASHES 50        /* … and units of NSEC3 hashes (struct budget) */

struct ledger {
	struct query *q;
	struct verify_how how;
	struct ledger_row *rows;        /* newest first; in the query's arena */
	int checks_until, hashes_until; /* what the purses may sink to in this turn */
};

void ledger_begin(struct ledger *l, struct query *q, const struct trust_store *trust);

/* A new turn: a fresh share. */
void ledger_turn(struct ledger *l);
bool ledger_is_tired(const struct ledger *l);

/* As verify_set. Set and keys live as long as the query. False: put off. */
bool ledger_verify(struct ledger *l, const struct rrset *set, const struct keyset *keys,
		   struct verdict *out) MUST_USE;

#endif
