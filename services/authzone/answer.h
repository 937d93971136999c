/* Answers a question from a zone (RFC 1034 4.3.2, RFC 4035 3.1, RFC 5155 7.2).
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SERVICES_AUTHZONE_ANSWER_H
#define SERVICES_AUTHZONE_ANSWER_H

#include "util/dns/msg.h"

struct arena;
struct zonedata;

/* The answer of `z` to `q`, whose name is at or below its apex: data and aliases within the zone, a
 * referral (without AA), or a denial with its proofs. RRsets are borrowed from the zone or in `a`;
 * their expires_s is the TTL. */
void zonedata_answer(const struct zonedata *z, const struct question *q, struct arena *a,
		     struct message *out);

#endif
