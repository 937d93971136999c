/* A scenario is played, and checked.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAEMON_REPLAY_PLAY_H
#define DAEMON_REPLAY_PLAY_H

#include "util/base/base.h"

enum play_end { PLAY_PASSED, PLAY_FAILED, PLAY_SKIPPED };

struct play_how {
	bool strict;            /* records in order, as the reference compares them */
	bool verbose;           /* tell what happens, on stdout behind "# " */
};

struct play_result {
	enum play_end end;
	bool soft;              /* passed, but asked what the author did not foresee (Deckard) */
	char why[512];
};

/* Play the file. The result's `why` says "step N: reason" for a failure. */
void play_file(const char *path, const struct play_how *how, struct play_result *out);
/* The same of a file's NUL-ended text, which is cut up. */
void play_text(char *text, const struct play_how *how, struct play_result *out);

#endif
