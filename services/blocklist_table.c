/* The rules of a list in one packed table.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Eight bits per name, in a set of names (util/nameset.h). The few rules that apply only to some
 * queries are kept beside it, sorted by name. Each policy has a set of names of its own. */
#include "services/blocklist_table.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "services/blocklist_policy.h"
#include "services/blocklist_special.h"
#include "util/mem.h"
#include "util/nameset.h"
#include "util/rcu.h"
#include "util/trie.h"

enum { SPECIALS_MOST = 10000 };

/* One special rule. */
struct entry {
	uint8_t name[DNAME_MAX];
	uint8_t bits;
	char *text;
	struct list_special *rule;
};

struct list_table {
	struct nameset *names; /* NULL: none */
	struct nameset *special_names;
	struct entry *specials; /* sorted by name */
	size_t special_count;
	struct list_policy *policies;
	size_t policy_count;
	bool has_important;
	unsigned deepest;
	_Atomic uint32_t pins;
	struct rcu_slot retired;
};

/* ---- building ---- */

struct list_table_maker {
	struct nameset_maker *names;
	struct trie *removed; /* values: bits, as pointers; NULL: none */
	struct entry *specials, *removed_specials;
	size_t special_count, removed_special_count;
	/* Policies: those of the source being read, by number, and those told, in order. */
	struct nameset_maker *reading[LIST_POLICIES], *told[LIST_POLICIES];
	char *texts[LIST_POLICIES];
	size_t told_count;
	uint64_t dropped;
	uint8_t all_bits;
};

struct list_table_maker *list_table_begin(void)
{
	struct list_table_maker *m = mem_zero(sizeof(*m));

	m->names = nameset_maker_joining();
	return m;
}

static void entries_free(struct entry *e, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		mem_free(e[i].text);
		mem_free(e[i].rule);
	}
	mem_free(e);
}

void list_table_maker_free(struct list_table_maker *m)
{
	if (!m)
		return;
	nameset_maker_free(m->names);
	if (m->removed)
		trie_free(m->removed, NULL);
	entries_free(m->specials, m->special_count);
	entries_free(m->removed_specials, m->removed_special_count);
	for (size_t i = 0; i < LIST_POLICIES; i++) {
		nameset_maker_free(m->reading[i]);
		nameset_maker_free(m->told[i]);
		mem_free(m->texts[i]);
	}
	mem_free(m);
}

static void remove_rule(struct list_table_maker *m, const struct list_rule *r)
{
	uintptr_t bits;

	if (!m->removed)
		m->removed = trie_new();
	bits = (uintptr_t)trie_find(m->removed, r->name) | r->bits;
	trie_put(m->removed, r->name, (void *)bits);
}

static void put_entry(struct list_table_maker *m, struct entry **list, size_t *count,
		      const uint8_t *name, uint8_t bits, const char *text)
{
	struct entry *e;

	if (*count == SPECIALS_MOST) {
		m->dropped++;
		return;
	}
	if ((*count & (*count - 1)) == 0)
		*list = mem_grow(*list, (*count ? 2 * *count : 1) * sizeof(**list));
	e = &(*list)[(*count)++];
	*e = (struct entry){ .bits = bits, .text = mem_text(text) };
	dname_copy_lower(e->name, name);
}

/* A rule of a policy about which more is told at the end of its source. */
static void put_in_policy(struct list_table_maker *m, const struct list_rule *r)
{
	struct nameset_maker **names = &m->reading[r->policy - 1];

	if (!*names)
		*names = nameset_maker_joining();
	nameset_put(*names, r->name, r->bits);
}

void list_table_policy(void *maker, unsigned number, const char *text)
{
	struct list_table_maker *m = maker;

	if (number && m->reading[number - 1] && m->told_count < LIST_POLICIES) {
		m->told[m->told_count] = m->reading[number - 1];
		m->texts[m->told_count++] = mem_text(text);
		m->reading[number - 1] = NULL;
	}
	for (size_t i = 0; !number && i < LIST_POLICIES; i++) { /* the source ends */
		nameset_maker_free(m->reading[i]);
		m->reading[i] = NULL;
	}
}

void list_table_rule(void *maker, const struct list_rule *r)
{
	struct list_table_maker *m = maker;

	if (UNLIKELY(r->policy != 0))
		put_in_policy(m, r);
	else if (r->special && r->removes)
		put_entry(m, &m->removed_specials, &m->removed_special_count, r->name, r->bits,
			  r->special);
	else if (r->special)
		put_entry(m, &m->specials, &m->special_count, r->name, r->bits, r->special);
	else if (r->removes)
		remove_rule(m, r);
	else
		nameset_put(m->names, r->name, r->bits);
}

uint64_t list_table_dropped(const struct list_table_maker *m)
{
	return m->dropped;
}

static int review(const uint8_t *name, uint8_t value, void *maker)
{
	struct list_table_maker *m = maker;

	if (m->removed)
		value &= (uint8_t)~(uintptr_t)trie_find(m->removed, name);
	m->all_bits |= value;
	return value ? value : -1;
}

static int by_name(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return dname_compare(x->name, y->name);
}

static bool is_removed(const struct list_table_maker *m, const struct entry *e)
{
	for (size_t i = 0; i < m->removed_special_count; i++) {
		const struct entry *r = &m->removed_specials[i];

		if (r->bits == e->bits && dname_equals(r->name, e->name) &&
		    strcmp(r->text, e->text) == 0)
			return true;
	}
	return false;
}

/* The table takes ownership of the entries that remain. */
static void take_specials(struct list_table *t, struct list_table_maker *m, uint64_t seed)
{
	struct nameset_maker *names = nameset_maker_new();

	for (size_t i = 0; i < m->special_count; i++) {
		struct entry *e = &m->specials[i];
		struct list_special *rule = mem_new(sizeof(*rule));

		if (is_removed(m, e) || !list_special_parse(rule, e->text)) {
			mem_free(rule);
			mem_free(e->text);
			continue;
		}
		e->rule = rule;
		nameset_put(names, e->name, 1);
		t->has_important |= (e->bits & LIST_IMPORTANT) != 0;
		m->specials[t->special_count++] = *e;
	}
	t->specials = m->specials;
	m->specials = NULL;
	m->special_count = 0;
	if (t->special_count)
		qsort(t->specials, t->special_count, sizeof(*t->specials), by_name);
	t->special_names = nameset_make(names, seed);
}

static void measure(struct list_table *t)
{
	t->deepest = t->names ? nameset_deepest(t->names) : 0;
	if (t->special_names)
		t->deepest = MAX(t->deepest, nameset_deepest(t->special_names));
	for (size_t i = 0; i < t->policy_count; i++)
		if (t->policies[i].names)
			t->deepest = MAX(t->deepest, nameset_deepest(t->policies[i].names));
}

static void take_policies(struct list_table *t, struct list_table_maker *m, uint64_t seed)
{
	t->policies = mem_array(m->told_count + 1, sizeof(*t->policies));
	for (; t->policy_count < m->told_count; t->policy_count++) {
		struct list_policy *p = &t->policies[t->policy_count];

		list_policy_init(p, m->texts[t->policy_count]);
		p->names = nameset_make(m->told[t->policy_count], seed);
		m->told[t->policy_count] = NULL;
	}
}

struct list_table *list_table_make(struct list_table_maker *m, uint64_t seed)
{
	struct list_table *t = mem_zero(sizeof(*t));

	atomic_init(&t->pins, 1);
	nameset_review(m->names, review, m);
	t->names = nameset_make(m->names, seed);
	m->names = NULL;
	t->has_important = (m->all_bits & LIST_IMPORTANT) != 0;
	take_specials(t, m, seed);
	take_policies(t, m, seed);
	measure(t);
	list_table_maker_free(m);
	return t;
}

/* ---- life cycle ---- */

struct list_table *list_table_pin(struct list_table *t)
{
	atomic_fetch_add_explicit(&t->pins, 1, memory_order_relaxed);
	return t;
}

static void free_now(struct list_table *t)
{
	nameset_free(t->names);
	nameset_free(t->special_names);
	entries_free(t->specials, t->special_count);
	for (size_t i = 0; i < t->policy_count; i++)
		list_policy_clear(&t->policies[i]);
	mem_free(t->policies);
	mem_free(t);
}

static void free_retired(struct rcu_slot *slot)
{
	free_now(container_of(slot, struct list_table, retired));
}

void list_table_unpin(struct list_table *t)
{
	if (t && atomic_fetch_sub_explicit(&t->pins, 1, memory_order_acq_rel) == 1)
		rcu_retire(&t->retired, free_retired);
}

/* ---- lookup ---- */

/* The bits for the name itself, or those for names below it, both moved to 1, 4, 16 and 64. */
static unsigned for_this(unsigned bits, bool self)
{
	return (self ? bits : bits >> 1) & 0x55;
}

static const struct entry *first_entry(const struct list_table *t, const uint8_t *name)
{
	size_t from = 0, to = t->special_count;

	while (from < to) {
		size_t middle = (from + to) / 2;

		if (dname_compare(t->specials[middle].name, name) < 0)
			from = middle + 1;
		else
			to = middle;
	}
	return &t->specials[from];
}

struct asked {
	uint16_t type;
	const struct addr *from;
};

/* The bits that special rules at one name add; `*says` is the last with an answer of its own. */
static unsigned special_bits(const struct list_table *t, const uint8_t *name, bool self,
			     const struct asked *asked, const struct list_special **says)
{
	const struct entry *end = t->specials + t->special_count;
	unsigned bits = 0;

	for (const struct entry *e = first_entry(t, name);
	     e < end && dname_equals(e->name, name); e++) {
		unsigned here = for_this(e->bits, self);

		if (!here || !list_special_meets(e->rule, asked->type, asked->from))
			continue;
		bits |= here;
		if (e->rule->rewrites)
			*says = e->rule;
	}
	return bits;
}

static unsigned bits_at(const struct list_table *t, const struct suffixes *q, unsigned labels,
			const struct asked *asked, const struct list_special **says)
{
	bool self = labels == q->count;
	int value = t->names ? nameset_at(t->names, q, labels) : -1;
	unsigned bits = value > 0 ? for_this((unsigned)value, self) : 0;

	*says = NULL;
	if (UNLIKELY(t->special_names) && nameset_at(t->special_names, q, labels) > 0)
		bits |= special_bits(t, suffix_name(q, labels), self, asked, says);
	return bits;
}

static enum list_verdict ask_policies(const struct list_table *t, const struct suffixes *q,
				      const struct asked *asked, struct list_match *m)
{
	for (size_t i = 0; i < t->policy_count; i++) {
		const struct list_policy *p = &t->policies[i];
		unsigned labels = list_policy_is_for(p, asked->type, asked->from) ?
					  list_policy_find(p, q) : 0;

		if (!labels)
			continue;
		*m = (struct list_match){ labels, p->special.rewrites ? &p->special : NULL };
		return list_policy_passes(p, q->name) ? LIST_ALLOWS : LIST_BLOCKS;
	}
	return LIST_SAYS_NOTHING;
}

enum list_verdict list_table_find(const struct list_table *t, const struct suffixes *q,
				  uint16_t type, const struct addr *from, struct list_match *m)
{
	const struct asked asked = { type, from };
	enum list_verdict plain = LIST_SAYS_NOTHING, important = LIST_SAYS_NOTHING;
	struct list_match first = { 0 };

	for (unsigned labels = MIN(q->hashed, t->deepest); labels > 0; labels--) {
		const struct list_special *says;
		unsigned bits = bits_at(t, q, labels, &asked, &says);
		struct list_match here = { labels, says };

		if (LIKELY(bits == 0))
			continue;
		if (plain == LIST_SAYS_NOTHING && bits & 5) {
			plain = bits & 4 ? LIST_ALLOWS : LIST_BLOCKS;
			first = here;
			if (LIKELY(!t->has_important))
				break;
		}
		if (bits & 0x40 || (bits & 0x10 && important == LIST_SAYS_NOTHING)) {
			important = bits & 0x40 ? LIST_ALLOWS : LIST_BLOCKS;
			*m = here;
			if (important == LIST_ALLOWS)
				break;
		}
	}
	if (important != LIST_SAYS_NOTHING)
		return important;
	if (plain == LIST_SAYS_NOTHING)
		return t->policy_count ? ask_policies(t, q, &asked, m) : LIST_SAYS_NOTHING;
	*m = first;
	return plain;
}

bool list_table_mentions(const struct list_table *t, const struct suffixes *q)
{
	for (unsigned labels = MIN(q->hashed, t->deepest); labels > 0; labels--) {
		if ((t->names && nameset_at(t->names, q, labels) > 0) ||
		    (t->special_names && nameset_at(t->special_names, q, labels) > 0))
			return true;
	}
	for (size_t i = 0; i < t->policy_count; i++)
		if (list_policy_find(&t->policies[i], q))
			return true;
	return false;
}

unsigned list_table_deepest(const struct list_table *t)
{
	return t->deepest;
}

size_t list_table_count(const struct list_table *t)
{
	size_t count = (t->names ? nameset_count(t->names) : 0) + t->special_count;

	for (size_t i = 0; i < t->policy_count; i++)
		count += t->policies[i].names ? nameset_count(t->policies[i].names) : 0;
	return count;
}

unsigned list_table_unknown(const struct list_table *t)
{
	unsigned unknown = 0;

	for (size_t i = 0; i < t->policy_count; i++)
		unknown += t->policies[i].unknown;
	return unknown;
}

size_t list_table_bytes(const struct list_table *t)
{
	size_t bytes = 0;

	for (size_t i = 0; i < t->policy_count; i++)
		bytes += sizeof(t->policies[0]) + list_policy_bytes(&t->policies[i]);
	return bytes + sizeof(*t) + (t->names ? nameset_bytes(t->names) : 0) +
	       (t->special_names ? nameset_bytes(t->special_names) : 0) +
	       t->special_count * (sizeof(struct entry) + sizeof(struct list_special));
}

/* ---- in a file ---- */

#define MAGIC   UINT64_C(0x7265736c69737432) /* also reveals the byte order */
#define TEXT_MOST 512

struct head {
	uint64_t magic, seed;
	uint32_t has_names, special_count, has_important, policy_count;
};

/* Of a policy: its description and its names. */
struct policy_head {
	uint64_t text_len, has_names;
};

static bool save_policy(const struct list_policy *p, bool (*write)(void *, const void *, size_t),
			void *arg)
{
	struct policy_head h = { .text_len = strlen(p->text), .has_names = p->names != NULL };

	return write(arg, &h, sizeof(h)) && write(arg, p->text, (size_t)h.text_len) &&
	       (!p->names || nameset_save(p->names, write, arg));
}

bool list_table_save(const struct list_table *t, bool (*write)(void *, const void *, size_t),
		     void *arg)
{
	struct head h = { .magic = MAGIC,
			  .seed = t->names ? nameset_seed(t->names) : 0,
			  .policy_count = (uint32_t)t->policy_count,
			  .has_names = t->names != NULL,
			  .special_count = (uint32_t)t->special_count,
			  .has_important = t->has_important };

	if (!write(arg, &h, sizeof(h)) || (t->names && !nameset_save(t->names, write, arg)))
		return false;
	for (size_t i = 0; i < t->special_count; i++) {
		const struct entry *e = &t->specials[i];
		uint8_t bytes[DNAME_MAX + 1 + TEXT_MOST] = { 0 };

		memcpy(bytes, e->name, DNAME_MAX);
		bytes[DNAME_MAX] = e->bits;
		memcpy(bytes + DNAME_MAX + 1, e->text, MIN(strlen(e->text), TEXT_MOST - 1));
		if (!write(arg, bytes, sizeof(bytes)))
			return false;
	}
	for (size_t i = 0; i < t->policy_count; i++)
		if (!save_policy(&t->policies[i], write, arg))
			return false;
	return true;
}

static bool load_policy(struct list_policy *p, bool (*read)(void *, void *, size_t), void *arg,
			uint64_t most)
{
	struct policy_head h;
	char *text;
	bool good;

	if (!read(arg, &h, sizeof(h)) || h.text_len > LIST_POLICY_TEXT)
		return false;
	text = mem_zero((size_t)h.text_len + 1);
	good = read(arg, text, (size_t)h.text_len);
	if (good)
		list_policy_init(p, text);
	mem_free(text);
	return good && (!h.has_names || (p->names = nameset_load(read, arg, most)));
}

static bool load_policies(struct list_policy *policies, uint32_t count,
			  bool (*read)(void *, void *, size_t), void *arg, uint64_t most)
{
	for (uint32_t i = 0; i < count; i++)
		if (!load_policy(&policies[i], read, arg, most))
			return false;
	return true;
}

/* Sets are rehashed unless they have the seed, or are the first to say which. */
static void settle_seed(struct nameset *names, uint64_t *seed)
{
	if (names && *seed == 0)
		*seed = nameset_seed(names);
	if (names && *seed != nameset_seed(names))
		nameset_reseed(names, *seed);
}

static bool load_specials(struct list_table_maker *m, uint32_t count,
			  bool (*read)(void *, void *, size_t), void *arg)
{
	for (uint32_t i = 0; i < count; i++) {
		uint8_t bytes[DNAME_MAX + 1 + TEXT_MOST];
		struct list_rule r = { .name = bytes,
				       .special = (const char *)bytes + DNAME_MAX + 1 };

		if (!read(arg, bytes, sizeof(bytes)) || bytes[sizeof(bytes) - 1] != 0 ||
		    !dname_measure(bytes, bytes + DNAME_MAX))
			return false;
		r.bits = bytes[DNAME_MAX];
		list_table_rule(m, &r);
	}
	return true;
}

struct list_table *list_table_load(bool (*read)(void *, void *, size_t), void *arg, uint64_t most,
				   uint64_t *seed)
{
	struct list_policy *policies;
	struct list_table_maker *m;
	struct nameset *names = NULL;
	struct list_table *t;
	struct head h;

	if (!read(arg, &h, sizeof(h)) || h.magic != MAGIC || h.special_count > SPECIALS_MOST ||
	    h.policy_count > LIST_POLICIES)
		return NULL;
	if (h.has_names && !(names = nameset_load(read, arg, most)))
		return NULL;
	m = list_table_begin();
	policies = mem_array(h.policy_count + 1, sizeof(*policies));
	if (!load_specials(m, h.special_count, read, arg) ||
	    !load_policies(policies, h.policy_count, read, arg, most)) {
		nameset_free(names);
		for (uint32_t i = 0; i < h.policy_count; i++)
			list_policy_clear(&policies[i]);
		mem_free(policies);
		list_table_maker_free(m);
		return NULL;
	}
	settle_seed(names, seed);
	for (uint32_t i = 0; i < h.policy_count; i++)
		settle_seed(policies[i].names, seed);
	t = list_table_make(m, *seed);
	t->names = names;
	t->has_important = h.has_important;
	mem_free(t->policies);
	t->policies = policies;
	t->policy_count = h.policy_count;
	measure(t);
	return t;
}
