/* The RRset cache: one flat copy of each RRset, replaced by rank.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/cache/rrset.h"

#include "util/base/arena.h"
#include "util/base/hash.h"
#include "util/base/mem.h"
#include "util/base/timebase.h"
#include "util/dns/dname.h"
#include "util/dns/rr.h"

struct rrsetcache {
	struct slab *slab;
	uint8_t scope;
	_Atomic bool knows_dname;
};

static const struct rrset *set_of(const struct slab_entry *e)
{
	return &container_of(e, struct rrset_entry, link)->set;
}

/* Flags that distinguish RRsets of the same name and type: at a zone cut, NSEC is the parent's or
 * the child's. */
#define KEY_FLAGS (RRSET_PARENT_SIDE | RRSET_NSEC_AT_APEX)

static bool is_key(const struct rrset *s, const uint8_t *owner, size_t owner_len, uint16_t type,
		   uint16_t class_, uint8_t flags)
{
	return s->type == type && s->class_ == class_ &&
	       (s->flags & KEY_FLAGS) == (flags & KEY_FLAGS) &&
	       dname_equals_len(rrset_owner(s), s->owner_len, owner, owner_len);
}

static bool takes_place(const struct slab_entry *newer, const struct slab_entry *standing)
{
	const struct rrset *n = set_of(newer);

	return newer->spare == standing->spare &&
	       is_key(set_of(standing), rrset_owner(n), n->owner_len, n->type, n->class_, n->flags);
}

static bool is_stale(const struct slab_entry *e, uint32_t now_s)
{
	return time_is_past(now_s, set_of(e)->expires_s);
}

struct rrsetcache *rrsetcache_new(size_t budget, unsigned slabs)
{
	struct rrsetcache *c = mem_zero(sizeof(*c));

	c->slab = slab_new(&(struct slab_how){ .name = "rrset",
					       .budget = budget,
					       .slabs = slabs,
					       .typical = 160,
					       .same = takes_place,
					       .is_stale = is_stale });
	return c;
}

void rrsetcache_free(struct rrsetcache *c)
{
	if (c && c->scope == 0)
		slab_free(c->slab);
	mem_free(c);
}

struct rrsetcache *rrsetcache_scoped(const struct rrsetcache *c, uint8_t scope)
{
	struct rrsetcache *scoped = mem_copy(c, sizeof(*c));

	scoped->scope = scope;
	return scoped;
}

struct slab *rrsetcache_slab(struct rrsetcache *c)
{
	return c->slab;
}

/* Both sides of a zone cut share a hash. */
static uint64_t hash_of(const uint8_t *owner, size_t len, uint16_t type, uint16_t class_)
{
	return hash_dname(owner, len, (uint32_t)type << 16 | class_);
}

/* ---- finding ---- */

static struct slab_entry *find(struct rrsetcache *c, uint64_t hash, const uint8_t *owner,
			       size_t len, uint16_t type, uint16_t class_, uint8_t flags)
{
	for (struct slab_entry *e = slab_first(c->slab, hash); e; e = slab_next(e, hash)) {
		if (is_key(set_of(e), owner, len, type, class_, flags) && e->spare == c->scope &&
		    slab_counts(c->slab, e))
			return e;
	}
	return NULL;
}

const struct rrset *rrsetcache_find_stale(struct rrsetcache *c, const uint8_t *owner, uint16_t type,
					  uint16_t class_, uint8_t flags)
{
	size_t len = dname_len(owner);
	struct slab_entry *e =
		find(c, hash_of(owner, len, type, class_), owner, len, type, class_, flags);

	if (!e)
		return NULL;
	(void)slab_saw(c->slab, e);
	return set_of(e);
}

const struct rrset *rrsetcache_find(struct rrsetcache *c, const uint8_t *owner, uint16_t type,
				    uint16_t class_, uint8_t flags, uint32_t now_s)
{
	const struct rrset *s = rrsetcache_find_stale(c, owner, type, class_, flags);

	return s && !time_is_past(now_s, s->expires_s) ? s : NULL;
}

/* ---- rank ---- */

static unsigned rank(const struct rrset *s)
{
	return s->security == SECURITY_SECURE ? MAX(s->trust, TRUST_VALIDATED) : s->trust;
}

/* The NS RRset as the child's servers give it: it must not keep the delegation alive. */
static bool is_own_delegation(const struct rrset *s)
{
	return s->type == TYPE_NS && !(s->flags & RRSET_PARENT_SIDE);
}

static bool is_denial(const struct rrset *s)
{
	return s->type == TYPE_NSEC || s->type == TYPE_NSEC3;
}

enum ruling {
	RULING_TAKE,     /* store it */
	RULING_PASS,     /* do not store it, but it may be used */
	RULING_STANDING, /* use the cached RRset instead */
};

/* What becomes of `offered`; `standing` is NULL or fresh. */
static enum ruling rule(const struct rrset *standing, const struct rrset *offered)
{
	unsigned was = standing ? rank(standing) : 0, is = rank(offered);

	if (!standing || standing->security == SECURITY_BOGUS)
		return RULING_TAKE;
	if (offered->security == SECURITY_BOGUS)
		return RULING_PASS;
	if (is > was)
		return RULING_TAKE;
	/* the SOA of a negative answer expires with it, and must not shorten the zone's own */
	if (standing->flags & ~offered->flags & RRSET_SOA_NEGATIVE && offered->trust >= TRUST_AUTH_AA)
		return is < was ? RULING_PASS : RULING_TAKE;
	if (is < was && is_denial(offered) &&
	    !(rrset_same_records(standing, offered) && rrset_same_signatures(standing, offered)))
		return RULING_PASS;
	if (is < was) /* although its trust is as high: what stands has been proven */
		return offered->trust >= TRUST_AUTH_AA && offered->trust >= standing->trust ? RULING_PASS : RULING_STANDING;
	/* a denial lives by its own SOA, not by that of another one (RFC 2308 5) */
	if (offered->flags & (RRSET_PARENT_SIDE | (standing->flags & RRSET_SOA_NEGATIVE)) || !rrset_same_records(standing, offered))
		return RULING_TAKE;
	return offered->sig_count == 0 || rrset_same_signatures(standing, offered) ? RULING_STANDING
									     : RULING_TAKE;
}

bool rrsetcache_knows_dname(const struct rrsetcache *c)
{
	return atomic_load_explicit(&c->knows_dname, memory_order_relaxed);
}

static void note_dname(struct rrsetcache *c, const struct rrset *set)
{
	if (UNLIKELY(set->type == TYPE_DNAME) && !rrsetcache_knows_dname(c))
		atomic_store_explicit(&c->knows_dname, true, memory_order_relaxed);
}

struct offer {
	const struct rrset *set;
	uint32_t now_s;
};

/* What has TTL 0 is kept for a moment only, and stands against nothing. */
static const struct rrset *fresh(const struct slab_entry *e, uint32_t now_s)
{
	return e && set_of(e)->ttl_s && !time_is_past(now_s, set_of(e)->expires_s) ? set_of(e) : NULL;
}

/* Decided again under the lock, since other threads write too. */
static bool may_replace(const struct slab_entry *old, void *arg)
{
	const struct offer *o = arg;

	return rule(fresh(old, o->now_s), o->set) == RULING_TAKE;
}

/* When the RRset must expire: the child's NS RRset no later than the one it replaces. */
static uint32_t last_second(const struct rrset *set, const struct rrset *standing)
{
	if (is_own_delegation(set) && standing && !time_is_past(standing->expires_s, set->expires_s))
		return standing->expires_s;
	return set->expires_s;
}

static struct rrset *ending_at(const struct rrset *set, uint32_t expires_s, struct arena *a)
{
	struct rrset *s = rrset_copy(a, set);

	s->expires_s = expires_s;
	return s;
}

const struct rrset *rrsetcache_put(struct rrsetcache *c, const struct rrset *set, uint32_t now_s,
				   struct arena *a)
{
	uint64_t hash = hash_of(rrset_owner(set), set->owner_len, set->type, set->class_);
	const struct rrset *standing = fresh(
		find(c, hash, rrset_owner(set), set->owner_len, set->type, set->class_, set->flags),
		now_s);
	uint32_t expires_s = last_second(set, standing);
	struct offer offer = { .set = set, .now_s = now_s };
	struct rrset_entry *e;

	switch (rule(standing, set)) {
	case RULING_STANDING:
		return rrset_copy(a, standing);
	case RULING_PASS:
		return set;
	case RULING_TAKE:
		break;
	}
	if (expires_s != set->expires_s)
		offer.set = set = ending_at(set, expires_s, a);
	if (time_is_past(now_s, expires_s) || !rrset_may_be_kept(set))
		return set;
	e = mem_new(MAX(offsetof(struct rrset_entry, set) + set->size, sizeof(*e)));
	memset(&e->link, 0, sizeof(e->link));
	e->link.spare = c->scope;
	memcpy(&e->set, set, set->size);
	note_dname(c, set);
	slab_put_if(c->slab, hash, &e->link, now_s, may_replace, &offer);
	return set;
}

const struct rrset *rrsetcache_correct(struct rrsetcache *c, const struct rrset *set,
				       uint32_t now_s, struct arena *a)
{
	uint64_t hash = hash_of(rrset_owner(set), set->owner_len, set->type, set->class_);

	if (!find(c, hash, rrset_owner(set), set->owner_len, set->type, set->class_, set->flags))
		return set;
	return rrsetcache_put(c, set, now_s, a);
}

struct key {
	const uint8_t *owner;
	size_t len;
	uint16_t type, class_;
	uint8_t scope; /* 0: any */
};

static bool is_of(const struct slab_entry *e, void *arg)
{
	const struct key *k = arg;

	return (!k->scope || k->scope == e->spare) &&
	       is_key(set_of(e), k->owner, k->len, k->type, k->class_, set_of(e)->flags);
}

size_t rrsetcache_remove(struct rrsetcache *c, const uint8_t *owner, uint16_t type, uint16_t class_)
{
	struct key k = { .owner = owner,
			 .len = dname_len(owner),
			 .type = type,
			 .class_ = class_,
			 .scope = c->scope };

	return slab_remove(c->slab, hash_of(owner, k.len, type, class_), is_of, &k);
}

struct rejected {
	const struct rrset *set;
	uint8_t scope;
};

static bool is_rejected(const struct slab_entry *e, void *arg)
{
	const struct rejected *r = arg;
	const struct rrset *s = set_of(e), *bad = r->set;

	return r->scope == e->spare && s->security != SECURITY_SECURE &&
	       is_key(s, rrset_owner(bad), bad->owner_len, bad->type, bad->class_, bad->flags) &&
	       rrset_same_records(s, bad) && rrset_same_signatures(s, bad);
}

void rrsetcache_reject(struct rrsetcache *c, const struct rrset *bogus)
{
	struct rejected r = { .set = bogus, .scope = c->scope };
	uint64_t hash = hash_of(rrset_owner(bogus), bogus->owner_len, bogus->type, bogus->class_);

	(void)slab_remove(c->slab, hash, is_rejected, &r);
}
