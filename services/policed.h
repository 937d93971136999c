/* What policy zones say: the first that has a rule for a question, an answer, or the servers it came from.
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Zones are asked in their order. Within one, the client's address goes before the name, an address in
 * the answer before names of servers, those before their addresses. What is found is good for the
 * turn. What depends on who asks (tags, TCP) is decided for each client; a question on its way,
 * which may be several clients', is only stopped where all of them would be told the same. */
#ifndef SERVICES_POLICED_H
#define SERVICES_POLICED_H

#include "services/authzone.h"
#include "services/rpz.h"
#include "util/addr.h"

struct client;
struct message;
struct stored;
struct query;
struct settled;
struct stats;

/* Who asks. */
struct policed_by {
	const struct authzones *zones;
	const struct tagset *tags;
	const struct client *client; /* NULL: nobody in particular: nothing is counted nor logged */
	const struct question *q;    /* as the client asked */
	struct stats *stats;         /* or NULL */
	struct settled *settled;     /* is told what was found; or NULL */
};

struct rpz_hit {
	const struct authzone *zone;
	const struct rpz *rules;
	enum rpz_trigger trigger;
	struct rpz_rule rule; /* as it is carried out: the clause may override it */
};

/* Servers that were met on the way and that some policy zone knows. */
struct met {
	const struct met *next;
	const uint8_t *wanted; /* what was to be asked of them */
	const uint8_t *name;   /* NULL: the address */
	struct addr addr;
};

/* Whether there are policy zones at all. */
static inline bool policed_exist(const struct authzones *z)
{
	return z->first_policy < z->count;
}

/* By the client's address, or what it asks for. */
bool policed_question(const struct policed_by *by, struct rpz_hit *out);
/* By a name that an alias leads to. */
bool policed_name(const struct policed_by *by, const uint8_t *name, struct rpz_hit *out);
/* By an address in the answer (`*set`: which set it is in), or a server on the way (`*server`; NULL
 * when it was an address). */
bool policed_answer(const struct policed_by *by, const struct message *m, const struct met *met,
		    struct rpz_hit *out, unsigned *set, const struct met **server);

/* Whether a cached answer may be another one for somebody: it begins with an alias, or addresses
 * matter. */
bool policed_doubt(const struct authzones *z, const struct stored *s);

/* ---- for a question on its way: only those of clients are policed ---- */

/* Whether servers are of interest. */
bool policed_by_servers(const struct query *q);
/* Note a server that `wanted` is about to be asked of, by its name or its address. */
void policed_meet(struct query *q, const uint8_t *wanted, const uint8_t *name,
		  const struct addr *addr);
/* Whether it ends here: nobody will be told what lies behind the servers that were met, or behind an
 * alias to `target`. q->stopped is set, and the reply need hold nothing but the aliases so far. */
bool policed_stops(struct query *q);
bool policed_stops_at(struct query *q, const uint8_t *target);
/* Whether nobody is told of this name: then no chain of trust leads through it, and what is below
 * (and not blocked itself) counts as unsigned. */
bool policed_hides(const struct query *q, const uint8_t *name);

#endif
