/* Errors the operator can mend: one sentence for a person, kept until somebody prints it.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * It starts empty (`struct fault f = { 0 };`). Only the first sentence is kept, so a
 * failure during cleanup never hides the original one. */
#ifndef UTIL_BASE_FAULT_H
#define UTIL_BASE_FAULT_H

#include <stdbool.h>

#include "util/base/base.h"

struct fault {
	bool set, placed;
	char text[512]; /* no newline, no full stop; truncated to fit */
};

/* Say what was tried, on what, and why it failed. Does nothing when `f` is NULL or already set. */
void fault_set(struct fault *f, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Say first on which line of which file (NULL or "": nowhere), unless that has been said, or there is no sentence yet. */
void fault_place(struct fault *f, const char *file, unsigned line);

#endif
