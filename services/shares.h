/* Who holds the places that all clients share: who has many makes room for who has few.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A client is an IPv4 address or an IPv6 /64. Clients whose numbers of places are within a factor of
 * two of each other count as equal (they are of one class), so that finding the one who gives way
 * costs the same however many there are, and two equals do not take turns in pushing each other out.
 * One per mesh, used by its thread only. */
#ifndef SERVICES_SHARES_H
#define SERVICES_SHARES_H

#include "util/base.h"
#include "util/list.h"

struct addr;
struct share;
struct shares;

/* Stands in whatever holds a place; begins zeroed, and stays where it is while it holds one. */
struct holding {
	struct share *of; /* NULL: it is nobody's */
	struct list link;
};

struct shares *shares_new(void) MUST_USE;
void shares_free(struct shares *s); /* nothing is held any more; NULL is fine */

/* From now on the place is this client's (the newest of its places), whoever's it was before. */
void shares_give(struct shares *s, struct holding *h, const struct addr *client);
void shares_take_back(struct shares *s, struct holding *h); /* fine when it is nobody's */

/* Of the address or /64 that it counts as. */
uint64_t client_hash(const struct addr *client);

/* 0 for a client that holds nothing, and one more for each doubling. */
unsigned shares_class(const struct shares *s, const struct addr *client);
/* The class it would be in with one place more. */
unsigned shares_class_with(const struct shares *s, const struct addr *client);
unsigned holding_class(const struct holding *h); /* of whom it is; 0 when nobody's */

unsigned shares_highest_class(const struct shares *s);
/* The oldest place of one of those who hold most: each time another's. NULL: nothing is held. */
struct holding *shares_of_largest(struct shares *s);
struct holding *holding_next(const struct holding *h); /* the next older of the same client, or NULL */

#endif
