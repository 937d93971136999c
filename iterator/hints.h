/* Where to begin: the root servers, before anything is known.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * RFC 8109: the hints serve only to ask a root server for the root NS set, which is then used. */
#ifndef ITERATOR_HINTS_H
#define ITERATOR_HINTS_H

struct delegation;
struct query;

/* The root as configured: a stub-zone ".", else root-hints, else the built-in hints. */
struct delegation *hints_delegation(const struct query *q);
/* Add those servers to a root delegation that has failed, if they are asked over the same
 * transport. */
void hints_add(struct delegation *d, const struct query *q);

#endif
