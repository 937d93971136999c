/* How an answer is found: RFC 1034 5.3.3 as a module.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The last module of the chain. It looks into the caches, stands at the closest servers it knows,
 * and walks from referral to referral and along aliases until somebody has the answer, spending the
 * query's budget. What servers say is scrubbed and kept in the RRset cache on the way;
 * the answer itself goes up, and is kept by whoever gives it to the client. */
#ifndef ITERATOR_ITERATOR_H
#define ITERATOR_ITERATOR_H

#include "services/module.h"

extern const struct module iterator_module;

#endif
