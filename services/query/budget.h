/* What one client question may cost in total, including restarts and further queries.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Shared by the whole tree of queries that a client's question causes, never reset (NXNS, CAMP,
 * KeyTrap: doc/DESIGN.md, Budgets). Reference-counted within one worker. */
#ifndef SERVICES_QUERY_BUDGET_H
#define SERVICES_QUERY_BUDGET_H

#include "util/base/base.h"

struct trace;

#define BUDGET_CONNECTIONS 2  /* to one server, while none of them has brought an answer */
#define BUDGET_SERVERS     16 /* to which there are such connections */

struct budget {
	int sends;              /* upstream questions: max-global-quota, 200 */
	int children;           /* further queries: 64 */
	int wasted_sends;               /* packets to servers that were silent or useless: 32 */
	int ns_without_addr;          /* server names without an address: 15 */
	int signatures;         /* signature checks that fail: 32 … */
	int good_signatures;    /* … and that succeed: 192 */
	int hashes;             /* NSEC3 hash computations, in units of 50 iterations: 100 */
	uint64_t deadline_us;   /* no new work after this */
	struct budget_server {
		uint64_t server;  /* addr_hash of its address */
		uint8_t opened;   /* connections since its last answer over one; 0: free entry */
	} servers[BUDGET_SERVERS];
	unsigned refs;
	uint8_t lane;           /* by client, for the turns of queries that yielded (mesh_yield) */
	struct trace *trace;    /* receives each step, or NULL; pinned */
};

#define BUDGET_WASTED_KEPT 12 /* of `wasted_sends`: for the client's own question, not for its children */

/* Whether so little is left that a child may fail for want of it. Such a failure says nothing about
 * the child's question and is not kept: else whoever asks for something costly could choose what
 * fails for everybody. */
static inline bool budget_is_short(const struct budget *b)
{
	return b->sends <= 0 || b->children <= 0 || b->ns_without_addr <= 0 || b->wasted_sends <= BUDGET_WASTED_KEPT;
}

static inline struct budget *budget_pin(struct budget *b)
{
	b->refs++;
	return b;
}
void budget_drop(struct budget *b); /* one reference */

/* Whether one more connection to the server may be opened for this question: two, over which nothing has come,
 * are enough, however many queries, retries and ways to ask it there are. */
bool budget_may_connect(const struct budget *b, uint64_t server);
void budget_connects(struct budget *b, uint64_t server);
/* It has answered over a connection: those so far were worth it. */
void budget_answered(struct budget *b, uint64_t server);

static inline bool budget_take(int *purse, int cost)
{
	if (*purse < cost)
		return false;
	*purse -= cost;
	return true;
}

#endif
