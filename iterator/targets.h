/* Looking up the addresses of name servers, within limits (NXNSAttack, NRDelegationAttack).
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef ITERATOR_TARGETS_H
#define ITERATOR_TARGETS_H

#include "util/base/base.h"

struct iter;
struct query;

#define TARGETS_PER_DELEGATION 13 /* names looked up for one delegation */
#define TARGETS_WITHOUT_ADDR   5  /* names without an address before giving up */
#define TARGETS_DEPTH          6  /* a query this deep looks up no servers */
#define TARGETS_ALIASES        2  /* of a server's name, which should have none (RFC 2181 10.3) */
#define TARGETS_SENT           3  /* no lookups ahead of need after this many queries */

/* Look up at most `most` (-1: all) of the names that miss addresses, drawn at random. Returns how
 * many lookups this started. */
unsigned targets_ask(struct iter *it, int most);
/* Look up names one by one until a lookup is started; after that, the other address family where
 * only one was asked for. False when nothing is left to look up. */
bool targets_ask_next(struct iter *it);
/* Look up addresses ahead of need, as target-fetch-policy says. */
void targets_ask_ahead(struct iter *it);
/* Once a server of the zone has answered: look up the other servers named inside the zone, on the
 * side. */
void targets_ask_after(struct iter *it);
/* Ask above the cut for the addresses of the next name (its glue, when the child's addresses have
 * failed). Returns how many lookups this started. */
unsigned targets_ask_parent(struct iter *it);

/* An address lookup has ended: record its outcome. */
void targets_arrived(struct iter *it, const struct query *child);

#endif
