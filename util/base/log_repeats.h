/* Finds log lines that merely repeat: each is written a few times, then only counted.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Not thread-safe: callers hold the log's lock. Time is passed in. */
#ifndef UTIL_BASE_LOG_REPEATS_H
#define UTIL_BASE_LOG_REPEATS_H

#include "util/base/base.h"

#define REPEATS_SHOWN  10  /* times a line is written … */
#define REPEATS_SPAN_S 60  /* in this many seconds; more are only counted */
#define REPEATS_KEPT   200 /* bytes of a line shown with its count */

struct log_repeats {
	struct log_repeat {
		uint64_t hash; /* of kind and text; 0: free entry */
		uint64_t began_s;
		uint64_t count;
		uint64_t used; /* `lines` when it last occurred */
		char kind[16], text[REPEATS_KEPT + 1];
	} at[32];
	uint64_t lines;
};

/* Whether to write the line. */
bool log_repeats_admit(struct log_repeats *r, const char *kind, const char *text, uint64_t now_s);

/* Take out a line that was held back and whose time is over (any line, if `at_once`): its text, and
 * how often it was not written. False when none is left. */
struct log_held {
	uint64_t count;
	char kind[16], text[REPEATS_KEPT + 1];
};
bool log_repeats_take(struct log_repeats *r, uint64_t now_s, bool at_once, struct log_held *held);

#endif
