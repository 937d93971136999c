/* Forward and stub zones changed at run time, remembered to be applied to the next snapshot, too.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAEMON_PROCESS_CHANGES_H
#define DAEMON_PROCESS_CHANGES_H

#include "util/base/base.h"

struct fault;
struct forward_change;
struct snapshot;

struct changes {
	struct forward_change *items;
	size_t count;
};

void changes_note(struct changes *c, const struct forward_change *change); /* copies it */
void changes_clear(struct changes *c);

/* `s` with all of them applied. Takes over the pin of `s`, also on failure: NULL, with a sentence
 * in `f`, if one cannot be applied. */
struct snapshot *changes_apply(const struct changes *c, struct snapshot *s,
			       struct fault *f) MUST_USE;
/* The same with one change; `s` stays the caller's. */
struct snapshot *change_apply(const struct forward_change *change, struct snapshot *s,
			      struct fault *f) MUST_USE;

#endif
