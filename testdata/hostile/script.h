/* A world written down as a scenario of testdata/replay.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Who hands `trace` to a world gets all of it: each question of a client, what servers answered, and what clients should
 * have been told. It is a draft for people: servers answer what they were asked in that world, and nothing else. */
#ifndef TESTDATA_HOSTILE_SCRIPT_H
#define TESTDATA_HOSTILE_SCRIPT_H

#include <stdio.h>

#include "testdata/hostile/trace.h"
#include "util/base/arena.h"

struct script_line; /* something that happened */

struct script {
	struct trace trace;
	struct arena arena;
	const char *config;
	struct script_line *first, *last;
	unsigned step;	 /* of the last question */
	uint64_t waited_us; /* since the last line that says so */
};

void script_begin(struct script *s);
void script_write(struct script *s, const char *moral, FILE *out);
void script_clear(struct script *s);

#endif
