/* Referrals from the cache, for clients that do not ask for recursion (allow_snoop).
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAEMON_WORKER_SNOOP_H
#define DAEMON_WORKER_SNOOP_H

#include "services/answer/answer.h"

struct env;
struct policy_client;

/* Write the closest cached delegation, with cached addresses, as a referral. It is validated if the
 * keys are cached; addresses that do not validate are then left out, and those that policy withholds. False, with nothing written,
 * if there is no delegation. */
bool snoop_referral(const struct env *env, const struct policy_client *who,
		    const struct answer_to *to, struct writer *out);

#endif
