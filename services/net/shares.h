/* Fair sharing of places among clients: those who hold many make room for those who hold few.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A client is an IPv4 address or an IPv6 /64. Clients whose numbers of places are within a factor
 * of two of each other count as equal (are in one class), so that finding the one to give way takes
 * constant time, and two equals do not keep evicting each other. One per mesh, used by its thread
 * only. */
#ifndef SERVICES_NET_SHARES_H
#define SERVICES_NET_SHARES_H

#include "util/base/base.h"
#include "util/base/list.h"

struct addr;
struct share;
struct shares;

/* Embedded in whatever holds a place; begins zeroed, and must not move while it holds one. */
struct holding {
	struct share *of; /* the owner's; NULL: none */
	struct list link;
};

struct shares *shares_new(void) MUST_USE;
void shares_free(struct shares *s); /* nothing is held any more; NULL is fine */

/* Give the place to this client, as its newest, whoever had it before. */
void shares_give(struct shares *s, struct holding *h, const struct addr *client);
void shares_take_back(struct shares *s, struct holding *h); /* fine when it has no owner */

/* Hash of the address or /64 that it counts as. */
uint64_t client_hash(const struct addr *client);

/* 0 for a client that holds nothing, one more for each doubling. */
unsigned shares_class(const struct shares *s, const struct addr *client);
/* The class it would be in with one more place. */
unsigned shares_class_with(const struct shares *s, const struct addr *client);
unsigned holding_class(const struct holding *h); /* of its owner; 0 without one */

unsigned shares_highest_class(const struct shares *s);
/* The oldest place of one of the clients in the highest class, a different one each time. NULL:
 * nothing is held. */
struct holding *shares_of_largest(struct shares *s);
struct holding *holding_next(const struct holding *h); /* the next older of the same client, or NULL */

#endif
