/* An index, by question, of the client subnets that have cached answers (RFC 7871 7.3.1).
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The answer a server gave for a client subnet is in the message cache under that subnet
 * (msg_keep.place); here is which subnets there are for a question. An entry is immutable and flat.
 * Its rows are ordered by family, prefix length and address. Those that contain a client are tried
 * from the shortest to the longest prefix, and the first fresh one wins: a server's answer for a
 * wider prefix is its later one. */
#ifndef SERVICES_CACHE_SUBNET_INDEX_H
#define SERVICES_CACHE_SUBNET_INDEX_H

#include "services/cache/slab.h"
#include "util/net/subnet.h"

struct msgcache;
struct question;

struct places;

struct places *places_new(size_t budget, unsigned slabs) MUST_USE;
void places_free(struct places *p); /* NULL is fine */
struct slab *places_slab(struct places *p);

/* The subnet that contains all of `who` and has an answer fresh at `now_s`. False: none. */
bool places_find(struct places *p, const struct question *q, uint8_t scope,
		 const struct netblock *who, uint32_t now_s, struct place_kept *found);

/* Whether there is any for the question: its servers have been seen to tell clients apart. */
bool places_exist(struct places *p, const struct question *q, uint8_t scope, uint32_t now_s);

/* Add `at`, which has an answer until until_s. Rows within it are dropped; beyond `most` rows of
 * its family the oldest is replaced. Called within a turn. */
struct place_how {
	uint8_t scope;
	uint32_t now_s, until_s, most;
};
void places_add(struct places *p, const struct question *q, const struct place_kept *at,
		const struct place_how *how);

/* Call `fn` for every subnet of a question, in every scope. */
void places_each(struct places *p, const struct question *q,
		 void (*fn)(const struct place_kept *at, uint8_t scope, uint32_t until_s, void *arg),
		 void *arg);

/* Forget the question, and its answers in `messages`. */
void places_forget(struct places *p, struct msgcache *messages, const struct question *q);
/* The same for all questions at or below `top`, but the caller removes the answers. */
void places_forget_under(struct places *p, const uint8_t *top);

#endif
