/* The signature checks of one query: each done once, and only so many per turn of the loop.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Validating starts over after each wait and visits the same sets again; verdicts are recorded here,
 * so that a revisit costs only a lookup. When a turn's share is used up, this query's own or that
 * of all queries (MESH_CHECKS), or its time is (loop_is_due), a check not made yet is put off: the caller leaves its state as it
 * is, yields (mesh_yield), and resumes in a later turn. One set may overdraw the share. */
#ifndef VALIDATOR_CHECKED_SIGS_H
#define VALIDATOR_CHECKED_SIGS_H

#include "validator/verify.h"

struct query;
struct trust_store;

#define CHECKED_CHECKS 8         /* signature checks per turn … */
#define CHECKED_HASHES 50        /* … and units of NSEC3 hashes (struct budget) */

struct checked_sigs {
	struct query *q;
	struct verify_how how;
	struct checked_sigs_row **rows;       /* by set; in the query's arena, NULL before the first */
	int checks_until, hashes_until; /* how far the budgets may sink in this turn */
};

void checked_sigs_begin(struct checked_sigs *l, struct query *q, const struct trust_store *trust);

/* Whether the query's signature checks are used up: nothing more can be found out by it. */
bool checked_sigs_is_spent(const struct checked_sigs *l);
/* The signature checks it has left, of both kinds: the difference is what was spent. */
int checked_sigs_checks_left(const struct query *q);

/* A new turn begins, with a fresh share. */
void checked_sigs_turn(struct checked_sigs *l);
/* Whether this turn's share is used up. */
bool checked_sigs_is_tired(const struct checked_sigs *l);

/* As verify_set; `set` and `keys` must live as long as the query. False: put off. */
bool checked_sigs_verify(struct checked_sigs *l, const struct rrset *set, const struct keyset *keys,
		   struct sig_result *out) MUST_USE;

#endif
