/* Blocked names: lists and the clients they apply to, rules and pauses set at run time.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/blocklist.h"

#include <string.h>

#include "services/acl.h"
#include "services/blocklist_load.h"
#include "services/stats.h"
#include "util/fault.h"
#include "util/mem.h"
#include "util/options.h"
#include "util/random.h"
#include "util/rcu.h"

/* A rule given at run time. */
struct own_rule {
	uint8_t name[DNAME_MAX];
	bool allows;
};

/* The state with the part only the main thread sees. */
struct state_private {
	struct list_state s;
	struct own_rule *rules;
	size_t rule_count;
	char *slots[STAT_LISTS]; /* names of lists that have a counter */
};

struct list_pause {
	char *view; /* NULL: all clients */
	uint32_t until_s;
};

struct list_pauses {
	struct rcu_slot retired;
	size_t count;
	struct list_pause at[];
};

/* ---- the state ---- */

static struct state_private *private_of(struct list_state *s)
{
	return container_of(s, struct state_private, s);
}

static struct list_state *state_new(void)
{
	struct state_private *p = mem_zero(sizeof(*p));

	atomic_init(&p->s.pins, 1);
	atomic_init(&p->s.generation, 1);
	return &p->s;
}

static void pauses_free(struct rcu_slot *slot)
{
	struct list_pauses *p = container_of(slot, struct list_pauses, retired);

	for (size_t i = 0; i < p->count; i++)
		mem_free(p->at[i].view);
	mem_free(p);
}

static void state_unpin(struct list_state *s)
{
	struct state_private *p = private_of(s);

	if (atomic_fetch_sub_explicit(&s->pins, 1, memory_order_acq_rel) != 1)
		return;
	list_table_unpin(RCU_READ(s->own));
	if (RCU_READ(s->pauses))
		pauses_free(&RCU_READ(s->pauses)->retired);
	for (size_t i = 0; i < COUNT(p->slots); i++)
		mem_free(p->slots[i]);
	mem_free(p->rules);
	mem_free(p);
}

static struct list_state *state_pin(struct list_state *s)
{
	atomic_fetch_add_explicit(&s->pins, 1, memory_order_relaxed);
	return s;
}

/* Everything found harmless so far has to be checked again. */
static void state_changed(struct list_state *s)
{
	uint32_t g = atomic_load_explicit(&s->generation, memory_order_relaxed);

	while (g != LISTS_NO_GENERATION &&
	       !atomic_compare_exchange_weak_explicit(&s->generation, &g, g + 1,
						      memory_order_release, memory_order_relaxed))
		;
}

/* From the next generation on, workers that still have these lists mark nothing. The loader may raise it in
 * between: then they stop a little early. */
static void supersede(struct blocklists *b)
{
	uint32_t g = atomic_load_explicit(&b->state->generation, memory_order_relaxed);

	atomic_store_explicit(&b->until, g, memory_order_release);
	state_changed(b->state);
}

uint32_t blocklists_generation(const struct blocklists *b)
{
	uint32_t g = atomic_load_explicit(&b->state->generation, memory_order_acquire);

	return g != LISTS_NO_GENERATION &&
			       g <= atomic_load_explicit(&b->until, memory_order_relaxed)
		       ? g
		       : 0;
}

/* The counter of a list; it stays with the list's name. */
static unsigned slot_of(struct list_state *s, const char *name)
{
	struct state_private *p = private_of(s);

	for (unsigned i = 0; i < STAT_LISTS; i++) {
		if (!p->slots[i])
			p->slots[i] = mem_text(name);
		if (strcmp(p->slots[i], name) == 0)
			return i;
	}
	return STAT_LISTS; /* shared by all others */
}

/* ---- one list ---- */

struct blocklist *blocklist_pin(struct blocklist *l)
{
	atomic_fetch_add_explicit(&l->pins, 1, memory_order_relaxed);
	return l;
}

void blocklist_unpin(struct blocklist *l)
{
	if (!l || atomic_fetch_sub_explicit(&l->pins, 1, memory_order_acq_rel) != 1)
		return;
	list_table_unpin(RCU_READ(l->table));
	list_loading_free(l->loading);
	for (size_t i = 0; i < l->view_count; i++)
		mem_free(l->views[i]);
	mem_free(l->views);
	tagset_clear(&l->tags);
	mem_free(l->name);
	mem_free(l->reason_text);
	if (l->state)
		state_unpin(l->state);
	mem_free(l);
}

void blocklist_publish(struct blocklist *l, struct list_table *t)
{
	struct list_table *old = RCU_READ(l->table);

	RCU_PUBLISH(l->table, t);
	if (l->state)
		state_changed(l->state);
	list_table_unpin(old);
}

static void read_addresses(struct blocklist *l, const char *text)
{
	char word[ADDR_TEXT];
	size_t len;

	for (text += strspn(text, " \t"); (len = strcspn(text, " \t")) > 0;
	     text += len, text += strspn(text, " \t")) {
		struct addr a;

		memcpy(word, text, MIN(len, sizeof(word) - 1));
		word[MIN(len, sizeof(word) - 1)] = '\0';
		if (addr_parse(&a, word, 0, NULL))
			l->addr[a.family == 6] = a;
	}
}

static void read_action(struct blocklist *l, const char *text)
{
	static const struct {
		const char *word;
		enum list_action action;
	} words[] = {
		{ "nxdomain", LIST_NXDOMAIN }, { "nodata", LIST_NODATA }, { "null", LIST_NULL },
		{ "refuse", LIST_REFUSE },     { "drop", LIST_DROP },
	};

	l->action = LIST_ADDRESS;
	for (size_t i = 0; i < COUNT(words); i++)
		if (strcmp(text, words[i].word) == 0)
			l->action = words[i].action;
	if (l->action == LIST_ADDRESS)
		read_addresses(l, text + strlen("address"));
}

static enum reason reason_of(const char *word)
{
	if (strcmp(word, "censored") == 0)
		return REASON_censored;
	if (strcmp(word, "filtered") == 0)
		return REASON_filtered;
	return strcmp(word, "none") == 0 ? REASON_none : REASON_blocked;
}

static void read_views(struct blocklist *l, const char *text)
{
	size_t len;

	for (text += strspn(text, " \t"); (len = strcspn(text, " \t")) > 0;
	     text += len, text += strspn(text, " \t")) {
		l->views = mem_grow(l->views, (l->view_count + 1) * sizeof(*l->views));
		l->views[l->view_count++] = mem_textf("%.*s", (int)len, text);
	}
}

static struct list_table *empty_table(void)
{
	return list_table_make(list_table_begin(), 0);
}

static struct blocklist *list_new(const struct conf *conf, const struct conf_blocklist *c,
				  struct fault *f)
{
	struct blocklist *l = mem_zero(sizeof(*l));
	struct fault why = { 0 };

	atomic_init(&l->pins, 1);
	atomic_init(&l->table, empty_table());
	l->name = mem_text(c->name);
	l->reason = reason_of(c->ede);
	l->reason_text = mem_textf("by the list %s", c->name);
	read_action(l, c->action);
	read_views(l, c->views);
	l->loading = list_loading_new(conf, c);
	if (!tagset_add(&l->tags, &conf->server.define_tag, c->tags, &why)) {
		fault_set(f, "blocklist %s: %s", c->name, why.text);
		blocklist_unpin(l);
		return NULL;
	}
	l->for_all = tagset_is_empty(&l->tags) && !l->view_count;
	return l;
}

static bool same_tags(const struct tagset *a, const struct tagset *b)
{
	return a->len == b->len && (a->len == 0 || memcmp(a->bits, b->bits, a->len) == 0);
}

static bool same_views(const struct blocklist *a, const struct blocklist *b)
{
	if (a->view_count != b->view_count)
		return false;
	for (size_t i = 0; i < a->view_count; i++)
		if (strcmp(a->views[i], b->views[i]) != 0)
			return false;
	return true;
}

/* Whether both are configured alike, sources included. */
static bool same_list(const struct blocklist *a, const struct blocklist *b)
{
	return strcmp(a->name, b->name) == 0 && a->action == b->action && a->reason == b->reason &&
	       addr_equals(&a->addr[0], &b->addr[0]) && addr_equals(&a->addr[1], &b->addr[1]) &&
	       same_tags(&a->tags, &b->tags) && same_views(a, b) &&
	       list_loading_equals(a->loading, b->loading);
}

/* ---- all lists ---- */

/* The list behind rules given at run time: it acts as the first list does. */
static struct blocklist *denied_new(const struct blocklist *first)
{
	struct blocklist *l = mem_zero(sizeof(*l));

	atomic_init(&l->pins, 1);
	atomic_init(&l->table, NULL);
	l->name = mem_text("blocklist_deny");
	l->reason = first ? first->reason : REASON_blocked;
	l->reason_text = mem_text("by blocklist_deny");
	l->for_all = true;
	l->slot = STAT_LISTS;
	if (first) {
		l->action = first->action;
		memcpy(l->addr, first->addr, sizeof(l->addr));
	}
	return l;
}

struct blocklists *blocklists_new(const struct conf *conf, struct fault *f)
{
	struct blocklists *b = mem_zero(sizeof(*b));

	b->at = mem_array(conf->blocklist_count, sizeof(struct blocklist *));
	b->state = state_new();
	atomic_init(&b->until, UINT32_MAX);
	for (size_t i = 0; i < conf->blocklist_count; i++) {
		struct blocklist *l = list_new(conf, &conf->blocklists[i], f);

		if (!l) {
			blocklists_free(b);
			return NULL;
		}
		if (blocklists_find(b, l->name))
			blocklist_unpin(l); /* the first of that name counts */
		else
			b->at[b->count++] = l;
	}
	b->denied = denied_new(b->count ? b->at[0] : NULL);
	return b;
}

void blocklists_free(struct blocklists *b)
{
	if (!b)
		return;
	for (size_t i = 0; i < b->count; i++)
		blocklist_unpin(b->at[i]);
	blocklist_unpin(b->denied);
	state_unpin(b->state);
	mem_free(b->at);
	mem_free(b);
}

struct blocklist *blocklists_find(const struct blocklists *b, const char *name)
{
	for (size_t i = 0; i < b->count; i++)
		if (strcmp(b->at[i]->name, name) == 0)
			return b->at[i];
	return NULL;
}

static void share_state(struct blocklists *b, const struct blocklists *old)
{
	if (old) {
		state_unpin(b->state);
		b->state = state_pin(old->state);
	}
	for (size_t i = 0; i < b->count; i++) {
		struct blocklist *l = b->at[i];

		if (l->state)
			continue;
		l->state = state_pin(b->state);
		l->slot = slot_of(b->state, l->name);
	}
}

/* Relaxed: whoever sees something hashed with the seed sees the seed. */
static uint64_t seed_of(const struct list_state *s)
{
	return atomic_load_explicit(&s->seed, memory_order_relaxed);
}

/* Workers may be reading it; what has been hashed with it must be found again. */
static void set_seed_once(struct list_state *s, uint64_t seed)
{
	if (seed_of(s) == 0)
		atomic_store_explicit(&s->seed, seed, memory_order_relaxed);
}

/* Draw an unpredictable seed, unless a table brought one. */
static uint64_t need_seed(struct list_state *s)
{
	uint64_t seed = seed_of(s);
	struct random r;

	if (seed)
		return seed;
	random_init(&r);
	while (seed == 0)
		seed = (uint64_t)random_u32(&r) << 32 | random_u32(&r);
	set_seed_once(s, seed);
	return seed;
}

void blocklists_start(struct blocklists *b, struct blocklists *old, const struct conf *conf,
		      struct loader *loader, bool inside)
{
	for (size_t i = 0; old && i < b->count; i++) {
		struct blocklist *was = blocklists_find(old, b->at[i]->name);

		if (was && same_list(was, b->at[i])) {
			blocklist_unpin(b->at[i]);
			b->at[i] = blocklist_pin(was);
		}
	}
	share_state(b, old);
	for (size_t i = 0; i < b->count; i++) {
		struct blocklist *l = b->at[i];
		uint64_t seed;

		if (old && blocklists_find(old, l->name) == l) {
			list_loading_hurry(l); /* a reload means: look for changes now */
			continue;
		}
		if (old && blocklists_find(old, l->name)) /* until it has a table of its own */
			blocklist_publish(l, list_table_pin(RCU_READ(
						     blocklists_find(old, l->name)->table)));
		list_loading_settle(l->loading, conf, inside);
		seed = seed_of(b->state);
		list_loading_begin(l, &seed);
		set_seed_once(b->state, seed);
		if (loader)
			list_loading_attend(l, loader);
	}
	if (old)
		supersede(old);
}

void blocklists_end(struct blocklists *b, const struct blocklists *next)
{
	for (size_t i = 0; b && i < b->count; i++)
		if (!next || blocklists_find(next, b->at[i]->name) != b->at[i])
			list_loading_end(b->at[i]);
}

/* ---- lookup ---- */

static bool is_for(const struct blocklist *l, const struct acl_rule *rule)
{
	if (LIKELY(l->for_all))
		return true;
	if (tagset_common(&l->tags, &rule->tags->set) >= 0)
		return true;
	for (size_t i = 0; rule->view && i < l->view_count; i++)
		if (strcmp(l->views[i], rule->view) == 0)
			return true;
	return false;
}

static bool is_paused(const struct list_state *s, const struct list_asker *who)
{
	const struct list_pauses *p = RCU_READ(s->pauses);

	for (size_t i = 0; p && i < p->count; i++) {
		const struct list_pause *pause = &p->at[i];

		if ((int32_t)(pause->until_s - who->now_s) > 0 &&
		    (!pause->view ||
		     (who->rule->view && strcmp(pause->view, who->rule->view) == 0)))
			return true;
	}
	return false;
}

/* A name being looked up in the lists. */
struct asking {
	const struct list_asker *who;
	struct suffixes q;
	uint16_t type;
};

static unsigned deepest_of(const struct blocklists *b)
{
	const struct list_table *own = RCU_READ(b->state->own);
	unsigned deepest = own ? list_table_deepest(own) : 0;

	for (size_t i = 0; i < b->count; i++)
		deepest = MAX(deepest, list_table_deepest(RCU_READ(b->at[i]->table)));
	return deepest;
}

static enum list_verdict ask_own(const struct blocklists *b, const struct suffixes *q,
				 struct list_match *m)
{
	const struct list_table *own = RCU_READ(b->state->own);

	return UNLIKELY(own != NULL) ? list_table_find(own, q, 0, NULL, m) : LIST_SAYS_NOTHING;
}

/* Whether a list that blocks an alias of `asked` allows the name asked for. */
static bool allows(const struct blocklist *l, const struct asking *asked)
{
	struct list_match m;

	return list_table_find(RCU_READ(l->table), &asked->q, asked->type, asked->who->from, &m) ==
	       LIST_ALLOWS;
}

static bool block(const struct blocklists *b, const struct asking *a, const struct asking *asked,
		  struct list_found *f)
{
	struct list_match first;
	enum list_verdict own = ask_own(b, &a->q, &f->match);

	if (own == LIST_ALLOWS || (asked && ask_own(b, &asked->q, &first) == LIST_ALLOWS))
		return false;
	f->list = b->denied;
	f->at_run_time = true;
	if (own == LIST_BLOCKS)
		return !is_paused(b->state, a->who);
	f->at_run_time = false;
	for (size_t i = 0; i < b->count; i++) {
		const struct blocklist *l = b->at[i];

		if (list_table_find(RCU_READ(l->table), &a->q, a->type, a->who->from, &f->match) !=
			    LIST_BLOCKS ||
		    !is_for(l, a->who->rule) || (asked && allows(l, asked)))
			continue;
		f->list = l;
		return !is_paused(b->state, a->who);
	}
	return false;
}

bool blocklists_block(const struct blocklists *b, const struct list_asker *who,
		      const uint8_t *name, uint16_t type, struct list_found *f)
{
	struct asking a;

	a.who = who;
	a.type = type;
	suffixes_find(&a.q, name, seed_of(b->state), deepest_of(b));
	return block(b, &a, NULL, f);
}

bool blocklists_block_alias(const struct blocklists *b, const struct list_asker *who,
			    const uint8_t *asked, const uint8_t *alias, uint16_t type,
			    struct list_found *f)
{
	struct asking a, first;

	a.who = first.who = who;
	a.type = first.type = type;
	suffixes_find(&a.q, alias, seed_of(b->state), deepest_of(b));
	suffixes_find(&first.q, asked, seed_of(b->state), deepest_of(b));
	return block(b, &a, &first, f);
}

bool blocklists_might_block(const struct blocklists *b, const uint8_t *name)
{
	const struct list_table *own = RCU_READ(b->state->own);
	struct suffixes q;

	suffixes_find(&q, name, seed_of(b->state), deepest_of(b));
	if (own && list_table_mentions(own, &q))
		return true;
	for (size_t i = 0; i < b->count; i++)
		if (list_table_mentions(RCU_READ(b->at[i]->table), &q))
			return true;
	return false;
}

enum list_verdict blocklist_ask(const struct blocklist *l, const uint8_t *name, uint16_t type,
				struct list_match *m)
{
	const struct list_table *t = RCU_READ(l->table);
	struct suffixes q;

	suffixes_find(&q, name, seed_of(l->state), list_table_deepest(t));
	return list_table_find(t, &q, type, NULL, m);
}

enum list_verdict blocklists_ask_own(const struct blocklists *b, const uint8_t *name)
{
	struct list_match m;
	struct suffixes q;

	suffixes_find(&q, name, seed_of(b->state), deepest_of(b));
	return ask_own(b, &q, &m);
}

/* ---- rules at run time ---- */

static void own_publish(struct list_state *s)
{
	struct state_private *p = private_of(s);
	struct list_table *old = RCU_READ(s->own), *t = NULL;
	uint64_t seed = need_seed(s);

	if (p->rule_count) {
		struct list_table_maker *m = list_table_begin();

		for (size_t i = 0; i < p->rule_count; i++)
			list_table_rule(m, &(struct list_rule){
						   .name = p->rules[i].name,
						   .bits = p->rules[i].allows ? LIST_PASS
									      : LIST_BLOCK });
		t = list_table_make(m, seed);
	}
	RCU_PUBLISH(s->own, t);
	list_table_unpin(old);
	state_changed(s);
}

static bool forget(struct state_private *p, const uint8_t *name)
{
	for (size_t i = 0; i < p->rule_count; i++) {
		if (!dname_equals(p->rules[i].name, name))
			continue;
		p->rules[i] = p->rules[--p->rule_count];
		return true;
	}
	return false;
}

static void add_rule(struct blocklists *b, const uint8_t *name, bool allows)
{
	struct state_private *p = private_of(b->state);

	(void)forget(p, name);
	p->rules = mem_grow(p->rules, (p->rule_count + 1) * sizeof(*p->rules));
	dname_copy_lower(p->rules[p->rule_count].name, name);
	p->rules[p->rule_count++].allows = allows;
	own_publish(b->state);
}

void blocklists_allow(struct blocklists *b, const uint8_t *name)
{
	add_rule(b, name, true);
}

void blocklists_deny(struct blocklists *b, const uint8_t *name)
{
	add_rule(b, name, false);
}

bool blocklists_forget(struct blocklists *b, const uint8_t *name)
{
	if (!forget(private_of(b->state), name))
		return false;
	own_publish(b->state);
	return true;
}

void blocklists_each_rule(const struct blocklists *b,
			  void (*fn)(const uint8_t *name, bool allows, void *arg), void *arg)
{
	const struct state_private *p = private_of(b->state);

	for (size_t i = 0; i < p->rule_count; i++)
		fn(p->rules[i].name, p->rules[i].allows, arg);
}

/* ---- pauses ---- */

static bool same_view(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

void blocklists_pause(struct blocklists *b, const char *view, uint32_t until_s)
{
	struct list_pauses *old = RCU_READ(b->state->pauses), *new;
	size_t count = old ? old->count : 0;

	new = mem_zero(sizeof(*new) + (count + 1) * sizeof(new->at[0]));
	for (size_t i = 0; i < count; i++) {
		if (same_view(old->at[i].view, view))
			continue;
		new->at[new->count] = old->at[i];
		if (old->at[i].view)
			new->at[new->count].view = mem_text(old->at[i].view);
		new->count++;
	}
	new->at[new->count++] =
		(struct list_pause){ .view = view ? mem_text(view) : NULL, .until_s = until_s };
	RCU_PUBLISH(b->state->pauses, new);
	if (old)
		rcu_retire(&old->retired, pauses_free);
}

bool blocklists_resume(struct blocklists *b, uint32_t now_s)
{
	struct list_pauses *old = RCU_READ(b->state->pauses);
	bool any = false;

	if (!old)
		return false;
	for (size_t i = 0; i < old->count; i++)
		any |= (int32_t)(old->at[i].until_s - now_s) > 0;
	RCU_PUBLISH(b->state->pauses, NULL);
	rcu_retire(&old->retired, pauses_free);
	return any;
}

void blocklists_each_pause(const struct blocklists *b, uint32_t now_s,
			   void (*fn)(const char *view, uint32_t left_s, void *arg), void *arg)
{
	const struct list_pauses *p = RCU_READ(b->state->pauses);

	for (size_t i = 0; p && i < p->count; i++)
		if ((int32_t)(p->at[i].until_s - now_s) > 0)
			fn(p->at[i].view, p->at[i].until_s - now_s, arg);
}
