/* The validator module: is an answer authentic (RFC 4033-4035, 5155, 6840)?
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef VALIDATOR_VALIDATOR_H
#define VALIDATOR_VALIDATOR_H

#include "services/query/module.h"

struct arena;
struct env;
struct rrset;

extern const struct module validator_module;

/* Validate a cached set that has not been validated yet, if its signer's keys are in the key cache;
 * sends no queries. Returns `set` or, when it is secure, a marked copy in the arena that has also
 * been put into the cache. */
const struct rrset *validator_confirm(const struct env *env, const struct rrset *set,
				      struct arena *a);

#endif
