/* The 0x20 fallback: a server did not echo our letter case, so several responses are compared.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A response that does not echo our spelling may come from an old server or from a forger. The
 * question is then sent in plain spelling, several times and to every server of the zone; only
 * what they all agree on is believed. */
#ifndef ITERATOR_CAPS_H
#define ITERATOR_CAPS_H

#include "util/base/base.h"

struct message;

struct caps {
	bool on;               /* the fallback is under way */
	unsigned agreed;       /* responses so far that do not contradict each other */
	struct message *first; /* the first of them, of use if one is */
};

void caps_begin(struct caps *c);
void caps_end(struct caps *c);

/* Compare one more scrubbed response with the first. False if it contradicts it; a server that can say
 * nothing (REFUSED, SERVFAIL and the like) contradicts nobody. */
bool caps_agrees(struct caps *c, struct message *m);

/* Whether enough responses agree: three for each of the `targets` addresses, or about half of
 * `most_sends` (max-sent-count). */
bool caps_suffices(const struct caps *c, unsigned targets, unsigned most_sends);

#endif
