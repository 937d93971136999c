/* The servers of the zone we stand in, and which of their addresses are known.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A delegation is a zone, name servers by name, and addresses to send to. It is made from a
 * referral, from the NS sets in the cache, from what the operator wrote (forward-zone, stub-zone)
 * or from the root hints, and lives in the arena of the query. Addresses are never listed twice,
 * whatever number of names lead to them. */
#ifndef ITERATOR_DELEGATION_H
#define ITERATOR_DELEGATION_H

#include "services/carrier.h"
#include "util/addr.h"

struct arena;
struct env;
struct forward_zone;
struct message;
struct query;
struct rrset;

/* What is known of one kind of address (A or AAAA) of a name server. */
enum lookup {
	LOOKUP_OPEN,  /* not in the cache, not asked for */
	LOOKUP_ASKED, /* a query for it is on its way */
	LOOKUP_FOUND,
	LOOKUP_NONE, /* it has none, or asking for it failed */
};

struct ns {
	const uint8_t *name;
	const char *tls_name; /* of a forwarder written as a host; or NULL */
	const char *http_path;
	uint16_t port;
	uint8_t v4, v6;               /* enum lookup */
	uint8_t parent_v4, parent_v6; /* the same, asked at the servers above the cut */
	uint8_t addresses, parent_addresses; /* taken so far */
	bool parent_side;             /* only the parent names it */
	bool failed;                  /* has no address at all */
	bool tried;                   /* addresses were asked for on behalf of this delegation */
};

struct place {
	struct addr addr;
	const char *tls_name;
	const char *http_path; /* of a forwarder that is asked over HTTPS; or NULL */
	bool parent_side; /* only the parent's glue gives it: second choice */
	bool no_dnssec;   /* answered without signatures where there must be some */
	bool no_subnet;   /* makes nothing of where clients are */
	bool spent;       /* not to be asked this question any more */
	uint8_t tries;    /* of this question */
};

struct delegation {
	const uint8_t *zone;
	const struct forward_zone *config; /* the operator wrote it; or NULL */
	bool forward;                      /* ask with RD, believe the whole chain of an answer */
	enum carrier carrier;
	bool held; /* the zone is held here in full: nobody need be asked */
	bool knows_parent;   /* names are the parent's, or those have been added */
	bool last_resort;    /* what the parent side knows has been added as well */
	bool expects_dnssec; /* a DS set came with the referral */
	struct ns *names;
	unsigned name_count, name_room;
	struct place *places;
	unsigned place_count, place_room;
};

struct delegation *delegation_new(struct arena *a, const uint8_t *zone) MUST_USE;
/* A forward-zone or stub-zone. */
struct delegation *delegation_from_config(struct arena *a, const struct forward_zone *z) MUST_USE;
/* The cut that the NS set of a scrubbed referral (or answer to a question for NS) makes; its
 * addresses are those of the message, and those in the cache. NULL when there is no NS set. */
struct delegation *delegation_from_message(const struct query *q, const struct message *m) MUST_USE;

/* The closest zone at or above `name` whose NS set is fresh in the cache at `now_s`, and none of
 * those above it expired: a zone lives no longer than what delegates it (ghost domains).
 * With the addresses that the cache knows. NULL when not even the root is known. */
struct delegation *delegation_from_cache(const struct query *q, const uint8_t *name,
					 uint16_t class_, uint32_t now_s) MUST_USE;

struct ns *delegation_find(const struct delegation *d, const uint8_t *name);
struct ns *delegation_add_name(struct delegation *d, struct arena *a, const uint8_t *name);
/* Every name of an NS set. */
void delegation_add_names(struct delegation *d, struct arena *a, const struct rrset *ns_set,
			  bool parent_side);
/* False when the address was there already, or is none that may be asked. */
bool delegation_add_place(struct delegation *d, struct arena *a, const struct place *p);
/* Each address of an A or AAAA set; how many are new. Marks the set's name as found. */
unsigned delegation_add_set(struct delegation *d, struct arena *a, const struct rrset *set,
			    bool parent_side);
/* What the cache knows of names still open. `unverified`: glue that harden-unverified-glue
 * held back, too. How many addresses are new. */
unsigned delegation_fill(struct delegation *d, const struct query *q, bool unverified);
/* What the cache knows of the parent's own glue for them (kept when it was asked for). */
unsigned delegation_fill_parent_glue(struct delegation *d, const struct query *q);

/* Names that `failed`, an earlier view of the same cut, has beyond those of `d`: what is not known
 * yet of them is their parent-side glue. */
void delegation_remember(struct delegation *d, struct arena *a, const struct delegation *failed);

/* Whether an address of this kind is still to be looked for. */
bool ns_wants(const struct ns *n, const struct query *q, bool v6);
/* Whether it could still turn up an address if it were looked up; one kind of them will do for who looks
 * for servers on behalf of others. */
bool ns_is_missing(const struct ns *n, const struct query *q);
/* How many of its names are missing. */
unsigned delegation_missing(const struct delegation *d, const struct query *q);
/* No address is known, and to get one the zone's own servers would have to be asked. */
bool delegation_is_stuck(const struct delegation *d, const struct query *q, const uint8_t *name,
			 uint16_t type);
/* A new question begins: addresses may be tried afresh. */
void delegation_refresh(struct delegation *d);

#endif
