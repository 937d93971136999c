/* The state between two responses: what to ask next, which server, and over what it is sent.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Every question passes here, and with it the limits of a name, a zone and a query. */
#ifndef ITERATOR_CHOOSE_H
#define ITERATOR_CHOOSE_H

#include "iterator/iter.h"

enum iter_step choose(struct iter *it);

#endif
