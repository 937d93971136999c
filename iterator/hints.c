/* Root hints: the root servers before anything is known.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "iterator/hints.h"

#include "iterator/delegation.h"
#include "iterator/route_zone.h"
#include "services/forward/forward.h"
#include "services/query/query.h"
#include "services/query/snapshot.h"
#include "util/dns/dname.h"

void hints_add(struct delegation *d, const struct query *q)
{
	struct arena *a = (struct arena *)&q->arena;
	const struct forward_zone *stub = route_root_stub(q);

	if (stub) {
		if (stub->transport == d->transport)
			delegation_add_servers(d, a, stub);
		return;
	}
	for (size_t i = 0; i < q->snapshot->hint_count; i++) {
		const struct root_hint *h = &q->snapshot->hints[i];
		struct target p = { .addr = *h->addr };
		struct ns *n = delegation_add_name(d, a, h->name);
		if (h->addr->family == 4)
			n->v4 = LOOKUP_FOUND;
		else
			n->v6 = LOOKUP_FOUND;
		delegation_add_target(d, a, &p);
	}
}

struct delegation *hints_delegation(const struct query *q)
{
	struct delegation *d = delegation_new((struct arena *)&q->arena, dname_root);
	const struct forward_zone *stub = route_root_stub(q);

	if (stub)
		d->transport = stub->transport;
	hints_add(d, q);
	d->knows_parent = true;
	return d;
}
