/* What all lists share: their generation, counters and seed, rules and pauses set at run time.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/blocklist/state.h"

#include <string.h>

#include "services/access/acl.h"
#include "services/stats/stats.h"
#include "util/base/mem.h"
#include "util/base/random.h"
#include "util/base/rcu.h"

/* A rule given at run time. */
struct own_rule {
	uint8_t name[DNAME_MAX];
	bool allows;
};

/* The state with the part only the main thread sees. */
struct state_private {
	struct blocklist_state s;
	struct own_rule *rules;
	size_t rule_count;
	char *slots[STAT_LISTS]; /* names of lists that have a counter */
};

struct blocklist_pause {
	char *view; /* NULL: all clients */
	uint32_t until_s;
};

struct blocklist_pauses {
	struct rcu_slot retired;
	size_t count;
	struct blocklist_pause at[];
};

static struct state_private *private_of(struct blocklist_state *s)
{
	return container_of(s, struct state_private, s);
}

struct blocklist_state *blocklist_state_new(void)
{
	struct state_private *p = mem_zero(sizeof(*p));

	atomic_init(&p->s.pins, 1);
	atomic_init(&p->s.generation, 1);
	return &p->s;
}

static void pauses_free(struct rcu_slot *slot)
{
	struct blocklist_pauses *p = container_of(slot, struct blocklist_pauses, retired);

	for (size_t i = 0; i < p->count; i++)
		mem_free(p->at[i].view);
	mem_free(p);
}

void blocklist_state_unpin(struct blocklist_state *s)
{
	struct state_private *p = private_of(s);

	if (atomic_fetch_sub_explicit(&s->pins, 1, memory_order_acq_rel) != 1)
		return;
	blocklist_table_unpin(RCU_READ(s->own));
	if (RCU_READ(s->pauses))
		pauses_free(&RCU_READ(s->pauses)->retired);
	for (size_t i = 0; i < COUNT(p->slots); i++)
		mem_free(p->slots[i]);
	mem_free(p->rules);
	mem_free(p);
}

struct blocklist_state *blocklist_state_pin(struct blocklist_state *s)
{
	atomic_fetch_add_explicit(&s->pins, 1, memory_order_relaxed);
	return s;
}

void blocklist_state_changed(struct blocklist_state *s)
{
	uint32_t g = atomic_load_explicit(&s->generation, memory_order_relaxed);

	while (g != LISTS_NO_GENERATION &&
	       !atomic_compare_exchange_weak_explicit(&s->generation, &g, g + 1,
						      memory_order_release, memory_order_relaxed))
		;
}

unsigned blocklist_state_slot(struct blocklist_state *s, const char *name)
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

/* Once: workers may be reading it; what has been hashed with it must be found again. */
void blocklist_state_set_seed(struct blocklist_state *s, uint64_t seed)
{
	if (blocklist_state_seed(s) == 0)
		atomic_store_explicit(&s->seed, seed, memory_order_relaxed);
}

/* Draw an unpredictable seed, unless a table brought one. */
static uint64_t need_seed(struct blocklist_state *s)
{
	uint64_t seed = blocklist_state_seed(s);
	struct random r;

	if (seed)
		return seed;
	random_init(&r);
	while (seed == 0)
		seed = (uint64_t)random_u32(&r) << 32 | random_u32(&r);
	blocklist_state_set_seed(s, seed);
	return seed;
}

/* ---- rules at run time ---- */

static void own_publish(struct blocklist_state *s)
{
	struct state_private *p = private_of(s);
	struct blocklist_table *old = RCU_READ(s->own), *t = NULL;
	uint64_t seed = need_seed(s);

	if (p->rule_count) {
		struct blocklist_table_maker *m = blocklist_table_begin();

		for (size_t i = 0; i < p->rule_count; i++)
			blocklist_table_rule(m, &(struct blocklist_rule){
						   .name = p->rules[i].name,
						   .bits = p->rules[i].allows ? BLOCKLIST_PASS
									      : BLOCKLIST_BLOCK });
		t = blocklist_table_make(m, seed);
	}
	RCU_PUBLISH(s->own, t);
	blocklist_table_unpin(old);
	blocklist_state_changed(s);
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
	struct blocklist_pauses *old = RCU_READ(b->state->pauses), *new;
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
	new->at[new->count++] = (struct blocklist_pause){ .view = view ? mem_text(view) : NULL,
							  .until_s = until_s };
	RCU_PUBLISH(b->state->pauses, new);
	if (old)
		rcu_retire(&old->retired, pauses_free);
}

bool blocklists_resume(struct blocklists *b, uint32_t now_s)
{
	struct blocklist_pauses *old = RCU_READ(b->state->pauses);
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
	const struct blocklist_pauses *p = RCU_READ(b->state->pauses);

	for (size_t i = 0; p && i < p->count; i++)
		if ((int32_t)(p->at[i].until_s - now_s) > 0)
			fn(p->at[i].view, p->at[i].until_s - now_s, arg);
}

bool blocklist_state_is_paused(const struct blocklist_state *s, const struct blocklist_asker *who)
{
	const struct blocklist_pauses *p = RCU_READ(s->pauses);

	for (size_t i = 0; p && i < p->count; i++) {
		const struct blocklist_pause *pause = &p->at[i];

		if ((int32_t)(pause->until_s - who->now_s) > 0 &&
		    (!pause->view ||
		     (who->rule->view && strcmp(pause->view, who->rule->view) == 0)))
			return true;
	}
	return false;
}
