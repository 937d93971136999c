/* Denials of DS RRsets that came with referrals, kept until somebody asks for them.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/cache/referral_ds.h"

#include "util/base/arena.h"
#include "util/base/hash.h"
#include "util/base/mem.h"
#include "util/base/timebase.h"
#include "util/dns/msg.h"
#include "util/dns/rr.h"

#define HEARD_FOR_S  30 /* the query that got the referral needs it at once, or nobody does */
#define HEARD_SETS   4  /* closest encloser, next closer name, and what servers add */
#define HEARD_SIZE   4096
#define REFERRAL_DS_SALT 0x6473u

struct referral_ds {
	struct slab *slab;
};

struct heard {
	struct slab_entry link;
	uint32_t expires_s;
	uint16_t class_;
	uint8_t count;
	uint8_t name_len;
	_Alignas(struct rrset) uint8_t data[]; /* RRsets, each padded; then the zone cut's name */
};

static struct heard *heard_of(const struct slab_entry *e)
{
	return (struct heard *)(uintptr_t)container_of(e, const struct heard, link);
}

static size_t rounded(const struct rrset *set)
{
	return (set->size + _Alignof(struct rrset) - 1) / _Alignof(struct rrset) *
	       _Alignof(struct rrset);
}

static const struct rrset *set_at(const struct heard *h, size_t at)
{
	return (const struct rrset *)(const void *)(h->data + at);
}

static const uint8_t *name_of(const struct heard *h)
{
	size_t at = 0;

	for (unsigned i = 0; i < h->count; i++)
		at += rounded(set_at(h, at));
	return h->data + at;
}

static bool takes_place(const struct slab_entry *newer, const struct slab_entry *standing)
{
	const struct heard *n = heard_of(newer), *s = heard_of(standing);

	return n->class_ == s->class_ &&
	       dname_equals_len(name_of(n), n->name_len, name_of(s), s->name_len);
}

static bool is_stale(const struct slab_entry *e, uint32_t now_s)
{
	return time_is_past(now_s, heard_of(e)->expires_s);
}

struct referral_ds *referral_ds_new(size_t budget, unsigned slabs)
{
	struct referral_ds *h = mem_zero(sizeof(*h));

	h->slab = slab_new(&(struct slab_how){ .name = "referral_ds",
					       .budget = budget,
					       .slabs = slabs,
					       .typical = 1024,
					       .same = takes_place,
					       .is_stale = is_stale });
	return h;
}

void referral_ds_free(struct referral_ds *h)
{
	if (h)
		slab_free(h->slab);
	mem_free(h);
}

struct slab *referral_ds_slab(struct referral_ds *h)
{
	return h->slab;
}

static uint64_t hash_of(const uint8_t *cut, size_t len, uint16_t class_)
{
	return hash_dname(cut, len, REFERRAL_DS_SALT << 16 | class_);
}

/* The signed denials in the referral; none when it has the DS RRset itself. */
static unsigned choose(const struct message *m, const uint8_t *cut,
		       const struct rrset *chosen[HEARD_SETS])
{
	unsigned count, taken = 0;
	const struct rrset **sets = message_section(m, SECTION_AUTHORITY, &count);

	for (unsigned i = 0; i < count; i++) {
		const struct rrset *set = sets[i];

		if (set->type == TYPE_DS && dname_equals(rrset_owner(set), cut))
			return 0;
		if ((set->type == TYPE_NSEC || set->type == TYPE_NSEC3) && set->sig_count &&
		    set->size <= HEARD_SIZE && taken < HEARD_SETS)
			chosen[taken++] = set;
	}
	return taken;
}

void referral_ds_put(struct referral_ds *h, const struct message *referral, const uint8_t *cut,
		 uint16_t class_, uint32_t now_s)
{
	const struct rrset *sets[HEARD_SETS];
	unsigned count = choose(referral, cut, sets);
	size_t len = dname_len(cut), size = 0;
	struct heard *e;

	if (count == 0)
		return;
	for (unsigned i = 0; i < count; i++)
		size += rounded(sets[i]);
	e = mem_new(sizeof(*e) + size + len);
	memset(e, 0, sizeof(*e) + size);
	e->expires_s = now_s + HEARD_FOR_S;
	e->class_ = class_;
	e->count = (uint8_t)count;
	e->name_len = (uint8_t)len;
	memcpy(e->data + size, cut, len);
	size = 0;
	for (unsigned i = 0; i < count; i++) {
		memcpy(e->data + size, sets[i], sets[i]->size);
		size += rounded(sets[i]);
	}
	slab_put(h->slab, hash_of(cut, len, class_), &e->link, now_s);
}

static bool is_about(const struct slab_entry *e, const struct question *q)
{
	const struct heard *h = heard_of(e);

	return h->class_ == q->class_ &&
	       dname_equals_len(name_of(h), h->name_len, q->name, q->name_len);
}

static bool is_this(const struct slab_entry *e, void *arg)
{
	return e == arg;
}

static struct message *tell(const struct heard *h, const struct question *q, struct arena *a,
			    uint32_t now_s)
{
	struct message *m = arena_new(a, struct message);
	unsigned count = 0;
	size_t at = 0;

	m->q = *q;
	m->flags = FLAG_QR;
	m->sets = arena_array(a, const struct rrset *, h->count);
	for (unsigned i = 0; i < h->count; i++) {
		const struct rrset *set = set_at(h, at);

		at += rounded(set);
		if (!time_is_past(now_s, set->expires_s))
			m->sets[count++] = rrset_copy(a, set);
	}
	m->count[SECTION_AUTHORITY] = (uint16_t)count;
	return count ? m : NULL;
}

struct message *referral_ds_take(struct referral_ds *h, const struct question *ds, struct arena *a,
			     uint32_t now_s)
{
	uint64_t hash = hash_of(ds->name, ds->name_len, ds->class_);
	struct slab_entry *e = slab_first(h->slab, hash);
	struct message *m;

	while (e && !is_about(e, ds))
		e = slab_next(e, hash);
	if (!e || is_stale(e, now_s))
		return NULL;
	m = tell(heard_of(e), ds, a, now_s);
	slab_remove(h->slab, hash, is_this, e);
	return m;
}
