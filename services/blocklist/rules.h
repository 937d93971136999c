/* The rules of a list that hold for some questions only, or have an answer of their own.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Found by name; at a name with many of them, those for certain clients are found by the client's
 * address. So a question never has to look at more than BLOCKLIST_RULES_AT_ONCE rules of a name
 * that share a netblock, or are for any client: what is beyond that is left out, and counted. */
#ifndef SERVICES_BLOCKLIST_RULES_H
#define SERVICES_BLOCKLIST_RULES_H

#include "services/blocklist/read.h"
#include "services/blocklist/special.h"
#include "util/names/suffix.h"

struct blocklist_rules;
struct blocklist_rules_maker;

enum { BLOCKLIST_RULES_AT_ONCE = 32 };

struct blocklist_rules_maker *blocklist_rules_begin(void) MUST_USE;
void blocklist_rules_maker_free(struct blocklist_rules_maker *m); /* NULL is fine */
/* A rule with modifiers, or one that takes such a rule back. */
void blocklist_rules_put(struct blocklist_rules_maker *m, const struct blocklist_rule *r);
/* Consumes the maker. NULL: there is none. */
struct blocklist_rules *blocklist_rules_make(struct blocklist_rules_maker *m,
					     uint64_t seed) MUST_USE;
void blocklist_rules_free(struct blocklist_rules *s); /* NULL is fine */

unsigned blocklist_rules_deepest(const struct blocklist_rules *s);
size_t blocklist_rules_count(const struct blocklist_rules *s); /* without those */
/* Left out, at least for some clients, being too many at their name. */
uint64_t blocklist_rules_dropped(const struct blocklist_rules *s);
size_t blocklist_rules_bytes(const struct blocklist_rules *s);
/* Whether there are any at that suffix; `q` was made with the seed. */
bool blocklist_rules_mention(const struct blocklist_rules *s, const struct suffixes *q,
			     unsigned labels);

/* Passes to `fn` each rule at that suffix that holds for the question; one may come twice.
 * `bits`: BLOCKLIST_BLOCK_SELF, BLOCKLIST_ALLOW_SELF and the same of important rules, what they say
 * of the name asked for. */
void blocklist_rules_ask(const struct blocklist_rules *s, const struct suffixes *q, unsigned labels,
			 const struct blocklist_asked *asked,
			 void (*fn)(void *arg, unsigned bits, bool operators, const struct blocklist_rewrite *w),
			 void *arg);

/* Each rule kept, for a file. */
bool blocklist_rules_each(const struct blocklist_rules *s,
			  bool (*fn)(void *arg, const struct blocklist_rule *r), void *arg);

#endif
