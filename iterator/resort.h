/* When all servers of a zone have failed: whom else the parent knows.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A zone may say of its own servers what is not (or no longer) true, while its parent still leads
 * to those that work. So the names and addresses in the parent's keeping are tried last: from
 * the cache, or by asking the parent again. */
#ifndef ITERATOR_RESORT_H
#define ITERATOR_RESORT_H

#include "iterator/iter.h"

enum turn resort(struct iter *it);

#endif
