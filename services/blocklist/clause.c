/* One blocklist: clause, with its table and sources; who holds it.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/blocklist/clause.h"

#include <string.h>

#include "services/blocklist/load.h"
#include "services/blocklist/state.h"
#include "services/stats/stats.h"
#include "util/base/fault.h"
#include "util/base/mem.h"
#include "util/base/rcu.h"
#include "util/conf/options.h"

struct blocklist *blocklist_pin(struct blocklist *l)
{
	atomic_fetch_add_explicit(&l->pins, 1, memory_order_relaxed);
	return l;
}

void blocklist_unpin(struct blocklist *l)
{
	if (!l || atomic_fetch_sub_explicit(&l->pins, 1, memory_order_acq_rel) != 1)
		return;
	blocklist_table_unpin(RCU_READ(l->table));
	blocklist_loading_free(l->loading);
	for (size_t i = 0; i < l->view_count; i++)
		mem_free(l->views[i]);
	mem_free(l->views);
	tagset_clear(&l->tags);
	mem_free(l->name);
	mem_free(l->reason_text);
	if (l->state)
		blocklist_state_unpin(l->state);
	mem_free(l);
}

void blocklist_publish(struct blocklist *l, struct blocklist_table *t)
{
	struct blocklist_table *old = RCU_READ(l->table);

	RCU_PUBLISH(l->table, t);
	if (l->state)
		blocklist_state_changed(l->state);
	blocklist_table_unpin(old);
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
		enum blocklist_action action;
	} words[] = {
		{ "nxdomain", BLOCKLIST_NXDOMAIN }, { "nodata", BLOCKLIST_NODATA }, { "null", BLOCKLIST_NULL },
		{ "refuse", BLOCKLIST_REFUSE },     { "drop", BLOCKLIST_DROP },
	};

	l->action = BLOCKLIST_ADDRESS;
	for (size_t i = 0; i < COUNT(words); i++)
		if (strcmp(text, words[i].word) == 0)
			l->action = words[i].action;
	if (l->action == BLOCKLIST_ADDRESS)
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

static struct blocklist_table *empty_table(void)
{
	return blocklist_table_make(blocklist_table_begin(), 0);
}

struct blocklist *blocklist_new(const struct conf *conf, const struct conf_blocklist *c,
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
	l->loading = blocklist_loading_new(conf, c);
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

bool blocklist_equals(const struct blocklist *a, const struct blocklist *b)
{
	return strcmp(a->name, b->name) == 0 && a->action == b->action && a->reason == b->reason &&
	       addr_equals(&a->addr[0], &b->addr[0]) && addr_equals(&a->addr[1], &b->addr[1]) &&
	       same_tags(&a->tags, &b->tags) && same_views(a, b) &&
	       blocklist_loading_equals(a->loading, b->loading);
}

struct blocklist *blocklist_of_rules(const struct blocklist *first)
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
