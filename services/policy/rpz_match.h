/* Lookup in policy zones: the first with a rule for a question, an answer, or servers it came from.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * An IPv6 address in dns64-prefix has the rules for the IPv4 address in it, too.
 * Zones are consulted in their order. Within one, the client's address comes before the name, an
 * address in the answer before server names, and those before server addresses. Results are valid
 * for the turn. What depends on the client (tags, TCP) is decided for each client; a query in
 * flight, which several clients may share, is only stopped where all would be told the same. */
#ifndef SERVICES_POLICY_RPZ_MATCH_H
#define SERVICES_POLICY_RPZ_MATCH_H

#include "services/authzone/rpz.h"
#include "services/authzone/zones.h"
#include "util/net/addr.h"

struct client;
struct message;
struct stored;
struct query;
struct decision;
struct stats;

/* The client and the rules that apply to it. */
struct rpz_matches {
	const struct authzones *zones;
	const struct tagset *tags;
	const struct client *client;
	const struct question *q;    /* as the client asked */
	const struct netblock *nat64; /* IPv6 addresses in there lead to IPv4 ones */
	bool embeds;                  /* answers are A records to be embedded there */
	struct stats *stats;         /* or NULL */
	struct decision *decision;     /* records what was found; or NULL */
	bool quiet;                  /* nobody asked: rules that match are not logged */
};

struct rpz_hit {
	const struct authzone *zone;
	const struct rpz *rules;
	enum rpz_trigger trigger;
	struct rpz_rule rule; /* after an override by the clause */
	bool embedded;        /* it is for the IPv4 address in an IPv6 one */
};

static inline bool rpz_hit_is_alias(const struct rpz_hit *hit)
{
	return hit->rule.action == RPZ_cname || hit->rule.action == RPZ_cname_override;
}

/* A server met during resolution that triggers some policy zone. */
struct met {
	const struct met *next;
	const uint8_t *wanted; /* the name it was to be asked for */
	const uint8_t *name;   /* the server's; NULL: it is its address that triggers */
	struct addr addr;
};

/* Whether there are policy zones at all. */
static inline bool rpz_match_exist(const struct authzones *z)
{
	return z->first_policy < z->count;
}

/* By the client's address or the query name. */
bool rpz_match_question(const struct rpz_matches *by, struct rpz_hit *out);
/* Whether a rule lets the query through that would be found so; others count for nothing. */
bool rpz_match_spares(const struct rpz_matches *by);
/* By the target of an alias. */
bool rpz_match_name(const struct rpz_matches *by, const uint8_t *name, struct rpz_hit *out);
/* By the servers met for `wanted`. */
bool rpz_match_servers(const struct rpz_matches *by, const struct met *met, const uint8_t *wanted,
		     struct rpz_hit *out);
/* By an address in the answer (`*set`: index of its RRset), or by a server (`*server`; NULL when it
 * was an address). */
bool rpz_match_answer(const struct rpz_matches *by, const struct message *m, const struct met *met,
		    struct rpz_hit *out, unsigned *set, const struct met **server);

/* Whether a cached answer may have to be changed for some client: it begins with an alias, or
 * addresses matter. */
bool rpz_match_doubt(const struct authzones *z, const struct stored *s);

/* ---- for a query in flight: only clients' queries are subject to policy ---- */

/* Whether there are triggers by server. */
bool rpz_match_zones_name_servers(const struct authzones *zones);
bool rpz_match_by_servers(const struct query *q);
/* Note a server, by its name or its address, that is about to be asked for `wanted`. */
void rpz_match_meet(struct query *q, const uint8_t *wanted, const uint8_t *name,
		  const struct addr *addr);
/* Whoever was met for `child` counts as met for the query that depends on it. */
void rpz_match_inherit(struct query *q, const struct query *child);
/* Whether the query ends here, because no client will be told what the servers met would say, or
 * what is at the alias `target` (asked of each in turn: who is let through at one is let through). Sets q->stopped; the reply need hold only the aliases so far. */
bool rpz_match_stops(struct query *q);
bool rpz_match_stops_at(struct query *q, const uint8_t *target);
/* Whether this name is hidden from all clients: then no chain of trust passes through it, and names
 * below it (not blocked themselves) count as unsigned. */
bool rpz_match_hides(const struct query *q, const uint8_t *name);

#endif
