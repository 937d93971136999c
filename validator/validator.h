/* Whether an answer is true: the validator module (RFC 4033-4035, 5155, 6840).
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef VALIDATOR_VALIDATOR_H
#define VALIDATOR_VALIDATOR_H

#include "services/module.h"

struct arena;
struct env;
struct rrset;

extern const struct module validator_module;

/* A set out of the cache that nobody has judged yet: judged now, if the keys of its signer are at
 * hand; `set` or a copy in the arena, which the cache then has, too. Asks nobody. */
const struct rrset *validator_confirm(const struct env *env, const struct rrset *set,
				      struct arena *a);

#endif
