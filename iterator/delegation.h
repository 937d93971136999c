/* The name servers of the zone we are asking, and which of their addresses are known.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A delegation is a zone, the names of its servers, and addresses to send to. It is made from a
 * referral, from cached NS sets, from the configuration (forward-zone, stub-zone) or from the root
 * hints, and lives in the query's arena. No address is listed twice, however many names have it. */
#ifndef ITERATOR_DELEGATION_H
#define ITERATOR_DELEGATION_H

#include "services/net/transport.h"
#include "util/net/addr.h"

#define DELEGATION_TARGETS 128 /* addresses kept per delegation */

struct arena;
struct env;
struct forward_zone;
struct message;
struct query;
struct rrset;

/* What is known of one address type (A or AAAA) of a name server. */
enum lookup {
	LOOKUP_OPEN,  /* not in the cache, not asked for */
	LOOKUP_ASKED, /* a query for it is in progress */
	LOOKUP_FOUND,
	LOOKUP_NONE, /* it has none, or the lookup failed */
};

struct ns {
	const uint8_t *name;
	const char *tls_name; /* of a forwarder given by host name; or NULL */
	const char *http_path;
	uint16_t port;
	uint8_t v4, v6;               /* enum lookup */
	uint8_t parent_v4, parent_v6; /* the same, as the servers above the cut see it */
	uint8_t addresses, parent_addresses; /* accepted so far */
	bool parent_side;             /* named by the parent only */
	bool failed;                  /* has no address at all */
	bool tried;                   /* looked up, or passed over, for this delegation */
};

struct target {
	struct addr addr;
	uint32_t ip4; /* the server's own address where it is reached through NAT64; else 0 */
	const char *tls_name;
	const char *http_path; /* of a forwarder reached over HTTPS; or NULL */
	bool parent_side; /* known from the parent's glue only: second choice */
	bool no_dnssec;   /* left out signatures that must exist */
	bool no_subnet;   /* ignores client subnets */
	bool spent;       /* not to be sent this question again */
	bool faltered;    /* spent because of a SERVFAIL, which may pass */
	bool silent;      /* a question to it has timed out */
	uint8_t tries;    /* of this question */
};

struct delegation {
	const uint8_t *zone;
	const struct forward_zone *config; /* the clause it comes from; or NULL */
	bool forward;                      /* send with RD, accept whole alias chains */
	enum transport_kind transport;
	bool authzone; /* the whole zone is held here: nobody need be asked */
	bool knows_parent;   /* names are, or include, the parent's NS set */
	bool last_resort;    /* the parent's names and glue have been added */
	bool expects_dnssec; /* a DS set came with the referral, and what the zone says will be validated by it */
	bool lacks_ds;       /* none came */
	bool expires;        /* it was delegated, not configured: … */
	uint32_t expires_s;  /* … until then, unless the parent says so again, … */
	uint32_t parent_until_s; /* … or until then, if only the parent's word counts, not what it was learned through */
	struct ns *names;
	unsigned name_count, name_room;
	struct target *targets;
	unsigned target_count, target_room;
};

struct delegation *delegation_new(struct arena *a, const uint8_t *zone) MUST_USE;
/* A forward-zone or stub-zone. */
struct delegation *delegation_from_config(struct arena *a, const struct forward_zone *z) MUST_USE;
/* From the NS set of a scrubbed referral (or answer to an NS query), with addresses from the
 * message and the cache. NULL when there is no NS set. */
struct delegation *delegation_from_message(const struct query *q, const struct message *m) MUST_USE;

/* The closest zone at or above `name` that is delegated by what the cache has at `now_s`: the parent's NS set
 * (RRSET_PARENT_SIDE) decides, or what priming yielded. The names are the zone's own, if known. If its own
 * set, or that of a zone above it, has expired, the parent is to be asked anew. Includes the cached
 * addresses. NULL when not even the root is known. */
struct delegation *delegation_from_cache(const struct query *q, const uint8_t *name,
					 uint16_t class_, uint32_t now_s) MUST_USE;

/* A zone that its parent has removed is gone when what the parent said expires, and so is all below it,
 * whatever it says of itself or delegates (ghost domains, CVE-2012-1033, CVE-2022-30698), and whatever
 * else the cache has forgotten by then. For this no delegation outlives the one through which it was
 * learned: the earlier of `expires_s` and the end of `above`; and `d`, made from a message, so limited. */
uint32_t delegation_last_second(const struct delegation *above, uint32_t expires_s) PURE;
void delegation_limit(struct delegation *d, const struct delegation *above);

struct ns *delegation_find(const struct delegation *d, const uint8_t *name);
struct ns *delegation_add_name(struct delegation *d, struct arena *a, const uint8_t *name);
/* Add every name of an NS set. */
void delegation_add_names(struct delegation *d, struct arena *a, const struct rrset *ns_set,
			  bool parent_side);
/* False when the address was there already, or must not be asked. */
bool delegation_add_target(struct delegation *d, struct arena *a, const struct target *p);
/* Where an address of it is by now, for the list moves as it grows; `p` itself if it is not in it. */
struct target *delegation_target_now(const struct delegation *d, struct target *p);
/* Add the servers of a forward-zone or stub-zone, with what is needed to ask them over TLS. */
void delegation_add_servers(struct delegation *d, struct arena *a, const struct forward_zone *z);
/* Add each address of an A or AAAA set and mark its owner as found. Returns how many are new. */
unsigned delegation_add_set(struct delegation *d, struct arena *a, const struct rrset *set,
			    bool parent_side);
/* Add cached addresses of names still LOOKUP_OPEN; with `unverified`, glue that
 * harden-unverified-glue held back as well. Returns how many are new. */
unsigned delegation_fill(struct delegation *d, const struct query *q, bool unverified);
/* The same from the parent's glue (cached when it was asked for). */
unsigned delegation_fill_parent_glue(struct delegation *d, const struct query *q);

/* Add the names that `failed`, an earlier view of the same zone cut, has beyond those of `d`: only
 * their parent-side glue is still to be learned. */
void delegation_remember(struct delegation *d, struct arena *a, const struct delegation *failed);

/* Whether an address of this family may still be looked up. */
bool ns_wants(const struct ns *n, const struct query *q, bool v6);
/* Whether looking it up could still yield an address; for a query that itself looks for servers,
 * one family is enough. */
bool ns_is_missing(const struct ns *n, const struct query *q);
/* How many of its names are missing in that sense. */
unsigned delegation_missing(const struct delegation *d, const struct query *q);
/* Whether no address is known and none can be had without asking the zone's own servers. */
bool delegation_is_stuck(const struct delegation *d, const struct query *q, const uint8_t *name,
			 uint16_t type);
/* Whether there is but one server, which has said SERVFAIL, and once. */
bool delegation_has_faltered(const struct delegation *d);
/* Let it be asked a second time (RFC 9520 3.1). */
void delegation_forgive(struct delegation *d);
/* A new question begins: every address may be tried again. */
void delegation_refresh(struct delegation *d);

#endif
