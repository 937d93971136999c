/* One thread's share of counted references to what all threads hold.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/base/pins.h"

#include "util/base/hash.h"
#include "util/base/mem.h"

/* The i-th of the slots in which `object` may be. */
static struct pins_slot *slot_at(struct pins *p, const void *object, unsigned i)
{
	return &p->slot[(hash_bytes(&object, sizeof(object)) + i) % PINS_ROOM];
}

static struct pins_slot *slot_of(struct pins *p, const void *object)
{
	for (unsigned i = 0; i < PINS_PROBES; i++)
		if (slot_at(p, object, i)->object == object)
			return slot_at(p, object, i);
	return NULL;
}

/* An empty one for `object`, or one whose object is only kept; or NULL. */
static struct pins_slot *room_for(struct pins *p, const void *object)
{
	struct pins_slot *kept = NULL;

	for (unsigned i = 0; i < PINS_PROBES; i++) {
		struct pins_slot *s = slot_at(p, object, i);

		if (!s->object)
			return s;
		if (!s->count)
			kept = s;
	}
	if (kept)
		p->unpin(kept->object);
	return kept;
}

bool pins_take(struct pins *p, void *object)
{
	struct pins_slot *s = slot_of(p, object);

	if (s) {
		s->count++;
		return false;
	}
	s = room_for(p, object);
	if (s)
		*s = (struct pins_slot){ .object = object, .count = 1 };
	return true;
}

bool pins_drop(struct pins *p, void *object)
{
	struct pins_slot *s = slot_of(p, object);

	if (!s || !s->count)
		return true; /* had no room */
	if (--s->count || p->unpin)
		return false;
	s->object = NULL;
	return true;
}

void pins_clear(struct pins *p)
{
	for (unsigned i = 0; i < PINS_ROOM; i++) {
		PROMISE(p->slot[i].count == 0);
		if (p->slot[i].object)
			p->unpin(p->slot[i].object);
		p->slot[i].object = NULL;
	}
}
