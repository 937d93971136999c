/* The message cache: answers ready to send.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * An entry holds the compressed wire image of an answer, the places of its TTLs,
 * and what is needed to judge it. It is keyed by name, type, class and `scope`
 * (0: everybody; other numbers keep views apart). Where an answer looks different
 * with and without DNSSEC records there are two entries, the plain one made from
 * the full one when first asked for. */
#ifndef SERVICES_CACHE_MSG_H
#define SERVICES_CACHE_MSG_H

#include "services/cache/slab.h"
#include "util/msg.h"

enum { STORED_PLAIN = 1, STORED_FULL = 2 };     /* whom the image fits: without DO, with DO */

struct stored {
	struct slab_entry link;
	uint32_t stored_s, expires_s;
	uint32_t refresh_s;             /* from here on a hit should start a prefetch */
	uint16_t scope;
	uint16_t flags;                 /* header bits as stored: AA, TC … no RD, RA, CD */
	uint16_t wire_len;
	uint16_t ttl_count;
	uint16_t additional_at;         /* offset where ADDITIONAL begins: what truncation may drop */
	uint16_t additional_rrs;
	uint16_t rotate_at, rotate_step, rotate_count;  /* equal-sized records to take turns; count 0: none */
	uint8_t  rcode;                 /* low byte of it; failures that are kept have < 16 */
	uint8_t  security;              /* enum security */
	uint8_t  reason;                /* enum reason */
	uint8_t  fits;                  /* STORED_PLAIN | STORED_FULL */
	uint8_t  qname_len;
	uint8_t  has_sets;              /* 0: a bare rcode */
	uint16_t data[];                /* ttl_count offsets, then the wire image */
};

static inline const uint8_t *stored_wire(const struct stored *s)
{
	return (const uint8_t *)(s->data + s->ttl_count);
}

struct msgcache;

struct msgcache *msgcache_new(size_t budget, unsigned slabs) MUST_USE;
void msgcache_free(struct msgcache *c);
struct slab *msgcache_slab(struct msgcache *c);

uint64_t msgcache_hash(const struct question *q);

/* What is kept for the question, fresh or expired, fitting a client that wants
 * DNSSEC records (`full`) or not. Borrowed for the turn; NULL when there is none. */
const struct stored *msgcache_find(struct msgcache *c, const struct question *q, uint64_t hash,
				   uint16_t scope, bool full);

/* Keep `m` (its question names it) until now_s + ttl_s. `prefetch`: set refresh_s at
 * nine tenths of the way. An expired or failing `m` does not replace a fresh good one
 * unless `always`. What stays is in the cache; `m` remains the caller's. */
struct msg_keep {
	uint32_t now_s, ttl_s;
	uint16_t scope;
	bool always;
};
void msgcache_store(struct msgcache *c, const struct message *m, const struct msg_keep *how);

/* The message again, its sets in `a`, with what is left of their TTLs (an expired
 * one has sets that are past). */
struct message *stored_unpack(const struct stored *s, struct arena *a, uint32_t now_s) MUST_USE;

void msgcache_remove(struct msgcache *c, const struct question *q);     /* all scopes and shapes */

#endif
