/* What a configuration says about trust: rules and anchors, built with its snapshot.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef VALIDATOR_TRUST_H
#define VALIDATOR_TRUST_H

#include "validator/anchors.h"
#include "validator/rules.h"

struct trust_store {
	struct rules rules;
	struct anchors *anchors;
	int64_t clock_floor;    /* validator/clock.h */
};

struct trust_store *trust_new(const struct conf *conf, struct fault *f) MUST_USE;
void trust_free(struct trust_store *t);       /* NULL is fine */

#endif
