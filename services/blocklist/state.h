/* What all lists share, also those of older snapshots (struct blocklist_state): its life, its counters, its seed.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Rules and pauses set at run time, which services/blocklist/blocklist.h declares, are changes of this state. */
#ifndef SERVICES_BLOCKLIST_STATE_H
#define SERVICES_BLOCKLIST_STATE_H

#include "services/blocklist/blocklist.h"

struct blocklist_state *blocklist_state_new(void) MUST_USE; /* pinned once */
struct blocklist_state *blocklist_state_pin(struct blocklist_state *s);
void blocklist_state_unpin(struct blocklist_state *s);

/* Everything found harmless so far has to be checked again. */
void blocklist_state_changed(struct blocklist_state *s);
/* The counter of a list; it stays with the list's name. */
unsigned blocklist_state_slot(struct blocklist_state *s, const char *name);

/* Relaxed: whoever sees something hashed with the seed sees the seed. */
static inline uint64_t blocklist_state_seed(const struct blocklist_state *s)
{
	return atomic_load_explicit(&s->seed, memory_order_relaxed);
}

/* Unless there is one already. */
void blocklist_state_set_seed(struct blocklist_state *s, uint64_t seed);

/* Whether a pause is in effect for this client. */
bool blocklist_state_is_paused(const struct blocklist_state *s, const struct blocklist_asker *who);

#endif
