/* The operator's kind of failure: one sentence for a person, kept until somebody prints it.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * It begins empty (`struct fault f = { 0 };`). The first sentence stays: what
 * goes wrong while cleaning up after a failure never hides the failure. */
#ifndef UTIL_FAULT_H
#define UTIL_FAULT_H

#include <stdbool.h>

#include "util/base.h"

struct fault {
	bool set;
	char text[512]; /* no newline, no full stop; cut when longer */
};

/* Say what was tried, on what, and why not. Nothing happens when `f` is NULL or already set. */
void fault_set(struct fault *f, const char *fmt, ...) PRINTF_LIKE(2, 3);

#endif
