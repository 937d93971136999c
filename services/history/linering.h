/* Lines that wait for a reader: of more than there is room for, the oldest are lost.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Used by one thread. Takes memory as it grows, and gives it back when empty. */
#ifndef SERVICES_HISTORY_LINERING_H
#define SERVICES_HISTORY_LINERING_H

#include "util/base/base.h"

enum {
	LINERING_LINES = 100000,
	LINERING_BYTES = 32 << 20, /* with two for each line */
};

struct linering { /* begins zeroed */
	char *at;
	size_t room, begin, len; /* bytes; `room` is 0 or a power of two */
	size_t count;
	size_t taken; /* bytes of the first line that are taken already */
};

void linering_clear(struct linering *l);

/* Add a line of up to 65,535 bytes, its newline included. Returns how many lines were lost: the oldest, or, if a part
 * of that is taken already, this one. */
unsigned linering_put(struct linering *l, const char *line, size_t len);

/* Copy as many whole lines as fit into `most` bytes, but of a longer one as much as fits. Returns the
 * number of bytes; 0: there is none. */
size_t linering_look(const struct linering *l, char *to, size_t most);
/* The first `len` bytes of that have been taken. */
void linering_take(struct linering *l, size_t len);
/* Who took a part of the first line will not take the rest. Returns how many lines were lost. */
unsigned linering_mend(struct linering *l);

#endif
