/* What is not validated, changed at run time.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAEMON_CONTROL_TRUST_H
#define DAEMON_CONTROL_TRUST_H

#include "util/base.h"

struct daemon;
struct fault;

/* Validate nothing in `zone`, or again what is in it, until the next reload. What stands already is
 * fine. False with a sentence in `f` when it cannot be. */
bool control_exempt(struct daemon *d, const uint8_t *zone, bool insecure, struct fault *f) MUST_USE;

#endif
