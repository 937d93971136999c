/* What the caches hold, told to a client that does not ask for recursion (allow_snoop).
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAEMON_SNOOP_H
#define DAEMON_SNOOP_H

#include "services/answer.h"

struct env;

/* The closest delegation that is known, with the addresses that are known, as a referral. Where
 * keys are at hand it is validated; what cannot be then stays out of ADDITIONAL.
 * False, and nothing written, when there is none. */
bool snoop_referral(const struct env *env, const struct answer_to *to, struct writer *out);

#endif
