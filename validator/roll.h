/* Drives RFC 5011 for the anchors that roll: timed probes, state files, changes of trust.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * RFC 5011 2.3. One worker does it for all; the others see the anchors change. A reload reads the
 * files again, so the result of a probe from before it is discarded. */
#ifndef VALIDATOR_ROLL_H
#define VALIDATOR_ROLL_H

#include "util/base/base.h"

struct env;
struct roll;
struct rrset;
struct snapshot;

/* Follow the anchors of env->snapshot from now on. */
struct roll *roll_new(struct env *env) MUST_USE;
void roll_free(struct roll *r);         /* NULL is fine */

/* env->snapshot has been replaced. If it validates differently, what was validated before is forgotten. */
void roll_renew(struct roll *r);

/* The zone of such an anchor has published `dnskeys`, and they did not validate: perhaps the
 * anchor's keys have been revoked. Anchors may have changed or gone afterwards. */
void roll_hear(struct roll *r, const struct snapshot *s, const struct rrset *dnskeys);

#endif
