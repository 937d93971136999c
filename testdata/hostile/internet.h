/* A small internet: root, two TLDs, zones of victims and of the adversary, zones known to the resolver alone.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TESTDATA_HOSTILE_INTERNET_H
#define TESTDATA_HOSTILE_INTERNET_H

#include "testdata/hostile/choices.h"
#include "testdata/hostile/told.h"
#include "util/net/addr.h"

enum site_number {
	SITE_ROOT, SITE_T, SITE_U,	/* t denies by NSEC, u by NSEC3 with opt-out */
	SITE_V, SITE_SUB, SITE_W,	/* signed: v.t by NSEC, sub.v.t and w.u by NSEC3 */
	SITE_I, SITE_J,			/* not signed: i.t, j.u */
	SITE_ISLAND,			/* isl.i.t, signed, with a trust anchor of its own */
	SITE_EVIL, SITE_BAD, SITE_GONE, /* the adversary's: evil.t signed, bad.u not, gone.t will be removed */
	SITE_OWN, SITE_OWNV,		/* own.t, own.v.t: known to the resolver alone */
	SITE_ISLE,			/* isl.evil.t, likewise, below his own */
	SITE_PUBLIC,			/* what the public has at own.t */
	SITE_CHAIN,			/* signed, with aliases from one to the next */
	CHAIN_SITES = 8,
	SITES = SITE_CHAIN + CHAIN_SITES,
};

/* A zone that is held here: in place of its servers, for clients, and whether servers are asked all the same if that fails. */
enum held { HELD_UP = 1, HELD_DOWN = 2, HELD_FALLS_BACK = 4 };

/* Subnets that clients are in: 127.0.0.0/24 and those after it. 0: for everybody. */
enum { PLACES = 4 };

enum own_kind { OWN_STUB, OWN_FORWARD, OWN_LOCAL, OWN_KINDS };

struct site {
	struct zone *zone; /* NULL: there is none */
	struct site *parent;
	struct site *home; /* in whose zone its server has its name: its own, or that of another victim */
	uint8_t server;	   /* last byte of its address */
	uint8_t second;	   /* likewise; 0: none. Is the adversary's */
	uint8_t families;  /* of their addresses */
	bool hostile;
	bool anchored;	   /* has a trust anchor of its own */
	unsigned held;	   /* a copy is here: enum held */
	bool hidden;	   /* not delegated */
	bool configured;   /* the resolver is told where it is */
	bool secure;	   /* with a chain of trust */
	bool gone;	   /* its parent has removed it */
	uint32_t cut_ttl_s;
};

struct internet {
	struct arena arena;
	struct choices *choices;
	struct site sites[SITES];
	enum own_kind own_kind;
	bool own_off; /* own.t is not configured, for now */
	bool hides;   /* addresses of victims are private */
	bool withholds; /* a name and addresses, by policy zone and response-ip */
	bool bars_servers;	 /* and what the adversary's servers say */
	const uint8_t *withheld; /* that name; what is below it, too */
	unsigned how_withheld;	 /* what is told in its place */
	bool by_command;	 /* the name is so by no policy zone, but … */
	bool denied;		 /* … where it is denied by command, now */
	bool keeps;   /* serve-expired */
	bool six;     /* do-ip6 */
	bool synthesizes; /* DNS64 */
	bool wants_own;	  /* who asks now wants no address made up (CD) */
	bool scarce;	  /* limits that clients reach */
	struct site *placed;   /* its www is another for clients of each subnet; NULL: no subnets are shown */
	struct set *near[PLACES]; /* that, as it is for each */
	bool shows_all;	       /* all servers are shown subnets, not only its own */
	unsigned place;	       /* the subnet of who asks now; 0: unknown */
	struct slice shown;    /* the option in the query that is answered; empty: none */
	bool has_lans; /* zones of private networks are answered locally */
	bool primes, root_unloaded, tiny, has_view, alone; /* of the configuration; `alone`: no adversary */
	bool forwards_all;   /* everything is asked of a forwarder … */
	bool forwarder_lies; /* … who is the adversary */
	bool two_forwarders; /* and another, who is honest */
	bool races;	     /* forwarders are asked at once */
	bool dark;	   /* no server can be reached, for now */
	struct told *large; /* his last answer that was too large for UDP, to `large_q`; or NULL */
	struct question large_q;
	unsigned habit;	    /* a rule that he prefers; 0: none */
	struct site *focus; /* much of what happens is about this one; or NULL */
	const uint8_t *ghosts[4]; /* names below gone.t that were delegated there, the last first */
};

void internet_make(struct internet *net, struct choices *c);
void internet_clear(struct internet *net);
/* The site is there for who asks this resolver. */
bool internet_knows(const struct internet *net, unsigned site);
/* One that is there: the world's focus more often than others. */
struct site *internet_pick(struct internet *net, enum choice_stream stream);
/* The parent removes the zone. */
void internet_remove(struct internet *net, struct site *s);
/* services/cache/subnet_index.c: answers that are others for each subnet (RFC 7871). */
void places_choose(struct internet *net);
char *places_config(struct internet *net);
/* The answer of the site as it is for who asks now. */
void places_tell(struct internet *net, const struct site *s, struct told *t);
/* Who asks, and what an honest server says of it, by the option in a query. */
void places_read(struct internet *net, struct slice query);
struct slice places_echo(struct internet *net, unsigned scope);
/* Whether it is the record of some subnet. */
bool places_has(const struct internet *net, const uint8_t *owner, uint16_t type, struct slice rdata);
/* held.c: copies of zones are here, from now on, or not any more. */
void held_begin(struct internet *net);
void held_choose(struct internet *net, enum choice_stream stream);
char *held_config(struct internet *net);
/* The zone that answers a client itself; NULL: none. */
struct site *held_for_client(struct internet *net, const struct question *q);

/* withheld.c: what the operator keeps from clients. */
struct addresses_of {
	bool (*is4)(const uint8_t *ip), (*is6)(const uint8_t *ip); /* `is6` may be NULL */
};
/* Whether an address record, or a hint, is one of these, or stands for one. */
bool record_leads_to(uint16_t type, struct slice rdata, const struct addresses_of *what);
void withheld_choose(struct internet *net);
char *withheld_config(struct internet *net, bool in_server);
/* The policy zone, if that is its apex; or NULL. */
struct zonebuild *withheld_zone(struct internet *net, const uint8_t *apex);
/* Whether the record leads to an address, or has an owner, that is withheld. */
bool withheld_address(uint16_t type, struct slice rdata);
bool withheld_name(const struct internet *net, const uint8_t *owner, uint16_t type, struct slice rdata);
/* Whether only servers of his can have told it, and these are withheld. */
bool withheld_servers(struct internet *net, const uint8_t *owner, uint16_t type, struct slice rdata, bool by_alias);

/* The resolver's configuration, NUL-terminated, in the arena. */
char *internet_config(struct internet *net);

enum { FORWARDER = 40 }; /* last byte of its address */

/* A setting that must change no answer, for `set_option`. */
const char *internet_switch(struct internet *net, enum choice_stream stream);

enum { HAS_IPV4 = 1, HAS_IPV6 = 2 };

/* The name of its server, in the arena. */
const uint8_t *internet_server_name(struct internet *net, const struct site *s);
/* A line for each address of a server: `word` and it. */
char *internet_server_lines(struct internet *net, const char *word, const struct site *s, bool second);
bool server_is_hostile(const struct addr *server);
/* Its number, the last byte of its address. */
uint8_t server_number(const struct addr *server);
/* forwarder.c: of whom everything is asked, and what he says. */
bool server_is_forwarder(const struct internet *net, const struct addr *server);
void forwarder_tell(struct internet *net, struct told *t, const struct question *asked);
/* The public's closest zone, whose business the question is. */
struct site *forwarder_site(struct internet *net, const struct question *q);
/* Whose data the server answers with; NULL: it has none that is near. */
struct site *internet_served(struct internet *net, const struct addr *server, const struct question *q);

/* ---- the truth ---- */

struct truth {
	struct question asked;
	struct told told;     /* ANSWER of the whole chain; the last one's rcode and AUTHORITY */
	bool secure;
	bool hostile;	      /* part of it is the adversary's to say */
	bool contested;	      /* he has one of the servers */
	bool made;	      /* from IPv4 addresses */
	unsigned steps;
};

/* `by_alias`: asked for because an alias leads there. */
void internet_truth(struct internet *net, const struct question *q, bool by_alias, struct truth *truth);
/* The site that a resolver of this configuration should ask. */
struct site *internet_site_of(struct internet *net, const struct question *q, bool by_alias);
/* The adversary has a server of it, or of what delegates it. */
bool site_is_contested(const struct site *s);
/* Whether the record is, or was, somebody's true data, denials included. */
bool internet_has(struct internet *net, const uint8_t *owner, uint16_t type, struct slice rdata);

/* ---- what may be asked ---- */

extern const char *const prefixes[];
extern const unsigned prefix_count;
extern const uint16_t asked_types[];
extern const unsigned asked_type_count;

/* A name at the site, in the arena. */
const uint8_t *site_name(struct internet *net, const struct site *s, const char *prefix);

#endif
