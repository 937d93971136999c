/* What a server's response leads to.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ITERATOR_DIGEST_H
#define ITERATOR_DIGEST_H

#include "iterator/iter.h"

/* on_digest: handle a response or its absence; without it->reply, what was held back until others
 * had been asked. */
enum turn digest(struct iter *it);

#endif
