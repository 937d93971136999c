/* Iterative resolution (RFC 1034 5.3.3) as a module.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The last module of the chain. It consults the caches, starts at the closest known servers, and
 * follows referrals and aliases until a server has the answer, spending the query's budget.
 * Responses are scrubbed and their RRsets cached on the way; the answer itself goes up and is
 * cached by whoever gives it to the client. */
#ifndef ITERATOR_ITERATOR_H
#define ITERATOR_ITERATOR_H

#include "services/query/module.h"

extern const struct module iterator_module;

#endif
