/* For which subnets answers to a question are kept (RFC 7871 7.3.1).
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * An answer that a server gave for a client's subnet stands in the message cache under that subnet
 * (msg_keep.place); here, by question, stands which subnets there are. An entry is immutable and flat:
 * its rows are ordered by family, length and address, so that those that hold a client are found from
 * the shortest to the longest, and the first that is fresh is taken: what a server has said of more
 * clients, it has said later. */
#ifndef SERVICES_CACHE_PLACES_H
#define SERVICES_CACHE_PLACES_H

#include "services/cache/slab.h"
#include "util/subnet.h"

struct msgcache;
struct question;

struct places;

struct places *places_new(size_t budget, unsigned slabs) MUST_USE;
void places_free(struct places *p); /* NULL is fine */
struct slab *places_slab(struct places *p);

/* The subnet whose answer is for `who`: which holds it whole, and is fresh at `now_s`. False: none. */
bool places_find(struct places *p, const struct question *q, uint8_t scope,
		 const struct netblock *who, uint32_t now_s, struct place_kept *found);

/* Whether there is any at all: the servers have shown that they tell clients apart. */
bool places_exist(struct places *p, const struct question *q, uint8_t scope, uint32_t now_s);

/* There is an answer for `at` now, until then. What it covers is forgotten, and of `most` rows of its
 * family the oldest gives way. Called within a turn. */
struct place_how {
	uint8_t scope;
	uint32_t now_s, until_s, most;
};
void places_add(struct places *p, const struct question *q, const struct place_kept *at,
		const struct place_how *how);

/* Show every subnet of a question, in each scope. */
void places_each(struct places *p, const struct question *q,
		 void (*fn)(const struct place_kept *at, uint8_t scope, uint32_t until_s, void *arg),
		 void *arg);

/* Forget the question, and its answers in `messages`. */
void places_forget(struct places *p, struct msgcache *messages, const struct question *q);
/* The same for all questions at or below a name, but that the answers are swept by whoever calls. */
void places_forget_under(struct places *p, const uint8_t *top);

#endif
