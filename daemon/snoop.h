/* What the caches hold, told to a client that does not ask for recursion (allow_snoop).
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAEMON_SNOOP_H
#define DAEMON_SNOOP_H

#include "services/answer.h"

struct rrsetcache;

/* The closest delegation that is known, with the addresses that are known, as a referral.
 * False, and nothing written, when there is none. */
bool snoop_referral(struct rrsetcache *c, const struct answer_to *to, struct writer *out);

#endif
