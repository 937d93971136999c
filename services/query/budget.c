/* What one client question may cost in total: references, and connections to servers.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "services/query/budget.h"

#include "services/query/trace.h"
#include "util/base/mem.h"

void budget_drop(struct budget *b)
{
	if (--b->refs > 0)
		return;
	trace_unpin(b->trace);
	mem_free(b);
}

/* The server's entry, or else a free one; NULL: there is none. */
static const struct budget_server *find(const struct budget *b, uint64_t server)
{
	const struct budget_server *unused = NULL;

	for (unsigned i = 0; i < BUDGET_SERVERS; i++) {
		const struct budget_server *s = &b->servers[i];

		if (s->opened && s->server == server)
			return s;
		if (!s->opened)
			unused = s;
	}
	return unused;
}

bool budget_may_connect(const struct budget *b, uint64_t server)
{
	const struct budget_server *s = find(b, server);

	return s && s->opened < BUDGET_CONNECTIONS;
}

void budget_connects(struct budget *b, uint64_t server)
{
	struct budget_server *s = (struct budget_server *)(uintptr_t)find(b, server);

	if (!s)
		return;
	s->server = server;
	s->opened++;
}

void budget_answered(struct budget *b, uint64_t server)
{
	struct budget_server *s = (struct budget_server *)(uintptr_t)find(b, server);

	if (s)
		s->opened = 0;
}
