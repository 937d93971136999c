/* Whether an answer is true: the validator module (RFC 4033-4035, 5155, 6840).
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef VALIDATOR_VALIDATOR_H
#define VALIDATOR_VALIDATOR_H

#include "services/module.h"

extern const struct module validator_module;

#endif
