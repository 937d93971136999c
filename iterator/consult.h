/* When what a server said wants a second word before it is believed, or refused.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ITERATOR_CONSULT_H
#define ITERATOR_CONSULT_H

#include "iterator/iter.h"

/* The shown part of the name is said not to exist. Many servers say so of names that only have
 * others below them; but where the denial can be validated, it is (RFC 8020), and then settles
 * the whole name. */
enum turn consult_denial(struct iter *it, struct message *m);

/* `m` denies a DS set in the name of the child itself: one server serves the zones on both sides of
 * a cut and took the wrong one, since we stand too high. Find the zones between. */
bool consult_is_too_low(const struct message *m, const struct question *ds);
enum turn consult_cut(struct iter *it, struct message *m);

/* What was waited for in ITER_consult. */
void consulted(struct iter *it, const struct query *child);

#endif
