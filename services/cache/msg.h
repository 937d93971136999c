/* The message cache: answers ready to send.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * An entry holds the compressed wire image of an answer, the offsets of its TTLs, and what is
 * needed to decide on its use. It is keyed by name, type, class and `scope` (0: everybody; other
 * numbers keep views apart); an answer for one client subnet (services/cache/subnet_index.h) also by that
 * subnet, so that only a lookup for that subnet finds it. Where an answer differs with and without
 * DNSSEC records there are two entries, the plain one made from the full one when first needed. */
#ifndef SERVICES_CACHE_MSG_H
#define SERVICES_CACHE_MSG_H

#include "services/cache/slab.h"
#include "util/dns/msg.h"

#define STORED_PLACED 0x8000 /* in `scope`: for a subnet, which is the last part of the key */

enum {
	STORED_PLAIN = 1, /* fits clients without DO */
	STORED_FULL = 2,  /* fits clients with DO */
	STORED_MADE = 4,  /* synthesised here: not for clients with CD, nor to build on */
	STORED_WHOLE = 8, /* its records have the TTLs they came with, not what was left of them */
	STORED_WIDE = 16, /* the records to rotate are AAAA */
	STORED_AFTER = 32, /* it has a struct stored_after */
};

/* In `habit`: whether clients asked for it again, once it was there. What a client that repeats itself can
 * bring about in one lifetime is one bit. */
enum {
	STORED_ASKED = 1,  /* in this lifetime */
	STORED_AHEAD = 2,  /* fetched before anybody asked (services/mesh/habits.h), and not asked for yet */
	STORED_BEFORE = 4, /* in the lifetime before it; the next bits: before that */
	STORED_LIFETIMES = 7 * STORED_BEFORE, /* all three of them */
};

struct stored {
	struct slab_entry link;
	uint32_t stored_s, expires_s;
	/* While fresh: from this time on a hit should start a prefetch. When expired: no refresh
	 * before this time, since the last one has just failed. */
	uint32_t refresh_s;
	uint16_t scope;
	uint16_t wire_len;
	uint16_t ttl_count;
	uint16_t additional_at; /* offset of the additional section, which truncation may drop */
	uint16_t rotate_at;     /* addresses to rotate: offset of the first record, */
	uint8_t rotate_count;   /* how many; 0: none */
	uint8_t qname_len;
	uint8_t rcode;          /* low byte; failures that are kept have < 16 */
	uint8_t security;       /* enum security */
	uint8_t reason;         /* enum reason */
	uint8_t fits;           /* STORED_* */
	_Atomic uint32_t harmless; /* generation of the blocklists as of which none mentions its
				    * name or aliases; 0: never checked (services/blocklist/blocklist.h) */
	_Atomic uint8_t habit; /* STORED_ASKED … */
	uint16_t data[]; /* ttl_count offsets, then the wire image: header with
			  * AA, rcode and counts, question, sections; no OPT; then, where
			  * STORED_PLACED is set, link.spare bytes that name the subnet; then, where
			  * STORED_AFTER is set, a struct stored_after, not aligned */
};

/* What is needed of an entry only once it has expired (RFC 8767); all 0 where the bit is not set. */
struct stored_after {
	uint32_t ttl_s; /* the least that one of its records had when received, if of another less was left; else 0 */
};

static inline const uint8_t *stored_wire(const struct stored *s)
{
	return (const uint8_t *)(s->data + s->ttl_count);
}

/* Bytes from each of the addresses to rotate to the next. */
static inline size_t stored_rotate_step(const struct stored *s)
{
	return 2u + 10u + (s->fits & STORED_WIDE ? 16u : 4u);
}

static inline struct stored_after stored_after(const struct stored *s)
{
	struct stored_after a = { 0 };

	if (s->fits & STORED_AFTER)
		memcpy(&a, stored_wire(s) + s->wire_len + s->link.spare, sizeof(a));
	return a;
}

static inline bool stored_is_fresh(const struct stored *s, uint32_t now_s)
{
	return (int32_t)(s->expires_s - now_s) > 0;
}

/* What is known of how often it was asked for, before it now is. */
static inline uint8_t stored_note_asked(const struct stored *s)
{
	return atomic_fetch_or_explicit(&((struct stored *)(uintptr_t)s)->habit, STORED_ASKED, memory_order_relaxed);
}

static inline bool stored_was_asked(const struct stored *s)
{
	return atomic_load_explicit(&s->habit, memory_order_relaxed) & STORED_ASKED;
}

static inline bool stored_has_additional(const struct stored *s)
{
	return s->additional_at < s->wire_len;
}

/* Worth keeping in preference to failures: data, or a denial. */
static inline bool stored_is_good(const struct stored *s)
{
	return s->security != SECURITY_BOGUS &&
	       (s->rcode == RCODE_NOERROR || s->rcode == RCODE_NXDOMAIN ||
		s->rcode == RCODE_YXDOMAIN);
}

/* Only the result for a bogus answer that is too large to be kept (store_message): it says nothing to clients with
 * CD. */
static inline bool stored_is_bare_bogus(const struct stored *s)
{
	return s->security == SECURITY_BOGUS && s->rcode == RCODE_SERVFAIL;
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

/* The entry for the question, fresh or expired, that fits a client that wants DNSSEC records
 * (`full`) or not. Borrowed for the turn; NULL when there is none. */
const struct stored *msgcache_find(struct msgcache *c, const struct question *q, uint64_t hash,
				   uint16_t scope, bool full);

struct subnet_key;

/* The same for the answer for one subnet. */
const struct stored *msgcache_find_at(struct msgcache *c, const struct question *q, uint16_t scope,
				      const struct subnet_key *place, bool full);
void msgcache_remove_at(struct msgcache *c, const struct question *q, uint16_t scope,
			const struct subnet_key *place);

/* The subnet an entry is for. False: it is for all. */
bool stored_place(const struct stored *s, struct subnet_key *to);

/* Whether none of its RRsets is too large for a cache. */
bool message_may_be_kept(const struct message *m) PURE;

/* Store a copy of `m`, keyed by its question, until now_s + ttl_s; not at all when ttl_s is 0 or
 * message_may_be_kept says no. A hit in the last tenth of that time is due for a prefetch. Called
 * within a turn.
 *
 * A failure or bogus `m` does not replace a good entry that is fresh, or expired for no more than
 * keep_expired_s: instead that entry is marked not to be refreshed for ttl_s seconds, at most 5
 * (RFC 8767 5), and with `extend` an expired one counts as having expired only now (RFC 8767 4,
 * serve-expired-ttl-reset). */
struct msg_keep {
	uint32_t now_s, ttl_s;
	uint64_t hash; /* msgcache_hash of its question; 0: not computed yet */
	uint16_t scope;
	const struct subnet_key *place; /* NULL: for all; else `hash` is ignored */
	bool always; /* replace any entry */
	bool whole;  /* keep the TTLs the records came with (serve-original-ttl) */
	bool extend;
	bool ahead;  /* STORED_AHEAD */
	uint32_t keep_expired_s; /* serve-expired-ttl; 0: expired entries are replaced */
};
/* Returns the entry there is now, borrowed for the turn; NULL when `m` was not stored. */
const struct stored *msgcache_store(struct msgcache *c, const struct message *m,
				    const struct msg_keep *how);

/* Restore `m` unless there is a good, fresh entry. Scope 0. Called within a turn. */
struct msg_restore {
	uint32_t now_s;
	uint32_t stored_s;  /* its TTLs are as of then; it may be in the past, as well as: */
	uint32_t expires_s;
	bool whole;         /* they are those the records came with */
};
bool msgcache_restore(struct msgcache *c, const struct message *m, const struct msg_restore *how);

/* The message, its RRsets in `a`, with the remaining TTLs (0 in those of an expired one), or those of
 * a STORED_WHOLE one as they came. Flags are those of the image. NULL if the image cannot be read: to the
 * caller that is a miss, like an entry that is not there. It is counted and, now and then, logged. */
struct message *stored_unpack(const struct stored *s, struct arena *a, uint32_t now_s) MUST_USE;

/* How many images could not be read since the process started, by all threads. */
uint64_t msgcache_unreadable(void);

/* The same for serving stale: expired RRsets get TTL `stale_ttl_s`, or what they came with if that is
 * less, and the message is marked stale. NULL as above. */
struct message *stored_revive(const struct stored *s, struct arena *a, uint32_t now_s,
			      uint32_t stale_ttl_s) MUST_USE;

/* Remove the entries of all scopes, plain and full, but not those for subnets (subnet_index_forget). */
void msgcache_remove(struct msgcache *c, const struct question *q);

#endif
