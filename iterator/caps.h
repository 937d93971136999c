/* When a server spoils the letter case of our question (0x20): comparing what several say.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A server that does not echo our spelling may be an old one, or somebody forging. Then the
 * question goes out in plain spelling, several times and to all servers there are; only what they
 * all agree on is believed. */
#ifndef ITERATOR_CAPS_H
#define ITERATOR_CAPS_H

#include "util/base.h"

struct message;

struct caps {
	bool on;               /* the fallback is under way */
	unsigned agreed;       /* answers that are alike so far */
	struct message *first; /* the first of them */
};

void caps_begin(struct caps *c);
void caps_end(struct caps *c);

/* One more scrubbed answer. False: it contradicts the others. */
bool caps_agrees(struct caps *c, struct message *m);

/* Whether that many answers from servers with `places` addresses will do. */
bool caps_suffices(const struct caps *c, unsigned places, unsigned most_sends);

#endif
