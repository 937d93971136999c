/* Run-time changes of what is not validated.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAEMON_CONTROL_TRUST_H
#define DAEMON_CONTROL_TRUST_H

#include "util/base/base.h"

struct daemon;
struct fault;

/* Until the next reload, or for good if changes are kept, do not validate `zone` (`insecure`), or validate it again. No error if
 * that is already so. False, with a sentence in `f`, on failure. */
bool control_exempt(struct daemon *d, const uint8_t *zone, bool insecure, struct fault *f) MUST_USE;

#endif
