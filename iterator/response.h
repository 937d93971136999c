/* What a server's response leads to.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ITERATOR_RESPONSE_H
#define ITERATOR_RESPONSE_H

#include "iterator/iter.h"

/* on_response: handle a response or its absence; without it->reply, what was held back until others
 * had been asked. */
enum iter_step response_read(struct iter *it);

#endif
