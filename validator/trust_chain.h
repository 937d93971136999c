/* The chain of trust: from an anchor down to a zone's keys, cut by cut (RFC 4035 5, 6840).
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Each call starts the walk from the top: what was learned is in the key cache, so a few lookups
 * take it back to where it was. At most one child query is in progress for it. */
#ifndef VALIDATOR_TRUST_CHAIN_H
#define VALIDATOR_TRUST_CHAIN_H

#include "util/dns/reason.h"
#include "util/net/addr.h"
#include "validator/checked_sigs.h"

struct anchor;
struct event;
struct message;
struct query;
struct trust_store;

/* How long a failure that may be the network's is remembered; one that may be the zone's is
 * remembered for val-bogus-ttl. */
#define CHAIN_UNHEARD_S 5

enum chain_end {
	CHAIN_WAIT,             /* call again after the child or, if none is out, in a later turn */
	CHAIN_KEYS,             /* the zone that holds the name is signed with these keys */
	CHAIN_INSECURE,         /* the name is in an unsigned zone */
	CHAIN_BOGUS,            /* the chain of trust is broken */
	CHAIN_UNHEARD,          /* part of it could not be had: soon it may be */
	CHAIN_SPENT,            /* the question has used up a budget: nothing is known, and nothing learned */
	CHAIN_UNTRUSTED,        /* no trust anchor at or above the name */
};

struct trust_chain_found {
	enum chain_end end;
	const struct keyset *keys;      /* CHAIN_KEYS: valid as long as the query */
	enum reason reason;             /* INSECURE, BOGUS, UNHEARD, SPENT */
	const char *text;               /* in the arena, or NULL */
};

enum chain_fetch { FETCH_NONE, FETCH_DS, FETCH_DNSKEY };

struct trust_chain {
	struct query *q;
	const struct trust_store *trust;
	struct checked_sigs sigs;
	/* the child query in progress */
	enum chain_fetch fetch;
	const uint8_t *at;              /* the name it asks about */
	const struct keyset *above;     /* keys of the zone above, which authenticate its own; NULL: an anchor */
	const struct verified *ds;      /* the last secure DS set: for FETCH_DNSKEY, what authenticates the keys */
	unsigned tries;                 /* of this fetch */
	const struct message *brought;  /* its answer, not examined yet; or NULL */
	struct addr brought_by;
	bool brought_poor;              /* if it failed, then for want of a budget */
	const char *stuck;              /* why this query gets no further, with nothing learned from it; or NULL */
	const struct message *in_answer;  /* the message being validated: its denials may save a query */
	bool anchor_signalled;               /* the key tag query of RFC 8145 is done */
};

void trust_chain_begin(struct trust_chain *c, struct query *q, const struct trust_store *trust);

/* Find the keys of the zone that holds `name`: the zone's own name if that is known, or the owner
 * of a record in it. */
struct trust_chain_found trust_chain_find(struct trust_chain *c, const uint8_t *name);

/* The same for a zone, from the key cache only: CHAIN_UNTRUSTED instead of CHAIN_WAIT. */
struct trust_chain_found trust_chain_known(struct trust_chain *c, const uint8_t *zone);

/* The anchor from which `name` is validated (with `above`: its DS set), unless a domain-insecure of
 * the query's view, or else of the server, is as close; or NULL. */
const struct anchor *trust_chain_anchor(const struct trust_store *t, const struct query *q,
				  const uint8_t *name, bool above);
/* Whether there is one. */
bool trust_chain_reaches(const struct trust_chain *c, const uint8_t *name, bool is_ds);

/* A child has ended: keep its answer for the next trust_chain_find. */
void trust_chain_arrived(struct trust_chain *c, const struct event *ev);

#endif
