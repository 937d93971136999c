/* How what policy zones say is carried out: on questions, and on answers.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A part of services/policy.c in a room of its own; nobody else calls it. */
#ifndef SERVICES_POLICY_ZONES_H
#define SERVICES_POLICY_ZONES_H

#include "services/policy.h"

/* The station in front of the caches. POLICY_LET_THROUGH: no zone has any more to say. */
enum policy_end policy_zones_answer(const struct policy *p, const struct policy_client *who,
				    const struct answer_to *to, struct writer *out,
				    struct arena *a, struct lead *lead);

/* The names that aliases in the answer lead to. True: that settles it, and `j` says how; JUDGED_AS_IS
 * for what was let through. */
bool policy_zones_judge_aliases(const struct policy *p, const struct policy_client *who,
				const struct message *m, uint32_t now_s, struct arena *a,
				struct judged *j);
/* Addresses in the answer, and the servers it came from. */
bool policy_zones_judge_rest(const struct policy *p, const struct policy_client *who,
			     const struct message *m, uint32_t now_s, struct arena *a,
			     struct judged *j);

#endif
