/* Signature checks for one query: remembered, shared with other queries, and put off.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "validator/checked_sigs.h"

#include <string.h>

#include "services/cache/rrset.h"
#include "services/mesh/mesh.h"
#include "services/query/query.h"
#include "util/base/arena.h"
#include "util/base/loop.h"
#include "util/base/timebase.h"
#include "util/dns/dname.h"
#include "validator/clock.h"
#include "validator/trust.h"

#define ROW_CHAINS 64 /* one answer may have a thousand sets, and each is looked for at each visit */

struct checked_sigs_row {
	struct checked_sigs_row *next;
	const struct rrset *set;
	const struct keyset *keys;
	struct sig_result sig_result;
};

void checked_sigs_begin(struct checked_sigs *l, struct query *q, const struct trust_store *trust)
{
	int64_t wall_s = q->env->time->wall_s;

	*l = (struct checked_sigs){ .q = q };
	l->how = (struct verify_how){
		.rules = &trust->rules,
		.arena = &q->arena,
		.now = rules_now(&trust->rules, wall_s),
		.dates_open = clock_leaves_dates_open(q->env, trust),
		.signatures = &q->budget->signatures,
		.good = &q->budget->good_signatures,
	};
	checked_sigs_turn(l);
}

int checked_sigs_checks_left(const struct query *q)
{
	return q->budget->signatures + q->budget->good_signatures;
}

bool checked_sigs_is_spent(const struct checked_sigs *l)
{
	return l->q->budget->signatures <= 0 || l->q->budget->good_signatures <= 0;
}

void checked_sigs_turn(struct checked_sigs *l)
{
	l->checks_until = checked_sigs_checks_left(l->q) - CHECKED_CHECKS;
	l->hashes_until = l->q->budget->hashes - CHECKED_HASHES;
}

/* One check at least is made in each turn. */
static bool takes_too_long(const struct checked_sigs *l)
{
	return checked_sigs_checks_left(l->q) < l->checks_until + CHECKED_CHECKS && loop_is_due(l->q->env->loop);
}

/* A budget that is used up does not count: then no check costs anything any more. */
bool checked_sigs_is_tired(const struct checked_sigs *l)
{
	const struct budget *b = l->q->budget;

	return (!checked_sigs_is_spent(l) && (checked_sigs_checks_left(l->q) <= l->checks_until ||
					l->q->env->checks >= MESH_CHECKS || takes_too_long(l))) ||
	       (b->hashes > 0 && b->hashes <= l->hashes_until);
}

/* Sets lie where the arena put them: all bits of the place above its alignment count. */
static unsigned chain_of(const struct rrset *set)
{
	uint64_t place = (uintptr_t)set / sizeof(void *);

	return (unsigned)(place * UINT64_C(0x9e3779b97f4a7c15) >> 32) % ROW_CHAINS;
}

static const struct checked_sigs_row *find(const struct checked_sigs *l, const struct rrset *set,
				     const struct keyset *keys)
{
	for (const struct checked_sigs_row *r = l->rows ? l->rows[chain_of(set)] : NULL; r; r = r->next)
		if (r->set == set && r->keys == keys)
			return r;
	return NULL;
}

static void remember(struct checked_sigs *l, const struct rrset *set, const struct keyset *keys,
		     const struct sig_result *result)
{
	struct checked_sigs_row *row = arena_new(&l->q->arena, struct checked_sigs_row);
	unsigned chain = chain_of(set);

	if (!l->rows)
		l->rows = arena_array(&l->q->arena, struct checked_sigs_row *, ROW_CHAINS);
	*row = (struct checked_sigs_row){ .next = l->rows[chain], .set = set, .keys = keys, .sig_result = *result };
	l->rows[chain] = row;
}

/* The wildcard that the set was expanded from by its only signature, in `room`; NULL if there is none. */
static const uint8_t *wildcard_of(const struct rrset *set, uint8_t *room)
{
	struct rrset_walk w = rrset_sigs(set);
	struct slice only;
	struct rrsig sig;

	if (set->sig_count != 1 || !rrset_next(&w, &only) || !rrsig_read(only, &sig) ||
	    !dname_join(room, (const uint8_t *)"\1*", 2, dname_suffix(rrset_owner(set), sig.labels)))
		return NULL;
	return room;
}

/* Whether the same set with the same signatures, by the keys' zone, is in the cache as secure: a
 * zone's SOA and denials come with many answers, and a wildcard is signed once for all the names
 * expanded from it. */
static bool is_known(const struct checked_sigs *l, const struct rrset *set, const struct keyset *keys,
		     struct sig_result *out)
{
	uint32_t now_s = l->q->env->time->now_s;
	bool expanded = rrset_is_expanded(set);
	uint8_t room[DNAME_MAX];
	const uint8_t *owner = expanded ? wildcard_of(set, room) : rrset_owner(set);
	const struct rrset *kept;

	if (!owner || !set->sig_count)
		return false;
	kept = rrsetcache_find(l->q->cache.rrsets, owner, set->type, set->class_,
			       set->flags & (RRSET_PARENT_SIDE | RRSET_NSEC_AT_APEX), now_s);
	return kept && verify_again(set, kept, expanded, keys, &l->how, out);
}

bool checked_sigs_verify(struct checked_sigs *l, const struct rrset *set, const struct keyset *keys,
		   struct sig_result *out)
{
	const struct checked_sigs_row *known = find(l, set, keys);
	int before = checked_sigs_checks_left(l->q);

	if (known) {
		*out = known->sig_result;
		return true;
	}
	if (!is_known(l, set, keys, out)) {
		if (checked_sigs_is_tired(l))
			return false;
		verify_set(set, keys, &l->how, out);
		l->q->env->checks += (unsigned)(before - checked_sigs_checks_left(l->q));
	}
	remember(l, set, keys, out);
	return true;
}
