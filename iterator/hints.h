/* How to begin: the servers of the root, before anything is known.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * RFC 8109: the hints are only good to ask the root for its own servers; what it says is used. */
#ifndef ITERATOR_HINTS_H
#define ITERATOR_HINTS_H

struct delegation;
struct query;

/* The root as configured: a stub-zone ".", else root-hints, else the built-in ones. */
struct delegation *hints_delegation(const struct query *q);
/* Add those servers to a delegation of the root that has failed. */
void hints_add(struct delegation *d, const struct query *q);

#endif
