/* What all lists share, also those of older snapshots (struct list_state): its life, its counters, its seed.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Rules and pauses set at run time, which services/blocklist/blocklist.h declares, are changes of this state. */
#ifndef SERVICES_BLOCKLIST_STATE_H
#define SERVICES_BLOCKLIST_STATE_H

#include "services/blocklist/blocklist.h"

struct list_state *list_state_new(void) MUST_USE; /* pinned once */
struct list_state *list_state_pin(struct list_state *s);
void list_state_unpin(struct list_state *s);

/* Everything found harmless so far has to be checked again. */
void list_state_changed(struct list_state *s);
/* The counter of a list; it stays with the list's name. */
unsigned list_state_slot(struct list_state *s, const char *name);

/* Relaxed: whoever sees something hashed with the seed sees the seed. */
static inline uint64_t list_state_seed(const struct list_state *s)
{
	return atomic_load_explicit(&s->seed, memory_order_relaxed);
}

/* Unless there is one already. */
void list_state_set_seed(struct list_state *s, uint64_t seed);

/* Whether a pause is in effect for this client. */
bool list_state_is_paused(const struct list_state *s, const struct list_asker *who);

#endif
