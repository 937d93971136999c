/* Who follows the anchors that roll: probes at their time, files, trust given and withdrawn.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * RFC 5011 2.3. One worker does it for all; the others see the anchors change. A reload reads the
 * files again, so that what a probe of before brings is put aside. */
#ifndef VALIDATOR_ROLL_H
#define VALIDATOR_ROLL_H

#include "util/base.h"

struct env;
struct roll;
struct rrset;
struct snapshot;

/* Follow the anchors of env->snapshot from now on. */
struct roll *roll_new(struct env *env) MUST_USE;
void roll_free(struct roll *r);         /* NULL is fine */

/* env->snapshot is another one now. */
void roll_renew(struct roll *r);

/* The zone of such an anchor has shown these keys, and they are not believed: perhaps because the
 * anchor's are revoked by now. Anchors may be other ones, or gone, afterwards. */
void roll_hear(struct roll *r, const struct snapshot *s, const struct rrset *dnskeys);

#endif
