/* Blocked names: all lists, the clients they apply to, and what they say about a name.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/blocklist/blocklist.h"

#include <string.h>

#include "services/access/acl.h"
#include "services/blocklist/clause.h"
#include "services/blocklist/load.h"
#include "services/blocklist/state.h"
#include "util/base/mem.h"
#include "util/base/rcu.h"
#include "util/conf/options.h"

/* From the next generation on, workers that still have these lists mark nothing. The loader may raise it in
 * between: then they stop a little early. */
static void supersede(struct blocklists *b)
{
	uint32_t g = atomic_load_explicit(&b->state->generation, memory_order_relaxed);

	atomic_store_explicit(&b->until, g, memory_order_release);
	blocklist_state_changed(b->state);
}

uint32_t blocklists_generation(const struct blocklists *b)
{
	uint32_t g = atomic_load_explicit(&b->state->generation, memory_order_acquire);

	return g != LISTS_NO_GENERATION &&
			       g <= atomic_load_explicit(&b->until, memory_order_relaxed)
		       ? g
		       : 0;
}

/* ---- all lists ---- */

struct blocklists *blocklists_new(const struct conf *conf, struct fault *f)
{
	struct blocklists *b = mem_zero(sizeof(*b));

	b->at = mem_array(conf->blocklist_count, sizeof(struct blocklist *));
	b->state = blocklist_state_new();
	atomic_init(&b->until, UINT32_MAX);
	for (size_t i = 0; i < conf->blocklist_count; i++) {
		struct blocklist *l = blocklist_new(conf, &conf->blocklists[i], f);

		if (!l) {
			blocklists_free(b);
			return NULL;
		}
		if (blocklists_find(b, l->name))
			blocklist_unpin(l); /* the first of that name counts */
		else
			b->at[b->count++] = l;
	}
	b->denied = blocklist_of_rules(b->count ? b->at[0] : NULL);
	return b;
}

void blocklists_free(struct blocklists *b)
{
	if (!b)
		return;
	for (size_t i = 0; i < b->count; i++)
		blocklist_unpin(b->at[i]);
	blocklist_unpin(b->denied);
	blocklist_state_unpin(b->state);
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
		blocklist_state_unpin(b->state);
		b->state = blocklist_state_pin(old->state);
	}
	for (size_t i = 0; i < b->count; i++) {
		struct blocklist *l = b->at[i];

		if (l->state)
			continue;
		l->state = blocklist_state_pin(b->state);
		l->slot = blocklist_state_slot(b->state, l->name);
	}
}

void blocklists_start(struct blocklists *b, struct blocklists *old, const struct conf *conf,
		      struct loader *loader, bool inside)
{
	for (size_t i = 0; old && i < b->count; i++) {
		struct blocklist *was = blocklists_find(old, b->at[i]->name);

		if (was && blocklist_equals(was, b->at[i])) {
			blocklist_unpin(b->at[i]);
			b->at[i] = blocklist_pin(was);
		}
	}
	share_state(b, old);
	for (size_t i = 0; i < b->count; i++) {
		struct blocklist *l = b->at[i];
		uint64_t seed;

		if (old && blocklists_find(old, l->name) == l) {
			blocklist_loading_hurry(l); /* a reload means: look for changes now */
			continue;
		}
		if (old && blocklists_find(old, l->name)) /* until it has a table of its own */
			blocklist_publish(l, blocklist_table_pin(RCU_READ(
						     blocklists_find(old, l->name)->table)));
		blocklist_loading_resolve_paths(l->loading, conf, inside);
		seed = blocklist_state_seed(b->state);
		blocklist_loading_begin(l, &seed);
		blocklist_state_set_seed(b->state, seed);
		if (loader)
			blocklist_loading_attend(l, loader);
	}
	if (old)
		supersede(old);
}

void blocklists_end(struct blocklists *b, const struct blocklists *next)
{
	for (size_t i = 0; b && i < b->count; i++)
		if (!next || blocklists_find(next, b->at[i]->name) != b->at[i])
			blocklist_loading_end(b->at[i]);
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

/* A name being looked up in the lists. */
struct asking {
	const struct blocklist_asker *who;
	struct suffixes q;
	uint16_t type;
};

static unsigned deepest_of(const struct blocklists *b)
{
	const struct blocklist_table *own = RCU_READ(b->state->own);
	unsigned deepest = own ? blocklist_table_deepest(own) : 0;

	for (size_t i = 0; i < b->count; i++)
		deepest = MAX(deepest, blocklist_table_deepest(RCU_READ(b->at[i]->table)));
	return deepest;
}

static enum blocklist_verdict ask_own(const struct blocklists *b, const struct suffixes *q,
				 struct blocklist_match *m)
{
	const struct blocklist_table *own = RCU_READ(b->state->own);

	return UNLIKELY(own != NULL) ? blocklist_table_find(own, q, 0, NULL, m)
				     : BLOCKLIST_SAYS_NOTHING;
}

/* Whether a list that blocks an alias of `asked` allows the name asked for. */
static bool allows(const struct blocklist *l, const struct asking *asked)
{
	struct blocklist_match m;

	return blocklist_table_find(RCU_READ(l->table), &asked->q, asked->type, asked->who->from,
				    &m) == BLOCKLIST_ALLOWS;
}

static bool block(const struct blocklists *b, const struct asking *a, const struct asking *asked,
		  struct blocklist_found *f)
{
	struct blocklist_match first;
	enum blocklist_verdict own = ask_own(b, &a->q, &f->match);

	if (own == BLOCKLIST_ALLOWS || (asked && ask_own(b, &asked->q, &first) == BLOCKLIST_ALLOWS))
		return false;
	f->list = b->denied;
	f->at_run_time = true;
	if (own == BLOCKLIST_BLOCKS)
		return !blocklist_state_is_paused(b->state, a->who);
	f->at_run_time = false;
	for (size_t i = 0; i < b->count; i++) {
		const struct blocklist *l = b->at[i];

		if (blocklist_table_find(RCU_READ(l->table), &a->q, a->type, a->who->from,
					 &f->match) != BLOCKLIST_BLOCKS ||
		    !is_for(l, a->who->rule) || (asked && allows(l, asked)))
			continue;
		f->list = l;
		return !blocklist_state_is_paused(b->state, a->who);
	}
	return false;
}

bool blocklists_block(const struct blocklists *b, const struct blocklist_asker *who,
		      const uint8_t *name, uint16_t type, struct blocklist_found *f)
{
	struct asking a;

	a.who = who;
	a.type = type;
	suffixes_find(&a.q, name, blocklist_state_seed(b->state), deepest_of(b));
	return block(b, &a, NULL, f);
}

bool blocklists_block_alias(const struct blocklists *b, const struct blocklist_asker *who,
			    const uint8_t *asked, const uint8_t *alias, uint16_t type,
			    struct blocklist_found *f)
{
	struct asking a, first;

	a.who = first.who = who;
	a.type = first.type = type;
	suffixes_find(&a.q, alias, blocklist_state_seed(b->state), deepest_of(b));
	suffixes_find(&first.q, asked, blocklist_state_seed(b->state), deepest_of(b));
	return block(b, &a, &first, f);
}

bool blocklists_might_block(const struct blocklists *b, const uint8_t *name)
{
	const struct blocklist_table *own = RCU_READ(b->state->own);
	struct suffixes q;

	suffixes_find(&q, name, blocklist_state_seed(b->state), deepest_of(b));
	if (own && blocklist_table_mentions(own, &q))
		return true;
	for (size_t i = 0; i < b->count; i++)
		if (blocklist_table_mentions(RCU_READ(b->at[i]->table), &q))
			return true;
	return false;
}

enum blocklist_verdict blocklist_ask(const struct blocklist *l, const uint8_t *name, uint16_t type,
				struct blocklist_match *m)
{
	const struct blocklist_table *t = RCU_READ(l->table);
	struct suffixes q;

	suffixes_find(&q, name, blocklist_state_seed(l->state), blocklist_table_deepest(t));
	return blocklist_table_find(t, &q, type, NULL, m);
}

enum blocklist_verdict blocklists_ask_own(const struct blocklists *b, const uint8_t *name)
{
	struct blocklist_match m;
	struct suffixes q;

	suffixes_find(&q, name, blocklist_state_seed(b->state), deepest_of(b));
	return ask_own(b, &q, &m);
}
