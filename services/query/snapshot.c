/* Pins of a snapshot: whoever holds it need not know how it was built.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/query/snapshot.h"

struct snapshot *snapshot_pin(struct snapshot *s)
{
	atomic_fetch_add_explicit(&s->pins, 1, memory_order_relaxed);
	return s;
}

void snapshot_unpin(struct snapshot *s)
{
	if (s && atomic_fetch_sub_explicit(&s->pins, 1, memory_order_acq_rel) == 1)
		s->release(s);
}
