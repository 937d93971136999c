/* Records as scenarios write them: also those that no zone file may hold.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Scenarios test a resolver with data that are wrong on purpose, or were read by a more
 * forgiving program: \# data of a length that the type does not have, signatures left
 * empty, class ANY, words behind the end. */
#ifndef DAEMON_REPLAY_LOOSE_H
#define DAEMON_REPLAY_LOOSE_H

#include "util/dns/text.h"

/* As text_rr_parse, forgiving the above. */
bool loose_rr_parse(struct arena *a, const char *line, struct text_zone *z, struct text_rr *out,
		    struct fault *f) MUST_USE;

#endif
