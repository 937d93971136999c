/* What the caches can answer before any server is asked.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ITERATOR_FROM_CACHE_H
#define ITERATOR_FROM_CACHE_H

#include "util/base/base.h"

struct message;
struct query;
struct question;

struct cached_answer {
	struct message *message; /* in the query's arena; NULL: nothing known */
	bool alias;              /* only an alias: continue at its target */
};

struct cached_answer from_cache(struct query *q, const struct question *wanted);

/* Whether a name that is an alias may have the type of its own, so that it has to be asked for: what DNSSEC puts
 * there (RFC 4035 2.5) and what makes a zone's apex, for there are zones with an alias at it, against RFC 1034 3.6.2. */
bool from_cache_stands_beside_alias(uint16_t type) PURE;

#endif
