/* One thread's share of counted references to what all threads hold.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/base/pins.h"

#include "util/base/mem.h"

/* The first of the PINS_PROBES slots in which `object` may be, one behind the other. Addresses are the dice of the
 * allocator; nobody outside chooses them. */
static unsigned first_slot(const void *object)
{
	return (unsigned)((uint64_t)(uintptr_t)object * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

static struct pins_slot *slot_of(struct pins *p, const void *object)
{
	unsigned at = first_slot(object);

	for (unsigned i = 0; i < PINS_PROBES; i++)
		if (p->slot[(at + i) % PINS_ROOM].object == object)
			return &p->slot[(at + i) % PINS_ROOM];
	return NULL;
}

/* An empty one for `object`, or one whose object is only kept; or NULL. */
static struct pins_slot *room_for(struct pins *p, const void *object)
{
	struct pins_slot *kept = NULL;
	unsigned at = first_slot(object);

	for (unsigned i = 0; i < PINS_PROBES; i++) {
		struct pins_slot *s = &p->slot[(at + i) % PINS_ROOM];

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
