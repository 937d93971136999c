/* From a trust anchor down to a zone's keys, one cut at a time (RFC 4035 5, 6840).
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A walk is begun anew each time it is asked for: what it learned is in the key cache, so that it
 * comes as far as before for a few look-ups, and goes on from there. At most one child query
 * is under way for it. */
#ifndef VALIDATOR_CHAIN_H
#define VALIDATOR_CHAIN_H

#include "util/addr.h"
#include "util/reason.h"
#include "validator/ledger.h"

struct anchor;
struct event;
struct message;
struct query;
struct trust_store;

enum chain_end {
	CHAIN_WAIT,             /* for a child, or (none is out) for another turn: ask again then */
	CHAIN_KEYS,             /* the zone that the name lies in is signed with these */
	CHAIN_INSECURE,         /* the name lies in a zone that is not signed */
	CHAIN_BOGUS,            /* the way there does not hold */
	CHAIN_UNTRUSTED,        /* no anchor stands above the name */
};

struct chain_found {
	enum chain_end end;
	const struct keyset *keys;      /* CHAIN_KEYS: good for the query's life */
	enum reason reason;             /* INSECURE, BOGUS */
	const char *text;               /* in the arena, or NULL */
};

enum chain_errand { ERRAND_NONE, ERRAND_DS, ERRAND_DNSKEY };

struct chain {
	struct query *q;
	const struct trust_store *trust;
	struct ledger ledger;
	/* the child that is out */
	enum chain_errand errand;
	const uint8_t *at;              /* the name it asks about */
	const struct keyset *above;     /* keys of the zone that must vouch for it; NULL: an anchor */
	const struct rrset *ds;         /* for ERRAND_DNSKEY: what vouches for the keys */
	unsigned tries;                 /* of this errand */
	const struct message *brought;  /* what it came back with, not looked at yet; or NULL */
	struct addr brought_by;
	const struct message *at_hand;  /* what is being judged: its denials may spare a question */
	bool told_anchor;               /* RFC 8145 was done */
};

void chain_begin(struct chain *c, struct query *q, const struct trust_store *trust);

/* Which keys does the zone of `name` have? `name` is the name of the zone, where that is known,
 * or of a record in it. */
struct chain_found chain_find(struct chain *c, const uint8_t *name);

/* The same, as far as it is known without asking: never CHAIN_WAIT, but CHAIN_UNTRUSTED instead. */
struct chain_found chain_known(struct chain *c, const uint8_t *zone);

/* Where proofs of the name begin (`above`: of its DS set): the anchor above it that no domain-insecure
 * comes between, the server's or that of the query's view; or NULL. */
const struct anchor *chain_anchor(const struct trust_store *t, const struct query *q,
				  const uint8_t *name, bool above);
/* Whether there is one. */
bool chain_reaches(const struct chain *c, const uint8_t *name, bool is_ds);

/* A child is done: what it brought is looked at with the next chain_find. */
void chain_arrived(struct chain *c, const struct event *ev);

#endif
