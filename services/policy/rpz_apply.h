/* Applies the rules of policy zones to questions and answers.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A part of services/policy/policy.c in a file of its own; nothing else calls it. */
#ifndef SERVICES_POLICY_RPZ_APPLY_H
#define SERVICES_POLICY_RPZ_APPLY_H

#include "services/policy/policy.h"

/* Questions, before the caches. POLICY_LET_THROUGH: no policy zone applies any further. */
enum policy_end rpz_apply_answer(const struct policy *p, const struct policy_client *who,
				    const struct answer_to *to, struct writer *out,
				    struct arena *a, struct alias_prefix *aliases);

/* Whether policy zones let through a question that local data answers with an alias. */
bool rpz_apply_spare(const struct policy *p, const struct policy_client *who,
			const struct question *q);

/* By the names that aliases in the answer lead to. True: that decides it, and `j` says how:
 * OUTCOME_AS_IS when a zone passes it. */
bool rpz_apply_aliases(const struct policy *p, const struct policy_client *who,
				const struct message *m, uint32_t now_s, struct arena *a,
				struct policy_outcome *j);
/* By the addresses in the answer and the servers it came from. */
bool rpz_apply_rest(const struct policy *p, const struct policy_client *who,
			     const struct message *m, uint32_t now_s, struct arena *a,
			     struct policy_outcome *j);
/* Whether this answer, if it were asked for, would not be given as it is. Nothing is logged or counted. */
bool rpz_apply_withhold(const struct policy *p, const struct policy_client *who,
			   const struct message *m);

#endif
