/* The message cache: images are built when an answer is stored, so that a hit is a copy.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/cache/msg.h"

#include "util/base/arena.h"
#include "util/base/hash.h"
#include "util/base/log.h"
#include "util/base/mem.h"
#include "util/base/timebase.h"
#include "util/dns/dname.h"
#include "util/dns/rr.h"
#include "util/net/subnet.h"

struct msgcache {
	struct slab *slab;
};

/* Stack buffers large enough for most answers. */
#define USUAL_WIRE 2048
#define USUAL_TTLS 64

static const struct stored *stored_of(const struct slab_entry *e)
{
	return container_of(e, struct stored, link);
}

/* ---- subnets ---- */

#define PLACE_MAX 19

/* What identifies a place: family, prefix length, `coarse`, and the address up to that length. */
struct place_key {
	uint8_t len; /* 0: for all clients */
	uint8_t bytes[PLACE_MAX];
};

static struct place_key key_of(const struct subnet_key *p)
{
	struct place_key k = { .len = 0 };
	size_t ip_len;

	if (!p)
		return k;
	ip_len = (p->net.bits + 7u) / 8;
	k.bytes[0] = p->net.net.family;
	k.bytes[1] = p->net.bits;
	k.bytes[2] = p->coarse;
	memcpy(k.bytes + 3, p->net.net.ip, ip_len);
	k.len = (uint8_t)(3 + ip_len);
	return k;
}

static uint64_t key_hash(const struct question *q, const struct place_key *k)
{
	return msgcache_hash(q) ^ hash_bytes(k->bytes, k->len);
}

static const uint8_t *place_bytes(const struct stored *s)
{
	return stored_wire(s) + s->wire_len;
}

static bool same_place(const struct stored *s, const uint8_t *bytes, size_t len)
{
	return s->link.spare == len && memcmp(place_bytes(s), bytes, len) == 0;
}

/* A full image replaces every shape of its answer: a plain one in the cache was made from an older
 * full one. A plain image made from a full one is kept beside it. */
static bool takes_place(const struct slab_entry *newer, const struct slab_entry *standing)
{
	const struct stored *n = stored_of(newer), *s = stored_of(standing);
	size_t name_and_type = n->qname_len + 4u;

	return n->scope == s->scope && n->qname_len == s->qname_len &&
	       (!(n->scope & STORED_PLACED) || same_place(s, place_bytes(n), n->link.spare)) &&
	       (n->fits & STORED_FULL || !(s->fits & STORED_FULL)) &&
	       dname_equals_len(stored_wire(n) + MSG_HEAD_LEN, n->qname_len,
				stored_wire(s) + MSG_HEAD_LEN, s->qname_len) &&
	       memcmp(stored_wire(n) + MSG_HEAD_LEN + name_and_type - 4,
		      stored_wire(s) + MSG_HEAD_LEN + name_and_type - 4, 4) == 0;
}

static bool is_stale(const struct slab_entry *e, uint32_t now_s)
{
	return time_is_past(now_s, stored_of(e)->expires_s);
}

/* Expired failures are never served, however long expired answers are kept: else a flood of failing
 * names would push those out. */
static bool is_failure(const struct slab_entry *e)
{
	return !stored_is_good(stored_of(e));
}

struct msgcache *msgcache_new(size_t budget, unsigned slabs)
{
	struct msgcache *c = mem_zero(sizeof(*c));

	c->slab = slab_new(&(struct slab_how){ .name = "message",
					       .budget = budget,
					       .slabs = slabs,
					       .typical = 192,
					       .same = takes_place,
					       .is_stale = is_stale,
					       .is_brief = is_failure });
	return c;
}

void msgcache_free(struct msgcache *c)
{
	if (c)
		slab_free(c->slab);
	mem_free(c);
}

struct slab *msgcache_slab(struct msgcache *c)
{
	return c->slab;
}

uint64_t msgcache_hash(const struct question *q)
{
	return hash_dname(q->name, q->name_len, (uint32_t)q->type << 16 | q->class_);
}

/* ---- building an image ---- */

static size_t set_bound(const struct rrset *s, size_t *ttls)
{
	*ttls += s->count + s->sig_count;
	return s->size + (size_t)(s->count + s->sig_count) * (s->owner_len + 10u);
}

/* Upper bounds: bytes of the image, and TTLs in it. */
static size_t image_bound(const struct message *m, size_t *ttls)
{
	size_t bytes = MSG_HEAD_LEN + m->q.name_len + 4u;

	*ttls = 0;
	for (unsigned i = 0; i < message_set_count(m); i++)
		bytes += set_bound(m->sets[i], ttls);
	return MIN(bytes, MSG_MAX);
}

static bool is_dnssec_set(const struct rrset *s, uint16_t qtype)
{
	return rr_flags(s->type) & RR_DNSSEC && s->type != qtype && qtype != TYPE_ANY;
}

static bool has_dnssec(const struct message *m)
{
	for (unsigned i = 0; i < message_set_count(m); i++) {
		if (m->sets[i]->sig_count || rr_flags(m->sets[i]->type) & RR_DNSSEC ||
		    (m->sets[i]->type == TYPE_DS && m->q.type != TYPE_DS))
			return true;
	}
	return false;
}

/* The last RRset of the answer section in the image, and how many records precede it. */
static const struct rrset *last_answer(const struct message *m, bool full, size_t *before)
{
	const struct rrset *last = NULL;
	size_t passed = 0;

	for (unsigned i = 0; i < m->count[SECTION_ANSWER]; i++) {
		const struct rrset *s = m->sets[i];

		if (!full && is_dnssec_set(s, m->q.type))
			continue;
		*before = passed;
		last = s;
		passed += s->count + (full || m->q.type == TYPE_ANY ? s->sig_count : 0u);
	}
	return last;
}

/* Where the addresses that end the chain are contiguous, each with a compressed owner name, they
 * can be rotated without moving anything else. */
static void find_rotation(struct stored *to, const struct message *m, bool full,
			  const uint16_t *ttl_at)
{
	size_t before = 0, start, size;
	const struct rrset *s = last_answer(m, full, &before);
	const uint8_t *wire = stored_wire(to);

	if (!s || (s->type != TYPE_A && s->type != TYPE_AAAA) || s->count < 2 || s->count > 255)
		return;
	size = 2u + 10u + (s->type == TYPE_A ? 4u : 16u);
	start = MSG_HEAD_LEN + m->q.name_len + 4u;
	if (before)
		start = ttl_at[before - 1] + 6u + get_u16(wire + ttl_at[before - 1] + 4);
	if (before + s->count > to->ttl_count)
		return;
	for (size_t i = 0; i < s->count; i++) {
		size_t at = start + i * size;

		if (ttl_at[before + i] != at + 6 || (wire[at] & 0xc0) != 0xc0 ||
		    get_u16(wire + at + 10) != size - 12)
			return;
	}
	to->rotate_at = (uint16_t)start;
	to->fits |= s->type == TYPE_AAAA ? STORED_WIDE : 0;
	to->rotate_count = (uint8_t)s->count;
}

static struct stored_after after_of(const struct message *m, uint32_t now_s)
{
	struct stored_after a = { .ttl_s = UINT32_MAX };
	bool is_less = false;

	for (unsigned i = 0; i < message_set_count(m); i++) {
		is_less |= time_left(now_s, m->sets[i]->expires_s) < m->sets[i]->ttl_s;
		a.ttl_s = MIN(a.ttl_s, m->sets[i]->ttl_s);
	}
	if (!is_less)
		a.ttl_s = 0;
	return a;
}

/* The parts behind the image. */
static void put_tail(struct stored *s, const struct place_key *place, const struct stored_after *after)
{
	uint8_t *at = (uint8_t *)(s->data + s->ttl_count) + s->wire_len;

	s->link.spare = place->len;
	memcpy(at, place->bytes, place->len);
	if (s->fits & STORED_AFTER)
		memcpy(at + place->len, after, sizeof(*after));
}

/* One allocation with everything; NULL when the message does not fit in an image. */
static struct stored *make_image(const struct message *m, uint32_t now_s, uint8_t fits,
				 const struct place_key *place, const struct stored_after *after)
{
	uint8_t usual_wire[USUAL_WIRE], *room = usual_wire;
	uint16_t usual_ttls[USUAL_TTLS], *ttl_at = usual_ttls;
	size_t ttls, bytes = image_bound(m, &ttls);
	bool full = fits & STORED_FULL;
	struct msg_style style = { .now_s = now_s,
				   .with_dnssec = full,
				   .original_ttl = fits & STORED_WHOLE };
	bool has_after = after->ttl_s != 0;
	struct message plain = *m;
	struct stored *s = NULL;
	struct writer w;

	if (bytes > sizeof(usual_wire))
		room = mem_new(bytes);
	if (ttls > COUNT(usual_ttls))
		ttl_at = mem_array(ttls, sizeof(*ttl_at));
	style.ttl_offsets = ttl_at;
	style.ttl_room = MAX(ttls, COUNT(usual_ttls));
	plain.id = 0;
	plain.flags &= FLAG_AA;
	plain.opcode = OPCODE_QUERY;
	w = writer_over(room, bytes);
	msg_write(&w, &plain, &style);
	if (!w.bad && style.ttl_count <= style.ttl_room) {
		size_t head = offsetof(struct stored, data) + style.ttl_count * sizeof(uint16_t);

		s = mem_new(MAX(head + writer_len(&w) + place->len + (has_after ? sizeof(*after) : 0), sizeof(*s)));
		*s = (struct stored){
			.stored_s = now_s,
			.wire_len = (uint16_t)writer_len(&w),
			.ttl_count = (uint16_t)style.ttl_count,
			.additional_at = (uint16_t)style.end[SECTION_AUTHORITY],
			.rcode = (uint8_t)m->rcode,
			.security = m->security,
			.reason = (uint8_t)m->reason,
			.fits = (uint8_t)(fits | (m->made_up ? STORED_MADE : 0) | (has_after ? STORED_AFTER : 0)),
			.qname_len = (uint8_t)m->q.name_len,
		};
		memcpy(s->data, ttl_at, style.ttl_count * sizeof(uint16_t));
		memcpy(s->data + style.ttl_count, room, writer_len(&w));
		put_tail(s, place, after);
		find_rotation(s, m, full, ttl_at);
	}
	if (room != usual_wire)
		mem_free(room);
	if (ttl_at != usual_ttls)
		mem_free(ttl_at);
	return s;
}

/* ---- finding ---- */

static HOT_INLINE bool is_about(const struct stored *s, const struct question *q, uint16_t scope,
		     const struct place_key *place)
{
	const uint8_t *name = stored_wire(s) + MSG_HEAD_LEN;

	return s->scope == scope && s->qname_len == q->name_len &&
	       (!place || same_place(s, place->bytes, place->len)) &&
	       get_u16(name + s->qname_len) == q->type &&
	       get_u16(name + s->qname_len + 2) == q->class_ &&
	       dname_equals_len(name, s->qname_len, q->name, q->name_len);
}

/* `place` is NULL when `scope` lacks STORED_PLACED. */
static HOT_INLINE const struct stored *find(struct msgcache *c, const struct question *q, uint64_t hash,
				 uint16_t scope, const struct place_key *place, uint8_t fits,
				 const struct stored **other)
{
	*other = NULL;
	for (struct slab_entry *e = slab_first(c->slab, hash); e; e = slab_next(e, hash)) {
		const struct stored *s = stored_of(e);

		if (!is_about(s, q, scope, place))
			continue;
		if (UNLIKELY(!slab_saw(c->slab, e)))
			continue;
		if (LIKELY(s->fits & fits))
			return s;
		*other = s;
	}
	return NULL;
}

static bool is_this(const struct slab_entry *e, void *arg)
{
	return e == arg;
}

/* The plain image, for the first query without DO; NULL when there is none to give. */
static const struct stored *make_plain(struct msgcache *c, const struct stored *full, uint64_t hash)
{
	struct place_key key = { .len = 0 }, *place = NULL;
	const struct stored_after after = stored_after(full);
	const struct stored *now, *other;
	const struct message *m;
	struct stored *s = NULL;
	struct question q;
	struct arena a;

	if (full->scope & STORED_PLACED) {
		place = &key;
		key.len = full->link.spare;
		memcpy(key.bytes, place_bytes(full), key.len);
	}
	arena_init(&a);
	m = stored_unpack(full, &a, full->stored_s);
	if (m)
		s = make_image(m, full->stored_s,
			       (uint8_t)(STORED_PLAIN | (full->fits & STORED_WHOLE)), &key, &after);
	arena_clear(&a);
	if (!s)
		return NULL;
	s->scope = full->scope;
	s->expires_s = full->expires_s;
	s->refresh_s = full->refresh_s;
	s->reason = full->reason;
	/* which of the two is asked for first, is no longer ahead of its time */
	s->habit = atomic_fetch_and_explicit(&((struct stored *)(uintptr_t)full)->habit, (uint8_t)~STORED_AHEAD,
					     memory_order_relaxed) &
		   (uint8_t)~STORED_ASKED;
	slab_put(c->slab, hash, &s->link, full->stored_s);

	/* `s` may be evicted already: a borrower in this turn would not notice, but `s` must not
	 * hide an answer newer than the one it was made from. */
	stored_question(full, &q);
	now = find(c, &q, hash, full->scope, place, STORED_FULL, &other);
	if (now && now != full) {
		slab_remove(c->slab, hash, is_this, &s->link);
		return NULL;
	}
	return find(c, &q, hash, full->scope, place, STORED_PLAIN, &other);
}

const struct stored *msgcache_find(struct msgcache *c, const struct question *q, uint64_t hash,
				   uint16_t scope, bool full)
{
	const struct stored *other;
	const struct stored *s =
		find(c, q, hash, scope, NULL, full ? STORED_FULL : STORED_PLAIN, &other);

	if (UNLIKELY(!s && other && !full))
		return make_plain(c, other, hash);
	return s;
}

const struct stored *msgcache_find_at(struct msgcache *c, const struct question *q, uint16_t scope,
				      const struct subnet_key *place, bool full)
{
	const struct place_key key = key_of(place);
	const uint64_t hash = key_hash(q, &key);
	const struct stored *other, *s;

	s = find(c, q, hash, (uint16_t)(scope | STORED_PLACED), &key, full ? STORED_FULL : STORED_PLAIN, &other);
	return !s && other && !full ? make_plain(c, other, hash) : s;
}

/* ---- storing ---- */

struct may_replace {
	struct stored *newer;
	bool fails;                /* and gives way to a good answer */
	uint32_t now_s, keep_expired_s;
	bool by_validation;        /* that it is bogus */
};

/* An answer is better than a failure to get it, but one that was never validated gives way to the
 * verdict on it. */
static bool stands_against_failure(const struct stored *s, const struct may_replace *may)
{
	if (!stored_is_good(s) || (may->by_validation && s->security == SECURITY_UNCHECKED))
		return false;
	return stored_is_fresh(s, may->now_s) ||
	       (may->keep_expired_s && may->now_s - s->expires_s <= may->keep_expired_s);
}

/* Its lifetime is the one before now, and each as long that has passed since was one without a question. */
static uint8_t habit_after(const struct stored *old, uint32_t now_s)
{
	uint32_t life_s = MAX(old->expires_s - old->stored_s, 1);
	uint32_t passed = stored_is_fresh(old, now_s) ? 0 : (now_s - old->expires_s) / life_s;
	unsigned habit = atomic_load_explicit(&old->habit, memory_order_relaxed);
	unsigned asked = habit & STORED_ASKED ? STORED_BEFORE : 0;

	if (passed > 2)
		return 0;
	return (uint8_t)((((habit & STORED_LIFETIMES) << 1 | asked) << passed) & STORED_LIFETIMES);
}

static bool may_replace(const struct slab_entry *old, void *arg)
{
	struct may_replace *may = arg;

	if (!old)
		return true;
	if (may->fails && stands_against_failure(stored_of(old), may))
		return false;
	may->newer->habit |= habit_after(stored_of(old), may->now_s);
	return true;
}

static bool only_this(const struct slab_entry *old, void *arg)
{
	return !old || old == arg || !(stored_of(old)->fits & STORED_FULL);
}

#define STALE_RETRY_S 5 /* longest a stale answer is served without a new attempt, RFC 8767 5 */

/* Keep the good answer, but put off its refresh: asking again so soon would be in wasted_sends. */
static void put_off_refresh(struct msgcache *c, const struct stored *old, uint64_t hash,
			    const struct msg_keep *how)
{
	size_t len =
		offsetof(struct stored, data) + old->ttl_count * sizeof(uint16_t) + old->wire_len +
		old->link.spare + (old->fits & STORED_AFTER ? sizeof(struct stored_after) : 0);
	struct stored *s = mem_new(MAX(len, sizeof(*s)));

	memcpy((uint8_t *)s + sizeof(s->link), (const uint8_t *)old + sizeof(s->link),
	       len - sizeof(s->link));
	memset(&s->link, 0, sizeof(s->link));
	s->link.spare = old->link.spare;
	s->refresh_s = how->now_s + MIN(how->ttl_s, STALE_RETRY_S);
	if (how->extend && !stored_is_fresh(old, how->now_s))
		s->expires_s = how->now_s;
	slab_put_if(c->slab, hash, &s->link, how->now_s, only_this, (void *)(uintptr_t)&old->link);
}

bool message_may_be_kept(const struct message *m)
{
	for (unsigned i = 0; i < message_set_count(m); i++)
		if (!rrset_may_be_kept(m->sets[i]))
			return false;
	return true;
}

static uint8_t fits_of(const struct message *m, bool whole)
{
	return (uint8_t)(STORED_FULL | (has_dnssec(m) ? 0 : STORED_PLAIN) |
			 (whole ? STORED_WHOLE : 0));
}

const struct stored *msgcache_store(struct msgcache *c, const struct message *m,
				    const struct msg_keep *how)
{
	const struct place_key key = key_of(how->place);
	const uint16_t scope = (uint16_t)(how->scope | (how->place ? STORED_PLACED : 0));
	const uint64_t hash = how->place  ? key_hash(&m->q, &key)
			      : how->hash ? how->hash
					  : msgcache_hash(&m->q);
	struct may_replace may = { .now_s = how->now_s,
				   .keep_expired_s = how->keep_expired_s,
				   .by_validation = m->security == SECURITY_BOGUS &&
						 m->reason != REASON_budget_validation };
	const struct stored_after after = after_of(m, how->now_s);
	struct stored *s;
	bool good;

	if (how->ttl_s == 0 || m->rcode > 255 || !message_may_be_kept(m))
		return NULL;
	s = make_image(m, how->now_s, fits_of(m, how->whole), &key, &after);
	if (!s)
		return NULL;
	s->scope = scope;
	s->expires_s = how->now_s + how->ttl_s;
	s->refresh_s = s->expires_s - how->ttl_s / 10;
	good = stored_is_good(s);
	if (!good && !how->always) {
		const struct stored *other;
		const struct stored *old = find(c, &m->q, hash, scope, how->place ? &key : NULL,
						STORED_FULL, &other);

		if (old && stands_against_failure(old, &may)) {
			mem_free(s);
			put_off_refresh(c, old, hash, how);
			return NULL;
		}
	}
	s->habit = how->ahead ? STORED_AHEAD : 0;
	may.newer = s;
	may.fails = !good && !how->always;
	return slab_put_if(c->slab, hash, &s->link, how->now_s, may_replace, &may) ? s : NULL;
}

static bool is_better_than_nothing(const struct slab_entry *old, void *arg)
{
	const uint32_t *now_s = arg;

	return !old || !stored_is_good(stored_of(old)) || !stored_is_fresh(stored_of(old), *now_s);
}

bool msgcache_restore(struct msgcache *c, const struct message *m, const struct msg_restore *how)
{
	static const struct place_key nowhere;
	static const struct stored_after none;
	uint32_t now_s = how->now_s;
	struct stored *s;

	if (m->rcode > 255 || !message_may_be_kept(m))
		return false;
	s = make_image(m, how->stored_s, fits_of(m, how->whole), &nowhere, &none);
	if (!s)
		return false;
	s->expires_s = how->expires_s;
	s->refresh_s = how->expires_s - (how->expires_s - how->stored_s) / 10;
	return slab_put_if(c->slab, msgcache_hash(&m->q), &s->link, now_s, is_better_than_nothing,
			   &now_s);
}

static _Atomic uint64_t unreadable;

uint64_t msgcache_unreadable(void)
{
	return atomic_load_explicit(&unreadable, memory_order_relaxed);
}

/* The image came from data that others chose: that it cannot be read may be a mistake of ours, but is no reason to
 * end. */
static struct message *cannot_be_read(const struct stored *s)
{
	char name[DNAME_TEXT], type[16];
	struct question q;

	stored_question(s, &q);
	atomic_fetch_add_explicit(&unreadable, 1, memory_order_relaxed);
	log_rare("error", "cache: malformed cached answer for %s %s ignored",
		 dname_print(q.name, name), rr_type_name(q.type, type));
	return NULL;
}

struct message *stored_unpack(const struct stored *s, struct arena *a, uint32_t now_s)
{
	struct message *m = arena_new(a, struct message);

	if (UNLIKELY(!msg_parse(stored_wire(s), s->wire_len, a, s->stored_s, m)))
		return cannot_be_read(s);
	m->rcode = s->rcode;
	m->security = s->security;
	m->reason = (enum reason)s->reason;
	m->made_up = (s->fits & STORED_MADE) != 0;
	for (unsigned i = 0; i < message_set_count(m); i++) {
		/* Freshly parsed, so not shared: they may be changed. */
		struct rrset *set = (struct rrset *)(uintptr_t)m->sets[i];

		if (!(s->fits & STORED_WHOLE))
			set->ttl_s = time_left(now_s, set->expires_s);
		else if ((int32_t)(set->expires_s - s->expires_s) > 0)
			set->expires_s = s->expires_s; /* how old each was is not known any more */
		set->security = s->security;
		/* in the authority section it limits a negative answer */
		if (set->type == TYPE_SOA && i >= m->count[SECTION_ANSWER])
			set->flags |= RRSET_SOA_NEGATIVE;
	}
	return m;
}

static bool is_question(const struct slab_entry *e, void *arg)
{
	const struct question *q = arg;

	return is_about(stored_of(e), q, stored_of(e)->scope, NULL);
}

void msgcache_remove(struct msgcache *c, const struct question *q)
{
	slab_remove(c->slab, msgcache_hash(q), is_question, (void *)(uintptr_t)q);
}

bool stored_place(const struct stored *s, struct subnet_key *to)
{
	const uint8_t *bytes = place_bytes(s);

	*to = (struct subnet_key){ .coarse = false };
	if (!(s->scope & STORED_PLACED))
		return false;
	to->net.net.family = bytes[0];
	to->net.bits = bytes[1];
	to->coarse = bytes[2];
	memcpy(to->net.net.ip, bytes + 3, s->link.spare - 3u);
	return true;
}

struct placed_search {
	const struct question *q;
	uint16_t scope;
	struct place_key key;
};

static bool is_there(const struct slab_entry *e, void *arg)
{
	const struct placed_search *s = arg;

	return is_about(stored_of(e), s->q, s->scope, &s->key);
}

void msgcache_remove_at(struct msgcache *c, const struct question *q, uint16_t scope,
			const struct subnet_key *place)
{
	struct placed_search s = { .q = q, 
				  .scope = (uint16_t)(scope | STORED_PLACED),
				  .key = key_of(place) };

	slab_remove(c->slab, key_hash(q, &s.key), is_there, &s);
}

struct message *stored_revive(const struct stored *s, struct arena *a, uint32_t now_s,
			      uint32_t stale_ttl_s)
{
	struct message *m = stored_unpack(s, a, now_s);
	uint32_t ttl_s = stored_after(s).ttl_s;

	for (unsigned i = 0; m && i < message_set_count(m); i++) {
		struct rrset *copy;

		if (!time_is_past(now_s, m->sets[i]->expires_s))
			continue;
		copy = rrset_copy(a, m->sets[i]);
		copy->expires_s = now_s + MIN(stale_ttl_s, MAX(ttl_s, copy->expires_s - s->stored_s));
		m->sets[i] = copy;
	}
	if (m)
		m->reason = s->rcode == RCODE_NXDOMAIN ? REASON_stale_nxdomain : REASON_stale;
	return m;
}
