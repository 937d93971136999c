/* When all servers of a zone have failed: which others the parent knows.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A zone's own NS set may be wrong or out of date while the parent's still names working servers.
 * So the parent's names and glue are tried last: from the cache, or by asking the parent again. */
#ifndef ITERATOR_PARENT_FALLBACK_H
#define ITERATOR_PARENT_FALLBACK_H

#include "iterator/iter.h"

enum iter_step parent_fallback(struct iter *it);

#endif
