/* Looking up the addresses of name servers, within limits (NXNSAttack, NRDelegation).
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ITERATOR_TARGETS_H
#define ITERATOR_TARGETS_H

#include "util/base.h"

struct iter;
struct query;

#define TARGETS_PER_DELEGATION 13 /* names looked up for one delegation */
#define TARGETS_FRUITLESS      5  /* names without an address before it is enough */
#define TARGETS_DEPTH          6  /* a query that deep looks up no servers */
#define TARGETS_ALIASES        2  /* a server's name should have none at all (RFC 2181 10.3) */
#define TARGETS_SENT           3  /* none ahead of need once so many questions were sent */

/* Look up at most `most` of the names that have addresses missing (-1: all of them), drawn at
 * random. Returns how many lookups are now under way because of it. */
unsigned targets_ask(struct iter *it, int most);
/* Look up names one after the other until some lookup is under way; then, where only one kind of
 * addresses was asked for, the other. False: there is nothing more. */
bool targets_ask_next(struct iter *it);
/* As target-fetch-policy wants it, ahead of need. */
void targets_ask_ahead(struct iter *it);
/* A server of the zone has answered: on the side, ask for addresses of others whose names are in it. */
void targets_ask_after(struct iter *it);
/* Ask above the cut for the addresses of the next name (its glue, where the child's are no good).
 */
unsigned targets_ask_parent(struct iter *it);

/* A lookup has ended: note what it brought. */
void targets_arrived(struct iter *it, const struct query *child);

#endif
