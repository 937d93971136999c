/* Answers for blocked names, and checks of answers that lead to blocked names.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef SERVICES_BLOCKLIST_ANSWER_H
#define SERVICES_BLOCKLIST_ANSWER_H

#include "services/answer/alias_prefix.h"
#include "services/answer/answer.h"
#include "services/blocklist/blocklist.h"

struct arena;
struct client;
struct decision;
struct stats;

enum blocklist_end {
	BLOCKLIST_END_SENT,   /* the answer was written */
	BLOCKLIST_END_DROP,   /* there will be no answer */
	BLOCKLIST_END_FOLLOW, /* it begins with blocklist_alias_prefix */
};

/* Apply the action of the list or rule found. */
enum blocklist_end blocklist_answer(const struct blocklist_found *f, const struct answer_to *to,
				    struct writer *out);
/* Whether the answer is an alias whose target is to be resolved: then blocklist_answer ends so. */
bool blocklist_leads_on(const struct blocklist_found *f, uint16_t type);
/* The alias to answer with; in `a`. */
void blocklist_alias_prefix(const struct blocklist_found *f, const struct question *q, struct arena *a,
		    struct alias_prefix *aliases);
/* The same as blocklist_answer, as a message in `a` in place of `m`; NULL: there is no answer. */
const struct message *blocklist_message(const struct blocklist_found *f, const struct message *m,
					uint32_t now_s, struct arena *a);
/* A line for log-local-actions. */
void blocklist_log(const struct blocklist_found *f, const struct client *c,
		   const struct question *q);
/* Record in `s` (may be NULL) what decided the question. */
void blocklist_tell(const struct blocklist_found *f, struct decision *s);
void blocklist_count(struct stats *s, const struct blocklist_found *f);

/* ---- aliases in answers ---- */

/* Whether the name and aliases of a cached answer must be checked: not if that was done since the
 * lists last changed, and no list mentions them. */
static inline bool blocklists_doubt(const struct blocklists *b, const struct stored *s)
{
	return atomic_load_explicit(&s->harmless, memory_order_relaxed) !=
	       atomic_load_explicit(&b->state->generation, memory_order_relaxed);
}

/* Whether an alias in it leads to a name that is blocked for this client. */
bool blocklists_block_stored(const struct blocklists *b, const struct blocklist_asker *who,
			     const struct stored *s, struct blocklist_found *f);
bool blocklists_block_message(const struct blocklists *b, const struct blocklist_asker *who,
			      const struct message *m, struct blocklist_found *f);

#endif
