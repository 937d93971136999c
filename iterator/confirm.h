/* Responses that need a second opinion before they are believed or rejected.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ITERATOR_CONFIRM_H
#define ITERATOR_CONFIRM_H

#include "iterator/iter.h"

/* The minimised name is said not to exist. Many servers wrongly say so of empty non-terminals; but
 * where the denial can be validated it is, and then decides for the whole name (RFC 8020). */
enum iter_step confirm_denial(struct iter *it, struct message *m);

/* Whether `m` denies the DS set from the child's side of the zone cut, or from nobody knows where: the
 * server has both zones and answered from the wrong one, because we ask too far up. */
bool confirm_is_too_low(const struct message *m, const struct question *ds);
/* Then look for zone cuts in between, with `m` as the answer if there are none. */
enum iter_step confirm_cut(struct iter *it, struct message *m);

/* The child query that ITER_confirm was waiting for has ended. */
void confirm_arrived(struct iter *it, const struct query *child);

#endif
