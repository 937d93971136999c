/* The rules of a list that hold for some questions only, or have an answer of their own.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/blocklist/rules.h"

#include <stdlib.h>
#include <string.h>

#include "util/base/mem.h"
#include "util/names/nameset.h"

enum { SCANNED_MOST = 8 }; /* at a name: beyond, clients have an index */

struct entry {
	uint8_t *name; /* lower-case */
	char *text;    /* of the modifiers */
	size_t order;
	uint8_t bits, form;
	bool operators;
	struct blocklist_special rule;
};

/* A netblock for which there is a rule. */
struct indexed {
	struct netblock block;
	uint32_t entry; /* counted from the first of its name */
};

/* The entries of one name. */
struct at_name {
	size_t first, count;
	struct indexed *clients; /* sorted; NULL: the entries are looked through */
	size_t client_count;
	uint32_t *others; /* those without clients of their own */
	size_t other_count;
	uint64_t lengths[2][3]; /* the lengths of its netblocks, of either family, as bits */
};

struct blocklist_rules {
	struct nameset *names;
	struct entry *at; /* sorted by name; of one name in the order of the list */
	size_t count;
	struct at_name *groups;
	size_t group_count;
	uint64_t dropped;
};

struct blocklist_rules_maker {
	struct entry *at, *removed;
	size_t count, removed_count;
};

/* ---- making ---- */

struct blocklist_rules_maker *blocklist_rules_begin(void)
{
	return mem_zero(sizeof(struct blocklist_rules_maker));
}

static void entry_clear(struct entry *e)
{
	mem_free(e->name);
	mem_free(e->text);
	blocklist_special_clear(&e->rule);
}

static void entries_free(struct entry *e, size_t count)
{
	for (size_t i = 0; i < count; i++)
		entry_clear(&e[i]);
	mem_free(e);
}

void blocklist_rules_maker_free(struct blocklist_rules_maker *m)
{
	if (!m)
		return;
	entries_free(m->at, m->count);
	entries_free(m->removed, m->removed_count);
	mem_free(m);
}

void blocklist_rules_put(struct blocklist_rules_maker *m, const struct blocklist_rule *r)
{
	struct entry **list = r->removes ? &m->removed : &m->at, *e;
	size_t *count = r->removes ? &m->removed_count : &m->count;

	if ((*count & (*count - 1)) == 0)
		*list = mem_grow(*list, (*count ? 2 * *count : 1) * sizeof(**list));
	e = &(*list)[*count];
	*e = (struct entry){ .text = mem_text(r->special),
			     .order = (*count)++,
			     .bits = r->bits,
			     .form = r->form,
			     .operators = r->operators };
	e->name = mem_copy(r->name, dname_len(r->name));
	(void)dname_copy_lower(e->name, r->name);
}

/* By what makes them the same rule. */
static int by_text(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int order = dname_compare(x->name, y->name);

	if (order == 0)
		order = strcmp(x->text, y->text);
	if (order == 0)
		order = (int)x->form - (int)y->form;
	return order ? order : (int)x->bits - (int)y->bits;
}

static int by_place(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int order = dname_compare(x->name, y->name);

	return order ? order : x->order < y->order ? -1 : x->order > y->order;
}

/* Leave out what is taken back, what is there twice, and what does not parse. */
static void keep_good_ones(struct blocklist_rules_maker *m)
{
	size_t kept = 0;

	qsort(m->at, m->count, sizeof(*m->at), by_text);
	if (m->removed_count)
		qsort(m->removed, m->removed_count, sizeof(*m->removed), by_text);
	for (size_t i = 0; i < m->count; i++) {
		struct entry *e = &m->at[i];

		if ((kept && by_text(&m->at[kept - 1], e) == 0 &&
		     m->at[kept - 1].operators == e->operators) ||
		    (!e->operators && m->removed_count &&
		     bsearch(e, m->removed, m->removed_count, sizeof(*e), by_text)) ||
		    !blocklist_special_parse(&e->rule, e->text))
			entry_clear(e);
		else
			m->at[kept++] = *e;
	}
	m->count = kept;
	if (m->count)
		qsort(m->at, m->count, sizeof(*m->at), by_place);
}

/* ---- by client ---- */

static int by_block(const void *a, const void *b)
{
	const struct indexed *x = a, *y = b;
	int order = x->block.net.family - y->block.net.family;

	if (order == 0)
		order = x->block.bits - y->block.bits;
	if (order == 0)
		order = memcmp(x->block.net.ip, y->block.net.ip, sizeof(x->block.net.ip));
	return order ? order : x->entry < y->entry ? -1 : x->entry > y->entry;
}

static bool same_block(const struct netblock *a, const struct netblock *b)
{
	return a->net.family == b->net.family && a->bits == b->bits &&
	       memcmp(a->net.ip, b->net.ip, sizeof(a->net.ip)) == 0;
}

/* Bits beyond an address's own are zero in all that are compared. */
static struct netblock pure(const struct netblock *n)
{
	struct netblock p = { .bits = n->bits };

	p.net.family = n->net.family;
	memcpy(p.net.ip, n->net.ip, n->net.family == 4 ? 4 : 16);
	return p;
}

static void add_clients(struct at_name *g, const struct entry *e, uint32_t number)
{
	const struct blocklist_special *s = &e->rule;

	g->clients = mem_grow(g->clients, (g->client_count + s->client_count) * sizeof(*g->clients));
	for (unsigned i = 0; i < s->client_count; i++)
		g->clients[g->client_count++] =
			(struct indexed){ .block = pure(&s->clients[i]), .entry = number };
}

/* Modifiers other than the clients it is for: being sorted, those come first. */
static const char *rest_of(const struct entry *e)
{
	const char *comma = strchr(e->text, ',');

	return e->rule.client_others ? e->text : comma ? comma : "";
}

static bool same_effect(const struct entry *a, const struct entry *b)
{
	return a->bits == b->bits && a->operators == b->operators &&
	       strcmp(rest_of(a), rest_of(b)) == 0;
}

/* The entries kept for the netblock at hand. */
struct sharers {
	const struct entry *at[BLOCKLIST_RULES_AT_ONCE];
	unsigned count;
};

enum sharing { SHARES, SAYS_NO_MORE, TOO_MANY };

static enum sharing share(struct sharers *s, const struct entry *e)
{
	for (unsigned i = 0; i < s->count; i++)
		if (same_effect(s->at[i], e))
			return SAYS_NO_MORE;
	if (s->count == BLOCKLIST_RULES_AT_ONCE)
		return TOO_MANY;
	s->at[s->count++] = e;
	return SHARES;
}

/* Of those with one netblock, only so many are kept; `cut_off` notes entries that lose one. */
static void trim_clients(const struct blocklist_rules *s, struct at_name *g, bool *cut_off)
{
	struct netblock before = { 0 };
	struct sharers sharers = { .count = 0 };
	size_t kept = 0;

	qsort(g->clients, g->client_count, sizeof(*g->clients), by_block);
	for (size_t i = 0; i < g->client_count; i++) {
		struct indexed x = g->clients[i];
		enum sharing sharing;

		if (!same_block(&before, &x.block))
			sharers.count = 0;
		before = x.block;
		sharing = share(&sharers, &s->at[g->first + x.entry]);
		cut_off[x.entry] |= sharing == TOO_MANY;
		if (sharing == SHARES)
			g->clients[kept++] = x;
	}
	g->client_count = kept;
	g->clients = mem_grow(g->clients, (kept ? kept : 1) * sizeof(*g->clients));
}

static void note_lengths(struct at_name *g)
{
	for (size_t i = 0; i < g->client_count; i++) {
		const struct netblock *n = &g->clients[i].block;

		g->lengths[n->net.family == 6][n->bits / 64] |= UINT64_C(1) << n->bits % 64;
	}
}

static uint64_t index_group(const struct blocklist_rules *s, struct at_name *g)
{
	bool *cut_off = mem_zero(g->count * sizeof(*cut_off));
	uint64_t dropped = 0;

	g->others = mem_array(BLOCKLIST_RULES_AT_ONCE, sizeof(*g->others));
	for (size_t i = 0; i < g->count; i++) {
		const struct entry *e = &s->at[g->first + i];

		if (e->rule.client_count)
			add_clients(g, e, (uint32_t)i);
		else if (g->other_count < BLOCKLIST_RULES_AT_ONCE)
			g->others[g->other_count++] = (uint32_t)i;
		else
			cut_off[i] = true;
	}
	if (g->client_count) {
		trim_clients(s, g, cut_off);
		note_lengths(g);
	} else {
		g->clients = mem_new(1);
	}
	for (size_t i = 0; i < g->count; i++)
		dropped += cut_off[i];
	mem_free(cut_off);
	return dropped;
}

static void group(struct blocklist_rules *s, uint64_t seed)
{
	struct nameset_maker *names = nameset_maker_new();

	for (size_t i = 0; i < s->count;) {
		struct at_name *g;

		if ((s->group_count & (s->group_count - 1)) == 0)
			s->groups = mem_grow(s->groups, (s->group_count ? 2 * s->group_count : 1) *
								sizeof(*s->groups));
		g = &s->groups[s->group_count++];
		*g = (struct at_name){ .first = i };
		for (; i < s->count && dname_equals(s->at[i].name, s->at[g->first].name); i++)
			g->count++;
		if (g->count > SCANNED_MOST)
			s->dropped += index_group(s, g);
		nameset_put(names, s->at[g->first].name, 1);
	}
	s->names = nameset_make(names, seed);
}

struct blocklist_rules *blocklist_rules_make(struct blocklist_rules_maker *m, uint64_t seed)
{
	struct blocklist_rules *s = NULL;

	if (m->count)
		keep_good_ones(m);
	if (m->count) {
		s = mem_zero(sizeof(*s));
		s->at = mem_grow(m->at, m->count * sizeof(*m->at));
		s->count = m->count;
		m->at = NULL;
		m->count = 0;
		group(s, seed);
	}
	blocklist_rules_maker_free(m);
	return s;
}

void blocklist_rules_free(struct blocklist_rules *s)
{
	if (!s)
		return;
	nameset_free(s->names);
	entries_free(s->at, s->count);
	for (size_t i = 0; i < s->group_count; i++) {
		mem_free(s->groups[i].clients);
		mem_free(s->groups[i].others);
	}
	mem_free(s->groups);
	mem_free(s);
}

/* ---- asking ---- */

unsigned blocklist_rules_deepest(const struct blocklist_rules *s)
{
	return nameset_deepest(s->names);
}

size_t blocklist_rules_count(const struct blocklist_rules *s)
{
	return s->count - (size_t)s->dropped;
}

uint64_t blocklist_rules_dropped(const struct blocklist_rules *s)
{
	return s->dropped;
}

size_t blocklist_rules_bytes(const struct blocklist_rules *s)
{
	size_t bytes = sizeof(*s) + nameset_bytes(s->names) + s->count * sizeof(*s->at) +
		       s->group_count * sizeof(*s->groups);

	for (size_t i = 0; i < s->count; i++)
		bytes += dname_len(s->at[i].name) + strlen(s->at[i].text) + 1 +
			 blocklist_special_bytes(&s->at[i].rule);
	for (size_t i = 0; i < s->group_count; i++)
		bytes += s->groups[i].client_count * sizeof(struct indexed) +
			 (s->groups[i].others ? BLOCKLIST_RULES_AT_ONCE * sizeof(uint32_t) : 0);
	return bytes;
}

bool blocklist_rules_mention(const struct blocklist_rules *s, const struct suffixes *q,
			     unsigned labels)
{
	return nameset_at(s->names, q, labels) > 0;
}

static const struct at_name *group_of(const struct blocklist_rules *s, const uint8_t *name)
{
	size_t from = 0, to = s->group_count;

	while (from < to) {
		size_t middle = (from + to) / 2;
		int order = dname_compare(s->at[s->groups[middle].first].name, name);

		if (order == 0)
			return &s->groups[middle];
		if (order < 0)
			from = middle + 1;
		else
			to = middle;
	}
	return NULL;
}

/* The address with only its first bits. */
static struct netblock cut(const struct addr *a, unsigned bits)
{
	struct netblock n = { .bits = (uint8_t)bits };

	n.net.family = a->family;
	memcpy(n.net.ip, a->ip, bits / 8);
	if (bits % 8)
		n.net.ip[bits / 8] = (uint8_t)(a->ip[bits / 8] & 0xff00 >> bits % 8);
	return n;
}

/* The place of the first entry of `block`; those that follow may have it, too. */
static size_t first_of(const struct at_name *g, const struct netblock *block)
{
	const struct indexed wanted = { .block = *block };
	size_t from = 0, to = g->client_count;

	while (from < to) {
		size_t middle = (from + to) / 2;

		if (by_block(&g->clients[middle], &wanted) < 0)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

struct asking {
	const struct blocklist_rules *s;
	const struct at_name *g;
	const struct blocklist_asked *asked;
	bool self;
	void (*fn)(void *arg, unsigned bits, bool operators, const struct blocklist_rewrite *w);
	void *arg;
};

static void try_one(const struct asking *k, size_t number)
{
	const struct entry *e = &k->s->at[k->g->first + number];
	unsigned bits = (k->self ? e->bits : e->bits >> 1) & 0x55u;

	if (bits && blocklist_special_meets(&e->rule, k->asked))
		k->fn(k->arg, bits, e->operators, e->rule.rewrite);
}

static void try_clients(const struct asking *k)
{
	const struct at_name *g = k->g;
	const struct addr *from = k->asked->from;
	const uint64_t *lengths = g->lengths[from->family == 6];

	for (unsigned word = 0; word < 3; word++) {
		for (uint64_t left = lengths[word]; left; left &= left - 1) {
			struct netblock block =
				cut(from, 64 * word + (unsigned)__builtin_ctzll(left));

			for (size_t i = first_of(g, &block);
			     i < g->client_count && same_block(&g->clients[i].block, &block); i++)
				try_one(k, g->clients[i].entry);
		}
	}
}

void blocklist_rules_ask(const struct blocklist_rules *s, const struct suffixes *q, unsigned labels,
			 const struct blocklist_asked *asked,
			 void (*fn)(void *arg, unsigned bits, bool operators, const struct blocklist_rewrite *w),
			 void *arg)
{
	struct asking k = { .s = s, .asked = asked, .self = labels == q->count, .fn = fn, .arg = arg };

	if (LIKELY(!blocklist_rules_mention(s, q, labels)))
		return;
	k.g = group_of(s, suffix_name(q, labels));
	if (!k.g)
		return;
	for (size_t i = 0; !k.g->clients && i < k.g->count; i++)
		try_one(&k, i);
	for (size_t i = 0; i < k.g->other_count; i++)
		try_one(&k, k.g->others[i]);
	if (k.g->client_count && asked->from)
		try_clients(&k);
}

bool blocklist_rules_each(const struct blocklist_rules *s,
			  bool (*fn)(void *arg, const struct blocklist_rule *r), void *arg)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct entry *e = &s->at[i];

		if (!fn(arg, &(struct blocklist_rule){ .name = e->name,
						       .bits = e->bits,
						       .form = e->form,
						       .operators = e->operators,
						       .special = e->text }))
			return false;
	}
	return true;
}
