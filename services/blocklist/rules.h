/* The rules of a list that hold for some questions only, or have an answer of their own.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Found by name; at a name with many of them, those for certain clients are found by the client's
 * address. So a question never has to look at more than LIST_RULES_AT_ONCE rules of a name that
 * share a netblock, or are for any client: what is beyond that is left out, and counted. */
#ifndef SERVICES_BLOCKLIST_RULES_H
#define SERVICES_BLOCKLIST_RULES_H

#include "services/blocklist/read.h"
#include "services/blocklist/special.h"
#include "util/names/suffix.h"

struct list_rules;
struct list_rules_maker;

enum { LIST_RULES_AT_ONCE = 32 };

struct list_rules_maker *list_rules_begin(void) MUST_USE;
void list_rules_maker_free(struct list_rules_maker *m); /* NULL is fine */
/* A rule with modifiers, or one that takes such a rule back. */
void list_rules_put(struct list_rules_maker *m, const struct list_rule *r);
/* Consumes the maker. NULL: there is none. */
struct list_rules *list_rules_make(struct list_rules_maker *m, uint64_t seed) MUST_USE;
void list_rules_free(struct list_rules *s); /* NULL is fine */

unsigned list_rules_deepest(const struct list_rules *s);
size_t list_rules_count(const struct list_rules *s); /* without those */
/* Left out, at least for some clients, being too many at their name. */
uint64_t list_rules_dropped(const struct list_rules *s);
size_t list_rules_bytes(const struct list_rules *s);
/* Whether there are any at that suffix; `q` was made with the seed. */
bool list_rules_mention(const struct list_rules *s, const struct suffixes *q, unsigned labels);

/* Passes to `fn` each rule at that suffix that holds for the question; one may come twice.
 * `bits`: LIST_BLOCK_SELF, LIST_ALLOW_SELF and the same of important rules, what they say of the
 * name asked for. */
void list_rules_ask(const struct list_rules *s, const struct suffixes *q, unsigned labels,
		    const struct list_asked *asked,
		    void (*fn)(void *arg, unsigned bits, bool operators, const struct list_rewrite *w),
		    void *arg);

/* Each rule kept, for a file. */
bool list_rules_each(const struct list_rules *s, bool (*fn)(void *arg, const struct list_rule *r),
		     void *arg);

#endif
