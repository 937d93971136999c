/* After a change of the configuration: what older ones had cached is forgotten, as far as the change reaches.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * From the turn on in which a worker adopts the new snapshot, it finds nothing that contradicts it, and its queries in
 * progress begin again (services/cache/slab.h, services/mesh/mesh.h). Once all workers have, a thread of its own walks the
 * caches and removes it. Until then commands wait with their reply (forgetting_after), so that no answer contradicts
 * what a client was told to be in force. A further change meanwhile is added to what is being forgotten. */
#ifndef DAEMON_PROCESS_FORGET_H
#define DAEMON_PROCESS_FORGET_H

#include <stdatomic.h>

#include "services/cache/slab.h"

struct caches;
struct daemon;
struct forget;
struct forgetting;
struct snapshot;

/* ---- the main thread ---- */

struct forgetting *forgetting_new(struct daemon *d) MUST_USE;
/* Once no loop runs any more. NULL is fine. */
void forgetting_free(struct forgetting *f);

/* Before `next` is published: find out what it contradicts. Sets next->generation. */
void forgetting_begin(struct forgetting *f, const struct snapshot *old, struct snapshot *next);
/* The workers have been sent it. */
void forgetting_go_on(struct forgetting *f);
/* Call `fn` on the main thread once all is forgotten. False: nothing is being forgotten, and it is not called. */
bool forgetting_after(struct forgetting *f, void (*fn)(void *arg), void *arg);

/* ---- without a change of the configuration ---- */

/* Forget this (taken over) at once: a walk through the caches, outside a turn, on any thread. Returns how much it
 * removed. What a lookup in progress stores afterwards stays. */
size_t forget_now(const struct caches *c, struct forget *what);

/* ---- its steps, for who has one worker and no threads ---- */

struct forget_rules {
	struct slab_rule answers, sets, keys;
};

/* `rules` must live as long as they are in use. */
void forget_rules_begin(const struct caches *c, struct forget_rules *rules, const struct forget *what);
/* Walks the caches, outside a turn, on a thread that has joined RCU. Returns how much it removed. */
size_t forget_rules_apply(const struct caches *c, const struct forget *what, uint8_t generation,
			  const atomic_bool *stop);
void forget_rules_end(const struct caches *c);
/* The generation after this one. */
uint8_t forget_next_generation(uint8_t generation) PURE;

#endif
