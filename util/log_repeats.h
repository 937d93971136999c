/* Which lines of the log only repeat others: a flood of them is written a few times, then counted.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Not thread-safe: the log's own lock is held. Time is handed in. */
#ifndef UTIL_LOG_REPEATS_H
#define UTIL_LOG_REPEATS_H

#include "util/base.h"

#define REPEATS_SHOWN  10  /* of the same line in … */
#define REPEATS_SPAN_S 60  /* so long: what comes after those is counted */
#define REPEATS_KEPT   200 /* bytes of a line that are shown with the count */

struct log_repeats {
	struct log_repeat {
		uint64_t hash; /* of kind and text; 0: free */
		uint64_t began_s;
		uint64_t count;
		uint64_t used; /* `lines` when it came last */
		char kind[16], text[REPEATS_KEPT + 1];
	} at[32];
	uint64_t lines;
};

/* Whether the line is to be written. */
bool log_repeats_admit(struct log_repeats *r, const char *kind, const char *text, uint64_t now_s);

/* Takes out a line that was held back and whose time is over (any, if `at_once`): its text, and how
 * often it came. False when there is none left. */
struct log_held {
	uint64_t count;
	char kind[16], text[REPEATS_KEPT + 1];
};
bool log_repeats_take(struct log_repeats *r, uint64_t now_s, bool at_once, struct log_held *held);

#endif
