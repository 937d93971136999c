/* The message cache: answers ready to send.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * An entry holds the compressed wire image of an answer, the places of its TTLs,
 * and what is needed to judge it. It is keyed by name, type, class and `scope`
 * (0: everybody; other numbers keep views apart), and what was said for one subnet
 * of clients (services/cache/places.h) by that as well: nobody finds it who does
 * not name the subnet. Where an answer looks different
 * with and without DNSSEC records there are two entries, the plain one made from
 * the full one when first asked for. */
#ifndef SERVICES_CACHE_MSG_H
#define SERVICES_CACHE_MSG_H

#include "services/cache/slab.h"
#include "util/msg.h"

#define STORED_PLACED 0x8000 /* in `scope`: for a subnet, which is the key's last part */

enum {
	STORED_PLAIN = 1,
	STORED_FULL = 2, /* whom the image fits: without DO, with DO */
	STORED_MADE = 4, /* made up here: not for who checks for himself (CD), nor to build on */
};

struct stored {
	struct slab_entry link;
	uint32_t stored_s, expires_s;
	/* Fresh: from here on a hit should start a prefetch. Expired: before it a refresh is
	 * no use, the last one has just failed. */
	uint32_t refresh_s;
	uint16_t scope;
	uint16_t wire_len;
	uint16_t ttl_count;
	uint16_t additional_at; /* offset where ADDITIONAL begins: what truncation may drop */
	uint16_t rotate_at;     /* addresses of equal size that take turns: the first one, */
	uint8_t rotate_step;    /* bytes from each to the next */
	uint8_t rotate_count;   /* 0: none */
	uint8_t rcode;          /* low byte of it; failures that are kept have < 16 */
	uint8_t security;       /* enum security */
	uint8_t reason;         /* enum reason */
	uint8_t fits;           /* STORED_PLAIN | STORED_FULL | STORED_MADE */
	uint16_t qname_len;
	_Atomic uint16_t harmless; /* to no list its name or aliases mean anything, as of this
				    * generation of them; 0: never looked at (services/blocklist.h) */
	uint16_t data[]; /* ttl_count offsets, then the wire image: header with
			  * AA, rcode and counts, question, sections; no OPT; then, where
			  * STORED_PLACED is set, link.spare bytes that name the subnet */
};

static inline const uint8_t *stored_wire(const struct stored *s)
{
	return (const uint8_t *)(s->data + s->ttl_count);
}

static inline bool stored_is_fresh(const struct stored *s, uint32_t now_s)
{
	return (int32_t)(s->expires_s - now_s) > 0;
}

/* Worth keeping against failures: data, or the proof that there is none. */
static inline bool stored_is_good(const struct stored *s)
{
	return s->security != SECURITY_BOGUS &&
	       (s->rcode == RCODE_NOERROR || s->rcode == RCODE_NXDOMAIN ||
		s->rcode == RCODE_YXDOMAIN);
}

static inline void stored_question(const struct stored *s, struct question *q)
{
	const uint8_t *name = stored_wire(s) + MSG_HEAD_LEN;

	*q = (struct question){ .name = name,
				.name_len = s->qname_len,
				.type = get_u16(name + s->qname_len),
				.class_ = get_u16(name + s->qname_len + 2) };
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

struct place_kept;

/* The same for what was said for one subnet. */
const struct stored *msgcache_find_at(struct msgcache *c, const struct question *q, uint16_t scope,
				      const struct place_kept *place, bool full);
void msgcache_remove_at(struct msgcache *c, const struct question *q, uint16_t scope,
			const struct place_kept *place);

/* For which subnet it was said. False: it is for all. */
bool stored_place(const struct stored *s, struct place_kept *to);

/* None of its sets is too large for a cache. */
bool message_may_be_kept(const struct message *m) PURE;

/* Keep `m` (its question names it) until now_s + ttl_s; not at all when ttl_s is 0, or it
 * may not be kept. A hit in the last tenth of the way is due for a prefetch. What stays is in the
 * cache; `m` remains the caller's. Called within a turn.
 *
 * A failing or bogus `m` does not replace a good one that is fresh, or expired for less than
 * keep_expired_s: instead that one is marked so that nobody tries to refresh it for ttl_s
 * seconds, and with `extend` an expired one counts as having expired only now (RFC 8767 4,
 * serve-expired-ttl-reset). */
struct msg_keep {
	uint32_t now_s, ttl_s;
	uint64_t hash; /* msgcache_hash of its question; 0: to be found out */
	uint16_t scope;
	const struct place_kept *place; /* NULL: it is for all; else `hash` is not looked at */
	bool always; /* replace whatever stands */
	bool extend;
	uint32_t keep_expired_s; /* serve-expired-ttl; 0: expired ones yield */
};
/* What stands there now, borrowed for the turn; NULL when `m` was not kept. */
const struct stored *msgcache_store(struct msgcache *c, const struct message *m,
				    const struct msg_keep *how);

/* Keep what was known before, unless something good and fresh stands there: `m` whose TTLs are those of `stored_s`,
 * until `expires_s`, either of which may be past. For everybody (scope 0). Called within a turn. */
bool msgcache_restore(struct msgcache *c, const struct message *m, uint32_t stored_s,
		      uint32_t expires_s, uint32_t now_s);

/* The message again, its sets in `a`, with what is left of their TTLs (an expired
 * one has sets that are past: ttl_s 0). Flags are those of the image. */
struct message *stored_unpack(const struct stored *s, struct arena *a, uint32_t now_s) MUST_USE;

/* The same for who is given what is past: such sets are good for `stale_ttl_s`, and the message says
 * that it is stale. */
struct message *stored_revive(const struct stored *s, struct arena *a, uint32_t now_s,
			      uint32_t stale_ttl_s) MUST_USE;

/* All scopes and shapes, but not what was said for subnets (places_forget). */
void msgcache_remove(struct msgcache *c, const struct question *q);

#endif
