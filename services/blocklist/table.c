/* The rules of a list in one packed table.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Eight bits per name, in a set of names (util/names/nameset.h). Rules with modifiers are kept beside it
 * (services/blocklist/rules.h), and so are the names of allow-files, which are looked at only when
 * something would be blocked. Each policy has a set of names of its own. */
#include "services/blocklist/table.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "services/blocklist/clients.h"
#include "services/blocklist/rules.h"
#include "services/blocklist/special.h"
#include "util/base/mem.h"
#include "util/base/rcu.h"
#include "util/dns/msg.h"
#include "util/dns/rr.h"
#include "util/names/nameset.h"
#include "util/names/trie.h"

struct blocklist_table {
	struct nameset *names; /* NULL: none */
	struct nameset *allowed; /* by allow-files; NULL: none */
	struct blocklist_rules *rules; /* NULL: none */
	struct blocklist_policy *policies;
	size_t policy_count;
	bool goes_on; /* beyond the longest name with a rule, others may matter */
	unsigned deepest;
	_Atomic uint32_t pins;
	struct rcu_slot retired;
};

/* ---- building ---- */

/* Names are put with the kind of rule: its bits, and for AdBlock rules the form of their text, so that
 * a kind can be taken back ($badfilter). */
enum { KINDS = 256, KIND_IMPORTANT = 0x10, KIND_FORM = 0x80 };

struct blocklist_table_maker {
	struct nameset_maker *names, *allowed;
	struct blocklist_rules_maker *rules;
	uint8_t bits[KINDS];  /* of each kind there is */
	struct trie *removed; /* values: struct nameset_kinds; NULL: none */
	/* Policies: those of the source being read, by number, and those told, in order. */
	struct nameset_maker *reading[BLOCKLIST_POLICIES], *told[BLOCKLIST_POLICIES];
	char *texts[BLOCKLIST_POLICIES];
	size_t told_count;
	bool goes_on;
};

/* Bits that both allow and block only let pass. */
static uint8_t blocking(unsigned bits)
{
	return bits & 0x33;
}

static uint8_t allowing(unsigned bits)
{
	return bits >> 2 & 0x33;
}

/* Of dnsmasq's rules and those of policy zones, "*.name" precedes "name" for the names below. */
enum wild { WILD_BLOCKS = 1, WILD_PASSES = 2, WILD_DATA = 4 };

static unsigned wild_of(unsigned kind)
{
	switch (kind) {
	case BLOCKLIST_BLOCK_BELOW:
		return WILD_BLOCKS;
	case BLOCKLIST_BLOCK_BELOW | BLOCKLIST_ALLOW_BELOW:
		return WILD_PASSES;
	case KIND_FORM + BLOCKLIST_FORM_DATA + BLOCKLIST_BLOCK_BELOW:
		return WILD_DATA;
	default:
		return 0;
	}
}

/* All rules of one name as one number. */
static int weigh(const uint8_t *name, const struct nameset_kinds *kinds, void *maker)
{
	struct blocklist_table_maker *m = maker;
	const struct nameset_kinds *removed = m->removed ? trie_find(m->removed, name) : NULL;
	unsigned blocks = 0, passes = 0, allows = 0, data = 0, wild = 0, value;

	for (unsigned i = 0; i < COUNT(kinds->has); i++) {
		uint64_t left = kinds->has[i] & ~(removed ? removed->has[i] : 0);

		for (; left; left &= left - 1) {
			unsigned kind = 64 * i + (unsigned)__builtin_ctzll(left);
			unsigned bits = m->bits[kind];

			wild |= wild_of(kind);
			if (kind >= KIND_FORM && kind % BLOCKLIST_FORMS > BLOCKLIST_FORM_DATA)
				data |= blocking(bits);

			passes |= blocking(bits) & allowing(bits);
			blocks |= blocking(bits) & ~allowing(bits);
			allows |= allowing(bits) & ~blocking(bits);
		}
	}
	if (wild & WILD_DATA || wild == WILD_BLOCKS)
		passes &= ~(unsigned)BLOCKLIST_BLOCK_BELOW;
	else if (wild & WILD_PASSES)
		data &= ~(unsigned)BLOCKLIST_BLOCK_BELOW;
	passes &= ~data;
	value = ((blocks | passes) & ~allows) | (allows | passes) << 2;
	m->goes_on |= allows || blocks & 0x30;
	return value ? (int)value : -1;
}

struct blocklist_table_maker *blocklist_table_begin(void)
{
	struct blocklist_table_maker *m = mem_zero(sizeof(*m));

	m->names = nameset_maker_weighing(weigh, m);
	m->allowed = nameset_maker_joining();
	m->rules = blocklist_rules_begin();
	return m;
}

void blocklist_table_maker_free(struct blocklist_table_maker *m)
{
	if (!m)
		return;
	nameset_maker_free(m->names);
	nameset_maker_free(m->allowed);
	blocklist_rules_maker_free(m->rules);
	if (m->removed)
		trie_free(m->removed, mem_free);
	for (size_t i = 0; i < BLOCKLIST_POLICIES; i++) {
		nameset_maker_free(m->reading[i]);
		nameset_maker_free(m->told[i]);
		mem_free(m->texts[i]);
	}
	mem_free(m);
}

static uint8_t kind_of(const struct blocklist_rule *r)
{
	bool important = (r->bits & BLOCKLIST_IMPORTANT) != 0;
	unsigned bits = important ? r->bits >> BLOCKLIST_IMPORTANT_SHIFT : r->bits;

	if (!r->form)
		return (uint8_t)((bits & BLOCKLIST_PLAIN) | (important ? KIND_IMPORTANT : 0u));
	return (uint8_t)(KIND_FORM | (bits & BLOCKLIST_ALLOW ? 0x40u : 0u) |
			 (important ? 0x20u : 0u) | r->form % BLOCKLIST_FORMS);
}

static void remove_kind(struct blocklist_table_maker *m, const struct blocklist_rule *r)
{
	struct nameset_kinds *kinds;
	uint8_t kind = kind_of(r);

	if (!m->removed)
		m->removed = trie_new();
	kinds = trie_find(m->removed, r->name);
	if (!kinds) {
		kinds = mem_zero(sizeof(*kinds));
		trie_put(m->removed, r->name, kinds);
	}
	kinds->has[kind / 64] |= UINT64_C(1) << kind % 64;
}

/* A rule of a policy about which more is told at the end of its source. */
/* More than once in one policy: of its lists the one that came first in the whole source. */
static int weigh_in_policy(const uint8_t *name, const struct nameset_kinds *kinds, void *arg)
{
	int bits = 0, list = 0;

	(void)name;
	(void)arg;
	for (int n = 0; n < 256; n++) {
		if (!(kinds->has[n / 64] >> n % 64 & 1))
			continue;
		bits |= n & BLOCKLIST_BLOCK;
		if (!list)
			list = n / BLOCKLIST_POLICY_LIST;
	}
	return bits + list * BLOCKLIST_POLICY_LIST;
}

static void put_in_policy(struct blocklist_table_maker *m, const struct blocklist_rule *r)
{
	struct nameset_maker **names = &m->reading[r->policy - 1];

	if (!*names)
		*names = nameset_maker_weighing(weigh_in_policy, NULL);
	nameset_put(*names, r->name,
		    (uint8_t)((r->bits & BLOCKLIST_BLOCK) + r->list * BLOCKLIST_POLICY_LIST));
}

void blocklist_table_policy(void *maker, unsigned number, const char *text)
{
	struct blocklist_table_maker *m = maker;

	if (number && m->reading[number - 1] && m->told_count < BLOCKLIST_POLICIES) {
		m->told[m->told_count] = m->reading[number - 1];
		m->texts[m->told_count++] = mem_text(text);
		m->reading[number - 1] = NULL;
	}
	for (size_t i = 0; !number && i < BLOCKLIST_POLICIES; i++) { /* the source ends */
		nameset_maker_free(m->reading[i]);
		m->reading[i] = NULL;
	}
}

void blocklist_table_rule(void *maker, const struct blocklist_rule *r)
{
	struct blocklist_table_maker *m = maker;
	uint8_t kind;

	if (UNLIKELY(r->policy != 0)) {
		put_in_policy(m, r);
	} else if (r->special) {
		blocklist_rules_put(m->rules, r);
	} else if (r->removes) {
		remove_kind(m, r);
	} else if (r->operators) {
		nameset_put(m->allowed, r->name, r->bits);
	} else {
		kind = kind_of(r);
		m->bits[kind] = r->bits;
		nameset_put(m->names, r->name, kind);
	}
}

static void measure(struct blocklist_table *t)
{
	t->deepest = t->names ? nameset_deepest(t->names) : 0;
	if (t->allowed)
		t->deepest = MAX(t->deepest, nameset_deepest(t->allowed));
	if (t->rules)
		t->deepest = MAX(t->deepest, blocklist_rules_deepest(t->rules));
	for (size_t i = 0; i < t->policy_count; i++)
		if (t->policies[i].names)
			t->deepest = MAX(t->deepest, nameset_deepest(t->policies[i].names));
}

static void take_policies(struct blocklist_table *t, struct blocklist_table_maker *m, uint64_t seed)
{
	t->policies = mem_array(m->told_count + 1, sizeof(*t->policies));
	for (; t->policy_count < m->told_count; t->policy_count++) {
		struct blocklist_policy *p = &t->policies[t->policy_count];

		blocklist_policy_init(p, m->texts[t->policy_count]);
		p->names = nameset_make(m->told[t->policy_count], seed);
		m->told[t->policy_count] = NULL;
	}
}

struct blocklist_table *blocklist_table_make(struct blocklist_table_maker *m, uint64_t seed)
{
	struct blocklist_table *t = mem_zero(sizeof(*t));

	atomic_init(&t->pins, 1);
	t->names = nameset_make(m->names, seed);
	m->names = NULL;
	t->allowed = nameset_make(m->allowed, seed);
	m->allowed = NULL;
	t->rules = blocklist_rules_make(m->rules, seed);
	m->rules = NULL;
	t->goes_on = m->goes_on || t->rules;
	take_policies(t, m, seed);
	measure(t);
	blocklist_table_maker_free(m);
	return t;
}

/* ---- life cycle ---- */

struct blocklist_table *blocklist_table_pin(struct blocklist_table *t)
{
	atomic_fetch_add_explicit(&t->pins, 1, memory_order_relaxed);
	return t;
}

static void free_now(struct blocklist_table *t)
{
	nameset_free(t->names);
	nameset_free(t->allowed);
	blocklist_rules_free(t->rules);
	for (size_t i = 0; i < t->policy_count; i++)
		blocklist_policy_clear(&t->policies[i]);
	mem_free(t->policies);
	mem_free(t);
}

static void free_retired(struct rcu_slot *slot)
{
	free_now(container_of(slot, struct blocklist_table, retired));
}

void blocklist_table_unpin(struct blocklist_table *t)
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

/* What has been found so far: labels of the longest name of each kind of rule; 0: none. */
struct tally {
	unsigned longest, allows, important_blocks, important_allows;
	unsigned operator_allows, operator_important;
	bool passes; /* the longest */
};

static void count_in(struct tally *y, unsigned bits, unsigned labels)
{
	bool block = bits & 1, allow = bits & 4;

	if (allow && !block)
		y->allows = MAX(y->allows, labels);
	if (block && labels >= y->longest) {
		y->passes = allow || (y->passes && labels == y->longest);
		y->longest = labels;
	}
	if (bits & 0x10)
		y->important_blocks = MAX(y->important_blocks, labels);
	if (bits & 0x40)
		y->important_allows = MAX(y->important_allows, labels);
}

/* Answers of rules, and those taken back by exceptions. */
struct answers {
	struct tally tally;
	unsigned labels; /* of the name being looked at */
	unsigned deepest; /* of the longest that answers */
	unsigned count, excepted;
	struct {
		const struct blocklist_rewrite *w;
		bool important;
	} at[BLOCKLIST_REWRITES], except[BLOCKLIST_REWRITES];
};

static bool is_there(const struct answers *s, const struct blocklist_rewrite *w)
{
	for (unsigned i = 0; i < s->count; i++)
		if (s->at[i].w == w)
			return true;
	return false;
}

static void take_answer(struct answers *s, unsigned bits, const struct blocklist_rewrite *w)
{
	bool except = bits & 0x44;
	unsigned *count = except ? &s->excepted : &s->count;

	if (*count == BLOCKLIST_REWRITES || (!except && is_there(s, w)))
		return;
	if (except) {
		s->except[*count].w = w;
		s->except[*count].important = bits & 0x40;
	} else {
		s->at[*count].w = w;
		s->at[*count].important = bits & 0x10;
		s->deepest = MAX(s->deepest, s->labels);
	}
	++*count;
}

static void take_rule(void *answers, unsigned bits, bool operators,
		      const struct blocklist_rewrite *w)
{
	struct answers *s = answers;

	if (w) {
		take_answer(s, bits, w);
	} else if (operators) {
		if (bits & 0x04)
			s->tally.operator_allows = MAX(s->tally.operator_allows, s->labels);
		if (bits & 0x40)
			s->tally.operator_important = MAX(s->tally.operator_important, s->labels);
	} else {
		count_in(&s->tally, bits, s->labels);
	}
}

static bool is_taken_back(const struct answers *s, unsigned i)
{
	for (unsigned e = 0; e < s->excepted; e++)
		if ((s->except[e].important || !s->at[i].important) &&
		    blocklist_rewrite_equals(s->except[e].w, s->at[i].w))
			return true;
	return false;
}

static bool is_said(const struct blocklist_match *m, const struct blocklist_rewrite *w)
{
	for (unsigned i = 0; i < m->rewrites; i++)
		if (blocklist_rewrite_equals(m->rewrite[i], w))
			return true;
	return false;
}

/* What is left of the answers: the first alias alone, or the first RCODE alone, or all records. An
 * alias to the name itself means that it is left as it is. True: something is left. */
static bool reduce_answers(struct answers *s, const uint8_t *name, struct blocklist_match *m,
			  bool *important)
{
	const struct blocklist_rewrite *alias = NULL, *failure = NULL;

	*important = false;
	for (unsigned i = 0; i < s->count; i++) {
		const struct blocklist_rewrite *w = s->at[i].w;

		if (w->any || is_taken_back(s, i))
			continue;
		*important |= s->at[i].important;
		if (w->type == TYPE_CNAME)
			alias = alias ? alias : w;
		else if (w->rcode != RCODE_NOERROR)
			failure = failure ? failure : w;
		if (!is_said(m, w))
			m->rewrite[m->rewrites++] = w;
	}
	if (alias && dname_equals(alias->data, name))
		m->rewrites = 0;
	else if (alias || failure)
		m->rewrite[0] = alias ? alias : failure;
	if (m->rewrites && (alias || failure))
		m->rewrites = 1;
	m->labels = s->deepest;
	return m->rewrites > 0;
}

/* Allow-files are asked only for names that would be blocked. */
static void ask_operator(const struct blocklist_table *t, const struct suffixes *q, struct tally *y)
{
	for (unsigned labels = MIN(q->hashed, t->deepest); t->allowed && labels > 0; labels--) {
		int value = nameset_at(t->allowed, q, labels);
		unsigned bits = value > 0 ? for_this((unsigned)value, labels == q->count) : 0;

		if (bits & 0x04)
			y->operator_allows = MAX(y->operator_allows, labels);
		if (bits & 0x40)
			y->operator_important = MAX(y->operator_important, labels);
	}
}

static enum blocklist_verdict ask_policies(const struct blocklist_table *t,
					   const struct suffixes *q,
					   const struct blocklist_asked *asked,
					   struct blocklist_match *m)
{
	for (size_t i = 0; i < t->policy_count; i++) {
		const struct blocklist_policy *p = &t->policies[i];
		unsigned labels =
			blocklist_policy_is_for(p, asked) ? blocklist_policy_find(p, q, &m->list) : 0;

		if (!labels)
			continue;
		m->labels = labels;
		m->policy = p;
		m->rewrites = p->special.rewrite != NULL;
		m->rewrite[0] = p->special.rewrite;
		return blocklist_policy_passes(p, q->name) ? BLOCKLIST_ALLOWS : BLOCKLIST_BLOCKS;
	}
	return BLOCKLIST_SAYS_NOTHING;
}

static enum blocklist_verdict says(struct blocklist_match *m, enum blocklist_verdict v,
				   unsigned labels)
{
	m->labels = labels;
	m->rewrites = 0;
	return v;
}

/* What the rules come to, but for answers. */
static enum blocklist_verdict outcome_of(const struct tally *y, struct blocklist_match *m)
{
	if (y->operator_important || y->important_allows)
		return says(m, BLOCKLIST_ALLOWS, MAX(y->operator_important, y->important_allows));
	if (y->important_blocks)
		return says(m, BLOCKLIST_BLOCKS, y->important_blocks);
	if (y->operator_allows || y->allows)
		return says(m, BLOCKLIST_ALLOWS, MAX(y->operator_allows, y->allows));
	if (y->longest)
		return says(m, y->passes ? BLOCKLIST_ALLOWS : BLOCKLIST_BLOCKS, y->longest);
	return BLOCKLIST_SAYS_NOTHING;
}

static enum blocklist_verdict find_rules(const struct blocklist_table *t, const struct suffixes *q,
				    const struct blocklist_asked *asked, struct tally *y,
				    struct blocklist_match *m)
{
	struct answers s;
	bool important, answers;

	s.tally = *y;
	s.count = s.excepted = s.deepest = 0;
	for (unsigned labels = MIN(q->hashed, t->deepest); labels > 0; labels--) {
		s.labels = labels;
		blocklist_rules_ask(t->rules, q, labels, asked, take_rule, &s);
	}
	*y = s.tally;
	if (!s.count)
		return BLOCKLIST_SAYS_NOTHING;
	ask_operator(t, q, y);
	answers = reduce_answers(&s, q->name, m, &important);
	if (answers && !y->operator_important && (important || !y->operator_allows))
		return BLOCKLIST_BLOCKS;
	m->rewrites = 0;
	return BLOCKLIST_SAYS_NOTHING;
}

enum blocklist_verdict blocklist_table_find(const struct blocklist_table *t,
					    const struct suffixes *q, uint16_t type,
					    const struct addr *from, struct blocklist_match *m)
{
	const struct blocklist_asked asked = { .name = q->name, .type = type, .from = from };
	enum blocklist_verdict v;
	struct tally y = { 0 };

	m->rewrites = 0;
	m->policy = NULL;
	for (unsigned labels = MIN(q->hashed, t->deepest); t->names && labels > 0; labels--) {
		int value = nameset_at(t->names, q, labels);
		unsigned bits = value > 0 ? for_this((unsigned)value, labels == q->count) : 0;

		if (LIKELY(bits == 0))
			continue;
		if (LIKELY(!t->goes_on && !t->allowed)) /* commonest, and soon told */
			return says(m, bits & 4 ? BLOCKLIST_ALLOWS : BLOCKLIST_BLOCKS, labels);
		count_in(&y, bits, labels);
		if (!t->goes_on)
			break;
	}
	if (UNLIKELY(t->rules != NULL) && find_rules(t, q, &asked, &y, m) == BLOCKLIST_BLOCKS)
		return BLOCKLIST_BLOCKS;
	if (t->allowed)
		ask_operator(t, q, &y);
	v = outcome_of(&y, m);
	if (v == BLOCKLIST_SAYS_NOTHING && t->policy_count)
		return ask_policies(t, q, &asked, m);
	return v;
}

bool blocklist_table_mentions(const struct blocklist_table *t, const struct suffixes *q)
{
	for (unsigned labels = MIN(q->hashed, t->deepest); labels > 0; labels--) {
		if ((t->names && nameset_at(t->names, q, labels) > 0) ||
		    (t->rules && blocklist_rules_mention(t->rules, q, labels)))
			return true;
	}
	for (size_t i = 0; i < t->policy_count; i++)
		if (blocklist_policy_find(&t->policies[i], q, NULL))
			return true;
	return false;
}

uint64_t blocklist_table_dropped(const struct blocklist_table *t)
{
	return t->rules ? blocklist_rules_dropped(t->rules) : 0;
}

unsigned blocklist_table_deepest(const struct blocklist_table *t)
{
	return t->deepest;
}

size_t blocklist_table_count(const struct blocklist_table *t)
{
	size_t count = (t->names ? nameset_count(t->names) : 0) +
		       (t->allowed ? nameset_count(t->allowed) : 0) +
		       (t->rules ? blocklist_rules_count(t->rules) : 0);

	for (size_t i = 0; i < t->policy_count; i++)
		count += t->policies[i].names ? nameset_count(t->policies[i].names) : 0;
	return count;
}

unsigned blocklist_table_unknown(const struct blocklist_table *t)
{
	unsigned unknown = 0;

	for (size_t i = 0; i < t->policy_count; i++)
		unknown += t->policies[i].unknown;
	return unknown;
}

size_t blocklist_table_bytes(const struct blocklist_table *t)
{
	size_t bytes = 0;

	for (size_t i = 0; i < t->policy_count; i++)
		bytes += sizeof(t->policies[0]) + blocklist_policy_bytes(&t->policies[i]);
	return bytes + sizeof(*t) + (t->names ? nameset_bytes(t->names) : 0) +
	       (t->allowed ? nameset_bytes(t->allowed) : 0) +
	       (t->rules ? blocklist_rules_bytes(t->rules) : 0);
}

/* ---- in a file ---- */

#define MAGIC   UINT64_C(0x7265736c69737434) /* also reveals the byte order */

struct head {
	uint64_t magic, seed, rule_count;
	uint32_t has_names, has_allowed, goes_on, policy_count;
};

/* Of a rule with modifiers: its name and text follow. */
struct rule_head {
	uint16_t name_len, text_len;
	uint8_t bits, form, operators, nothing;
};

/* Of a policy: its description and its names. */
struct policy_head {
	uint64_t text_len, has_names;
};

static bool save_policy(const struct blocklist_policy *p,
			bool (*write)(void *, const void *, size_t), void *arg)
{
	struct policy_head h = { .text_len = strlen(p->text), .has_names = p->names != NULL };

	return write(arg, &h, sizeof(h)) && write(arg, p->text, (size_t)h.text_len) &&
	       (!p->names || nameset_save(p->names, write, arg));
}

struct saving {
	bool (*write)(void *arg, const void *bytes, size_t len);
	void *arg;
};

static bool save_rule(void *saving, const struct blocklist_rule *r)
{
	const struct saving *s = saving;
	struct rule_head h = { .name_len = (uint16_t)dname_len(r->name),
			       .text_len = (uint16_t)strlen(r->special),
			       .bits = r->bits,
			       .form = r->form,
			       .operators = r->operators };

	return s->write(s->arg, &h, sizeof(h)) && s->write(s->arg, r->name, h.name_len) &&
	       s->write(s->arg, r->special, h.text_len);
}

static bool count_rule(void *count, const struct blocklist_rule *r)
{
	(void)r;
	++*(uint64_t *)count;
	return true;
}

bool blocklist_table_save(const struct blocklist_table *t,
			  bool (*write)(void *, const void *, size_t), void *arg)
{
	struct head h = { .magic = MAGIC,
			  .seed = t->names ? nameset_seed(t->names) : 0,
			  .policy_count = (uint32_t)t->policy_count,
			  .has_names = t->names != NULL,
			  .has_allowed = t->allowed != NULL,
			  .goes_on = t->goes_on };
	struct saving s = { .write = write, .arg = arg };

	if (t->rules)
		(void)blocklist_rules_each(t->rules, count_rule, &h.rule_count);
	if (!write(arg, &h, sizeof(h)) || (t->names && !nameset_save(t->names, write, arg)) ||
	    (t->allowed && !nameset_save(t->allowed, write, arg)) ||
	    (t->rules && !blocklist_rules_each(t->rules, save_rule, &s)))
		return false;
	for (size_t i = 0; i < t->policy_count; i++)
		if (!save_policy(&t->policies[i], write, arg))
			return false;
	return true;
}

static bool load_policy(struct blocklist_policy *p, bool (*read)(void *, void *, size_t), void *arg,
			uint64_t most)
{
	struct policy_head h;
	char *text;
	bool good;

	if (!read(arg, &h, sizeof(h)) || h.text_len > BLOCKLIST_POLICY_TEXT)
		return false;
	text = mem_zero((size_t)h.text_len + 1);
	good = read(arg, text, (size_t)h.text_len);
	if (good)
		blocklist_policy_init(p, text);
	mem_free(text);
	return good && (!h.has_names || (p->names = nameset_load(read, arg, most)));
}

static bool load_policies(struct blocklist_policy *policies, uint32_t count,
			  bool (*read)(void *, void *, size_t), void *arg, uint64_t most)
{
	for (uint32_t i = 0; i < count; i++)
		if (!load_policy(&policies[i], read, arg, most))
			return false;
	return true;
}

/* Sets are rehashed unless they have the seed, or are the first to say which. */
static void share_seed(struct nameset *names, uint64_t *seed)
{
	if (names && *seed == 0)
		*seed = nameset_seed(names);
	if (names && *seed != nameset_seed(names))
		nameset_reseed(names, *seed);
}

static bool load_rules(struct blocklist_table_maker *m, uint64_t count,
		       bool (*read)(void *, void *, size_t), void *arg)
{
	for (uint64_t i = 0; i < count; i++) {
		uint8_t name[DNAME_MAX];
		struct rule_head h;
		struct blocklist_rule r = { .name = name };
		char *text;
		bool good;

		if (!read(arg, &h, sizeof(h)) || h.name_len > sizeof(name) ||
		    !read(arg, name, h.name_len) ||
		    !dname_fills(name, h.name_len))
			return false;
		text = mem_zero(h.text_len + 1u);
		good = read(arg, text, h.text_len);
		r.special = text;
		r.bits = h.bits;
		r.form = h.form % BLOCKLIST_FORMS;
		r.operators = h.operators;
		if (good)
			blocklist_table_rule(m, &r);
		mem_free(text);
		if (!good)
			return false;
	}
	return true;
}

/* What is read of a file, until it is a table. */
struct loaded {
	struct nameset *names, *allowed;
	struct blocklist_table_maker *maker;
	struct blocklist_policy *policies;
	struct head h;
};

static bool load_parts(struct loaded *l, bool (*read)(void *, void *, size_t), void *arg,
		       uint64_t most)
{
	return !(l->h.has_names && !(l->names = nameset_load(read, arg, most))) &&
	       !(l->h.has_allowed && !(l->allowed = nameset_load(read, arg, most))) &&
	       load_rules(l->maker, l->h.rule_count, read, arg) &&
	       load_policies(l->policies, l->h.policy_count, read, arg, most);
}

static void loaded_clear(struct loaded *l)
{
	nameset_free(l->names);
	nameset_free(l->allowed);
	for (uint32_t i = 0; i < l->h.policy_count; i++)
		blocklist_policy_clear(&l->policies[i]);
	mem_free(l->policies);
	blocklist_table_maker_free(l->maker);
}

struct blocklist_table *blocklist_table_load(bool (*read)(void *arg, void *, size_t), void *arg, uint64_t most,
					     uint64_t *seed)
{
	struct loaded l = { 0 };
	struct blocklist_table *t;

	if (!read(arg, &l.h, sizeof(l.h)) || l.h.magic != MAGIC || l.h.rule_count > most ||
	    l.h.policy_count > BLOCKLIST_POLICIES)
		return NULL;
	l.maker = blocklist_table_begin();
	l.policies = mem_array(l.h.policy_count + 1, sizeof(*l.policies));
	if (!load_parts(&l, read, arg, most)) {
		loaded_clear(&l);
		return NULL;
	}
	share_seed(l.names, seed);
	share_seed(l.allowed, seed);
	for (uint32_t i = 0; i < l.h.policy_count; i++)
		share_seed(l.policies[i].names, seed);
	t = blocklist_table_make(l.maker, *seed);
	t->names = l.names;
	t->allowed = l.allowed;
	t->goes_on |= l.h.goes_on != 0;
	mem_free(t->policies);
	t->policies = l.policies;
	t->policy_count = l.h.policy_count;
	measure(t);
	return t;
}
