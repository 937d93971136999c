/* What autotrust.c and autotrust_file.c share.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef VALIDATOR_AUTOTRUST_PRIVATE_H
#define VALIDATOR_AUTOTRUST_PRIVATE_H

#include "validator/autotrust.h"

#define DNSKEY_LONGEST 65535

/* Put a copy of the key in front of the others: the file lists the newest first. */
void autotrust_key_put(struct autotrust *p, const struct autotrust_key *key);

#endif
