/* One thread's share of counted references to what all threads hold.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "util/base/pins.h"

#include "util/base/hash.h"

/* The slot of `object` (NULL: an empty one) among the few in which `whose` may be; or NULL. */
static struct pins_slot *slot_with(struct pins *p, const void *object, const void *whose)
{
	uint64_t at = hash_bytes(&whose, sizeof(whose));

	for (unsigned i = 0; i < PINS_PROBES; i++) {
		struct pins_slot *s = &p->slot[(at + i) % PINS_ROOM];

		if (s->object == object)
			return s;
	}
	return NULL;
}

bool pins_take(struct pins *p, const void *object)
{
	struct pins_slot *s = slot_with(p, object, object);

	if (s) {
		s->count++;
		return false;
	}
	s = slot_with(p, NULL, object);
	if (s)
		*s = (struct pins_slot){ .object = object, .count = 1 };
	return true;
}

bool pins_drop(struct pins *p, const void *object)
{
	struct pins_slot *s = slot_with(p, object, object);

	if (!s)
		return true;
	if (--s->count)
		return false;
	s->object = NULL;
	return true;
}
