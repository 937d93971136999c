/* Signature checks for one query: remembered, shared with other queries, and put off.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "validator/ledger.h"

#include <string.h>

#include "services/cache/rrset.h"
#include "services/mesh.h"
#include "services/query.h"
#include "util/arena.h"
#include "util/dname.h"
#include "util/timebase.h"
#include "validator/clock.h"
#include "validator/trust.h"

struct ledger_row {
	struct ledger_row *next;
	const struct rrset *set;
	const struct keyset *keys;
	struct verdict verdict;
};

void ledger_begin(struct ledger *l, struct query *q, const struct trust_store *trust)
{
	int64_t wall_s = q->env->time->wall_s;

	*l = (struct ledger){ .q = q };
	l->how = (struct verify_how){
		.rules = &trust->rules,
		.arena = &q->arena,
		.now = rules_now(&trust->rules, wall_s),
		.dates_open = clock_is_behind(trust, wall_s),
		.signatures = &q->budget->signatures,
	};
	ledger_turn(l);
}

void ledger_turn(struct ledger *l)
{
	l->checks_until = l->q->budget->signatures - LEDGER_CHECKS;
	l->hashes_until = l->q->budget->hashes - LEDGER_HASHES;
}

/* A budget that is used up does not count: then no check costs anything any more. */
bool ledger_is_tired(const struct ledger *l)
{
	const struct budget *b = l->q->budget;

	return (b->signatures > 0 && (b->signatures <= l->checks_until ||
				      l->q->env->checks >= MESH_CHECKS)) ||
	       (b->hashes > 0 && b->hashes <= l->hashes_until);
}

static const struct ledger_row *find(const struct ledger *l, const struct rrset *set,
				     const struct keyset *keys)
{
	for (const struct ledger_row *r = l->rows; r; r = r->next)
		if (r->set == set && r->keys == keys)
			return r;
	return NULL;
}

/* The owner as signed: for a set expanded from a wildcard, the wildcard's name (built in `room`).
 * NULL: that is too long. */
static const uint8_t *signed_owner(const struct rrset *set, const struct rrsig *sig, uint8_t *room)
{
	const uint8_t *owner = rrset_owner(set);

	if (!rrset_is_expanded(set))
		return owner;
	return dname_join(room, (const uint8_t *)"\1*", 2, dname_suffix(owner, sig->labels)) ? room : NULL;
}

/* Whether the same set with the same signature, by the keys' zone, is in the cache as secure: a
 * zone's SOA and denials come with many answers, and a wildcard is signed once for all the names
 * expanded from it. */
static bool is_known(const struct ledger *l, const struct rrset *set, const struct keyset *keys,
		     struct verdict *out)
{
	uint32_t now_s = l->q->env->time->now_s;
	struct rrset_walk w = rrset_sigs(set);
	const struct rrset *kept;
	uint8_t room[DNAME_MAX];
	const uint8_t *owner;
	struct slice first;
	struct rrsig sig;

	if (!rrset_next(&w, &first) || !rrsig_read(first, &sig) ||
	    !dname_equals(sig.signer, keyset_zone(keys)) ||
	    (rrset_is_expanded(set) && set->sig_count > 1))
		return false;
	owner = signed_owner(set, &sig, room);
	kept = owner ? rrsetcache_find(l->q->cache.rrsets, owner, set->type, set->class_,
				       set->flags & (RRSET_PARENT_SIDE | RRSET_NSEC_AT_APEX), now_s)
		     : NULL;
	if (!kept || kept->security != SECURITY_SECURE || !rrset_same_records(kept, set) ||
	    !rrset_same_signatures(kept, set))
		return false;
	*out = (struct verdict){ .security = SECURITY_SECURE,
				 .labels = sig.labels,
				 .expanded = owner == room,
				 .ttl_s = verify_ttl_again(set, &l->how) };
	return out->ttl_s > 0;
}

bool ledger_verify(struct ledger *l, const struct rrset *set, const struct keyset *keys,
		   struct verdict *out)
{
	const struct ledger_row *known = find(l, set, keys);
	int before = l->q->budget->signatures;
	struct ledger_row *row;

	if (known) {
		*out = known->verdict;
		return true;
	}
	if (!is_known(l, set, keys, out)) {
		if (ledger_is_tired(l))
			return false;
		verify_set(set, keys, &l->how, out);
		l->q->env->checks += (unsigned)(before - l->q->budget->signatures);
	}
	row = arena_new(&l->q->arena, struct ledger_row);
	*row = (struct ledger_row){ .next = l->rows, .set = set, .keys = keys, .verdict = *out };
	l->rows = row;
	return true;
}
