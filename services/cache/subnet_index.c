/* The subnets for which answers to a question are kept: flat sorted rows, republished on a change.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/cache/subnet_index.h"

#include "services/cache/msg.h"
#include "util/base/mem.h"
#include "util/base/timebase.h"

#define PLACES_MOST 4000 /* rows of an entry, both families: as many as the options allow */

struct row {
	uint8_t ip[16];
	uint32_t since_s, until_s;
	uint8_t family, bits, scope;
	bool coarse;
};

struct entry {
	struct slab_entry link;
	uint16_t type, class_;
	uint16_t count;
	uint8_t scope, name_len;
	uint32_t until_s; /* of the row that expires last */
	struct row rows[]; /* then the name */
};

struct subnet_index {
	struct slab *slab;
};

static const struct entry *entry_of(const struct slab_entry *e)
{
	return container_of(e, struct entry, link);
}

static const uint8_t *name_of(const struct entry *e)
{
	return (const uint8_t *)(e->rows + e->count);
}

static bool is_about(const struct entry *e, const struct question *q)
{
	return e->type == q->type && e->class_ == q->class_ &&
	       dname_equals_len(name_of(e), e->name_len, q->name, q->name_len);
}

static bool takes_place(const struct slab_entry *newer, const struct slab_entry *standing)
{
	const struct entry *n = entry_of(newer), *s = entry_of(standing);

	return n->scope == s->scope && n->type == s->type && n->class_ == s->class_ &&
	       dname_equals_len(name_of(n), n->name_len, name_of(s), s->name_len);
}

static bool is_stale(const struct slab_entry *e, uint32_t now_s)
{
	return time_is_past(now_s, entry_of(e)->until_s);
}

struct subnet_index *subnet_index_new(size_t budget, unsigned slabs)
{
	struct subnet_index *p = mem_zero(sizeof(*p));

	p->slab = slab_new(&(struct slab_how){ .name = "subnet",
					       .budget = budget,
					       .slabs = slabs,
					       .typical = sizeof(struct entry) + 8 * sizeof(struct row),
					       .same = takes_place,
					       .is_stale = is_stale });
	return p;
}

void subnet_index_free(struct subnet_index *p)
{
	if (p)
		slab_free(p->slab);
	mem_free(p);
}

struct slab *subnet_index_slab(struct subnet_index *p)
{
	return p->slab;
}

static const struct entry *find(const struct subnet_index *p, const struct question *q, uint8_t scope)
{
	uint64_t hash = msgcache_hash(q);

	for (struct slab_entry *e = slab_first(p->slab, hash); e; e = slab_next(e, hash)) {
		if (entry_of(e)->scope == scope && is_about(entry_of(e), q)) {
			(void)slab_saw(p->slab, e);
			return entry_of(e);
		}
	}
	return NULL;
}

/* ---- sorted rows ---- */

static int compare(const struct row *a, const struct row *b)
{
	if (a->family != b->family)
		return a->family < b->family ? -1 : 1;
	if (a->bits != b->bits)
		return a->bits < b->bits ? -1 : 1;
	return memcmp(a->ip, b->ip, sizeof(a->ip));
}

/* Index of the first row that does not sort before `key`. */
static unsigned seek(const struct entry *e, const struct row *key, unsigned from)
{
	unsigned to = e->count;

	while (from < to) {
		unsigned middle = from + (to - from) / 2;

		if (compare(&e->rows[middle], key) < 0)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

static struct row row_of(const struct netblock *n)
{
	struct row r = { .family = n->net.family, .bits = n->bits };

	memcpy(r.ip, n->net.ip, sizeof(r.ip));
	return r;
}

static struct subnet_key place_of(const struct row *r)
{
	struct subnet_key p = { .net = { .net = { .family = r->family }, .bits = r->bits },
				.coarse = r->coarse,
				.scope = r->scope };

	memcpy(p.net.net.ip, r->ip, sizeof(r->ip));
	return p;
}

/* Whether a fresh row serves a query with source prefix length `bits`. */
static bool suits(const struct row *r, unsigned bits, uint32_t now_s)
{
	return (!r->coarse || r->bits == bits) && !time_is_past(now_s, r->until_s);
}

bool subnet_index_find(struct subnet_index *p, const struct question *q, uint8_t scope,
		 const struct netblock *who, uint32_t now_s, struct subnet_key *found)
{
	const struct entry *e = find(p, q, scope);
	struct row key = { .family = who->net.family };
	unsigned at = 0;

	while (e && (at = seek(e, &key, at)) < e->count) {
		const struct row *r = &e->rows[at];
		struct netblock shorter;

		if (r->family != who->net.family || r->bits > who->bits)
			return false;
		shorter = subnet_of(&who->net, r->bits);
		key = row_of(&shorter);
		at = seek(e, &key, at);
		if (at < e->count && compare(&e->rows[at], &key) == 0 &&
		    suits(&e->rows[at], who->bits, now_s)) {
			*found = place_of(&e->rows[at]);
			return true;
		}
		memset(key.ip, 0, sizeof(key.ip));
		key.bits++;
	}
	return false;
}

bool subnet_index_exist(struct subnet_index *p, const struct question *q, uint8_t scope, uint32_t now_s)
{
	const struct entry *e = find(p, q, scope);

	return e && !time_is_past(now_s, e->until_s);
}

/* ---- adding ---- */

struct adding {
	struct row row;
	struct netblock net;
	const struct subnet_index_how *how;
};

/* Whether an old row stays beside the new one. */
static bool stays(const struct row *r, const struct adding *a)
{
	const struct subnet_key old = place_of(r);

	if (time_is_past(a->how->now_s, r->until_s) || compare(r, &a->row) == 0)
		return false;
	return a->row.coarse || r->family != a->row.family || r->bits < a->row.bits ||
	       !netblock_holds(&a->net, &old.net.net);
}

/* Drop the oldest row of a family that already has `most`. */
static void make_room(struct entry *e, unsigned family, unsigned most)
{
	unsigned of_family = 0, oldest = 0;

	for (unsigned i = 0; i < e->count; i++) {
		if (e->rows[i].family != family)
			continue;
		if (of_family++ == 0 ||
		    (int32_t)(e->rows[i].since_s - e->rows[oldest].since_s) < 0)
			oldest = i;
	}
	if (of_family < most)
		return;
	e->count--;
	memmove(e->rows + oldest, e->rows + oldest + 1,
		(e->count - oldest) * sizeof(struct row));
}

static void insert(struct entry *e, const struct row *r)
{
	unsigned at = seek(e, r, 0);

	memmove(e->rows + at + 1, e->rows + at, (e->count - at) * sizeof(struct row));
	e->rows[at] = *r;
	e->count++;
}

void subnet_index_add(struct subnet_index *p, const struct question *q, const struct subnet_key *at,
		const struct subnet_index_how *how)
{
	const struct entry *old = find(p, q, how->scope);
	size_t room = (old ? old->count : 0u) + 1u;
	struct entry *e = mem_zero(sizeof(*e) + room * sizeof(struct row) + q->name_len);
	struct adding adding = { .row = row_of(&at->net), .net = at->net, .how = how };

	adding.row.since_s = how->now_s;
	adding.row.until_s = how->until_s;
	adding.row.coarse = at->coarse;
	adding.row.scope = at->scope;
	e->type = q->type;
	e->class_ = q->class_;
	e->scope = how->scope;
	e->name_len = (uint8_t)q->name_len;
	for (unsigned i = 0; old && i < old->count; i++)
		if (stays(&old->rows[i], &adding))
			e->rows[e->count++] = old->rows[i];
	make_room(e, adding.row.family, MIN(MAX(how->most, 1u), PLACES_MOST / 2u));
	insert(e, &adding.row);
	e->until_s = how->until_s;
	for (unsigned i = 0; i < e->count; i++)
		if ((int32_t)(e->rows[i].until_s - e->until_s) > 0)
			e->until_s = e->rows[i].until_s;
	memcpy(e->rows + e->count, q->name, q->name_len);
	slab_put(p->slab, msgcache_hash(q), &e->link, how->now_s);
}

/* ---- walking, forgetting ---- */

void subnet_index_each(struct subnet_index *p, const struct question *q,
		 void (*fn)(const struct subnet_key *at, uint8_t scope, uint32_t until_s, void *arg),
		 void *arg)
{
	uint64_t hash = msgcache_hash(q);

	for (struct slab_entry *at = slab_first(p->slab, hash); at; at = slab_next(at, hash)) {
		const struct entry *e = entry_of(at);

		for (unsigned i = 0; is_about(e, q) && i < e->count; i++) {
			struct subnet_key place = place_of(&e->rows[i]);

			fn(&place, e->scope, e->rows[i].until_s, arg);
		}
	}
}

struct forgetting {
	struct msgcache *messages;
	const struct question *q;
};

static void forget_answer(const struct subnet_key *at, uint8_t scope, uint32_t until_s, void *arg)
{
	const struct forgetting *f = arg;

	(void)until_s;
	msgcache_remove_at(f->messages, f->q, scope, at);
}

static bool is_question(const struct slab_entry *e, void *arg)
{
	return is_about(entry_of(e), arg);
}

void subnet_index_forget(struct subnet_index *p, struct msgcache *messages, const struct question *q)
{
	struct forgetting f = { .messages = messages, .q = q };

	subnet_index_each(p, q, forget_answer, &f);
	slab_remove(p->slab, msgcache_hash(q), is_question, (void *)(uintptr_t)q);
}

static bool is_elsewhere(const struct slab_entry *e, void *arg)
{
	return !dname_is_under(name_of(entry_of(e)), arg);
}

void subnet_index_forget_under(struct subnet_index *p, const uint8_t *top)
{
	(void)slab_sweep(p->slab, is_elsewhere, (void *)(uintptr_t)top);
}
