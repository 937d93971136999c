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

struct subnet_index;

struct subnet_index *subnet_index_new(size_t budget, unsigned slabs) MUST_USE;
void subnet_index_free(struct subnet_index *p); /* NULL is fine */
struct slab *subnet_index_slab(struct subnet_index *p);

/* The subnet that contains all of `who` and has an answer fresh at `now_s`. False: none. */
bool subnet_index_find(struct subnet_index *p, const struct question *q, uint8_t scope,
		 const struct netblock *who, uint32_t now_s, struct subnet_key *found);

/* Whether there is any for the question: its servers have been seen to tell clients apart. */
bool subnet_index_exist(struct subnet_index *p, const struct question *q, uint8_t scope, uint32_t now_s);

/* Add `at`, which has an answer until until_s. Rows within it are dropped; beyond `most` rows of
 * its family the oldest is replaced. Called within a turn. */
struct subnet_index_how {
	uint8_t scope;
	uint32_t now_s, until_s, most;
};
void subnet_index_add(struct subnet_index *p, const struct question *q, const struct subnet_key *at,
		const struct subnet_index_how *how);

/* Call `fn` for every subnet of a question, in every scope. */
void subnet_index_each(struct subnet_index *p, const struct question *q,
		 void (*fn)(const struct subnet_key *at, uint8_t scope, uint32_t until_s, void *arg),
		 void *arg);

/* Forget the question, and its answers in `messages`. */
void subnet_index_forget(struct subnet_index *p, struct msgcache *messages, const struct question *q);
/* The same for all questions at or below `top`, but the caller removes the answers. */
void subnet_index_forget_under(struct subnet_index *p, const uint8_t *top);

#endif
